/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/worst.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE = 4 };

/* What takes more away comes first: a server, then frames of all its links, then one cable. */
static size_t rank(const struct message *m)
{
    static const char *const causes[] = {
        "twin",       "place",       "no-majority", "machine",        "server-down",  "silent",
        "unreached",  "resting",     "cut-off",     "fenced",         "alone",        "no-place",
        "swapped",    "version",     "cluster",     "settings",       "mtu",          "cable",
        "no-carrier", "deaf",        "damped",      "half",           "refused",      "interface-missing",
        "restarts",   "incarnation", "same-id",     "interface-down", "unconfigured", "stalled",
        "stalls",     "waited",      "lossy",       "flapping",       "carrier-lost", "unanswered",
        "coming-up",
    };
    size_t i = 0;
    while (i < sizeof causes / sizeof *causes && strcmp(message_get_text(m, "cause", ""), causes[i]) != 0) {
        i++;
    }
    return i;
}

static int by_number(int64_t first, int64_t second)
{
    return (first > second) - (first < second);
}

static int by_text(const struct message *x, const struct message *y, const char *field)
{
    return strcmp(message_get_text(x, field, ""), message_get_text(y, field, ""));
}

/* True of several servers, of which none is named; of links that hardly went down nobody wants to read first. */
static bool is_of_many(const struct message *m)
{
    return message_get_text(m, "server", "")[0] == '\0' && strcmp(message_get_text(m, "cause", ""), "fell-once") != 0;
}

static int compare(const void *a, const void *b)
{
    const struct message *x = *(struct message *const *)a, *y = *(struct message *const *)b;
    const int by[] = {
        by_number(message_get_integer(x, "severity", NOTE), message_get_integer(y, "severity", NOTE)),
        by_number(is_of_many(y), is_of_many(x)),
        by_number((int64_t)rank(x), (int64_t)rank(y)),
        by_number(message_get_integer(y, "loss_ppm", 0), message_get_integer(x, "loss_ppm", 0)),
        by_text(x, y, "server"),
        by_text(x, y, "link"),
    };
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof by / sizeof *by; i++) {
        result = by[i];
    }
    return result;
}

void worst_first(struct rows *rows)
{
    if (rows->count > 0) {
        qsort(rows->row, rows->count, sizeof *rows->row, compare);
    }
}
