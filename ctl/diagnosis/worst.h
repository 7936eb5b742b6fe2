/* SPDX-License-Identifier: Apache-2.0 */
/* worst.h - the order in which findings are read: by severity, and within one by how much is lost. */
#ifndef CTL_DIAGNOSIS_WORST_H
#define CTL_DIAGNOSIS_WORST_H

#include "ctl/ask/call.h"

/* Sorts findings (diagnosis.h). Of one severity: what many servers say, dead servers and twins, then refused neighbours
 * and wrong cables, then what was switched off; lossy cables by their loss. */
void worst_first(struct rows *rows);

#endif
