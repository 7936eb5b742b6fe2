/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.h - `cwctl complete`: what may come next on a command line, for the completion of shells
 * (commandline/completion.h). Words come from the table of commands; servers, services, jobs, groups and the like from
 * the daemon that the line means, which has half a second to answer.
 */
#ifndef CTL_COMPLETE_H
#define CTL_COMPLETE_H

#include "ctl/ask/find.h"
#include "ctl/commands.h"

/*
 * argv[0..argc): all words behind "complete", argc at least 1. Prints to out; where a daemon does not answer, what it
 * would know is left out. `wish` has the folders and the environment; options of the line say the rest.
 */
void complete_line(const struct find_wish *wish, int argc, char *const argv[], FILE *out);

#endif
