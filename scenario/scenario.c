/* SPDX-License-Identifier: Apache-2.0 */
#include "scenario/scenario.h"

#include "base/nearest.h"
#include "base/quantity.h"
#include "scenario/report.h"
#include "scenario/scenario_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

void scenario_init(struct scenario *s)
{
    *s = (struct scenario){.config = world_config_default(), .boot = CW_MS(10), .end = {CW_NS_PER_SEC}};
}

void scenario_free(struct scenario *s)
{
    fault_plan_free(&s->plan);
}

/* ---- Expectations ------------------------------------------------------------------------------------------------ */

static const char *const relation_names[] = {
    [SCENARIO_EQUAL] = "=", [SCENARIO_NOT] = "!=", [SCENARIO_LESS] = "<",
    [SCENARIO_MOST] = "<=", [SCENARIO_MORE] = ">", [SCENARIO_LEAST] = ">=",
};
enum { RELATIONS = sizeof relation_names / sizeof *relation_names };

const char *scenario_relation_name(enum scenario_relation relation)
{
    return relation_names[relation];
}

bool scenario_relation_holds(enum scenario_relation relation, double value, int64_t millionths)
{
    double want = (double)millionths / 1e6;
    switch (relation) {
    case SCENARIO_EQUAL:
        return value >= want && value <= want;
    case SCENARIO_NOT:
        return value < want || value > want;
    case SCENARIO_LESS:
        return value < want;
    case SCENARIO_MOST:
        return value <= want;
    case SCENARIO_MORE:
        return value > want;
    case SCENARIO_LEAST:
        return value >= want;
    }
    return false;
}

static const char *field_nth(const void *context, size_t i)
{
    (void)context;
    return report_field_nth(i);
}

static int read_expect(struct scenario_reader *r)
{
    struct lines *w = &r->w;
    struct scenario *s = r->s;
    struct scenario_expect expect = {.line = w->line, .relation = SCENARIO_EQUAL};
    if (s->expects == SCENARIO_EXPECTS_MAX) {
        return lines_wrong(w, "more than %d expectations", SCENARIO_EXPECTS_MAX);
    }
    const struct word *word = lines_more(w) ? &w->word[w->at] : NULL;
    if (word == NULL || word->length >= sizeof expect.field || !report_field_known(word->text, word->length)) {
        const char *near =
            word == NULL ? NULL : nearest_name(word->text, word->length, field_nth, NULL, report_field_count());
        return lines_unexpected(w, "a number of the report, as misdelivered, delivered or dropped_by_cause.no-route",
                                near);
    }
    memcpy(expect.field, word->text, word->length);
    w->at++;
    bool found = false;
    for (unsigned i = 0; i < RELATIONS && !found; i++) {
        found = lines_skip(w, relation_names[i]);
        expect.relation = found ? (enum scenario_relation)i : expect.relation;
    }
    if (!found) {
        return lines_unexpected(w, "= != < <= > or >=", NULL);
    }
    if (!lines_more(w) || quantity_millionths(w->word[w->at].text, w->word[w->at].length, &expect.millionths) < 0) {
        return lines_unexpected(w, "a number, as 0, 0.96 or 0.3%", NULL);
    }
    w->at++;
    s->expect[s->expects++] = expect;
    return 0;
}

/* ---- What happens when ------------------------------------------------------------------------------------------- */

static int read_time(struct lines *w, cw_time *out)
{
    cw_span span;
    int rc = lines_span(w, &span);
    if (rc == 0) {
        *out = (cw_time){span.ns};
    }
    return rc;
}

static int add_load(struct scenario_reader *r, const struct scenario_load *load)
{
    struct scenario *s = r->s;
    if (s->loads == SCENARIO_LOADS_MAX) {
        return lines_wrong(&r->w, "more than %d workloads", SCENARIO_LOADS_MAX);
    }
    s->load[s->loads++] = *load;
    return 0;
}

#define OF(word, what, field, ...)                                                     \
    {                                                                                  \
        .name = word, .kind = what, SETTING_FIELD(struct workload, field), __VA_ARGS__ \
    }
#define BYTES OF("bytes", SETTING_COUNT, bytes, .most = 9000)

/* What each kind of workload may say of itself, and what it does when it says nothing. */
static const struct {
    const char *word;
    struct workload usual;
    struct setting of[3];
} workloads[] = {
    {"keys",
     {.kind = WORKLOAD_KEYS, .rate = 1000},
     {OF("rate", SETTING_COUNT, rate, .least = 1, .most = 1000000000, .of = "packets a second"),
      BYTES,
      {.name = NULL}}},
    {"all",
     {.kind = WORKLOAD_ALL_TO_ALL, .load_ppm = 500000},
     {OF("load", SETTING_PPM, load_ppm, .least = 1, .most = 2000000), BYTES, {.name = NULL}}},
    {"neighbours",
     {.kind = WORKLOAD_NEIGHBOURS},
     {OF("links", SETTING_COUNT, links, .most = CW_LINK_COUNT), BYTES, {.name = NULL}}},
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static int read_workload(struct scenario_reader *r, cw_time at)
{
    struct lines *w = &r->w;
    size_t kind = 0;
    while (kind < WORKLOADS && !lines_skip(w, workloads[kind].word)) {
        kind++;
    }
    if (kind == WORKLOADS) {
        return lines_unexpected(w, "keys, all or neighbours", NULL);
    }
    struct scenario_load load = {.at = at, .load = workloads[kind].usual};
    while (lines_more(w)) {
        int rc = lines_assigned(w, workloads[kind].of, &load.load);
        if (rc != 1) {
            return rc < 0 ? rc : lines_unexpected(w, "bytes=, or rate= (keys), load= (all), links= (neighbours)", NULL);
        }
    }
    return add_load(r, &load);
}

/* SERVER SERVICE word.. */
static int read_tell(struct scenario_reader *r, cw_time at)
{
    struct lines *w = &r->w;
    struct scenario *s = r->s;
    struct scenario_tell tell = {.at = at};
    size_t used = 0;
    unsigned count = 0;
    if (s->tells == SCENARIO_TELLS_MAX) {
        return lines_wrong(w, "more than %d commands", SCENARIO_TELLS_MAX);
    }
    r->placed = true;
    if (lines_server(w, &r->torus, &tell.server) < 0) {
        return -EINVAL;
    }
    if (lines_take(w, tell.service, sizeof tell.service) < 0) {
        return lines_unexpected(w, "the name of a service, as ping", NULL);
    }
    while (lines_more(w)) {
        if (used > 0) {
            tell.text[used++] = ' ';
        }
        if (used + 1 >= sizeof tell.text || ++count > SCENARIO_TELL_WORDS ||
            lines_take(w, tell.text + used, sizeof tell.text - used) < 0) {
            return lines_unexpected(w, "a command of at most 16 words and 158 bytes", NULL);
        }
        used += strlen(tell.text + used);
    }
    s->tell[s->tells++] = tell;
    return 0;
}

static const char *action_nth(const void *context, size_t i)
{
    static const char *const others[] = {"workload", "stop", "quiet", "tell"};
    return i < 4 ? others[i] : scenario_fault_nth(context, i - 4);
}

static int read_action(struct scenario_reader *r, cw_time from, cw_time to)
{
    struct lines *w = &r->w;
    bool ends = cw_time_before(to, CW_NEVER);
    if (lines_skip(w, "workload")) {
        int rc = read_workload(r, from);
        return rc < 0 || !ends ? rc : add_load(r, &(struct scenario_load){.at = to, .stop = true});
    }
    if (!ends && lines_skip(w, "stop")) {
        return add_load(r, &(struct scenario_load){.at = from, .stop = true});
    }
    if (!ends && lines_skip(w, "tell")) {
        return read_tell(r, from);
    }
    if (!ends && lines_skip(w, "quiet")) {
        if (r->s->quiets == SCENARIO_QUIETS_MAX) {
            return lines_wrong(w, "more than %d times of quiet", SCENARIO_QUIETS_MAX);
        }
        r->s->quiet[r->s->quiets++] = from;
        return 0;
    }
    if (lines_more(w) && scenario_fault_word(&w->word[w->at])) {
        r->placed = true;
        return scenario_fault_read(w, &r->torus, from, to, &r->s->plan);
    }
    const char *near = lines_more(w) ? nearest_name(w->word[w->at].text, w->word[w->at].length, action_nth, NULL,
                                                    4 + scenario_fault_count())
                                     : NULL;
    return lines_unexpected(
        w,
        "what happens: workload, stop, quiet, tell, kill, power-off, start, leave, pause, cut, mend, harm, loss, "
        "duplicate, corrupt, clock, kill-plane, kill-row, partition, rejoin or heal",
        near);
}

static int read_at(struct scenario_reader *r)
{
    cw_time at;
    int rc = read_time(&r->w, &at);
    return rc < 0 ? rc : read_action(r, at, CW_NEVER);
}

static int read_from(struct scenario_reader *r)
{
    cw_time from = {0}, to = {0};
    if (read_time(&r->w, &from) < 0) {
        return -EINVAL;
    }
    if (!lines_skip(&r->w, "to")) {
        return lines_unexpected(&r->w, "'to' and a time", NULL);
    }
    if (read_time(&r->w, &to) < 0) {
        return -EINVAL;
    }
    if (!cw_time_before(from, to)) {
        return lines_wrong(&r->w, "the second time must be after the first");
    }
    return read_action(r, from, to);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static const struct scenario_line events[] = {
    {"at", read_at}, {"from", read_from}, {"expect", read_expect}, {NULL, NULL}};
enum { EVENTS = sizeof events / sizeof *events - 1 };

static const char *line_nth(const void *context, size_t i)
{
    (void)context;
    return i < EVENTS ? events[i].word : scenario_settings[i - EVENTS].word;
}

static const struct scenario_line *find_line(struct lines *w, const struct scenario_line *line)
{
    while (line->word != NULL && !lines_skip(w, line->word)) {
        line++;
    }
    return line->word != NULL ? line : NULL;
}

static int read_line(struct scenario_reader *r)
{
    struct lines *w = &r->w;
    const struct scenario_line *line = find_line(w, events);
    if (line == NULL) {
        line = find_line(w, scenario_settings);
    }
    if (line != NULL) {
        int rc = line->read(r);
        return rc < 0 ? rc : lines_done(w);
    }
    size_t count = EVENTS;
    while (scenario_settings[count - EVENTS].word != NULL) {
        count++;
    }
    return lines_unexpected(
        w, "a setting (torus, seed, rate, mtu, timers, ...), 'at', 'from', 'capture', 'expect' or 'end'",
        nearest_name(w->word[0].text, w->word[0].length, line_nth, NULL, count));
}

/* What no single line can say: things fit together. */
static int check_whole(struct scenario_reader *r)
{
    struct scenario *s = r->s;
    struct lines *w = &r->w;
    cw_time last = {0};
    for (uint32_t i = 0; i < s->plan.count; i++) {
        last = cw_time_max(last, s->plan.fault[i].at);
    }
    for (unsigned i = 0; i < s->loads; i++) {
        last = cw_time_max(last, s->load[i].at);
    }
    for (unsigned i = 0; i < s->tells; i++) {
        last = cw_time_max(last, s->tell[i].at);
    }
    for (unsigned i = 0; i < s->quiets; i++) {
        last = cw_time_max(last, s->quiet[i]);
    }
    if (w->line == 0) {
        return lines_wrong(w, "the file is empty: a scenario has at least an 'end TIME' line");
    }
    if (r->end_line == 0) {
        return lines_wrong(w, "the file ends without an 'end TIME' line");
    }
    if (cw_time_before(s->end, last)) {
        char text[QUANTITY_TEXT];
        quantity_span_format((cw_span){last.ns}, text);
        return lines_wrong(w, "something happens at %s, after the end", text);
    }
    w->line = r->timers_line != 0 ? r->timers_line : w->line;
    if (ls_timers_check(&s->config.node.timers) < 0) {
        return lines_wrong(
            w, "these timers cannot keep the guarantee: expected dead >= 2 hello and hold >= dead + flood-bound");
    }
    fault_plan_sort(&s->plan);
    return 0;
}

/* ---- All mistakes of a file -------------------------------------------------------------------------------------- */

struct mistakes {
    char *text; /* SCENARIO_ERROR bytes */
    size_t used;
    unsigned count;
};

/* Takes the mistake that stands in `line`, and empties it. */
static void add_mistake(struct mistakes *m, char line[static LINES_ERROR])
{
    if (m->count++ < SCENARIO_MISTAKES) {
        m->used += (size_t)snprintf(m->text + m->used, SCENARIO_ERROR - m->used, "%s%s", m->used > 0 ? "\n" : "", line);
    }
    line[0] = '\0';
}

static void count_others(struct mistakes *m, const char *file)
{
    if (m->count > SCENARIO_MISTAKES) {
        unsigned others = m->count - SCENARIO_MISTAKES;
        (void)snprintf(m->text + m->used, SCENARIO_ERROR - m->used, "\n%.200s: and %u more mistake%s", file, others,
                       others == 1 ? "" : "s");
    }
}

/* Reads all lines, also behind a mistake. 0, or what was wrong last. */
static int read_lines(struct scenario_reader *r, struct mistakes *m)
{
    int worst = 0, rc;
    while ((rc = lines_line(&r->w)) != 0) {
        rc = rc < 0 ? rc : read_line(r);
        if (rc == 0) {
            continue;
        }
        worst = rc;
        if (r->w.error[0] == '\0') {
            break; /* no memory */
        }
        bool torus = lines_word_is(&r->w.word[0], "torus");
        add_mistake(m, r->w.error);
        if (torus) {
            break; /* the others would be about servers that are in the torus that was meant */
        }
    }
    return worst;
}

int scenario_read(struct scenario *s, const char *file, const char *text, size_t length,
                  char error[static SCENARIO_ERROR])
{
    struct scenario_reader r = {.s = s};
    struct mistakes mistakes = {.text = error};
    char line[LINES_ERROR];
    error[0] = '\0';
    scenario_init(s);
    lines_open(&r.w, file, text, length, line);
    int rc = torus_init(&r.torus, s->config.dims);
    rc = rc == 0 ? read_lines(&r, &mistakes) : rc;
    if (rc == 0 && (rc = check_whole(&r)) < 0) {
        add_mistake(&mistakes, line);
    }
    if (rc < 0) {
        count_others(&mistakes, file);
        if (error[0] == '\0') {
            snprintf(error, SCENARIO_ERROR, "%s: no memory", file);
        }
        scenario_free(s);
        return rc == -ENOMEM ? -ENOMEM : -EINVAL;
    }
    return 0;
}

int scenario_load_file(struct scenario *s, const char *path, char error[static SCENARIO_ERROR])
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        snprintf(error, SCENARIO_ERROR, "%s: %s", path, strerror(errno));
        return -EINVAL;
    }
    char *text = malloc(FILE_BYTES_MAX);
    if (text == NULL) {
        fclose(f);
        snprintf(error, SCENARIO_ERROR, "%s: no memory", path);
        return -ENOMEM;
    }
    size_t length = fread(text, 1, FILE_BYTES_MAX, f);
    bool whole = ferror(f) == 0 && (length < FILE_BYTES_MAX || fgetc(f) == EOF);
    int failed = errno;
    fclose(f);
    int rc = -EINVAL;
    if (whole) {
        rc = scenario_read(s, path, text, length, error);
    } else {
        snprintf(error, SCENARIO_ERROR, "%s: %s", path,
                 length < FILE_BYTES_MAX ? strerror(failed) : "longer than a scenario (1 MiB)");
    }
    free(text);
    return rc;
}
