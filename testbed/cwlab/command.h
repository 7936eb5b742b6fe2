/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what the commands of cwlab are made of, and have in common.
 *
 * Exit codes are those of scenario/program.h, and 3: there is no such lab. exec, shell and ctl give the exit code of
 * the program that they ran.
 */
#ifndef TESTBED_CWLAB_COMMAND_H
#define TESTBED_CWLAB_COMMAND_H

#include "scenario/program.h"
#include "testbed/lab.h"
#include "testbed/peer.h"

enum { EXIT_NO_LAB = 3 };

extern const struct program program_cwlab;
extern const struct program_command command_up, command_down, command_status, command_list, command_pingall,
    command_fail, command_restore, command_leave, command_pause, command_link, command_loss, command_churn, command_ctl,
    command_exec, command_shell, command_logs, command_capture, command_judge, command_run, command_rescale,
    command_watch;

/*
 * The lab of this name; NULL: the one that CWLAB_NAME names in the environment, or else the only lab that lives.
 * PROGRAM_GO; EXIT_NO_LAB, and standard error says why, and which labs there are.
 */
CW_MUST_CHECK int command_lab(const struct program_command *c, const char *name, struct lab *lab);
/* What CWLAB_NAME says; NULL: nothing. */
const char *command_default_name(void);
/* Says on standard error that there is no lab of this name, and which there are. Gives EXIT_NO_LAB. */
int command_refuse_name(const struct program_command *c, const char *name);
/* Reads a server of the lab's torus from a word. PROGRAM_GO; EXIT_USAGE, and standard error says why. */
CW_MUST_CHECK int command_read_server(const struct program_command *c, const struct lab *lab, const char *word,
                                      cw_server *out);

/*
 * Asks the lab's keeper, and reports what it refuses. Returns an exit code. already: set to whether it was so before,
 * as far as the keeper says that; NULL: not wanted.
 */
int command_order(const struct program_command *c, const struct lab *lab, const char *what, int argc,
                  const char *const *argv, bool *already);
/* The same, with the rows of the answer. */
int command_keeper(const struct program_command *c, const struct lab *lab, const char *what, int argc,
                   const char *const *argv, void (*row)(void *context, const struct message *row), void *context);
/*
 * Asks a server's daemon, over a connection of its own. Returns what the daemon said, or -ECONNREFUSED and the like,
 * and why.
 */
int command_daemon(const struct lab *lab, cw_server s, struct request_draft *request, cw_span patience,
                   void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY]);

/* Adds the fields of a row to a report. */
void command_copy(struct report *r, const struct message *row);
/* The path of the program `name`: as the variable says, or beside cwlab itself, or on the PATH. -ENOENT. */
CW_MUST_CHECK int command_find(const char *variable, const char *name, char out[static LAB_PATH]);

#endif
