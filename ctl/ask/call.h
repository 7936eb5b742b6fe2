/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one command of cwctl while it is being done: what was given, the request that it sends, the rows that answer
 * it, and the exit code. Which commands there are is not known here (ctl/commands.h).
 */
#ifndef CTL_ASK_CALL_H
#define CTL_ASK_CALL_H

#include "commandline/keys.h"
#include "ctl/ask/arguments.h"
#include "ctl/ask/client.h"
#include "ctl/ask/table.h"

#include <stdarg.h>

enum {
    EXIT_FINE = 0,
    EXIT_NO = 1,         /* the answer is no, or the command failed */
    EXIT_USAGE = 2,      /* the command line, or what it asks for, makes no sense */
    EXIT_NOBODY = 3,     /* no daemon, or no way to it */
    EXIT_TIMEOUT = 4,    /* the daemon did not answer in time */
    EXIT_INCOMPLETE = 5, /* it is so, but not everywhere yet: some servers did not answer */
};

/* All rows of an answer. */
struct rows {
    struct message **row;
    size_t count, room;
};
void rows_add(void *context, struct message *row); /* for client_ask(): takes the row */
void rows_clear(struct rows *rows);
/*
 * Gives fields their types: a service says numbers and texts only, so that its yes is a 1 and its list a text with
 * spaces. Of a row that is not one of those, or has no such field, nothing is changed. Names have spaces between.
 */
void rows_type(const struct rows *rows, const char *flags, const char *lists);
/*
 * Puts rows in the order of the servers that they tell of (`server`); those of one server keep their order, and those
 * of none stay behind all others.
 */
void rows_sort(const struct rows *rows);

struct command;

/* One command that is being done. */
struct call {
    const struct command *command;
    const struct arguments *arguments;
    struct client *client;
    const char *server; /* which of the servers in the daemon's process is meant; NULL: its first */
    bool wipes;         /* with --watch, run wipes the terminal itself, when it has something to show */
    bool takes_back;    /* "services reload --undo" ends a reload that another daemon has refused */
    struct table_style style;
    FILE *out, *errors;
    volatile int *stop; /* set by SIGINT and SIGTERM, and by the key q while something is watched */
    struct keys *keys;  /* of the terminal while something is watched; NULL: they are not read */
};

struct command {
    const char *name;  /* one or two words: "services load" */
    const char *usage; /* the words that follow the name */
    const char *summary;
    const char *text;    /* what it shows, and what the columns mean; help breaks it into lines */
    const char *example; /* lines to paste */
    const char *options; /* names of its options, with spaces between */
    int least, most;     /* how many words may follow the name */
    const char *request; /* the daemon's command; NULL: run does all */
    /* NULL: no table. --json says "done" then when no row comes; but a service's answer may be an empty list. */
    const struct table_column *columns;
    void (*show)(const struct call *call, const struct rows *rows); /* NULL: a table of the columns */
    int (*run)(struct call *call);                                  /* NULL: one request, shown */
};

/* ---- Doing one --------------------------------------------------------------------------------------------------- */

/*
 * Gives a request of that name with the options that were given, and no words:
 */
struct request_draft *call_request(const struct call *call, const char *name);
/*
 * Sends the request and waits. Gives the daemon's rc (>= 0); or, after a line on errors, a negative one, with the exit
 * code in *code.
 */
CW_MUST_CHECK int call_ask(const struct call *call, struct request_draft *request, cw_span patience,
                           void (*row)(void *context, struct message *row), void *context, int *code);
/*
 * A line on errors that begins with "cwctl: ". Commands of cwctl in it are those of cwlab where the daemon is of a lab
 * (ctl/ask/remedy.h), so that what is said can be typed.
 */
__attribute__((format(printf, 2, 3))) void call_complain(const struct call *call, const char *format, ...);
__attribute__((format(printf, 2, 0))) void call_vcomplain(const struct call *call, const char *format, va_list args);
/* How long to wait for a daemon that answers at once, unless --timeout says otherwise. */
cw_span call_patience(const struct call *call);
/* One request, shown: what a command without run() does. Gives the exit code. */
int call_plain(struct call *call);
/* Does the command, as often as --watch says, and gives the exit code. */
int call_run(struct call *call);

/* The option of that name as it was given last; NULL: it was not. */
const struct arguments_given *call_given(const struct call *call, const char *name);
/* True for "x,y,z". */
bool call_is_server(const char *word);
/* On a terminal, says "done", for a command whose answer holds nothing to show. Elsewhere nothing happens. */
void call_say_done(const struct call *call);
/* Prints {"done":true}: what a program reads of such a command. */
void call_tell_done(const struct call *call);
/* Wipes a terminal; elsewhere nothing happens. */
void call_wipe(const struct call *call);
/* Waits so long, or until the command is to end: *call->stop is set then. */
void call_rest(const struct call *call, cw_span span);

#endif
