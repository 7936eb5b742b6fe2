/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/jobs/job_result.h"

#include "commandline/units.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The rows of the servers, and the last, in which `closed` is a number of servers. */
void job_result_type(const struct rows *rows)
{
    if (rows->count > 0) {
        const struct rows servers = {rows->row, rows->count - 1, 0}, last = {rows->row + rows->count - 1, 1, 0};
        rows_type(&servers, "kept closed", "");
        rows_type(&last, "destroyed complete", "");
    }
}

static int64_t last_of(const struct rows *rows, const char *field)
{
    return rows->count > 0 ? message_get_integer(rows->row[rows->count - 1], field, 0) : 0;
}

enum job_end job_result_end(int rc, const struct rows *rows)
{
    if (rc == -EEXIST || rc == -ESTALE || rc == -EBUSY) {
        return JOB_AGAIN;
    }
    if (rc < 0 && rc != -ETIMEDOUT) {
        return JOB_REFUSED;
    }
    if (last_of(rows, "superseded") > 0) {
        return JOB_AGAIN;
    }
    return rc < 0 || last_of(rows, "closed") > 0 ? JOB_PART : JOB_DONE;
}

cw_span job_result_pause(unsigned tries, uint64_t chance)
{
    enum { DOUBLINGS = 6 };
    const cw_span most = CW_MS(INT64_C(5) << (tries < DOUBLINGS ? tries : DOUBLINGS));
    return (cw_span){(int64_t)(chance % (uint64_t)most.ns)};
}

/* Tells the servers that are in that state; with state NULL, those that let the job send nothing. */
static void show_states(FILE *out, const struct rows *rows, const char *state)
{
    for (size_t i = 0; i + 1 < rows->count; i++) {
        const struct message *row = rows->row[i];
        if (state != NULL ? strcmp(message_get_text(row, "state", ""), state) == 0 : message_get_flag(row, "closed")) {
            fprintf(out, " %s", message_get_text(rows->row[i], "server", "?"));
        }
    }
    fputc('\n', out);
}

void job_result_show(const struct call *call, const struct job_plan *plan, const struct rows *rows, bool wait)
{
    FILE *out = call->out;
    char took[UNITS_TEXT];
    bool complete = rows->count > 0 && message_get_flag(rows->row[rows->count - 1], "complete");
    int64_t have = last_of(rows, "acked"), superseded = last_of(rows, "superseded"), fenced = last_of(rows, "fenced");
    int64_t missing = last_of(rows, "missing"), absent = last_of(rows, "absent"), unkept = last_of(rows, "unkept");
    if (call->arguments->json) {
        for (size_t i = 0; i < rows->count; i++) {
            message_print(rows->row[i], out);
        }
        return;
    }
    units_span(last_of(rows, "took_ns"), took);
    fprintf(out, "job %s, version %" PRIu64 "%s: ", plan->name, plan->version, plan->destroyed ? ", destroyed" : "");
    if (!wait) {
        fprintf(out, "on its way\n");
        return;
    }
    fprintf(out, "%s after %s: %" PRId64 " server%s %s it\n", complete ? "complete" : "not complete", took, have,
            have == 1 ? "" : "s", have == 1 ? "has" : "have");
    if (superseded > 0) {
        fprintf(out, "another operator's change has taken its place, and this one may not be in it:");
        show_states(out, rows, "superseded");
        fprintf(out, "look (cwctl job show %s), and change it again if it is not what it should be\n", plan->name);
    }
    if (fenced > 0) {
        fprintf(out, "fenced, and may send nothing before they have it:");
        show_states(out, rows, "fenced");
    }
    if (missing > 0) {
        fprintf(out, "did not answer, and may still go by what was before:");
        show_states(out, rows, "missing");
    }
    if (!complete && missing == 0 && superseded == 0) {
        fprintf(out, "that server has lost the others and may send nothing itself: ask one that sees them\n");
    }
    if (last_of(rows, "closed") > 0) {
        fprintf(out, "no room there for what all jobs together may, so that this one may do NOTHING there:");
        show_states(out, rows, NULL);
        fprintf(out,
                "take grants away from it, or from others that live there (cwctl job list counts them): it is open "
                "again as soon as there is room\n");
    }
    if (absent > 0) {
        fprintf(out,
                "%" PRId64 " server%s not in view and will learn it on return; until then what %s by what was before\n",
                absent, absent == 1 ? " is" : "s are",
                absent == 1 ? "it sends to servers beyond our view goes" : "they send to one another goes");
    }
    if (unkept > 0) {
        fprintf(out,
                "%" PRId64
                " do not keep it over a restart (their logs say why; a torus in one process keeps nothing)\n",
                unkept);
    }
}

void job_result_already(const struct call *call, const struct job_plan *plan)
{
    FILE *out = call->out;
    struct message *row = call->arguments->json ? message_open() : NULL;
    if (row != NULL) {
        message_integer(row, "job", plan->id);
        message_text(row, "name", plan->name);
        message_integer(row, "version", (int64_t)plan->version);
        message_flag(row, "already", true);
        message_print(row, out);
        message_close(row);
    } else {
        fprintf(out, "job %s, version %" PRIu64 ": it is so already\n", plan->name, plan->version);
    }
}
