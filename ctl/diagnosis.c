/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis.h"

#include "ctl/diagnosis_asked.h"
#include "ctl/diagnosis_falls.h"
#include "ctl/diagnosis_many.h"
#include "ctl/diagnosis_services.h"
#include "ctl/worst.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE = 4, WARNING = 3, TEXT = 600, NEIGHBOURS_MOST = 6 };

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static const char *field(const struct message *m, const char *name)
{
    return message_get_text(m, name, "");
}

static bool is(const struct message *m, const char *name, const char *value)
{
    return strcmp(field(m, name), value) == 0;
}

static bool equal(const struct message *a, const char *x, const struct message *b, const char *y)
{
    return field(a, x)[0] != '\0' && strcmp(field(a, x), field(b, y)) == 0;
}

static bool is_any(const struct message *m, const char *name, const char *const *values)
{
    for (; *values != NULL; values++) {
        if (is(m, name, *values)) {
            return true;
        }
    }
    return false;
}

/* The server and the port that one finding names are those of the other. */
static bool same_end(const struct message *a, const char *server, const char *port, const struct message *b,
                     const char *other_server, const char *other_port)
{
    return equal(a, server, b, other_server) && equal(a, port, b, other_port);
}

__attribute__((format(printf, 3, 4))) static void put(struct message *m, const char *name, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    message_text(m, name, text);
}

/* A finding that is explained by another one keeps its place in the list until the end. */
static void drop(struct rows *rows, size_t i)
{
    message_close(rows->row[i]);
    rows->row[i] = NULL;
}

static void close_ranks(struct rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i] != NULL) {
            rows->row[kept++] = rows->row[i];
        }
    }
    rows->count = kept;
}

/* The names are words between spaces; a name that is not known ("") counts as told. */
static bool has_name(const char *names, const char *name)
{
    size_t length = strlen(name);
    if (length == 0) {
        return true;
    }
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

/* ---- Cables ------------------------------------------------------------------------------------------------------ */

/* Leaves out what the far ends of two exchanged cables have to say: the ends where those of `f` belong. */
static void drop_far_ends(struct rows *rows, const struct message *f, const struct message *other)
{
    static const char *const causes[] = {"cable", "swapped", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || m == f || m == other || !is_any(m, "cause", causes)) {
            continue;
        }
        if (same_end(m, "server", "link", f, "expected", "expected_port") ||
            same_end(m, "server", "link", f, "seen", "seen_port")) {
            drop(rows, i);
        }
    }
}

/* Each end of the two cables is heard where the other one belongs: a finding at A and one at B. */
static bool exchanged(const struct message *a, const struct message *b)
{
    return same_end(a, "seen", "seen_port", b, "expected", "expected_port") &&
           same_end(b, "seen", "seen_port", a, "expected", "expected_port");
}

static void tell_exchanged(struct message *a, const struct message *b)
{
    message_text(a, "cause", "swapped");
    put(a, "text", "the cables in %s of %s and %s of %s are exchanged: each leads where the other belongs",
        field(a, "link"), field(a, "server"), field(b, "link"), field(b, "server"));
    put(a, "do", "exchange the plugs in %s of %s and %s of %s, then: cwctl wiring", field(a, "link"),
        field(a, "server"), field(b, "link"), field(b, "server"));
}

static void join_exchanged(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i] != NULL && is(rows->row[i], "cause", "swapped")) {
            drop_far_ends(rows, rows->row[i], NULL);
        }
    }
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = i + 1; j < rows->count && rows->row[i] != NULL && is(rows->row[i], "cause", "cable"); j++) {
            struct message *a = rows->row[i], *b = rows->row[j];
            if (b != NULL && is(b, "cause", "cable") && exchanged(a, b)) {
                drop_far_ends(rows, a, b);
                tell_exchanged(a, b);
                drop(rows, j);
            }
        }
    }
}

/* How many cables lead to a server that gives the name `seen` in the place `expected`, by the right ports. */
static unsigned misnamed(struct rows *rows, const struct message *f, bool forget)
{
    static const char *const causes[] = {"cable", "twin", NULL};
    unsigned count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || !is_any(m, "cause", causes) || !equal(m, "seen_port", m, "expected_port") ||
            !equal(m, "seen", f, "seen") || !equal(m, "expected", f, "expected")) {
            continue;
        }
        count += is(m, "cause", "twin") ? 2 : 1; /* two cables, or it would not have said so */
        if (forget && m != f) {
            drop(rows, i);
        }
    }
    return count;
}

static void join_misnamed(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        if (f == NULL || !equal(f, "seen_port", f, "expected_port") || misnamed(rows, f, false) < 2) {
            continue;
        }
        (void)misnamed(rows, f, true);
        message_text(f, "cause", "twin");
        message_text(f, "server", field(f, "expected"));
        message_text(f, "link", "");
        put(f, "text", "the server that is cabled as %s says that it is %s: by its cables it is %s",
            field(f, "expected"), field(f, "seen"), field(f, "expected"));
        if (is(f, "places", "found")) { /* nobody has set a coordinate: it was found, and kept in a file */
            put(f, "do", "on the machine at %s: cwctl doctor; if its state file is a copy, that says which to remove",
                field(f, "expected"));
            continue;
        }
        put(f, "do", "on the machine at %s: set torus.coordinate = \"%s\", then: systemctl restart cubewayd",
            field(f, "expected"), field(f, "expected"));
    }
}

/* ---- What follows from what -------------------------------------------------------------------------------------- */

/* A link went down lately since the server at one of its ends did: others saw that server begin anew, or miss it. */
static bool went_with_server(const struct message *f, const struct message *m)
{
    static const char *const causes[] = {"restarts", "stalls", "left", "server-down", NULL};
    return is(f, "cause", "flapping") && is_any(m, "cause", causes) &&
           (equal(m, "expected", f, "expected") || equal(m, "expected", f, "server"));
}

/* The interface at the far end of this cable was switched off and on by hand, and the server there says so. */
static bool was_switched(const struct message *f, const struct message *m)
{
    static const char *const causes[] = {"flapping", "carrier-lost", NULL};
    return is_any(f, "cause", causes) && is(m, "cause", "switched-off") && equal(m, "server", f, "expected") &&
           has_name(field(m, "links_off"), field(f, "expected_port"));
}

/* Is there a finding with its own cause at the far end of this one's cable, or about the far server as a whole? */
static bool explained(const struct rows *rows, const struct message *f)
{
    static const char *const follows[] = {"deaf",         "rests",    "no-carrier",  "coming-up", "flapping",
                                          "carrier-lost", "restarts", "server-down", "mtu",       NULL};
    static const char *const causes[] = {
        "interface-down", "interface-missing", "unconfigured", "version", "cluster", "settings",
        "cable",          "swapped",           "half",         "refused", NULL};
    bool severe = message_get_integer(f, "severity", NOTE) < WARNING; /* nothing is heard there, still */
    bool stalls = is(f, "cause", "stalls"); /* by a server that says itself that it stood still */
    if (diagnosis_is_said(rows, f)) {
        return true;
    }
    if (!is_any(f, "cause", follows) && !stalls) {
        return false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || m == f || (stalls && !is(m, "cause", "stalled"))) {
            continue;
        }
        bool there = equal(m, "server", f, "expected");
        bool stood = there && is(m, "cause", "stalled") && !(is(f, "cause", "rests") && severe);
        bool end = there && same_end(m, "server", "link", f, "expected", "expected_port");
        bool narrow = end && is(m, "cause", "mtu") && !is(f, "cause", "mtu");
        if (went_with_server(f, m) || was_switched(f, m) || (end && is_any(m, "cause", causes)) || narrow || stood ||
            (there && is(m, "cause", "place"))) {
            return true;
        }
    }
    return false;
}

static unsigned findings_of(const struct rows *rows, const char *cause, const char *server)
{
    unsigned count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        count += m != NULL && is(m, "cause", cause) && is(m, "server", server);
    }
    return count;
}

/* Two servers that differ both say so: the one that differs from more neighbours is the odd one, and tells it. */
static bool odd_one_tells(const struct rows *rows, const struct message *f)
{
    static const char *const causes[] = {"mtu", "settings", "cluster", NULL};
    const char *cause = field(f, "cause");
    return is_any(f, "cause", causes) && message_has(f, "seen") &&
           findings_of(rows, cause, field(f, "expected")) > findings_of(rows, cause, field(f, "server"));
}

static void drop_explained(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i] != NULL && (explained(rows, rows->row[i]) || odd_one_tells(rows, rows->row[i]))) {
            drop(rows, i);
        }
    }
}

/* Both ends of one cable say the same of it: "deaf" or "no-carrier". */
static void join_ends(struct rows *rows)
{
    static const char *const causes[] = {"deaf",     "rests", "no-carrier",   "half",
                                         "flapping", "lossy", "carrier-lost", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        struct message *a = rows->row[i];
        for (size_t j = i + 1; a != NULL && is_any(a, "cause", causes) && j < rows->count; j++) {
            const struct message *b = rows->row[j];
            if (b == NULL || !equal(a, "cause", b, "cause") ||
                !same_end(a, "server", "link", b, "expected", "expected_port")) {
                continue;
            }
            if (is(a, "cause", "deaf") || is(a, "cause", "half")) {
                put(a, "text", "nothing passes over the cable between %s of %s and %s of %s, in either direction",
                    field(a, "link"), field(a, "server"), field(b, "link"), field(b, "server"));
            }
            /* Frames are lost on their way to the end that receives them: that one is to be looked at, and says so. */
            bool other = is(a, "cause", "lossy") && is(a, "way", "out") && !is(b, "way", "out");
            drop(rows, other ? i : j);
            a = rows->row[i];
        }
    }
}

/* The finding is about a cable of that server. */
static bool touches(const struct message *m, const char *server)
{
    return is(m, "server", server) || is(m, "expected", server);
}

static unsigned flapping_at(const struct rows *rows, const char *server)
{
    unsigned count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        count += m != NULL && is(m, "cause", "flapping") && touches(m, server);
    }
    return count;
}

/* "0,0,1, 0,1,0 and 4 more" */
static void add_name(char *names, size_t room, unsigned count, const char *name)
{
    size_t used = strlen(names);
    if (count < NEIGHBOURS_MOST) {
        snprintf(names + used, room - used, "%s%s", count > 0 ? " " : "", name);
    }
}

/* The servers at the other ends of cables that share this one. Leaves out all of these findings but f. */
static unsigned take_cables(struct rows *rows, const struct message *f, const char *hub, char *names, size_t room)
{
    unsigned count = 0, ends = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || !is(m, "cause", "flapping") || !touches(m, hub)) {
            continue;
        }
        const char *far = is(m, "server", hub) ? field(m, "expected") : field(m, "server");
        if (!has_name(names, far)) {
            add_name(names, room, ends++, far);
        }
        count++;
        if (m != f) {
            drop(rows, i);
        }
    }
    return count;
}

/* Several cables that went down lately, and one server that is at an end of each: that is one fault. */
static void join_flapping(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        char names[TEXT] = "", hub[TEXT];
        if (f == NULL || !is(f, "cause", "flapping")) {
            continue;
        }
        unsigned near = flapping_at(rows, field(f, "server")), far = flapping_at(rows, field(f, "expected"));
        if (near < 2 && far < 2) {
            continue;
        }
        snprintf(hub, sizeof hub, "%s", field(f, near > far ? "server" : "expected"));
        unsigned cables = take_cables(rows, f, hub, names, sizeof names);
        message_text(f, "server", hub);
        message_text(f, "link", "");
        message_integer(f, "links", cables);
        put(f, "text", "%u cables of %s went down lately (to %s): look at %s, or at what these cables share", cables,
            hub, names, hub);
        put(f, "do", "on %s: cwctl doctor; ip -s link; cwctl events", hub);
    }
}

/* One server that all its neighbours miss, or that differs from all of them, is told of once. */
static void join_by_far(struct rows *rows)
{
    static const char *const causes[] = {"server-down", "silent",   "resting", "left",    "restarts", "stalls",
                                         "mtu",         "settings", "cluster", "version", NULL};
    static const char *const far_ones[] = {"left", "restarts", "stalls", "silent", "resting", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        char names[TEXT] = "";
        unsigned count = 0;
        if (f == NULL || !is_any(f, "cause", causes)) {
            continue;
        }
        add_name(names, sizeof names, count++, field(f, "server"));
        for (size_t j = i + 1; j < rows->count; j++) {
            const struct message *m = rows->row[j];
            if (m == NULL || !equal(m, "cause", f, "cause") || !equal(m, "expected", f, "expected")) {
                continue;
            }
            if (strstr(names, field(m, "server")) == NULL) {
                add_name(names, sizeof names, count++, field(m, "server"));
            }
            message_integer(f, "links", message_get_integer(f, "links", 1) + 1);
            drop(rows, j);
        }
        if (is(f, "cause", "server-down")) {
            message_text(f, "link", "");
            message_text(f, "server", field(f, "expected"));
            put(f, "text", "%s is down: none of its neighbours hears it (asked: %s)", field(f, "expected"), names);
        } else if (is_any(f, "cause", far_ones)) {
            message_text(f, "link", "");
            message_text(f, "server", field(f, "expected"));
        } else if (count > 1) {
            if (is(f, "cause", "settings")) { /* it is theirs to be changed */
                message_text(f, "link", "");
                message_text(f, "server", field(f, "expected"));
            }
            message_flag(f, "agreed", true);
            put(f, "text", "%s (so say %s)", field(f, "text"), names);
        }
    }
}

/* What there is to do, without the place of it. */
static const char *there(const struct message *m)
{
    static const char begin[] = "on the machine at ";
    const char *what = field(m, "do"), *colon = strstr(what, ": ");
    return strncmp(what, begin, sizeof begin - 1) == 0 && colon != NULL ? colon : what;
}

/* The neighbour, by the name that the sentence gives it. */
static const char *neighbour_of(const struct message *f)
{
    return field(f, message_has(f, "seen") ? "seen" : "expected");
}

/* What the two say is the same but for the names of the neighbours. */
static bool says_the_same(const struct message *f, const struct message *m)
{
    const char *a = field(f, "text"), *b = field(m, "text");
    const char *in_a = strstr(a, neighbour_of(f)), *in_b = strstr(b, neighbour_of(m));
    return in_a == NULL || in_b == NULL
               ? strcmp(a, b) == 0
               : in_a - a == in_b - b && strncmp(a, b, (size_t)(in_a - a)) == 0 &&
                     strcmp(in_a + strlen(neighbour_of(f)), in_b + strlen(neighbour_of(m))) == 0;
}

/* Two findings of one server, the same but for the neighbour. What several servers say of one is that one's fault. */
static bool is_alike(const struct message *f, const struct message *m)
{
    static const char *const causes[] = {"mtu", "settings", "cluster", "version", NULL};
    return is_any(f, "cause", causes) && equal(m, "cause", f, "cause") && equal(m, "server", f, "server") &&
           !message_get_flag(f, "agreed") && !message_get_flag(m, "agreed") &&
           (is(f, "cause", "version") || strcmp(there(f), there(m)) == 0) &&
           (!is(f, "cause", "settings") || says_the_same(f, m));
}

/* A server that differs from several neighbours says so once, not for each link, and names them all. */
static void join_by_near(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        char names[TEXT] = "";
        unsigned count = 1, links = 0;
        if (f != NULL) {
            add_name(names, sizeof names, 0, neighbour_of(f));
        }
        for (size_t j = i + 1; f != NULL && j < rows->count; j++) {
            const struct message *m = rows->row[j];
            if (m == NULL || !is_alike(f, m)) {
                continue;
            }
            links += (unsigned)message_get_integer(m, "links", 1);
            if (!has_name(names, neighbour_of(m))) {
                add_name(names, sizeof names, count++, neighbour_of(m));
            }
            drop(rows, j);
        }
        if (links > 0) {
            links += (unsigned)message_get_integer(f, "links", 1);
            message_integer(f, "links", links);
            message_text(f, "link", "");
            put(f, "text", "%s (%u links, to %s)", field(f, "text"), links, names);
            if (is(f, "cause", "settings") && there(f)[0] == ':') {
                put(f, "do", "on the machine of each of these%s", there(f));
            }
            if (is(f, "cause", "version")) {
                put(f, "do", "on each of these: cubewayd --version, then install the same release on all");
            }
        }
    }
}

/* ---- Servers ----------------------------------------------------------------------------------------------------- */

static struct message *finding(struct rows *rows, int severity, const char *cause, const char *server)
{
    struct message *m = message_open();
    if (m == NULL) {
        return NULL;
    }
    message_text(m, "server", server);
    message_text(m, "part", "finding");
    message_integer(m, "severity", severity);
    message_text(m, "cause", cause);
    rows_add(rows, m);
    return m;
}

static void tell_unanswered(struct rows *rows, const char *server)
{
    struct message *m = finding(rows, WARNING, "unanswered", server);
    if (m != NULL) {
        put(m, "text", "%s is in view, and its daemon did not answer in time: it is busy, or older than this command",
            server);
        put(m, "do", "on %s: cwctl doctor", server);
    }
}

/* Findings stay; what the servers say of themselves becomes findings, or goes. */
static void take_servers(struct rows *rows)
{
    size_t count = rows->count;
    for (size_t i = 0; i < count; i++) {
        const struct message *row = rows->row[i];
        if (message_get_integer(row, "unanswered", 0) != 0) {
            tell_unanswered(rows, field(row, "server"));
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!is(rows->row[i], "part", "finding")) {
            drop(rows, i);
        }
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct message *x = *(struct message *const *)a, *y = *(struct message *const *)b;
    int64_t first = message_get_integer(x, "severity", NOTE), second = message_get_integer(y, "severity", NOTE);
    int servers = strcmp(field(x, "server"), field(y, "server"));
    return first != second ? (first > second) - (first < second)
           : servers != 0  ? servers
                           : strcmp(field(x, "link"), field(y, "link"));
}

static void sort(struct rows *rows)
{
    if (rows->count > 0) {
        qsort(rows->row, rows->count, sizeof *rows->row, compare);
    }
}

void diagnose(struct rows *rows)
{
    char *answered = diagnosis_answered(rows);
    diagnose_services(rows);
    diagnose_versions(rows);
    diagnose_falls(rows);
    take_servers(rows);
    close_ranks(rows);
    sort(rows); /* answers come in any order */
    join_misnamed(rows);
    join_exchanged(rows);
    drop_explained(rows);
    join_ends(rows);
    join_flapping(rows);
    join_by_far(rows);
    join_by_near(rows);
    close_ranks(rows);
    diagnose_many(rows);
    diagnosis_leave_asked(rows, answered);
    free(answered);
    worst_first(rows);
}
