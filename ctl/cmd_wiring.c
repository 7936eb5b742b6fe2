/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_wiring.c - the cables as a server sees them: ports, what the search for a place has found, and what is wrong.
 */
#include "ctl/commands.h"
#include "ctl/diagnosis/near.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_part(const struct message *row, const char *part)
{
    return strcmp(message_get_text(row, "part", ""), part) == 0;
}

/* "-x of 1,0,0", or nothing. */
static void set_end(struct message *row, const char *field, const char *port, const char *server)
{
    char text[80];
    if (message_has(row, server)) {
        snprintf(text, sizeof text, "%s of %s", message_get_text(row, port, "?"), message_get_text(row, server, "?"));
        message_text(row, field, text);
    }
}

static void show_search(const struct call *call, const struct message *row)
{
    const char *torus = message_get_text(row, "torus", "");
    const char *state = message_get_text(row, "state", "");
    int64_t missing = message_get_integer(row, "missing", 0);
    if (strcmp(state, "agreed") == 0) {
        return; /* the ports say the rest */
    }
    const char *server = message_get_text(row, "server", ""); /* of several that were asked */
    fprintf(call->out, "%s%s%s: %" PRId64 " of its servers known", server, server[0] != '\0' ? ": " : "",
            strcmp(state, "refused") == 0 ? "no torus can be made of these cables" : "searching for a place in a torus",
            message_get_integer(row, "servers", 0));
    if (missing > 0) {
        fprintf(call->out, ", %" PRId64 " more named by others and not heard", missing);
    }
    if (torus[0] != '\0') {
        fprintf(call->out, "; %" PRId64 " agree on %s", message_get_integer(row, "agreeing", 0), torus);
    }
    fputs("\n\n", call->out);
}

/* What is wrong, and not with one of the cables that were listed. */
static size_t faults_of(const struct rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        count += is_part(rows->row[i], "fault");
    }
    return count;
}

void show_wiring(const struct call *call, const struct rows *rows)
{
    static const struct table_column columns[] = {
        {"server", "SERVER", TABLE_TEXT},
        {"port_number", "NUMBER", TABLE_COUNT},
        {"link", "PORT", TABLE_TEXT},
        {"plan", "SHOULD GO TO", TABLE_TEXT},
        {"heard", "IS HEARD", TABLE_TEXT},
        {"far", "FAR END", TABLE_TEXT},
        {"far_port_number", "ITS NUMBER", TABLE_COUNT},
        {"far_link", "ITS PORT", TABLE_TEXT},
        {"state", "STATE", TABLE_STATE},
        {"ok", "RIGHT", TABLE_FLAG},
        {NULL, NULL, TABLE_TEXT},
    };
    struct message **cables = calloc(rows->count + 1, sizeof(struct message *));
    size_t count = 0, right = 0, judged = 0;
    for (size_t i = 0; cables != NULL && i < rows->count; i++) {
        struct message *row = rows->row[i];
        if (is_part(row, "search")) {
            show_search(call, row);
        } else if (!is_part(row, "fault")) {
            set_end(row, "plan", "port", "leads_to");
            set_end(row, "heard", "seen_port", "seen");
            judged += message_has(row, "ok");
            right += message_get_flag(row, "ok");
            cables[count++] = row;
        }
    }
    if (cables != NULL) {
        table_print(cables, count, columns, call->style, call->out);
    }
    free(cables);
    if (judged > 0) {
        size_t more = right == judged ? faults_of(rows) : 0;
        fprintf(call->out, "\n%zu of %zu are right", right, judged);
        if (more > 0) {
            fprintf(call->out, ", and yet:");
        }
        fputc('\n', call->out);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const char *fault = message_get_text(rows->row[i], "fault", NULL);
        if (fault != NULL && is_part(rows->row[i], "fault")) {
            fprintf(call->out, "%s\n", fault);
        } else if (fault != NULL) {
            fprintf(call->out, "%s of %s: %s\n", message_get_text(rows->row[i], "link", "?"),
                    message_get_text(rows->row[i], "server", "?"), fault);
        }
    }
}

/* ---- All cables -------------------------------------------------------------------------------------------------- */

static bool same(const struct message *a, const char *field, const struct message *b, const char *other)
{
    const char *text = message_get_text(a, field, "");
    return text[0] != '\0' && strcmp(text, message_get_text(b, other, "")) == 0;
}

/* The finding is about that cable, at the end where its row begins or at the far one. */
static bool is_at(const struct message *finding, const struct message *cable, const char *server, const char *port)
{
    return same(finding, "server", cable, server) && same(finding, "link", cable, port);
}

/* What is heard at the near end, when it is a stranger. */
static void set_heard(struct message *cable, const struct message *finding)
{
    if (is_at(finding, cable, "server", "link") && message_has(finding, "seen")) {
        message_text(cable, "seen", message_get_text(finding, "seen", ""));
        message_text(cable, "seen_port", message_get_text(finding, "seen_port", ""));
    }
}

/* The database of links knows only up and down; that a cable loses frames is known at its ends. True: it is wrong. */
static bool judge_cable(struct message *cable, const struct rows *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct message *f = findings->row[i];
        bool near = is_at(f, cable, "server", "link"), far = is_at(f, cable, "leads_to", "port");
        set_heard(cable, f);
        if ((near || far) && strcmp(message_get_text(f, "cause", ""), "lossy") == 0) {
            char text[512];
            snprintf(text, sizeof text, "%s%s%s", far ? message_get_text(f, "server", "") : "", far ? " says: " : "",
                     message_get_text(f, "text", ""));
            message_text(cable, "fault", text);
            message_flag(cable, "ok", false);
            return true;
        }
    }
    return false;
}

/* A server that is away, as far as the view knows, may run, and be refused by its neighbours. */
static void judge_away(struct message *row, const struct rows *findings)
{
    const char *server = message_get_text(row, "server", "");
    const char *why = diagnose_refused(findings, server);
    char text[512];
    if (why != NULL) {
        snprintf(text, sizeof text, "%s runs, and its neighbours do not take it in: %s", server, why);
        message_text(row, "kind", "refused");
        message_text(row, "fault", text);
    }
}

/* The same of a cable at one of whose ends such a server is. */
static void judge_end(struct message *cable, const struct rows *findings)
{
    if (strcmp(message_get_text(cable, "state", ""), "up") != 0 &&
        (diagnose_refused(findings, message_get_text(cable, "server", "")) != NULL ||
         diagnose_refused(findings, message_get_text(cable, "leads_to", "")) != NULL)) {
        message_text(cable, "state", "refused");
    }
}

/* Asks every server what it has to say of its cables. True: one of them is wrong that was right so far. */
static bool ask_all(struct call *call, struct rows *rows)
{
    struct rows findings = {NULL, 0, 0};
    bool wrong = false;
    int rc = doctor_of_all(call, &findings);
    for (size_t i = 0; rc >= 0 && i < rows->count; i++) {
        struct message *row = rows->row[i];
        if (is_part(row, "cable")) {
            wrong = judge_cable(row, &findings) || wrong;
            judge_end(row, &findings);
        } else if (is_part(row, "fault")) {
            judge_away(row, &findings);
        }
    }
    rows_clear(&findings);
    return wrong;
}

int run_wiring(struct call *call)
{
    struct rows rows = {NULL, 0, 0};
    struct request_draft *request = call_request(call, "wiring");
    int code = EXIT_FINE;
    int rc = call_ask(call, request, call_patience(call), rows_add, &rows, &code);
    if (rc >= 0) {
        bool wrong = call_given(call, "all") != NULL && ask_all(call, &rows);
        code = rc > 0 || wrong ? EXIT_NO : EXIT_FINE;
    }
    for (size_t i = 0; call->arguments->json && i < rows.count; i++) {
        message_print(rows.row[i], call->out);
    }
    if (!call->arguments->json && (rc >= 0 || rows.count > 0)) {
        show_wiring(call, &rows);
    }
    request_draft_close(request);
    rows_clear(&rows);
    return code;
}
