/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/diagnosis/diagnosis.h"

#include "ctl/diagnosis/asked.h"
#include "ctl/diagnosis/cut_off.h"
#include "ctl/diagnosis/falls.h"
#include "ctl/diagnosis/finding.h"
#include "ctl/diagnosis/machine.h"
#include "ctl/diagnosis/majority.h"
#include "ctl/diagnosis/missing.h"
#include "ctl/diagnosis/near.h"
#include "ctl/diagnosis/services.h"
#include "ctl/diagnosis/worst.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE = 4, WARNING = 3, TEXT = 600, NEIGHBOURS_MOST = 6 };

/* ---- Cables ------------------------------------------------------------------------------------------------------ */

/* Leaves out what the far ends of two exchanged cables have to say: the ends where those of `f` belong. */
static void drop_far_ends(struct rows *rows, const struct message *f, const struct message *other)
{
    static const char *const causes[] = {"cable", "swapped", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || m == f || m == other || !finding_is_any(m, "cause", causes)) {
            continue;
        }
        if (finding_same_end(m, "server", "link", f, "expected", "expected_port") ||
            finding_same_end(m, "server", "link", f, "seen", "seen_port")) {
            findings_drop(rows, i);
        }
    }
}

/* Each end of the two cables is heard where the other one belongs: a finding at A and one at B. */
static bool exchanged(const struct message *a, const struct message *b)
{
    return finding_same_end(a, "seen", "seen_port", b, "expected", "expected_port") &&
           finding_same_end(b, "seen", "seen_port", a, "expected", "expected_port");
}

static void tell_exchanged(struct message *a, const struct message *b)
{
    message_text(a, "cause", "swapped");
    finding_put(a, "text", "the cables in %s of %s and %s of %s are exchanged: each leads where the other belongs",
                finding_text(a, "link"), finding_text(a, "server"), finding_text(b, "link"), finding_text(b, "server"));
    finding_put(a, "do", "exchange the plugs in %s of %s and %s of %s, then: cwctl wiring", finding_text(a, "link"),
                finding_text(a, "server"), finding_text(b, "link"), finding_text(b, "server"));
}

static void join_exchanged(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i] != NULL && finding_is(rows->row[i], "cause", "swapped")) {
            drop_far_ends(rows, rows->row[i], NULL);
        }
    }
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = i + 1; j < rows->count && rows->row[i] != NULL && finding_is(rows->row[i], "cause", "cable");
             j++) {
            struct message *a = rows->row[i], *b = rows->row[j];
            if (b != NULL && finding_is(b, "cause", "cable") && exchanged(a, b)) {
                drop_far_ends(rows, a, b);
                tell_exchanged(a, b);
                findings_drop(rows, j);
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
        if (m == NULL || !finding_is_any(m, "cause", causes) || !finding_same(m, "seen_port", m, "expected_port") ||
            !finding_same(m, "seen", f, "seen") || !finding_same(m, "expected", f, "expected")) {
            continue;
        }
        count += finding_is(m, "cause", "twin") ? 2 : 1; /* two cables, or it would not have said so */
        if (forget && m != f) {
            findings_drop(rows, i);
        }
    }
    return count;
}

static void join_misnamed(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        if (f == NULL || !finding_same(f, "seen_port", f, "expected_port") || misnamed(rows, f, false) < 2) {
            continue;
        }
        (void)misnamed(rows, f, true);
        message_text(f, "cause", "twin");
        message_text(f, "server", finding_text(f, "expected"));
        message_text(f, "link", "");
        finding_put(f, "text", "the server that is cabled as %s says that it is %s: by its cables it is %s",
                    finding_text(f, "expected"), finding_text(f, "seen"), finding_text(f, "expected"));
        if (finding_is(f, "places", "found")) { /* nobody has set a coordinate: it was found, and kept in a file */
            finding_put(f, "do",
                        "on the machine at %s: cwctl doctor; if its state file is a copy, that says which to remove",
                        finding_text(f, "expected"));
            continue;
        }
        finding_put(f, "do", "on the machine at %s: set torus.coordinate = \"%s\", then: systemctl restart cubewayd",
                    finding_text(f, "expected"), finding_text(f, "expected"));
    }
}

/* ---- What follows from what -------------------------------------------------------------------------------------- */

/* A link went down lately since the server at one of its ends did: others saw that server begin anew, or miss it. */
static bool went_with_server(const struct message *f, const struct message *m)
{
    static const char *const causes[] = {"restarts", "stalls", "left", "server-down", NULL};
    return finding_is(f, "cause", "flapping") && finding_is_any(m, "cause", causes) &&
           (finding_same(m, "expected", f, "expected") || finding_same(m, "expected", f, "server"));
}

/* The interface at the far end of this cable was switched off and on by hand, and the server there says so. */
static bool was_switched(const struct message *f, const struct message *m)
{
    static const char *const causes[] = {"flapping", "carrier-lost", NULL};
    return finding_is_any(f, "cause", causes) && finding_is(m, "cause", "switched-off") &&
           finding_same(m, "server", f, "expected") &&
           finding_has_name(finding_text(m, "links_off"), finding_text(f, "expected_port"));
}

/* Is there a finding with its own cause at the far end of this one's cable, or about the far server as a whole? */
static bool explained(const struct rows *rows, const struct message *f)
{
    static const char *const follows[] = {"deaf",         "damped",   "no-carrier",  "coming-up", "flapping",
                                          "carrier-lost", "restarts", "server-down", "mtu",       NULL};
    static const char *const causes[] = {
        "interface-down", "interface-missing", "unconfigured", "version", "cluster", "settings",
        "cable",          "swapped",           "half",         "refused", NULL};
    bool severe = message_get_integer(f, "severity", NOTE) < WARNING; /* nothing is heard there, still */
    bool stalls = finding_is(f, "cause", "stalls"); /* by a server that says itself that it stood still */
    if (diagnosis_is_said(rows, f)) {
        return true;
    }
    if (!finding_is_any(f, "cause", follows) && !stalls) {
        return false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        if (m == NULL || m == f || (stalls && !finding_is(m, "cause", "stalled"))) {
            continue;
        }
        bool there = finding_same(m, "server", f, "expected");
        bool stood = there && finding_is(m, "cause", "stalled") && !(finding_is(f, "cause", "damped") && severe);
        bool end = there && finding_same_end(m, "server", "link", f, "expected", "expected_port");
        bool narrow = end && finding_is(m, "cause", "mtu") && !finding_is(f, "cause", "mtu");
        if (went_with_server(f, m) || was_switched(f, m) || (end && finding_is_any(m, "cause", causes)) || narrow ||
            stood || (there && finding_is(m, "cause", "place"))) {
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
        count += m != NULL && finding_is(m, "cause", cause) && finding_is(m, "server", server);
    }
    return count;
}

/* Two servers that differ both say so: the one that differs from more neighbours is the odd one, and tells it. */
static bool odd_one_tells(const struct rows *rows, const struct message *f)
{
    static const char *const causes[] = {"mtu", "settings", "cluster", NULL};
    const char *cause = finding_text(f, "cause");
    return finding_is_any(f, "cause", causes) && message_has(f, "seen") &&
           findings_of(rows, cause, finding_text(f, "expected")) > findings_of(rows, cause, finding_text(f, "server"));
}

static void drop_explained(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->row[i] != NULL && (explained(rows, rows->row[i]) || odd_one_tells(rows, rows->row[i]))) {
            findings_drop(rows, i);
        }
    }
}

/* Both ends of one cable say the same of it: "deaf" or "no-carrier". */
static void join_ends(struct rows *rows)
{
    static const char *const causes[] = {"deaf",     "damped", "no-carrier",   "half",
                                         "flapping", "lossy",  "carrier-lost", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        struct message *a = rows->row[i];
        for (size_t j = i + 1; a != NULL && finding_is_any(a, "cause", causes) && j < rows->count; j++) {
            const struct message *b = rows->row[j];
            if (b == NULL || !finding_same(a, "cause", b, "cause") ||
                !finding_same_end(a, "server", "link", b, "expected", "expected_port")) {
                continue;
            }
            if (finding_is(a, "cause", "deaf") || finding_is(a, "cause", "half")) {
                finding_put(a, "text",
                            "nothing passes over the cable between %s of %s and %s of %s, in either direction",
                            finding_text(a, "link"), finding_text(a, "server"), finding_text(b, "link"),
                            finding_text(b, "server"));
            }
            /* Frames are lost on their way to the end that receives them: that one is to be looked at, and says so. */
            bool other = finding_is(a, "cause", "lossy") && finding_is(a, "way", "out") && !finding_is(b, "way", "out");
            findings_drop(rows, other ? i : j);
            a = rows->row[i];
        }
    }
}

/* The finding is about a cable of that server. */
static bool touches(const struct message *m, const char *server)
{
    return finding_is(m, "server", server) || finding_is(m, "expected", server);
}

static unsigned flapping_at(const struct rows *rows, const char *server)
{
    unsigned count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        count += m != NULL && finding_is(m, "cause", "flapping") && touches(m, server);
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
        if (m == NULL || !finding_is(m, "cause", "flapping") || !touches(m, hub)) {
            continue;
        }
        const char *far = finding_is(m, "server", hub) ? finding_text(m, "expected") : finding_text(m, "server");
        if (!finding_has_name(names, far)) {
            add_name(names, room, ends++, far);
        }
        count++;
        if (m != f) {
            findings_drop(rows, i);
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
        if (f == NULL || !finding_is(f, "cause", "flapping")) {
            continue;
        }
        unsigned near = flapping_at(rows, finding_text(f, "server")),
                 far = flapping_at(rows, finding_text(f, "expected"));
        if (near < 2 && far < 2) {
            continue;
        }
        snprintf(hub, sizeof hub, "%s", finding_text(f, near > far ? "server" : "expected"));
        unsigned cables = take_cables(rows, f, hub, names, sizeof names);
        message_text(f, "server", hub);
        message_text(f, "link", "");
        message_integer(f, "links", cables);
        finding_put(f, "text", "%u cables of %s went down lately (to %s): look at %s, or at what these cables share",
                    cables, hub, names, hub);
        finding_put(f, "do", "on %s: cwctl doctor; ip -s link; cwctl events", hub);
    }
}

/* One server that all its neighbours miss, or that differs from all of them, is told of once. */
static void join_by_far(struct rows *rows)
{
    static const char *const causes[] = {"server-down", "silent", "unreached", "resting", "left",    "restarts",
                                         "stalls",      "mtu",    "settings",  "cluster", "version", NULL};
    static const char *const far_ones[] = {"left", "restarts", "stalls", "silent", "unreached", "resting", NULL};
    for (size_t i = 0; i < rows->count; i++) {
        struct message *f = rows->row[i];
        char names[TEXT] = "";
        unsigned count = 0;
        if (f == NULL || !finding_is_any(f, "cause", causes)) {
            continue;
        }
        add_name(names, sizeof names, count++, finding_text(f, "server"));
        for (size_t j = i + 1; j < rows->count; j++) {
            const struct message *m = rows->row[j];
            if (m == NULL || !finding_same(m, "cause", f, "cause") || !finding_same(m, "expected", f, "expected")) {
                continue;
            }
            if (!finding_has_name(names, finding_text(m, "server"))) {
                add_name(names, sizeof names, count++, finding_text(m, "server"));
            }
            message_integer(f, "links", message_get_integer(f, "links", 1) + 1);
            findings_drop(rows, j);
        }
        if (finding_is(f, "cause", "server-down")) {
            message_text(f, "link", "");
            message_text(f, "server", finding_text(f, "expected"));
            finding_put(f, "text", "%s is down: none of its neighbours hears it (asked: %s)",
                        finding_text(f, "expected"), names);
        } else if (finding_is_any(f, "cause", far_ones)) {
            message_text(f, "link", "");
            message_text(f, "server", finding_text(f, "expected"));
        } else if (count > 1) {
            if (finding_is(f, "cause", "settings")) { /* it is theirs to be changed */
                message_text(f, "link", "");
                message_text(f, "server", finding_text(f, "expected"));
            }
            message_flag(f, "agreed", true);
            finding_put(f, "text", "%s (so say %s)", finding_text(f, "text"), names);
        }
    }
}

/* What there is to do, without the place of it. */
static const char *there(const struct message *m)
{
    static const char begin[] = "on the machine at ";
    const char *what = finding_text(m, "do"), *colon = strstr(what, ": ");
    return strncmp(what, begin, sizeof begin - 1) == 0 && colon != NULL ? colon : what;
}

/* The neighbour, by the name that the sentence gives it. */
static const char *neighbour_of(const struct message *f)
{
    return finding_text(f, message_has(f, "seen") ? "seen" : "expected");
}

/* What the two say is the same but for the names of the neighbours. */
static bool says_the_same(const struct message *f, const struct message *m)
{
    const char *a = finding_text(f, "text"), *b = finding_text(m, "text");
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
    return finding_is_any(f, "cause", causes) && finding_same(m, "cause", f, "cause") &&
           finding_same(m, "server", f, "server") && !message_get_flag(f, "agreed") && !message_get_flag(m, "agreed") &&
           (finding_is(f, "cause", "version") || strcmp(there(f), there(m)) == 0) &&
           (!finding_is(f, "cause", "settings") || says_the_same(f, m));
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
            if (!finding_has_name(names, neighbour_of(m))) {
                add_name(names, sizeof names, count++, neighbour_of(m));
            }
            findings_drop(rows, j);
        }
        if (links > 0) {
            links += (unsigned)message_get_integer(f, "links", 1);
            message_integer(f, "links", links);
            message_text(f, "link", "");
            finding_put(f, "text", "%s (%u links, to %s)", finding_text(f, "text"), links, names);
            if (finding_is(f, "cause", "settings") && there(f)[0] == ':') {
                finding_put(f, "do", "on the machine of each of these%s", there(f));
            }
            if (finding_is(f, "cause", "version")) {
                finding_put(f, "do", "on each of these: cubewayd --version, then install the same release on all");
            }
        }
    }
}

/* ---- Servers ----------------------------------------------------------------------------------------------------- */

/* Findings stay; what the servers say of themselves becomes findings, or goes. */
static void take_servers(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (!finding_is(rows->row[i], "part", "finding")) {
            findings_drop(rows, i);
        }
    }
}

/* ---- Many servers ------------------------------------------------------------------------------------------------ */

enum { MANY = 3 };

#define PROCESSORS                                                                                                 \
    "give them processors: fewer servers on a machine, priority = realtime, or longer timers (docs/operating.md, " \
    "\"Ending, dying\")"

/* What is true of many servers at once has one cause, and most often one machine: too few processors; or one hand. */
static const struct many {
    const char *cause, *text, *advice;
} many[] = {
    {"stalled", "stood still for longer than timers.dead: all their links went down at the same moment", PROCESSORS},
    {"stalls", "were lost lately and came back by themselves: they stood still, or nobody heard them", PROCESSORS},
    {"waited", "had no processor in the middle of their work, for longer than timers.hold less timers.dead",
     PROCESSORS},
    {"ended", "were taken out lately by cwctl fail, and brought back by cwctl restore, which was no mishap",
     "cwctl events --all says when"},
};

static void join_one_cause(struct rows *rows, const struct many *what)
{
    char names[TEXT] = "";
    unsigned count = 0;
    struct message *first = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const struct message *m = rows->row[i];
        count += m != NULL && finding_is(m, "cause", what->cause);
    }
    if (count < MANY) {
        return;
    }
    count = 0;
    for (size_t i = 0; i < rows->count; i++) { /* the first is the worst of them */
        struct message *m = rows->row[i];
        if (m == NULL || !finding_is(m, "cause", what->cause)) {
            continue;
        }
        add_name(names, sizeof names, count++, finding_text(m, "server"));
        if (first == NULL) {
            first = m;
        } else {
            findings_drop(rows, i);
        }
    }
    message_text(first, "server", "");
    finding_put(first, "text", "%u servers %s (%s%s)", count, what->text, names, count > NEIGHBOURS_MOST ? " .." : "");
    finding_put(first, "do", "%s", what->advice);
    message_text(first, "where", "");
}

static void join_many(struct rows *rows)
{
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        join_one_cause(rows, &many[i]);
    }
}

/* Two servers with one id both say so, of each other. */
static void join_copies(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t j = i + 1; j < rows->count && rows->row[i] != NULL; j++) {
            const struct message *a = rows->row[i], *b = rows->row[j];
            if (b != NULL && finding_is(a, "cause", "same-id") && finding_is(b, "cause", "same-id") &&
                finding_same(a, "server", b, "expected") && finding_same(b, "server", a, "expected")) {
                findings_drop(rows, j);
            }
        }
    }
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct message *x = *(struct message *const *)a, *y = *(struct message *const *)b;
    int64_t first = message_get_integer(x, "severity", NOTE), second = message_get_integer(y, "severity", NOTE);
    int servers = strcmp(finding_text(x, "server"), finding_text(y, "server"));
    return first != second ? (first > second) - (first < second)
           : servers != 0  ? servers
                           : strcmp(finding_text(x, "link"), finding_text(y, "link"));
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
    diagnose_rests(rows, rows);
    diagnose_machine(rows);
    bool failed;
    char *missing = missing_take(rows, &failed);
    take_servers(rows);
    findings_close_ranks(rows);
    sort(rows); /* answers come in any order */
    diagnose_majority(rows, answered);
    diagnose_cut_off(rows, answered);
    join_misnamed(rows);
    join_exchanged(rows);
    drop_explained(rows);
    join_ends(rows);
    join_flapping(rows);
    join_by_far(rows);
    join_by_near(rows);
    join_many(rows);
    join_copies(rows);
    findings_close_ranks(rows);
    if (missing != NULL) {
        missing_tell(rows, missing, failed);
    }
    free(missing);
    diagnosis_tell_reached(rows, answered);
    diagnosis_leave_asked(rows, answered);
    free(answered);
    worst_first(rows);
}
