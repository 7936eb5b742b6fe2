/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_job_ask.c - may a job send there, and why not; who was refused what. The NMU of the server where the sender lives
 * decides; the entry that is missing is found in the record of the sender.
 */
#include "ctl/ask/remedy.h"
#include "ctl/jobs/job_conditions.h"
#include "ctl/jobs/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- explain ----------------------------------------------------------------------------------------------------- */

static int read_question(struct job_world *w, struct question *q)
{
    const struct arguments *a = w->call->arguments;
    char why[JOB_WORDS_WHY];
    struct job_ports ports;
    if (job_words_process(a->word[2], &q->from_words, &q->from_process, why) < 0 ||
        job_words_door(a->word[3], &q->to_words, &q->key, &q->to_process, why) < 0) {
        return job_world_fail(w, EXIT_USAGE, "%s", why);
    }
    q->from = job_world_find(w, q->from_words.job);
    q->to = job_world_find(w, q->to_words.job);
    if (q->from == 0 || q->to == 0) {
        q->unknown = q->from == 0 ? q->from_words.job : q->to_words.job;
        snprintf(q->from_name, sizeof q->from_name, "%.30s", q->from_words.job);
        snprintf(q->to_name, sizeof q->to_name, "%.30s", q->to_words.job);
        snprintf(q->port_name, sizeof q->port_name, "%.20s", q->to_words.ports);
        return 0;
    }
    job_world_name(w, q->from, q->from_name);
    job_world_name(w, q->to, q->to_name);
    q->nameless = job_world_destroyed(w, q->to) && strspn(q->to_words.ports, "0123456789") == 0;
    if (q->nameless) {
        snprintf(q->port_name, sizeof q->port_name, "%.20s", q->to_words.ports);
        return 0;
    }
    if (job_world_ports(w, q->to, q->to_words.ports, &ports) < 0) {
        return -1;
    }
    bool one = !ports.all && ports.count == 1;
    q->port = one ? ports.port[0] : 0;
    job_ports_close(&ports);
    snprintf(q->port_name, sizeof q->port_name, "%u", q->port);
    return one ? 0 : job_world_fail(w, EXIT_USAGE, "'%s': expected one port", q->to_words.ports);
}

/* 0: the record of the source's job has no such process, so there is no server to ask. < 0: told. */
static int ask_question(struct job_world *w, const struct question *q, struct rows *rows)
{
    char from[32], to[48], process[16] = "*", why[CLIENT_WHY];
    const char *const words[] = {"explain", from, to, NULL};
    if (!q->key) {
        snprintf(process, sizeof process, "%" PRIu32, q->to_process);
    }
    snprintf(from, sizeof from, "%" PRIu32 ":%" PRIu32, q->from, q->from_process);
    snprintf(to, sizeof to, "%" PRIu32 ":%s:%u", q->to, process, q->port);
    int rc = job_world_ask(w, words, call_patience(w->call), rows, why);
    if (rc == -ENOENT && !client_failed(w->call->client)) {
        rows_clear(rows);
        return 0;
    }
    if (rc < 0 && !client_failed(w->call->client)) {
        return job_world_fail(w, EXIT_NO, "%s", why);
    }
    return rc < 0 ? rc : rows->count > 0 ? 1 : job_world_fail(w, EXIT_NO, "the daemon said nothing");
}

/* Says which entry the plan lacks. */
static void find_missing(const struct question *q, const struct job_plan *plan, char *missing, size_t room)
{
    const struct job_right *near = NULL, *job = NULL;
    char where[32] = "packets to keys";
    if (!q->key) {
        snprintf(where, sizeof where, "process %" PRIu32, q->to_process);
    }
    for (unsigned i = 0; i < plan->rights; i++) {
        const struct job_right *r = &plan->right[i];
        job = r->job == q->to ? r : job;
        for (unsigned k = 0; r->job == q->to && k < r->ports.count; k++) {
            near = r->ports.port[k] == q->port ? r : near;
        }
        near = r->job == q->to && r->ports.all && near == NULL ? r : near;
    }
    if (plan->destroyed) {
        snprintf(missing, room, "job %s was destroyed", q->from_name);
    } else if (near != NULL) {
        snprintf(missing, room, "%s may use port %u of job %s, but not for %s%s", q->from_name, q->port, q->to_name,
                 where, q->key ? ", which need it on all processes" : "");
    } else if (job != NULL) {
        snprintf(missing, room, "%s may use other ports of job %s, but not port %u", q->from_name, q->to_name, q->port);
    } else {
        snprintf(missing, room, "%s has no grant to job %s", q->from_name, q->to_name);
    }
}

static void set_remedy(const struct job_world *w, struct message *row, const char *missing, const char *remedy)
{
    char text[REMEDY_TEXT];
    message_text(row, "missing", missing);
    message_text(row, "remedy", remedy_in_sentence(w->call->client, w->call->server, remedy, text));
}

/* What a line begins with that names the server where it is to be typed. */
static const char *lab_of(const struct job_world *w)
{
    return client_lab(w->call->client) != NULL ? "cwlab ctl" : "cwctl --server";
}

/* The same, for refusals that no grant would help. */
static bool add_other_remedy(const struct job_world *w, const struct question *q, struct message *row)
{
    char missing[256], remedy[256];
    const char *asked = message_get_text(row, "asked", "there");
    if (conditions_cause(row, "no-speaker")) {
        snprintf(missing, sizeof missing, "process %" PRIu32 " of job %s does not run on %s", q->from_process,
                 q->from_name, asked);
        snprintf(remedy, sizeof remedy,
                 "load the service there (%s %s services load FILE), or name a job that cwctl services lists",
                 lab_of(w), asked);
    } else if (conditions_cause(row, "destroyed")) {
        snprintf(missing, sizeof missing, "job %s was destroyed", q->from_name);
        snprintf(remedy, sizeof remedy, "cwctl job create FILE, which begins its next generation");
    } else if (conditions_cause(row, "stale")) {
        snprintf(missing, sizeof missing, "what runs on %s belongs to another generation of job %s", asked,
                 q->from_name);
        snprintf(remedy, sizeof remedy, "unload and load the service there");
    } else if (conditions_cause(row, "no-job")) {
        snprintf(missing, sizeof missing, "there is a grant, but %s knows no record of job %s, or it was destroyed",
                 asked, q->to_name);
        snprintf(remedy, sizeof remedy, "cwctl job create FILE, with job %s in it", q->to_name);
    } else if (conditions_cause(row, "no-process")) {
        snprintf(missing, sizeof missing, "there is a grant, but job %s has no process %" PRIu32, q->to_name,
                 q->to_process);
        snprintf(remedy, sizeof remedy, "name a process that there is (%s)",
                 job_world_runs(w, q->to) ? "a service has one on each server" : "cwctl job show says which");
    } else {
        return false;
    }
    set_remedy(w, row, missing, remedy);
    return true;
}

/* Adds to a refusal what is missing, and how it would be given. */
static void add_remedy(struct job_world *w, const struct question *q, struct message *row)
{
    struct job_plan plan;
    char missing[256], remedy[256], process[16] = "all";
    if (add_other_remedy(w, q, row)) {
        return;
    }
    int there = job_world_fetch(w, q->from, &plan, NULL);
    if (there < 0) {
        return;
    }
    if (there > 0 && conditions_cause(row, "no-record")) {
        job_plan_close(&plan);
        set_remedy(w, row, "that server's NMU has no room for the record of the job, or it has not come there yet",
                   "take grants away from jobs that live there (cwctl job list counts them): it is open again as soon "
                   "as there is room");
        return;
    }
    if (there > 0 && job_plan_allows(&plan, q->to, q->key, q->to_process, q->port) != NULL) {
        job_plan_close(&plan);
        return; /* by its record it may send, so what the NMU says is all there is to say */
    }
    if (there > 0) {
        find_missing(q, &plan, missing, sizeof missing);
        job_plan_close(&plan);
    } else {
        snprintf(missing, sizeof missing, "no signed record of job %s is held", q->from_name);
        if (q->from < FIRST_LOADED || !job_world_runs(w, q->from)) { /* job grant would not begin one */
            set_remedy(w, row, missing, "cwctl job create FILE, with all that the job is to have");
            return;
        }
    }
    if (!q->key) {
        snprintf(process, sizeof process, "%" PRIu32, q->to_process);
    }
    snprintf(remedy, sizeof remedy, "cwctl job grant %s %s:%s:%u", q->from_name, q->to_name, process, q->port);
    set_remedy(w, row, missing, remedy);
}

/*
 * Fields that would say nothing to people: why it is allowed; and an entry of the record, where the NMU did not come to
 * the grants. (The conditions are in the row already.)
 */
static bool says_something(const struct message *row, const char *field)
{
    bool allowed = message_get_flag(row, "allowed");
    if (strcmp(field, "because") == 0) {
        return !allowed;
    }
    bool reached = allowed || conditions_cause(row, "no-reach") || conditions_cause(row, "no-job") ||
                   conditions_cause(row, "no-process");
    return strcmp(field, "entry") != 0 || reached;
}

static void show_answer(const struct call *call, const struct question *q, const struct message *row)
{
    static const struct table_column all[] = {
        {"answer", "answer", TABLE_STATE},
        {"because", "because", TABLE_TEXT},
        {"entry", "entry", TABLE_TEXT},
        {"missing", "missing", TABLE_TEXT},
        {"leads_to", "leads to", TABLE_TEXT},
        {"asked", "asked on", TABLE_TEXT},
        {"version", "record version there", TABLE_COUNT},
        {"held_version", "record version here", TABLE_COUNT},
        {"refused", "refused there", TABLE_COUNT},
        {NULL, NULL, TABLE_TEXT},
    };
    struct table_column columns[sizeof all / sizeof *all];
    unsigned n = 0;
    char process[16] = "*";
    for (const struct table_column *c = all; c->field != NULL; c++) {
        if (says_something(row, c->field)) {
            columns[n++] = *c;
        }
    }
    columns[n] = (struct table_column){NULL, NULL, TABLE_TEXT};
    if (!q->key) {
        snprintf(process, sizeof process, "%" PRIu32, q->to_process);
    }
    fprintf(call->out, "%s:%" PRIu32 " to %s:%s:%s\n", q->from_name, q->from_process, q->to_name, process,
            q->port_name);
    conditions_show(call, row);
    table_print_record(row, columns, call->style, call->out);
}

/* An answer that was found here, without asking the NMU of a server. */
static struct message *open_answer(const struct job_world *w, const char *because, const char *cause)
{
    const char *const *word = w->call->arguments->word;
    struct message *row = message_open();
    message_text(row, "source", word[2]);
    message_text(row, "destination", word[3]);
    message_flag(row, "allowed", false);
    message_text(row, "because", because);
    message_text(row, "cause", cause);
    return row;
}

/* The answer where a job is not known: nobody needs to be asked. */
static struct message *answer_unknown(const struct job_world *w, const struct question *q)
{
    const char *near = job_world_nearest(w, q->unknown);
    struct message *row = open_answer(w, "no job has this name, and no service here", conditions_name(HAS_JOBS));
    char missing[120], remedy[200];
    snprintf(missing, sizeof missing, "a job or a service named %.60s", q->unknown);
    if (near != NULL) {
        snprintf(remedy, sizeof remedy, "did you mean %.60s?", near);
    } else {
        snprintf(remedy, sizeof remedy, "cwctl job list; cwctl services: say which there are, and a number will do");
    }
    set_remedy(w, row, missing, remedy);
    return row;
}

static void read_records(struct job_world *w, const struct question *q, enum truth is[static CONDITIONS])
{
    struct job_plan from, to;
    int source = job_world_fetch(w, q->from, &from, NULL), other = job_world_fetch(w, q->to, &to, NULL);
    conditions_of_records(w, q, source > 0 ? &from : NULL, other > 0 ? &to : NULL, is);
    if (source > 0) {
        job_plan_close(&from);
    }
    if (other > 0) {
        job_plan_close(&to);
    }
}

/*
 * The answer where no server can be asked, because the source's job has no such process, or was destroyed, or because
 * the other job was destroyed and its ports have no names any more. What is true is read from the records instead.
 */
static struct message *answer_nowhere(struct job_world *w, const struct question *q, enum truth is[static CONDITIONS])
{
    struct message *row;
    char missing[160], remedy[160];
    read_records(w, q, is);
    if (is[NOT_DESTROYED] == NO) {
        row = open_answer(w, "the sender's job was destroyed", conditions_name(NOT_DESTROYED));
    } else if (is[HAS_SPEAKER] == NO) {
        row = open_answer(w, "the sender's job has no such process", conditions_name(HAS_SPEAKER));
        snprintf(missing, sizeof missing, "job %s has no process %" PRIu32, q->from_name, q->from_process);
        if (job_world_signed(w, q->from)) {
            snprintf(remedy, sizeof remedy, "name a process that there is (cwctl job show %s says which)",
                     q->from_name);
        } else {
            snprintf(remedy, sizeof remedy, "name a process that there is (a service has one on each server: 0 to %u)",
                     w->servers - 1);
        }
        set_remedy(w, row, missing, remedy);
    } else {
        row = open_answer(w, "the job is not known here, or destroyed", conditions_name(HAS_JOB));
        snprintf(missing, sizeof missing, "job %s was destroyed", q->to_name);
        snprintf(remedy, sizeof remedy, "cwctl job create FILE, with job %s in it", q->to_name);
        set_remedy(w, row, missing, remedy);
    }
    (void)(conditions_cause(row, "destroyed") && add_other_remedy(w, q, row));
    return row;
}

/* Gives the answer as the one row, with its conditions. < 0: told. */
static int answer(struct job_world *w, const struct question *q, struct rows *rows)
{
    enum truth is[CONDITIONS] = {OPEN};
    if (q->unknown != NULL) {
        rows_add(rows, answer_unknown(w, q));
        is[HAS_JOBS] = NO;
        conditions_add(q, rows->row[0], is);
        return 0;
    }
    int rc = q->nameless ? 0 : ask_question(w, q, rows);
    if (rc < 0) {
        return rc;
    }
    if (rc == 0) {
        rows_add(rows, answer_nowhere(w, q, is));
        conditions_add(q, rows->row[0], is);
        return 0;
    }
    rows_type(rows, "allowed", "");
    if (!message_get_flag(rows->row[0], "allowed")) {
        add_remedy(w, q, rows->row[0]);
    }
    if (conditions_of_answer(rows->row[0], is)) {
        conditions_add(q, rows->row[0], is);
    }
    return 0;
}

int run_job_explain(struct call *call)
{
    struct job_world w;
    struct question q = {.unknown = NULL};
    struct rows rows = {NULL, 0, 0};
    if (job_world_open(&w, call) >= 0 && read_question(&w, &q) >= 0 && answer(&w, &q, &rows) >= 0 && rows.count > 0) {
        struct message *row = rows.row[0];
        bool allowed = message_get_flag(row, "allowed");
        if (call->arguments->json) {
            message_print(row, call->out);
        } else {
            message_text(row, "answer", allowed ? "allowed" : "denied");
            show_answer(call, &q, row);
        }
        w.code = w.code == EXIT_FINE && !allowed ? EXIT_NO : w.code;
    }
    rows_clear(&rows);
    job_world_close(&w);
    return w.code;
}

/* ---- audit ------------------------------------------------------------------------------------------------------- */

/* "5001:3" and "5002:7:1" with the names of the jobs. */
static void set_named(const struct job_world *w, struct message *row, const char *field)
{
    char number[16], name[JOB_RECORD_NAME_BYTES], text[128];
    const char *is = message_get_text(row, field, "");
    size_t length = strcspn(is, ":");
    snprintf(number, sizeof number, "%.*s", (int)(length < sizeof number ? length : sizeof number - 1), is);
    cw_job job = job_words_number(number);
    if (job != 0) {
        job_world_name(w, job, name);
        snprintf(text, sizeof text, "%s%.60s", name, is + length);
        message_text(row, field, text);
    }
}

static void show_audit(const struct job_world *w, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},  {"source", "FROM", TABLE_TEXT},     {"destination", "TO", TABLE_TEXT},
        {"times", "REFUSED", TABLE_COUNT}, {"because", "BECAUSE", TABLE_TEXT}, {NULL, NULL, TABLE_TEXT},
    };
    FILE *out = w->call->out;
    const struct message *last = rows->row[rows->count - 1];
    int64_t more = message_get_integer(last, "in_no_row", 0);
    for (size_t i = 0; i + 1 < rows->count; i++) {
        set_named(w, rows->row[i], "source");
        set_named(w, rows->row[i], "destination");
    }
    if (rows->count > 1) {
        table_print(rows->row, rows->count - 1, columns, w->call->style, out);
    }
    fprintf(out, "%" PRId64 " refused on %" PRId64 " servers", message_get_integer(last, "refused", 0),
            message_get_integer(last, "servers", 0));
    fprintf(out, more > 0 ? ", %" PRId64 " of them of kinds that there was no room to tell apart\n" : "\n", more);
}

int run_job_audit(struct call *call)
{
    static const char *const words[] = {"audit", NULL};
    struct job_world w;
    struct rows rows = {NULL, 0, 0};
    char why[CLIENT_WHY];
    int rc = job_world_open(&w, call);
    rc = rc < 0 ? rc : job_world_ask(&w, words, call_patience(call), &rows, why);
    rows_sort(&rows); /* they came in the order in which the servers answered; the sum stays the last */
    if (rc >= 0 && rows.count > 0) {
        int64_t silent = message_get_integer(rows.row[rows.count - 1], "silent", 0);
        for (size_t i = 0; call->arguments->json && i < rows.count; i++) {
            message_print(rows.row[i], call->out);
        }
        if (!call->arguments->json) {
            show_audit(&w, &rows);
        }
        if (silent > 0) {
            (void)job_world_fail(&w, EXIT_INCOMPLETE, "%" PRId64 " servers did not answer", silent);
        }
    } else if (rc < 0 && w.code == EXIT_FINE) {
        (void)job_world_fail(&w, EXIT_NO, "%s", why);
    }
    rows_clear(&rows);
    job_world_close(&w);
    return w.code;
}
