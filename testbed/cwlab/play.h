/* SPDX-License-Identifier: Apache-2.0 */
/*
 * play.h - carries out a scenario on real daemons, and reports the outcome in the same fields as the simulator.
 */
#ifndef TESTBED_CWLAB_PLAY_H
#define TESTBED_CWLAB_PLAY_H

#include "scenario/report.h"
#include "scenario/scenario.h"
#include "testbed/lab.h"

enum { PLAY_WHY = 200 };

/* Can the scenario be carried out on this lab? 0; -EOPNOTSUPP: why says what of it cannot. */
CW_MUST_CHECK int play_possible(const struct scenario *s, const struct lab *lab, char why[static PLAY_WHY]);
/*
 * The lab is up and converged; the scenario's time 0 is now. Fills the report. 0; 1: the scenario claims something
 * (quiet) that was not so, as `errors` says; -errno.
 */
CW_MUST_CHECK int play_on_lab(const struct scenario *s, const struct lab *lab, struct report *r, FILE *errors);

#endif
