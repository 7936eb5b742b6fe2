/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/machine.h"

#include "ctl/diagnosis/finding.h"

#include <string.h>

enum { WARNING = 3, LATE_MOST = 3, NAMED_MOST = 6, LATELY_S = 30, TEXT = 200 };

static bool is_about(const struct message *m)
{
    return m != NULL && finding_is(m, "part", "about");
}

static bool is_late(const struct message *m)
{
    return is_about(m) && message_has(m, "late_ago_s") && message_get_integer(m, "late_ago_s", 0) <= LATELY_S;
}

static bool was_late(const struct rows *rows, const char *server)
{
    for (size_t i = 0; server[0] != '\0' && i < rows->count; i++) {
        if (rows->row[i] != NULL && is_late(rows->row[i]) && finding_is(rows->row[i], "server", server)) {
            return true;
        }
    }
    return false;
}

/* It may follow from being late. What a device or a configuration says of itself does not. */
static bool may_follow(const struct rows *rows, const struct message *m)
{
    static const char *const causes[] = {"half",    "deaf",   "damped", "flapping", "coming-up", "stalls", "stalled",
                                         "resting", "waited", "lossy",  "cut-off",  "fenced",    NULL};
    static const char *const of_others[] = {"unreached", "server-down", "silent", NULL};
    if (m == NULL || !finding_is(m, "part", "finding")) {
        return false;
    }
    if (finding_is_any(m, "cause", of_others)) { /* that server has answered itself, and was late */
        return was_late(rows, finding_text(m, "expected"));
    }
    return finding_is_any(m, "cause", causes) && !message_has(m, "service") &&
           (was_late(rows, finding_text(m, "server")) || was_late(rows, finding_text(m, "expected")));
}

/* What is known of those that were late. */
struct late {
    unsigned servers, answered;
    int64_t longest_ms;
    char names[TEXT];
};

static struct late look(const struct rows *rows)
{
    struct late late = {.servers = 0};
    size_t used = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        late.answered += is_about(m);
        if (m == NULL || !is_late(m)) {
            continue;
        }
        int64_t longest = message_get_integer(m, "late_longest_ms", 0);
        late.longest_ms = longest > late.longest_ms ? longest : late.longest_ms;
        if (late.servers++ < NAMED_MOST) {
            used += (size_t)snprintf(late.names + used, sizeof late.names - used, "%s%.24s", used > 0 ? " " : "",
                                     finding_text(m, "server"));
        }
    }
    return late;
}

void diagnose_machine(struct rows *rows)
{
    const struct late late = look(rows);
    int64_t severity = WARNING;
    unsigned folded = 0;
    if (late.servers < LATE_MOST || 2 * late.servers < late.answered) {
        return;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (may_follow(rows, rows->row[i])) {
            int64_t of = message_get_integer(rows->row[i], "severity", WARNING);
            severity = of < severity ? of : severity;
            folded++;
            findings_drop(rows, i);
        }
    }
    findings_close_ranks(rows);
    struct message *m = folded > 0 ? message_open() : NULL;
    if (m == NULL) {
        return;
    }
    message_text(m, "server", "");
    message_text(m, "part", "finding");
    message_integer(m, "severity", severity);
    message_text(m, "cause", "machine");
    message_integer(m, "folded", folded);
    finding_put(m, "text",
                "%u of %u servers did not run when they were due in the last %u s, for up to %lld ms (%s%s): their "
                "machines are too busy, or the one that they share; %u finding%s about their links follow%s "
                "from that, or cannot be told from it, and %s left out",
                late.servers, late.answered, (unsigned)LATELY_S, (long long)late.longest_ms, late.names,
                late.servers > NAMED_MOST ? " .." : "", folded, folded == 1 ? "" : "s", folded == 1 ? "s" : "",
                folded == 1 ? "is" : "are");
    finding_put(m, "do",
                "give them processors: fewer servers on a machine, priority = realtime, or longer timers "
                "(docs/operating.md, \"Ending, dying\")");
    rows_add(rows, m);
}
