/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_drain.c - a server is taken out of its cluster without anybody missing it: when it is safe, its keys go to their
 * heirs, and its daemon ends.
 */
#include "ctl/commands.h"

#include "base/quantity.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const cw_span pause = CW_MS(100), look = CW_MS(10);

static bool is_part(const struct message *row, const char *part)
{
    return strcmp(message_get_text(row, "part", ""), part) == 0;
}

static const struct message *verdict_of(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_part(rows->row[i], "drain")) {
            return rows->row[i];
        }
    }
    return NULL;
}

/* Asks whether the server may go now; with `go` it goes if it may. */
static int ask(const struct call *call, bool go, struct rows *rows, int *code)
{
    struct request_draft *request = call_request(call, "drain");
    if (go) {
        request_draft_flag(request, "go");
    }
    int rc = call_ask(call, request, call_patience(call), rows_add, rows, code);
    request_draft_close(request);
    return rc;
}

static void show_heirs(const struct call *call, const struct rows *rows)
{
    const char *between = "its keys go to ";
    bool any = false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *row = rows->row[i];
        if (is_part(row, "heir")) {
            fprintf(call->out, "%s%s (%" PRId64 " parts)", between, message_get_text(row, "server", "?"),
                    message_get_integer(row, "parts", 0));
            between = ", ";
            any = true;
        }
    }
    fprintf(call->out, "%s\n", any ? "; the keys of one home have 48 parts" : "it has no keys to hand over");
}

static void show(const struct call *call, const struct rows *rows)
{
    for (size_t i = 0; call->arguments->json && i < rows->count; i++) {
        message_print(rows->row[i], call->out);
    }
    if (!call->arguments->json) {
        show_heirs(call, rows);
    }
}

static void count_row(void *context, struct message *row)
{
    (void)context;
    message_close(row);
}

/* Until the daemon answers no more: its process may go on for some tenths of a second. */
static bool wait_for_silence(const struct call *call)
{
    char why[CLIENT_WHY];
    int64_t left = call_patience(call).ns;
    for (; left > 0 && !*call->stop; left -= look.ns) {
        struct request_draft *request = request_draft_open("status", call->server);
        int rc = client_ask(call->client, request, call_patience(call), count_row, NULL, why);
        request_draft_close(request);
        if (rc < 0 && client_failed(call->client)) {
            return rc != -ETIME && rc != -EINTR;
        }
        call_rest(call, look);
    }
    return false;
}

/* Until the daemon has ended, which it does when every neighbour knows and what was under way has gone on. */
static bool wait_for_end(const struct call *call)
{
    int rc = client_outlive(call->client, call_patience(call));
    return rc == -ENOTSUP ? wait_for_silence(call) : rc == 0;
}

static int finish(const struct call *call, const struct rows *rows)
{
    const struct message *verdict = verdict_of(rows);
    show(call, rows);
    if (!wait_for_end(call)) {
        fprintf(call->errors, "cwctl: the server has left, and its daemon has not ended in time\n");
        return EXIT_TIMEOUT;
    }
    if (!call->arguments->json) {
        fprintf(call->out, "%s has left: its heirs deliver its keys, and its daemon has ended\n",
                verdict != NULL ? message_get_text(verdict, "server", "it") : "it");
    }
    return EXIT_FINE;
}

int run_drain(struct call *call)
{
    int64_t left = call_patience(call).ns;
    bool told = false;
    for (;;) {
        struct rows rows = {NULL, 0, 0};
        int code = EXIT_FINE;
        int rc = ask(call, true, &rows, &code);
        const struct message *verdict = rc >= 0 ? verdict_of(&rows) : NULL;
        bool gone = verdict != NULL && message_get_flag(verdict, "ready");
        bool hopeless = verdict != NULL && !message_get_flag(verdict, "wait");
        if (gone) {
            code = finish(call, &rows);
        } else if (verdict != NULL && (hopeless || left <= 0 || *call->stop)) {
            fprintf(call->errors, "cwctl: it stays: %s\n", message_get_text(verdict, "why", "?"));
            code = hopeless ? EXIT_NO : EXIT_TIMEOUT;
        } else if (verdict != NULL && !told && !call->arguments->json) {
            fprintf(call->out, "waits: %s\n", message_get_text(verdict, "why", "?"));
            fflush(call->out);
            told = true;
        }
        bool more = verdict != NULL && !gone && !hopeless && left > 0 && !*call->stop;
        rows_clear(&rows);
        if (!more) {
            return rc < 0 || verdict != NULL ? code : EXIT_NO;
        }
        call_rest(call, pause);
        left -= pause.ns;
    }
}

/* Who leaves is not kept from it, and hears before what it costs. */
static void warn_of_majority(const struct call *call)
{
    char why[CLIENT_WHY];
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, "drain");
    int rc = client_ask(call->client, request, call_patience(call), rows_add, &rows, why);
    const struct message *verdict = rc >= 0 ? verdict_of(&rows) : NULL;
    if (verdict != NULL && !message_get_flag(verdict, "ready") && !message_get_flag(verdict, "wait")) {
        fprintf(call->errors, "cwctl: warning: %s\n", message_get_text(verdict, "warning", "it is needed"));
    }
    request_draft_close(request);
    rows_clear(&rows);
}

int run_leave(struct call *call)
{
    warn_of_majority(call);
    int code = call_plain(call);
    if (code != EXIT_FINE) {
        return code;
    }
    if (!wait_for_end(call)) {
        fprintf(call->errors, "cwctl: it leaves the cluster, and its daemon has not ended in time\n");
        return EXIT_TIMEOUT;
    }
    if (!call->arguments->json) {
        fprintf(call->out, "it has left the cluster, and its daemon has ended\n");
    }
    return EXIT_FINE;
}
