/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_doctor.c - what is wrong, worst first, each with what to do about it.
 */
#include "ctl/ask/lab.h"
#include "ctl/ask/remedy.h"
#include "ctl/commands.h"
#include "ctl/diagnosis/diagnosis.h"
#include "ctl/diagnosis/finding.h"
#include "ctl/diagnosis/missing.h"
#include "ctl/diagnosis/near.h"
#include "ctl/diagnosis/silent.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char *const severities[] = {"", "grave", "broken", "warning", "note"};
enum { SEVERITIES = sizeof severities / sizeof *severities };

static const char *word_of(const struct message *m)
{
    int64_t severity = message_get_integer(m, "severity", 0);
    return severities[severity > 0 && severity < SEVERITIES ? severity : SEVERITIES - 1];
}

static void show_finding(const struct call *call, const struct message *m)
{
    const char *word = word_of(m);
    const char *server = message_get_text(m, "server", ""), *link = message_get_text(m, "link", "");
    const char *cause = message_get_text(m, "cause", "");
    if (server[0] == '\0' || (strcmp(server, "-") == 0 && strcmp(cause, "swapped") == 0)) {
        /* That cables are exchanged is known to all who look for their places, wherever these are plugged in. */
        bool whole = strcmp(cause, "no-majority") == 0 || server[0] != '\0';
        server = whole ? "the cluster" : "several servers";
    } else if (strcmp(server, "-") == 0) {
        server = "this server";
    }
    table_state(word, call->style, call->out);
    fprintf(call->out, "%*s%s%s%s\n", (int)(9 - strlen(word)), "", server, link[0] != '\0' ? "  " : "", link);
    fprintf(call->out, "    %s%s%s\n", table_bold(call->style), message_get_text(m, "text", ""),
            table_plain(call->style));
    fprintf(call->out, "    do: %s\n\n", message_get_text(m, "do", ""));
}

/* Findings that are no more than a note: nothing is wrong. */
static size_t notes_of(const struct rows *rows)
{
    size_t notes = 0;
    for (size_t i = 0; i < rows->count; i++) {
        notes += message_get_integer(rows->row[i], "severity", 0) >= SEVERITIES - 1;
    }
    return notes;
}

static void show_sum(const struct call *call, const struct rows *rows, const struct missing_count *a)
{
    bool one = a->servers == 1 && a->server[0] != '\0';
    size_t notes = notes_of(rows), findings = rows->count - notes;
    char more[40] = "";
    if (notes > 0) {
        snprintf(more, sizeof more, "%zu note%s", notes, notes == 1 ? "" : "s");
    }
    if (rows->count == 0 && one) {
        fprintf(call->out, "nothing is wrong with %s; cwctl doctor --all asks every server\n", a->server);
    } else if (rows->count == 0) {
        fprintf(call->out, "nothing is wrong: all %" PRId64 " servers answered\n", a->servers);
    } else if (findings == 0) {
        fprintf(call->out, "nothing is wrong, %s; %" PRId64 " of %" PRId64 " server%s answered\n", more, a->answered,
                a->servers, a->servers == 1 ? "" : "s");
    } else {
        fprintf(call->out, "%zu finding%s%s%s, worst first; %" PRId64 " of %" PRId64 " server%s answered\n", findings,
                findings == 1 ? "" : "s", notes > 0 ? " and " : "", more, a->answered, a->servers,
                a->servers == 1 ? "" : "s");
    }
}

int doctor_of_all(const struct call *call, struct rows *out)
{
    struct request_draft *request = call_request(call, "doctor");
    int code = EXIT_FINE;
    if (call_given(call, "all") == NULL) {
        request_draft_flag(request, "all");
    }
    int rc = call_ask(call, request, call_patience(call), rows_add, out, &code);
    request_draft_close(request);
    return rc;
}

/* The first answers are kept when the second time gives none. */
static void ask_again(const struct call *call, struct rows *rows)
{
    struct rows again = {NULL, 0, 0};
    if (doctor_of_all(call, &again) < 0) {
        rows_clear(&again);
        return;
    }
    rows_clear(rows);
    *rows = again;
}

/* A cable that seems dead from here may be well: the server at its far end knows what it did to its interface. */
static void ask_far_ends(const struct call *call, struct rows *rows)
{
    struct rows all = {NULL, 0, 0};
    if (diagnose_near_doubts(rows) && doctor_of_all(call, &all) >= 0) {
        diagnose_near(rows, &all);
    }
    rows_clear(&all);
}

static void show(const struct call *call, struct message *m)
{
    if (call->arguments->json) {
        message_text(m, "weight", word_of(m));
        message_print(m, call->out);
    } else {
        show_finding(call, m);
    }
}

bool doctor_absent(const struct call *call, const char *path, int rc)
{
    if (call->command->run != run_doctor || (rc != -ECONNREFUSED && rc != -ENOENT) || lab_has(path)) {
        return false;
    }
    struct message *m = message_open();
    bool left = client_left(path), died = rc == -ECONNREFUSED && !left;
    message_integer(m, "severity", left ? SEVERITIES - 1 : 1);
    message_text(m, "cause", left ? "left" : "no-daemon");
    message_text(m, "server", "-");
    if (left) {
        finding_put(m, "text", "this server left in order, and its daemon has ended; start it again when you like");
        finding_put(m, "do", "systemctl start cubewayd");
    } else if (died) {
        finding_put(m, "text",
                    "the daemon of this server has died: nobody answers at %s, and a daemon that ends in order takes "
                    "its socket away",
                    path);
        finding_put(m, "do", "journalctl -u cubewayd -n 40 says how it died; systemctl start cubewayd");
    } else {
        finding_put(
            m, "text",
            "no daemon runs here: there is no socket %s%sit left in order, could not start, or was never started", path,
            path[0] != '\0' ? "; " : "of one; ");
        finding_put(m, "do",
                    "cubewayd --check-config says whether it can start; systemctl start cubewayd; journalctl -u "
                    "cubewayd -n 40");
    }
    show(call, m);
    if (!call->arguments->json) {
        fprintf(call->out, "on another server cwctl doctor --all says how the cluster is without this one\n");
    }
    message_close(m);
    return true;
}

int run_doctor(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, "doctor");
    int code = EXIT_FINE;
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    request_draft_close(request);
    if (rc >= 0) {
        const char *lab = client_lab(call->client);
        if (missing_meanwhile(&rows)) {
            ask_again(call, &rows);
        }
        if (lab != NULL) {
            silent_ask(&rows, client_path(call->client));
        }
        struct missing_count asked = missing_count(&rows);
        if (call_given(call, "all") != NULL || lab != NULL) {
            remedy_place(&rows);
        }
        if (call_given(call, "all") == NULL) {
            ask_far_ends(call, &rows);
        }
        diagnose(&rows);
        remedies_in_lab(&rows, lab, lab != NULL ? client_daemon(call->client) : "");
        for (size_t i = 0; i < rows.count; i++) {
            show(call, rows.row[i]);
        }
        if (!call->arguments->json) {
            show_sum(call, &rows, &asked);
        }
        code = rows.count > notes_of(&rows) ? EXIT_NO : EXIT_FINE;
    }
    rows_clear(&rows);
    return code;
}
