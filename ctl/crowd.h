/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - one command for several daemons at the same time: each is asked by a process of its own, and one table (or
 * one stream of JSON objects) shows all answers, with the server in every row.
 */
#ifndef CTL_CROWD_H
#define CTL_CROWD_H

#include "ctl/ask/find.h"
#include "ctl/commands.h"

enum { CROWD_AT_ONCE = 32 /* processes that ask at the same time */ };

/*
 * Does the command on every daemon of the crowd, as often as --watch says. call has no client. Daemons that are
 * starting (lab.h) are waited for. Rows come in the order of the crowd; what daemons refuse follows on errors, once for
 * all of those that said the same. "services load", "services reload" and its --undo are checked by all daemons first,
 * and taken back from all if one refuses in the end; what a daemon does for all of its servers at once, it is asked for
 * once. Gives 0 when each daemon gave 0; the code of those that failed when it is
 * the same; EXIT_NO otherwise.
 */
int crowd_run(struct call *call, const struct find_crowd *crowd, cw_span start_patience);

#endif
