/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/jobs/job_conditions.h"

#include <inttypes.h>
#include <string.h>

static const char *const conditions[CONDITIONS] = {"no-such-job", "no-speaker", "no-record", "destroyed", "stale",
                                                   "no-grant",    "no-reach",   "no-job",    "no-process"};

/* asked: the server where the sender lives; NULL: there is none. */
static void say_condition(const struct question *q, const char *asked, enum condition which, char *out, size_t room)
{
    char to[32] = "packets to keys", port[100];
    snprintf(port, sizeof port, "port %s of job %s", q->port_name, q->to_name);
    if (!q->key) {
        snprintf(to, sizeof to, "process %" PRIu32, q->to_process);
    }
    switch (which) {
    case HAS_JOBS:
        snprintf(out, room, "the job exists: %s", q->unknown != NULL ? q->unknown : q->from_name);
        break;
    case HAS_SPEAKER:
        snprintf(out, room, "process %" PRIu32 " of job %s runs on %s", q->from_process, q->from_name,
                 asked != NULL ? asked : "a server");
        break;
    case HAS_RECORD:
        if (asked != NULL) {
            snprintf(out, room, "the NMU of %s has a record of job %s, its own or a signed one", asked, q->from_name);
        } else {
            snprintf(out, room, "there is a record of job %s, its own or a signed one", q->from_name);
        }
        break;
    case NOT_DESTROYED:
        snprintf(out, room, "job %s was not destroyed", q->from_name);
        break;
    case NOT_STALE:
        snprintf(out, room, "what runs %s%s belongs to the job's present generation", asked != NULL ? "on " : "",
                 asked != NULL ? asked : "there");
        break;
    case HAS_GRANT:
        snprintf(out, room, "a grant of job %s names %s", q->from_name, port);
        break;
    case HAS_REACH:
        snprintf(out, room, "the grant covers %s", to);
        break;
    case HAS_JOB:
        snprintf(out, room, "job %s is known, and was not destroyed", q->to_name);
        break;
    default:
        snprintf(out, room, "job %s has %s", q->to_name, q->key ? "processes" : to);
    }
}

bool conditions_cause(const struct message *answer, const char *cause)
{
    return strcmp(message_get_text(answer, "cause", ""), cause) == 0;
}

const char *conditions_name(enum condition which)
{
    return conditions[which];
}

bool conditions_of_answer(const struct message *answer, enum truth is[static CONDITIONS])
{
    bool allowed = message_get_flag(answer, "allowed"), known = allowed;
    for (unsigned i = 0; i < CONDITIONS; i++) {
        bool no = !known && conditions_cause(answer, conditions[i]);
        is[i] = no ? NO : known && !allowed ? OPEN : YES;
        known = known || no;
    }
    return known;
}

static enum truth truth(bool is)
{
    return is ? YES : NO;
}

/* There is such a process: by the job's record, or, where a service has none, one on each server. plan NULL: none. */
static bool has_process(const struct job_world *w, cw_job job, const struct job_plan *plan, cw_process process)
{
    for (unsigned i = 0; plan != NULL && i < plan->ranges; i++) {
        const struct job_range *range = &plan->range[i];
        if (process >= range->first && process - range->first < range->count) {
            return true;
        }
    }
    return plan == NULL && job_world_runs(w, job) && process < w->servers;
}

/* What the record of the source's job says. from NULL: there is none. */
static void read_source(const struct job_world *w, const struct question *q, const struct job_plan *from,
                        enum truth is[static CONDITIONS])
{
    bool named = false;
    for (unsigned i = 0; from != NULL && i < from->rights; i++) {
        const struct job_right *r = &from->right[i];
        named = named || (r->job == q->to && r->ports.all);
        for (unsigned k = 0; r->job == q->to && k < r->ports.count; k++) {
            named = named || r->ports.port[k] == q->port;
        }
    }
    is[HAS_JOBS] = YES;
    is[HAS_SPEAKER] = has_process(w, q->from, from, q->from_process) ? OPEN : NO;
    is[HAS_RECORD] = truth(from != NULL || (q->from < FIRST_LOADED && job_world_runs(w, q->from)));
    is[NOT_DESTROYED] = truth(from == NULL || !from->destroyed);
    if (from != NULL || is[HAS_RECORD] == NO) { /* a service's own record is known to its NMU alone */
        bool nameless = q->nameless && from != NULL && !from->destroyed;
        is[HAS_GRANT] = nameless ? OPEN : truth(named);
        is[HAS_REACH] =
            nameless ? OPEN : truth(named && job_plan_allows(from, q->to, q->key, q->to_process, q->port) != NULL);
    }
}

/* What the record of the other job says. to NULL: there is none. */
static void read_destination(const struct job_world *w, const struct question *q, const struct job_plan *to,
                             enum truth is[static CONDITIONS])
{
    is[HAS_JOB] = truth(to != NULL ? !to->destroyed : job_world_runs(w, q->to));
    is[HAS_PROCESS] =
        truth(q->key ? is[HAS_JOB] == YES && (to == NULL || to->ranges > 0) : has_process(w, q->to, to, q->to_process));
}

void conditions_of_records(const struct job_world *w, const struct question *q, const struct job_plan *from,
                           const struct job_plan *to, enum truth is[static CONDITIONS])
{
    read_source(w, q, from, is);
    read_destination(w, q, to, is);
}

void conditions_add(const struct question *q, struct message *answer, const enum truth is[static CONDITIONS])
{
    const char *asked = message_get_text(answer, "asked", NULL), *remedy = message_get_text(answer, "remedy", "");
    for (unsigned i = 0; i < CONDITIONS; i++) {
        struct message *one = message_open();
        char text[256];
        say_condition(q, asked, i, text, sizeof text);
        message_text(one, "condition", text);
        if (is[i] == OPEN) {
            message_null(one, "holds");
        } else {
            message_flag(one, "holds", is[i] == YES);
        }
        if (conditions_cause(answer, conditions[i]) && remedy[0] != '\0') {
            message_text(one, "remedy", remedy);
        }
        message_append(answer, "conditions", one);
    }
}

void conditions_show(const struct call *call, const struct message *answer)
{
    const struct message *one;
    for (size_t i = 0; (one = message_get_object(answer, "conditions", i)) != NULL; i++) {
        bool over = message_kind(one, "holds") == MESSAGE_NULL;
        const char *is = over ? "-" : message_get_flag(one, "holds") ? "yes" : "no";
        const char *remedy = message_get_text(one, "remedy", NULL);
        fputs("  ", call->out);
        table_state(is, call->style, call->out);
        fprintf(call->out, "%*s%s\n", 5 - (int)strlen(is), "", message_get_text(one, "condition", ""));
        if (remedy != NULL) {
            fprintf(call->out, "       remedy: %s\n", remedy);
        }
    }
}
