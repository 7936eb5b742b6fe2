/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/majority.h"

#include "ctl/diagnosis/finding.h"

#include <stdlib.h>
#include <string.h>

enum { WARNING = 3, NAME = 32, TEXT = 200, NAMED_MOST = 8 };

/* Some server hears it, or the keeper of the lab knows that its daemon runs. */
static bool is_heard(const struct rows *rows, const char *name)
{
    static const char *const causes[] = {"resting", "silent", "deaf", "half", "coming-up", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m != NULL && finding_is(m, "expected", name) && finding_is_any(m, "cause", causes)) {
            return true;
        }
    }
    return false;
}

/* Some names of a list, as a sentence has them: "0,0,1 0,1,0 .."; and how many there are. */
struct some {
    char text[TEXT];
    unsigned count;
};

static void add(struct some *s, const char *name)
{
    size_t used = strlen(s->text);
    if (s->count++ <= NAMED_MOST) {
        snprintf(s->text + used, sizeof s->text - used, "%s%s", s->count > 1 ? " " : "",
                 s->count <= NAMED_MOST ? name : "..");
    }
}

/* The names of the list that live, and those that do not. */
static void part(const struct rows *rows, const char *list, const char *answered, struct some *alive, struct some *dead)
{
    for (size_t length; *list != '\0'; list += length, list += *list == ' ') {
        char name[NAME];
        length = strcspn(list, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        bool lives = finding_has_name(answered, name) || is_heard(rows, name);
        add(lives ? alive : dead, name);
    }
}

static void tell_unsettled(struct message *m, const struct some *alive)
{
    message_text(m, "cause", "unsettled");
    message_integer(m, "severity", WARNING);
    finding_put(
        m, "text",
        "%s has %lld of %lld servers in view, and there the caches of kvcache stand still; but %s live%s: views "
        "have not settled, or the machines are too busy",
        finding_text(m, "server"), (long long)message_get_integer(m, "members", 0),
        (long long)message_get_integer(m, "torus", 0), alive->text, alive->count == 1 ? "s" : "");
    finding_put(m, "do", "on %s: cwctl doctor --all; cwctl events", finding_text(m, "server"));
}

/* Who has left comes first in the list of those to be started, and all of them are needed but for those that live. */
static void tell_lost(struct message *m, const struct some *alive, const struct some *away, const struct some *start)
{
    const char *left = finding_text(m, "left");
    char left_text[TEXT];
    snprintf(left_text, sizeof left_text, "%.*s", TEXT - 1, left);
    finding_put(
        m, "text",
        "%lld of %lld servers %s in view of %s, which is no majority: the caches of kvcache stand still%s%s%s%s; "
        "%s live%s, and %s out of view",
        (long long)message_get_integer(m, "members", 0), (long long)message_get_integer(m, "torus", 0),
        message_get_integer(m, "members", 0) == 1 ? "is" : "are", finding_text(m, "server"),
        left[0] != '\0' ? "; these left in order: " : "", left_text, away->count > 0 ? "; these are away: " : "",
        away->text, alive->text, alive->count == 1 ? "s" : "", alive->count == 1 ? "is" : "are");
    message_text(m, "start", start->text);
    if (start->count == 1) {
        finding_put(m, "do", "on %s: systemctl start cubewayd", start->text);
    } else if (start->count > 1) {
        finding_put(m, "do", "systemctl start cubewayd on these %u, in this order: %s", start->count, start->text);
    } else {
        finding_put(m, "do", "on %s: cwctl doctor --all; cwctl events", finding_text(m, "server"));
    }
}

static void look(struct rows *rows, struct message *m, const char *answered)
{
    struct some alive = {.count = 0}, away = {.count = 0}, start = {.count = 0}, started = {.count = 0};
    struct some near = {.count = 0}, gone = {.count = 0};
    part(rows, finding_text(m, "away"), answered, &alive, &away);
    part(rows, finding_text(m, "near"), answered, &near, &gone);
    if (alive.count == 0) {
        return;
    }
    if (message_get_integer(m, "members", 0) + near.count > message_get_integer(m, "torus", 0) / 2) {
        tell_unsettled(m, &near);
        return;
    }
    part(rows, finding_text(m, "start"), answered, &started, &start);
    tell_lost(m, &alive, &away, &start);
}

/* All servers of a part say so: one is enough, and of several parts the first of the largest one. NULL: nobody does. */
static struct message *keep_one(struct rows *rows, const char *cause)
{
    size_t kept = rows->count;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || !finding_is(m, "cause", cause)) {
            continue;
        }
        bool better = kept == rows->count ||
                      message_get_integer(m, "members", 0) > message_get_integer(rows->row[kept], "members", 0);
        size_t worse = better ? kept : i;
        kept = better ? i : kept;
        if (worse < rows->count) {
            findings_drop(rows, worse);
        }
    }
    return kept < rows->count ? rows->row[kept] : NULL;
}

void diagnose_majority(struct rows *rows, const char *answered)
{
    for (size_t i = 0; answered != NULL && i < rows->count; i++) {
        if (rows->row[i] != NULL && finding_is(rows->row[i], "cause", "no-majority") &&
            message_has(rows->row[i], "members")) {
            look(rows, rows->row[i], answered);
        }
    }
    (void)keep_one(rows, "unsettled");
    struct message *lost = keep_one(rows, "no-majority");
    if (lost != NULL) {
        message_text(lost, "server", ""); /* it is about the cluster */
    }
}
