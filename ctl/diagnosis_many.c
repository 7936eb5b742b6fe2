/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis_many.h"

#include <string.h>

enum { MANY = 3, NAMED = 6, TEXT = 600 };

/* Most often it has one cause, and that is one machine: too few processors. */
static const struct many {
    const char *cause, *text;
} many[] = {
    {"stalled", "stood still for longer than timers.dead: all their links went down at the same moment"},
    {"stalls", "were lost lately and came back by themselves: they stood still, or nobody heard them"},
    {"waited", "had no processor in the middle of their work, for longer than timers.hold less timers.dead"},
};

static const char *field(const struct message *m, const char *name)
{
    return message_get_text(m, name, "");
}

static bool is(const struct message *m, const char *cause)
{
    return strcmp(field(m, "cause"), cause) == 0;
}

static void drop(struct rows *rows, size_t i)
{
    message_close(rows->row[i]);
    memmove(&rows->row[i], &rows->row[i + 1], (rows->count - i - 1) * sizeof *rows->row);
    rows->count--;
}

static size_t count_of(const struct rows *rows, const char *cause)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        count += is(rows->row[i], cause);
    }
    return count;
}

/* Leaves the first finding of that cause alone, and gives it; the servers of all go into names. */
static struct message *keep_first(struct rows *rows, const char *cause, char names[static TEXT])
{
    struct message *first = NULL;
    size_t used = 0, count = 0;
    for (size_t i = 0; i < rows->count;) {
        struct message *m = rows->row[i];
        if (!is(m, cause)) {
            i++;
            continue;
        }
        if (count++ < NAMED && used < TEXT) {
            used += (size_t)snprintf(names + used, TEXT - used, "%s%s", used > 0 ? " " : "", field(m, "server"));
        }
        if (first == NULL) {
            first = m;
            i++;
        } else {
            drop(rows, i);
        }
    }
    return first;
}

static void join_one_cause(struct rows *rows, const struct many *what)
{
    char names[TEXT] = "", text[2 * TEXT];
    size_t count = count_of(rows, what->cause);
    if (count < MANY) {
        return;
    }
    struct message *first = keep_first(rows, what->cause, names);
    snprintf(text, sizeof text, "%zu servers %s (%s%s)", count, what->text, names, count > NAMED ? " .." : "");
    message_text(first, "server", "");
    message_text(first, "text", text);
    message_text(first, "do",
                 "give them processors: fewer servers on a machine, priority = realtime, or longer timers "
                 "(docs/operating.md, \"Ending, dying\")");
}

/* Every server of the part that is in view says the same. */
static void join_majority(struct rows *rows)
{
    char names[TEXT] = "";
    if (count_of(rows, "no-majority") > 1) {
        message_text(keep_first(rows, "no-majority", names), "server", "");
    }
}

/* Two servers with one id both say so, of each other. */
static void join_copies(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = rows->count - 1; j > i; j--) {
            const struct message *a = rows->row[i], *b = rows->row[j];
            if (is(a, "same-id") && is(b, "same-id") && strcmp(field(a, "server"), field(b, "expected")) == 0 &&
                strcmp(field(b, "server"), field(a, "expected")) == 0) {
                drop(rows, j);
            }
        }
    }
}

void diagnose_many(struct rows *rows)
{
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        join_one_cause(rows, &many[i]);
    }
    join_majority(rows);
    join_copies(rows);
}
