/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - what cwctl can do: a table of commands, each with the text that explains it, the request it sends, and
 * the way its answer is shown.
 */
#ifndef CTL_COMMANDS_H
#define CTL_COMMANDS_H

#include "ctl/ask/call.h"
#include "ctl/jobs/jobs.h"
#include "ctl/store/store.h"

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

#endif
