/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/asked.h"

#include "ctl/diagnosis/finding.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT = 600 };

static bool is_answer(const struct message *m)
{
    return strcmp(finding_text(m, "part"), "about") == 0;
}

char *diagnosis_answered(const struct rows *rows)
{
    size_t room = 1, used = 0;
    for (size_t i = 0; i < rows->count; i++) {
        room += is_answer(rows->row[i]) ? strlen(finding_text(rows->row[i], "server")) + 1 : 0;
    }
    char *names = calloc(room, 1);
    for (size_t i = 0; names != NULL && i < rows->count; i++) {
        if (is_answer(rows->row[i])) {
            const char *between = used > 0 ? " " : "";
            used += (size_t)snprintf(names + used, room - used, "%s%s", between, finding_text(rows->row[i], "server"));
        }
    }
    return names;
}

/* A word of the names. */
static bool has_name(const char *names, const char *name, size_t length)
{
    for (const char *at = names; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
        if (strcspn(at, " ") == length && strncmp(at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

void diagnosis_tell_reached(struct rows *rows, const char *answered)
{
    for (size_t i = 0; answered != NULL && i < rows->count; i++) {
        struct message *m = rows->row[i];
        char server[32];
        snprintf(server, sizeof server, "%s", finding_text(m, "expected"));
        if (strcmp(finding_text(m, "cause"), "unreached") == 0 && has_name(answered, server, strlen(server))) {
            finding_put(m, "text", "%s runs, and is out of view: none of its neighbours is in view", server);
            finding_put(m, "do", "start one of the neighbours of %s", server);
        }
    }
}

void diagnosis_leave_asked(struct rows *rows, const char *answered)
{
    static const char on[] = "on ", command[] = ": cwctl doctor";
    for (size_t i = 0; answered != NULL && i < rows->count; i++) {
        struct message *m = rows->row[i];
        char text[TEXT];
        const char *remedy = finding_text(m, "do"), *at = strstr(remedy, command);
        if (strncmp(remedy, on, sizeof on - 1) != 0 || at == NULL) {
            continue;
        }
        const char *server = remedy + sizeof on - 1, *then = at + sizeof command - 1;
        bool more = strncmp(then, "; ", 2) == 0;
        if ((more || *then == '\0') && has_name(answered, server, (size_t)(at - server))) {
            const char *rest = more ? then + 2 : "cwctl events says what happened";
            rest += strncmp(rest, "or ", 3) == 0 ? 3 : 0; /* the other choice is the only one now */
            snprintf(text, sizeof text, "on %.*s: %s", (int)(at - server), server, rest);
            message_text(m, "do", text);
        }
    }
}

bool diagnosis_is_said(const struct rows *rows, const struct message *finding)
{
    static const char *const follows[] = {"silent", "unreached", "resting", "unanswered", "half", "flapping", NULL};
    static const char *const causes[] = {"stalled", "held", NULL};
    const char *of =
        finding_text(finding, strcmp(finding_text(finding, "cause"), "unanswered") == 0 ? "server" : "expected");
    for (size_t i = 0; of[0] != '\0' && finding_is_any(finding, "cause", follows) && i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m != NULL && m != finding && finding_is_any(m, "cause", causes) &&
            strcmp(finding_text(m, "server"), of) == 0) {
            return true;
        }
    }
    return false;
}
