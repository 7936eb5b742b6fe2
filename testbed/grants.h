/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants.h - a lab's operator: its key, and the records that let the services it is given begin to work.
 *
 *     operator.key  operator.key.pub    in the lab's folder: drawn when it comes up, gone with it jobs.conf
 *     a signed job file: each service given by --service may send to its own job (not with
 *                                       --no-grants), and so may the lab's own witness; what more they need, cwctl job
 *                                       grant gives. Of a lab that plays a scenario: what its `grant` lines say, and
 *                                       the witness
 */
#ifndef TESTBED_GRANTS_H
#define TESTBED_GRANTS_H

#include "testbed/lab.h"

enum { GRANTS_WHY = 1024 };

/* Makes all of that; the folder is there. Loads each service for a moment, to learn its job. -errno and why. */
CW_MUST_CHECK int grants_make(const struct lab *lab, char why[static GRANTS_WHY]);
/* The lines of a daemon's configuration that name them. */
void grants_write(const struct lab *lab, FILE *out);
/* From now on cwctl, as a child, signs with the lab's key, unless $CUBEWAY_OPERATOR_KEY names another. */
void grants_lend_key(const struct lab *lab);

#endif
