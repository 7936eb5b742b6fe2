/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - the outcome of a scenario on real daemons beside the simulator's, number by number, within stated bounds.
 */
#ifndef TESTBED_CWLAB_OUTCOME_COMPARE_H
#define TESTBED_CWLAB_OUTCOME_COMPARE_H

#include "message/message.h"
#include "scenario/report.h"

/*
 * Adds the list "compared" to the lab's report: each number that both have, as the simulator says it (what cwsim run
 * --json printed) and as the lab does, the bound, and whether it holds. Returns how many do not hold.
 */
unsigned compare_reports(struct report *lab, const struct message *simulated);

#endif
