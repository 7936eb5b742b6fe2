/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_itself.h - commands that are not for several daemons at a time: those that change the whole cluster, and those
 * that ask all servers by themselves, through one daemon.
 */
#ifndef CTL_BY_ITSELF_H
#define CTL_BY_ITSELF_H

#include "ctl/ask/find.h"
#include "ctl/commands.h"

/*
 * True when the command can be given to several daemons. False for commands that change the whole cluster, whichever
 * daemon is asked, for those that write to one file or terminal, and for those that ask all servers by themselves:
 * several answers to one question would be told as if they were several.
 */
bool by_itself_takes_many(const struct command *c);
/*
 * What such a command is followed by to ask all servers by itself, through one daemon: "--all" or ""; NULL: it asks its
 * own daemon alone.
 */
const char *by_itself_option(const struct command *c);
/*
 * Refuses such a command, which was given to several daemons: writes to errors the line that reaches all servers
 * through one of them, with all words and options that were given. Gives the exit code.
 */
int by_itself_refuse(const struct call *call, const struct find_crowd *crowd);
/* True for one of those that ask all servers by themselves, and change nothing. */
bool by_itself_only_tells(const struct command *c);
/*
 * Does such a command once, with --all, through the first daemon of the crowd that can be asked. call has no client.
 * Gives the exit code.
 */
int by_itself_run(struct call *call, const struct find_crowd *crowd, cw_span start_patience);

#endif
