/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/silent.h"

#include "ctl/ask/lab.h"
#include "ctl/diagnosis/finding.h"

#include <string.h>

enum { TEXT = 400 };

static const cw_span patience = CW_MS(1000);

/* The server of which the row says that nobody hears it, or that it did not answer; NULL: it says nothing like that. */
static const char *silent_of(const struct message *m)
{
    if (finding_is(m, "part", "finding") && finding_is(m, "cause", "server-down")) {
        return message_get_text(m, "expected", NULL);
    }
    return message_has(m, "unanswered") || message_has(m, "unasked") ? message_get_text(m, "server", NULL) : NULL;
}

/* "/run/../NAME/0,0,0.sock" gives "/run/../NAME/SERVER.sock". False: it does not fit. */
static bool socket_of(const char *path, const char *server, char *out, size_t room)
{
    const char *slash = strrchr(path, '/');
    int n = slash != NULL ? snprintf(out, room, "%.*s/%s.sock", (int)(slash - path), path, server) : -1;
    return n > 0 && (size_t)n < room;
}

/* Adds what the server says of itself. False: it does not answer either. */
static bool ask(struct rows *rows, const char *socket)
{
    char why[CLIENT_WHY];
    struct client *c;
    if (client_open(&c, socket, why) < 0) {
        return false;
    }
    struct request_draft *request = request_draft_open("doctor", NULL);
    int rc = client_ask(c, request, patience, rows_add, rows, why);
    request_draft_close(request);
    client_close(c);
    return rc >= 0;
}

static void tell(struct message *m, const char *server, bool answers)
{
    char text[TEXT], span[40] = "";
    const char *silent = message_get_text(m, "silent_for", NULL);
    if (silent != NULL) {
        snprintf(span, sizeof span, " for %s", silent);
    }
    snprintf(text, sizeof text,
             "%s is not heard by its neighbours%s, and the lab's keeper says that its daemon runs: %s", server, span,
             answers ? "it answers now, so that it stood still a moment ago, and its links come up again"
                     : "it stands still, or its machine or a service keeps it busy");
    message_text(m, "cause", "silent");
    message_text(m, "text", text);
    /* Who stands still answers no command: its log may say why. */
    snprintf(text, sizeof text, answers ? "on %s: cwctl doctor; cwctl status" : "on %s: journalctl -u cubewayd",
             server);
    message_text(m, "do", text);
}

/* Row i of them is the first about a server that is silent: looks at that server, and changes all rows about it. */
static void look(struct rows *rows, size_t i, size_t count, const char *path)
{
    char server[32], socket[256];
    snprintf(server, sizeof server, "%s", silent_of(rows->row[i]));
    if (!lab_daemon_runs(path, server) || !socket_of(path, server, socket, sizeof socket)) {
        return;
    }
    bool answers = ask(rows, socket);
    for (; i < count; i++) {
        struct message *m = rows->row[i];
        const char *silent = silent_of(m);
        if (silent != NULL && strcmp(silent, server) == 0 && finding_is(m, "cause", "server-down")) {
            tell(m, server, answers);
        }
    }
}

static bool came_before(const struct rows *rows, size_t i)
{
    for (size_t k = 0; k < i; k++) {
        const char *before = silent_of(rows->row[k]);
        if (before != NULL && strcmp(before, silent_of(rows->row[i])) == 0) {
            return true;
        }
    }
    return false;
}

void silent_ask(struct rows *rows, const char *path)
{
    size_t count = rows->count;
    for (size_t i = 0; i < count; i++) {
        if (silent_of(rows->row[i]) != NULL && !came_before(rows, i)) {
            look(rows, i, count, path);
        }
    }
}
