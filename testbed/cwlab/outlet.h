/* SPDX-License-Identifier: Apache-2.0 */
/* outlet.h - the way out of a lab (--uplink), as far as cwlab up has to do with it: what it takes, and the rules. */
#ifndef TESTBED_CWLAB_OUTLET_H
#define TESTBED_CWLAB_OUTLET_H

#include "testbed/cwlab/command.h"

/*
 * Finds the programs that it takes, and chooses server 0 for its gateway where there is none. PROGRAM_GO, or an exit
 * code, and standard error says what to install.
 */
CW_MUST_CHECK int outlet_choose(const struct program_command *self, struct lab *lab);
/*
 * Makes the gateway's kernel forward and mask addresses, by `cwctl tunnel nat --apply` in its namespace, when the
 * device up0 is there. The same answer.
 */
CW_MUST_CHECK int outlet_open(const struct program_command *self, const struct lab *lab);

#endif
