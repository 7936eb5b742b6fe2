/* SPDX-License-Identifier: Apache-2.0 */
#include "testbed/cwlab/explain.h"

#include "testbed/cwlab/scale.h"
#include "testbed/peer.h"

#include <string.h>

/* Bytes of a log: how many are shown at most, and how many are searched for what the daemon said when it crashed. */
enum { QUOTED = 1200, SEARCHED = 16384 };
enum { STARVED_PERCENT = 20, YOUNG_S = 3 };

static const cw_span patience = CW_MS(10000);

/* The share of its life for which a process has waited for a processor; negative: not known. */
static double waited_share(int64_t pid, double seconds)
{
    char path[64];
    unsigned long long ran = 0, waited = 0;
    snprintf(path, sizeof path, "/proc/%lld/schedstat", (long long)pid);
    FILE *f = pid > 0 && seconds > 0 ? fopen(path, "re") : NULL;
    bool known = f != NULL && fscanf(f, "%llu %llu", &ran, &waited) == 2;
    if (f != NULL) {
        fclose(f);
    }
    return known ? (double)waited / 1e9 / seconds : -1;
}

bool explain_has_left(const char *ended)
{
    static const char fine[] = "exit code 0";
    return ended != NULL && strncmp(ended, fine, sizeof fine - 1) == 0;
}

static void note_dead(struct explain *e, const struct message *row)
{
    const char *name = message_get_text(row, "server", NULL), *ended = message_get_text(row, "ended", NULL);
    bool left = explain_has_left(ended);
    bool ordered = left || (ended != NULL && strstr(ended, "as ordered") != NULL);
    if (e->dead < EXPLAIN_NAMES) {
        struct explain_dead *d = &e->first[e->dead];
        snprintf(d->name, sizeof d->name, "%s", name != NULL ? name : "");
        snprintf(d->ended, sizeof d->ended, "%s", ended != NULL ? ended : "ended");
        d->ordered = ordered;
    }
    e->unordered += !ordered;
    e->left += left;
    e->dead++;
}

void explain_row(struct explain *e, const struct message *row)
{
    const char *state = message_get_text(row, "state", NULL);
    if (state == NULL) {
        return;
    }
    if (strcmp(state, "dead") == 0) {
        note_dead(e, row);
        return;
    }
    bool runs = strcmp(state, "running") == 0, paused = strcmp(state, "paused") == 0;
    e->running += runs; /* one that is leaving is neither: others know that it goes */
    e->paused += paused;
    double seconds = (double)message_get_integer(row, "since_ns", 0) / 1e9;
    double share = waited_share(message_get_integer(row, "pid", 0), seconds);
    if (share >= 0) {
        e->seconds = (e->seconds * e->timed + seconds) / (e->timed + 1);
        e->waited = (e->waited * e->timed + (share < 1 ? share : 1)) / (e->timed + 1);
        e->timed++;
    }
}

static void take(void *context, const struct message *row)
{
    explain_row(context, row);
}

void explain_load(struct explain *e)
{
    unsigned runnable = 0;
    FILE *f = fopen("/proc/loadavg", "re");
    if (f != NULL) {
        e->load = fscanf(f, "%*s %*s %*s %u", &runnable) == 1 ? runnable : 0;
        fclose(f);
    }
}

bool explain_look(struct explain *e, const struct lab *lab)
{
    char path[LAB_PATH], why[PEER_WHY];
    struct peer p;
    *e = (struct explain){.processors = scale_processors()};
    if (peer_open(&p, lab_path(lab, "keeper", ".sock", path)) < 0) {
        return false;
    }
    int rc = peer_ask(&p, peer_request("status", 0, NULL), patience, take, e, why);
    peer_close(&p);
    explain_load(e);
    return rc >= 0;
}

bool explain_is_starved(const struct explain *e)
{
    return e->timed > 0 && e->seconds >= YOUNG_S && e->waited * 100 >= STARVED_PERCENT;
}

uint64_t explain_scale(const struct explain *e, const struct lab *lab, double wanted)
{
    uint64_t now = scale_now(lab, wanted), longer = explain_is_starved(e) ? lab->scale * 2 : 0;
    uint64_t scale = now > longer ? now : longer;
    return scale < SCALE_MOST ? scale : SCALE_MOST;
}

/* Where the last line begins that says in what the daemon crashed, or was ended; NULL: none does. */
static const char *crash_line(const char *text)
{
    static const char *const begins[] = {"crashed: ", "ended by the watchdog: "};
    const char *last = NULL;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        for (const char *at = text; (at = strstr(at, begins[i])) != NULL; at++) {
            last = last == NULL || at > last ? at : last;
        }
    }
    while (last != NULL && last > text && last[-1] != '\n') {
        last--;
    }
    return last;
}

/* The lines at the end of a log that are worth reading. whole: the text is all of the log, and no line of it is cut. */
static const char *last_words(const char *text, size_t length, bool whole)
{
    const char *from = length > QUOTED ? text + length - QUOTED : text, *crash = crash_line(text);
    if (crash != NULL && crash < from) {
        return crash; /* a backtrace follows, which may be longer than the rest is to be */
    }
    const char *line = whole && from == text ? NULL : strchr(from, '\n');
    return line != NULL ? line + 1 : from;
}

/* Quotes the last lines of a log, for a reader who cannot see the file (as in a test's output). */
static void quote_log(const struct lab *lab, const char *name, FILE *out)
{
    static char text[SEARCHED + 1];
    char path[LAB_PATH];
    FILE *f = fopen(lab_data(lab, name, ".log", path), "re");
    if (f == NULL) {
        return;
    }
    bool whole = fseek(f, -(long)SEARCHED, SEEK_END) != 0;
    if (whole) {
        rewind(f);
    }
    size_t length = fread(text, 1, SEARCHED, f);
    fclose(f);
    text[length] = '\0';
    fprintf(out, "the log of %s ends:\n%s", name, last_words(text, length, whole));
    if (length > 0 && text[length - 1] != '\n') {
        fputc('\n', out);
    }
}

/* Servers that were told to leave by cwctl, as well as those that cwlab told. */
static void tell_gone(const struct explain *e, FILE *out)
{
    if (e->left == e->dead) {
        fprintf(out, "%u server%s left:", e->dead, e->dead == 1 ? " has" : "s have");
    } else {
        fprintf(out, "%u daemon%s dead:", e->dead, e->dead == 1 ? " is" : "s are");
    }
}

static void tell_dead(const struct explain *e, const struct lab *lab, FILE *out)
{
    const char *unordered = NULL;
    tell_gone(e, out);
    for (unsigned i = 0; i < e->dead && i < EXPLAIN_NAMES; i++) {
        const struct explain_dead *d = &e->first[i];
        fprintf(out, "%s %s (%s)", i > 0 ? "," : "", d->name, d->ended);
        unordered = unordered == NULL && !d->ordered ? d->name : unordered;
    }
    fputs(e->dead > EXPLAIN_NAMES ? ", and others" : "", out);
    if (!e->goes && lab->driver == LAB_PROCESS) {
        fprintf(out, "; cwlab down --name %s removes the lab, and cwlab up makes another one", lab->name);
    } else if (!e->goes) {
        fprintf(out, "; cwlab restore %s --name %s starts it again", e->first[0].name, lab->name);
    }
    fputc('\n', out);
    if (unordered != NULL) {
        quote_log(lab, unordered, out);
    }
}

/* A lab that goes, or is one process, gets other timers by coming up again. */
static void tell_starved(const struct explain *e, const struct lab *lab, FILE *out)
{
    char longer[LAB_NAME + 64];
    if (e->goes || lab->driver == LAB_PROCESS) {
        snprintf(longer, sizeof longer, "%.40s --scale %lu", e->again != NULL ? e->again : "cwlab up",
                 (unsigned long)lab->scale * 2);
    } else {
        snprintf(longer, sizeof longer, "cwlab rescale --name %s --scale %lu", lab->name,
                 (unsigned long)lab->scale * 2);
    }
    fprintf(out,
            "too little processor time: daemons have waited %.0f %% of their lives for a processor (%.0f processes "
            "want one now, there %s %u).\n"
            "Let other work end, take fewer servers, or longer timers (%s), or --driver process%s\n",
            e->waited * 100, e->load, e->processors == 1 ? "is" : "are", e->processors, longer,
            lab->hurries ? "" : "; root's daemons run before other work");
}

void explain_tell(const struct explain *e, const struct lab *lab, FILE *out)
{
    if (e->dead > 0) {
        tell_dead(e, lab, out);
    }
    if (e->paused > 0) {
        fprintf(out, "%u daemon%s paused\n", e->paused, e->paused == 1 ? " is" : "s are");
    }
    if (explain_is_starved(e)) {
        tell_starved(e, lab, out);
    }
    if (!e->goes && (e->dead > 0 || explain_is_starved(e))) {
        fprintf(out, "logs: %s/*.log\n", lab_data_folder(lab));
    }
}
