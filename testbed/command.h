/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - what the commands of cwlab are made of, and have in common.
 *
 * Exit codes: 0 all is well; 1 it was done and is not as it should be (a ping was lost, a check failed); 2 the command line, or
 * the machine does not allow it; 3 there is no such lab. exec, shell and ctl give the exit code of what they ran.
 */
#ifndef TESTBED_COMMAND_H
#define TESTBED_COMMAND_H

#include "scenario/options.h"
#include "scenario/report.h"
#include "testbed/lab.h"
#include "testbed/peer.h"

enum { EXIT_FINE = 0, EXIT_BROKEN = 1, EXIT_USAGE = 2, EXIT_NO_LAB = 3, COMMAND_GO = -1 };

struct command {
    const char *name;
    const char *summary; /* one line, in the list of commands */
    const char *words;   /* what follows the name on its usage line */
    const char *text;
    const char *example;
    int (*run)(const struct command *self, int argc, char **argv);
};

extern const struct command command_up, command_down, command_status, command_list, command_pingall, command_fail,
    command_restore, command_leave, command_pause, command_link, command_loss, command_churn, command_ctl, command_exec,
    command_shell, command_capture, command_judge, command_run;

/* All of them, in the order of --help, ended by NULL. */
extern const struct command *const commands[];

/* Parses; shows help. COMMAND_GO, or the exit code. words may be NULL. */
CW_MUST_CHECK int command_options(const struct command *c, const struct option *option, size_t count, int argc,
                                  char **argv, struct option_words *words);
/*
 * The same for commands that pass words on: options end at the first word. COMMAND_GO, and *rest is the place of that word in argv.
 */
CW_MUST_CHECK int command_leading(const struct command *c, const struct option *option, size_t count, int argc,
                                  char **argv, int *rest);

/* One line on standard error, "cwlab <command>: ..."; gives EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int command_refuse(const struct command *c, const char *format, ...);

/* Of this name, or when it is NULL the only one that lives. COMMAND_GO, or EXIT_NO_LAB and it was said why. */
CW_MUST_CHECK int command_lab(const struct command *c, const char *name, struct lab *lab);
/* A server of the lab's torus. COMMAND_GO or EXIT_USAGE, said. */
CW_MUST_CHECK int command_server(const struct command *c, const struct lab *lab, const char *word, cw_server *out);

/* The keeper is asked; what it refuses is said. Exit code. */
int command_keeper(const struct command *c, const struct lab *lab, const char *what, int argc, const char *const *argv,
                   void (*row)(void *context, const struct message *row), void *context);
/*
 * A server's daemon is asked: opens and closes a connection. Its rc, or -ECONNREFUSED and the like; why says it.
 */
int command_daemon(const struct lab *lab, cw_server s, struct message *request, cw_span patience,
                   void (*row)(void *context, const struct message *row), void *context, char why[static PEER_WHY]);

/* Adds the fields of a row to a report. */
void command_copy(struct report *r, const struct message *row);
/* Prints it on standard output, closes it; `code`, or EXIT_USAGE when it cannot be written. */
int command_print(struct report *r, bool json, int code);

/* The program `name`: where the variable says, beside cwlab itself, or on the PATH. -ENOENT. */
CW_MUST_CHECK int command_find(const char *variable, const char *name, char out[static LAB_PATH]);

#endif
