/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/missing.h"

#include "ctl/diagnosis/finding.h"

#include <stdlib.h>
#include <string.h>

enum { BROKEN = 2, WARNING = 3, NAMED_MOST = 16, TEXT = 400 };

static bool is_about(const struct message *m, const char *server)
{
    return finding_is(m, "part", "about") && (server == NULL || finding_is(m, "server", server));
}

static bool has_answered(const struct rows *rows, const char *server)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (is_about(rows->row[i], server)) {
            return true;
        }
    }
    return false;
}

static bool is_missing(const struct message *m)
{
    return message_has(m, "unanswered") || message_has(m, "unasked");
}

struct missing_count missing_count(const struct rows *rows)
{
    struct missing_count count = {.server = ""};
    int64_t all = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        count.answered += is_about(m, NULL);
        if (is_about(m, NULL)) {
            snprintf(count.server, sizeof count.server, "%s", finding_text(m, "server"));
        }
        if (message_has(m, "asked")) {
            all = message_get_integer(m, "servers", message_get_integer(m, "asked", 0));
        }
    }
    count.servers = all > count.answered ? all : count.answered;
    if (count.servers != 1 || all != 0) {
        count.server[0] = '\0';
    }
    return count;
}

bool missing_meanwhile(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (message_has(rows->row[i], "away")) {
            return true;
        }
    }
    return false;
}

/* ---- Telling ----------------------------------------------------------------------------------------------------- */

static struct message *add(struct rows *rows, int severity, const char *server)
{
    struct message *m = message_open();
    if (m != NULL) {
        message_text(m, "server", server);
        message_text(m, "part", "finding");
        message_integer(m, "severity", severity);
        message_text(m, "cause", "unanswered");
        rows_add(rows, m);
    }
    return m;
}

static void tell_busy(struct rows *rows, const char *server)
{
    struct message *m = add(rows, WARNING, server);
    if (m != NULL) {
        finding_put(m, "text",
                    "%s is in view, and its daemon did not answer in time: it is busy, or older than this command",
                    server);
        finding_put(m, "do", "on %s: cwctl doctor", server);
    }
}

/* Only the one that was asked has answered, and says what is wrong: that it reaches nobody follows from that. */
static bool reaches_nobody(const struct rows *rows)
{
    static const char *const causes[] = {"cut-off", "alone", "fenced", "no-place", "place", NULL};
    bool reason = false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (finding_is_any(m, "cause", causes)) {
            return true;
        }
        reason = reason || (finding_is(m, "part", "finding") && message_get_integer(m, "severity", WARNING) <= BROKEN);
    }
    return reason && missing_count(rows).answered < 2;
}

char *missing_take(struct rows *rows, bool *failed)
{
    size_t count = rows->count, room = 1, used = 0;
    const bool nobody = reaches_nobody(rows);
    for (size_t i = 0; i < count; i++) {
        room += is_missing(rows->row[i]) ? strlen(finding_text(rows->row[i], "server")) + 1 : 0;
    }
    char *names = calloc(room, 1);
    *failed = true;
    for (size_t i = 0; names != NULL && i < count; i++) {
        const struct message *m = rows->row[i];
        const char *server = finding_text(m, "server");
        if (!is_missing(m) || has_answered(rows, server)) {
            continue;
        }
        if (message_has(m, "unanswered") && !message_has(m, "away")) {
            tell_busy(rows, server);
            continue;
        }
        if (!nobody) {
            *failed &= message_get_flag(m, "failed");
            used += (size_t)snprintf(names + used, room - used, "%s%s", used > 0 ? " " : "", server);
        }
    }
    return names;
}

/* The name stands in the text by itself, and is not a part of "11,1,1" or "1,1,12". */
static bool names_it(const char *text, const char *name, size_t length)
{
    static const char part[] = "0123456789,";
    for (size_t at = 0; text[at] != '\0'; at += strspn(text + at, part)) {
        at += strcspn(text + at, part);
        size_t word = strspn(text + at, part);
        while (word > 0 && text[at + word - 1] == ',') {
            word--; /* of the sentence */
        }
        if (word == length && strncmp(text + at, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* The finding may say why a server is away. What went down lately "and is up now" says nothing of that. */
static bool tells_of_absence(const struct message *m)
{
    static const char *const causes[] = {"left", "unreached", "resting", "unanswered", NULL};
    return message_get_integer(m, "severity", 0) <= BROKEN || finding_is_any(m, "cause", causes);
}

static bool is_told(const struct rows *rows, const char *name, size_t length)
{
    static const char *const fields[] = {"server", "expected", "text", "do"};
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t k = 0; tells_of_absence(rows->row[i]) && k < sizeof fields / sizeof *fields; k++) {
            if (names_it(finding_text(rows->row[i], fields[k]), name, length)) {
                return true;
            }
        }
    }
    return false;
}

void missing_tell(struct rows *rows, const char *names, bool failed)
{
    char text[TEXT] = "", first[32] = "";
    size_t used = 0, length;
    unsigned count = 0;
    for (const char *at = names; *at != '\0'; at += length, at += *at == ' ') {
        length = strcspn(at, " ");
        if (is_told(rows, at, length)) {
            continue;
        }
        if (count == 0) {
            snprintf(first, sizeof first, "%.*s", (int)length, at);
        }
        if (count++ < NAMED_MOST) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", count > 1 ? " " : "", (int)length, at);
        }
    }
    struct message *m = count > 0 ? add(rows, BROKEN, count == 1 ? first : "") : NULL;
    if (m != NULL && failed) {
        finding_put(m, "text",
                    "%u server%s of this process failed, as told to (cwctl fail), and no other server has missed %s "
                    "yet: %s%s",
                    count, count == 1 ? "" : "s", count == 1 ? "it" : "them", text, count > NAMED_MOST ? " .." : "");
        finding_put(m, "do", "cwctl --server %s restore%s; cwctl doctor --all once more in a second", first,
                    count == 1 ? "" : ", and so each of these");
    } else if (m != NULL && count == 1) {
        finding_put(m, "text",
                    "%s did not answer, for it is out of view, and no other server tells of it: it stands still, or "
                    "has just died, left or begun",
                    first);
        finding_put(m, "do", "on %s: cwctl doctor", first);
    } else if (m != NULL) {
        finding_put(m, "text",
                    "%u servers are out of view and did not answer, and no other server tells of them yet: they stand "
                    "still, or have just died, left or begun: %s%s",
                    count, text, count > NAMED_MOST ? " .." : "");
        finding_put(m, "do", "cwctl doctor --all once more, in a second; then, on %s: cwctl doctor", first);
    }
}
