/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.h - a scenario file, carried out on real daemons, and what came of it in the same words as the simulator's.
 */
#ifndef TESTBED_CWLAB_PLAY_H
#define TESTBED_CWLAB_PLAY_H

#include "scenario/report.h"
#include "scenario/scenario.h"
#include "testbed/lab.h"

enum { PLAY_WHY = 200 };

/* Can it be carried out on this lab? 0; -EOPNOTSUPP and why says what cannot. */
CW_MUST_CHECK int play_possible(const struct scenario *s, const struct lab *lab, char why[static PLAY_WHY]);
/*
 * The lab is up and converged; its time 0 is now. Fills the report; 0, 1 when something that was claimed (quiet) was
 * not so, which is said on `errors`; -errno.
 */
CW_MUST_CHECK int play_on_lab(const struct scenario *s, const struct lab *lab, struct report *r, FILE *errors);

#endif
