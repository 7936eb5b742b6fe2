/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants.h - a lab's operator: its key, and the records that let the lab's services send.
 *
 * The files, in the lab's folder:
 *
 *     operator.key, operator.key.pub   drawn when the lab comes up, removed with it
 *     jobs.conf                        a signed job file. Each service given by --service may send to its own job (not
 *                                      with --no-grants), and so may the lab's own witness; `cwctl job grant` gives
 *                                      them more. In a lab that plays a scenario: what its `grant` lines say, and the
 *                                      witness
 */
#ifndef TESTBED_GRANTS_H
#define TESTBED_GRANTS_H

#include "testbed/lab.h"

enum { GRANTS_WHY = 1024 };

/* Makes these files in the folder, which exists. Loads each service for a moment, to learn its job. -errno and why. */
CW_MUST_CHECK int grants_make(const struct lab *lab, char why[static GRANTS_WHY]);
/* Writes the lines of a daemon's configuration that name these files. */
void grants_write(const struct lab *lab, FILE *out);
/*
 * From now on cwctl, as a child of this process, signs with the lab's key, unless CUBEWAY_OPERATOR_KEY is set already.
 */
void grants_lend_key(const struct lab *lab);

#endif
