/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis_many.h - what is true of many servers at once, or what two servers say of each other, is told once. */
#ifndef CTL_DIAGNOSIS_MANY_H
#define CTL_DIAGNOSIS_MANY_H

#include "ctl/commands.h"

/* Takes findings, the worst first, that are put together otherwise, and leaves fewer of them in the same order. */
void diagnose_many(struct rows *rows);

#endif
