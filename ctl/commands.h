/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - what cwctl can do: a table of commands, each with the text that explains it, the request it sends, and
 * the way its answer is shown.
 */
#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

#include "commandline/keys.h"
#include "ctl/arguments.h"
#include "ctl/client.h"
#include "ctl/table.h"

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
    const struct table_column *columns;
    void (*show)(const struct call *call, const struct rows *rows); /* NULL: a table of the columns */
    int (*run)(struct call *call);                                  /* NULL: one request, shown */
};

/* All of them, in the order of help. */
const struct command *commands_table(size_t *count);
/* All options of some command, ended by name NULL. */
const struct arguments_option *commands_options(void);
/*
 * What was expected of the value of an option, when the value is out of range; NULL: it is not, as far as can be known
 * here. Static.
 */
const char *commands_refusal(const struct arguments_given *given);
/* The command that the words begin with, and in *used how many of them are its name; NULL: none. */
const struct command *commands_find(const char *const *words, int count, int *used);
/* What the option does in this command: its own words, or those of all commands that have an option of the name. */
const char *commands_option_help(const struct command *c, const struct arguments_option *option);
bool commands_takes(const struct command *c, const struct arguments_option *option);
/* True for a command that needs no daemon. */
bool commands_alone(const struct command *c);

/* ---- Doing one --------------------------------------------------------------------------------------------------- */

/*
 * Gives a request of that name with the options that were given, and no words: for call.c, and for commands that ask on
 * their own.
 */
struct request_draft *call_request(const struct call *call, const char *name);
/*
 * Sends the request and waits. Gives the daemon's rc (>= 0); or, after a line on errors, a negative one, with the exit
 * code in *code.
 */
CW_MUST_CHECK int call_ask(const struct call *call, struct request_draft *request, cw_span patience,
                           void (*row)(void *context, struct message *row), void *context, int *code);
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
/* Wipes a terminal; elsewhere nothing happens. */
void call_wipe(const struct call *call);
/* Waits so long, or until the command is to end: *call->stop is set then. */
void call_rest(const struct call *call, cw_span span);

/* In cmd_*.c: run_ does a command that is not one request; show_ shows an answer that is not one plain table. */
void show_status(const struct call *call, const struct rows *rows);
void show_counters(const struct call *call, const struct rows *rows);
void show_drops(const struct call *call, const struct rows *rows);
void show_key(const struct call *call, const struct rows *rows);
void show_wiring(const struct call *call, const struct rows *rows);
void show_links(const struct call *call, const struct rows *rows);
void show_service(const struct call *call, const struct rows *rows);
/*
 * Appends columns of whatever fields the rows have, in the order in which they came, but not of the field `but` (may be
 * NULL), to the n that are there; TABLE_COLUMNS_MAX in all. Gives how many there are then.
 */
unsigned show_service_columns(const struct rows *rows, struct table_column *columns, unsigned n, const char *but);
/* Writes the title of a field's column, "RTT MIN" for "rtt_min_ns" (the unit stands behind the number); gives out. */
enum { SHOW_TITLE = 32 };
const char *show_title(const char *field, char out[static SHOW_TITLE]);
void show_config(const struct call *call, const struct rows *rows);
void show_done(const struct call *call, const struct rows *rows);
int run_wiring(struct call *call);
int run_ping(struct call *call);
int run_trace(struct call *call);
int run_load(struct call *call);
int run_service(struct call *call);
int run_kv_get(struct call *call);
int run_kv_set(struct call *call);
int run_kv_delete(struct call *call);
int run_kv_flush(struct call *call);
int run_kv_stats(struct call *call);
int run_kv_hot(struct call *call);
int run_store_create(struct call *call);
int run_store_get(struct call *call);
int run_store_head(struct call *call);
int run_store_put(struct call *call);
int run_store_cas(struct call *call);
int run_store_insert(struct call *call);
int run_store_delete(struct call *call);
int run_store_status(struct call *call);
int run_store_explain(struct call *call);
int run_tunnel_status(struct call *call);
int run_tunnel_flows(struct call *call);
int run_tunnel_explain(struct call *call);
int run_tunnel_nat(struct call *call);
int run_tunnel_cni(struct call *call);
int run_tunnel_networkd(struct call *call);
/*
 * Asks the service of the network (--network, or ip) for `command`, with a word behind it or NULL. Gives the exit code;
 * EXIT_FINE: the rows are there.
 */
int tunnel_ask(const struct call *call, const char *command, const char *word, struct rows *rows);
/* Its name. */
const char *tunnel_name(const struct call *call);
int run_hosts(struct call *call);
int run_aggregate_reduce(struct call *call);
int run_aggregate_check(struct call *call);
int run_aggregate_words(struct call *call);
int run_aggregate_run(struct call *call);
int run_aggregate_status(struct call *call);
int run_aggregate_cancel(struct call *call);
int run_query(struct call *call);
int run_query_list(struct call *call);
int run_query_feed(struct call *call);
int run_aggregate_feed(struct call *call);
int run_file_send(struct call *call);
int run_file_status(struct call *call);
int run_doctor(struct call *call);
/*
 * What the doctor says where no daemon is: nothing opened the socket `path` and rc is why, or there is no socket at
 * all ("" and -ENOENT). False, and nothing is shown: the command is another one, or the socket is of a lab, whose
 * keeper knows more, or rc means something else.
 */
bool doctor_absent(const struct call *call, const char *path, int rc);
/* What the doctor of every server in view finds, for commands that say something else. Gives rc as call_ask() does. */
CW_MUST_CHECK int doctor_of_all(const struct call *call, struct rows *out);
int run_servers(struct call *call);
int run_events(struct call *call);
int run_drain(struct call *call);
int run_leave(struct call *call);
int run_plan(struct call *call);
int run_top(struct call *call);
int run_watch(struct call *call);
int run_capture(struct call *call);
int run_job_list(struct call *call);
int run_job_show(struct call *call);
int run_job_create(struct call *call);
int run_job_grant(struct call *call);
int run_job_revoke(struct call *call);
int run_job_destroy(struct call *call);
int run_job_explain(struct call *call);
int run_job_audit(struct call *call);
int run_job_keygen(struct call *call);
int run_job_sign(struct call *call);

#endif
