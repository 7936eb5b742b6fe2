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
 * True when the command can be given to several daemons. False for commands that change the whole cluster, whichever
 * daemon is asked, for those that write to one file or terminal, and for those that ask all servers by themselves:
 * several answers to one question would be told as if they were several.
 */
bool crowd_takes(const struct command *c);
/*
 * What such a command is followed by to ask all servers by itself, through one daemon: "--all" or ""; NULL: it asks its
 * own daemon alone.
 */
const char *crowd_by_itself(const struct command *c);
/*
 * Refuses such a command, which was given to several daemons: writes to errors the line that reaches all servers
 * through one of them, with all words and options that were given. Gives the exit code.
 */
int crowd_refuse(const struct call *call, const struct find_crowd *crowd);
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
