/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/scenario.h"

#include "simulator/options.h"
#include "simulator/quantity.h"
#include "simulator/report.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20 };

struct reader {
    struct words w;
    struct scenario *s;
    struct torus torus;
    bool placed; /* a server was named: the torus stays */
    bool ended;  /* an "end" line was read */
    unsigned timers_line;
};

void scenario_init(struct scenario *s)
{
    *s = (struct scenario){.config = world_config_default(), .boot = CW_MS(10), .end = {1000000000}};
}

void scenario_free(struct scenario *s)
{
    fault_plan_free(&s->plan);
}

/* ---- Settings ------------------------------------------------------------------------------------------------------- */

static int read_torus(struct reader *r)
{
    struct words *w = &r->w;
    cw_dims dims;
    if (r->placed) {
        return words_wrong(w, "the torus must be said before the first line that names a server");
    }
    if (!words_more(w) || quantity_dims(w->word[w->at].text, w->word[w->at].length, &dims) < 0 ||
        torus_init(&r->torus, dims) < 0) {
        return words_unexpected(w, "dimensions of 1 to 256 each, as 3x3x3", NULL);
    }
    w->at++;
    r->s->config.dims = dims;
    return 0;
}

static int read_seed(struct reader *r)
{
    return words_count(&r->w, INT64_MAX, &r->s->config.seed);
}

static int read_rate(struct reader *r)
{
    int rc = words_rate(&r->w, &r->s->config.wire.bits_per_second);
    if (rc == 0 &&
        (r->s->config.wire.bits_per_second < 1000 || r->s->config.wire.bits_per_second > UINT64_C(8000000000000))) {
        r->w.at--;
        return words_unexpected(&r->w, "a rate from 1kbit to 8000gbit", NULL);
    }
    return rc;
}

static int read_propagation(struct reader *r)
{
    return words_span(&r->w, &r->s->config.wire.propagation);
}

static int read_ring(struct reader *r)
{
    uint64_t ring;
    if (words_count(&r->w, WIRE_RING_MAX, &ring) < 0) {
        return -EINVAL;
    }
    if (ring != 1 && ring != 2 && ring != 4) {
        r->w.at--;
        return words_unexpected(&r->w, "1, 2 or 4 frames", NULL);
    }
    r->s->config.wire.ring = (uint8_t)ring;
    return 0;
}

static int read_mtu(struct reader *r)
{
    uint64_t mtu;
    if (words_count(&r->w, 9000, &mtu) < 0) {
        return -EINVAL;
    }
    if (mtu < 1500) {
        r->w.at--;
        return words_unexpected(&r->w, "1500 to 9000 bytes", NULL);
    }
    r->s->config.node.mtu = (uint16_t)mtu;
    return 0;
}

static int read_timers(struct reader *r)
{
    r->timers_line = r->w.line;
    if (words_skip(&r->w, "fast")) {
        r->s->config.node.timers = ls_timers_fast();
        return 0;
    }
    if (words_skip(&r->w, "default")) {
        r->s->config.node.timers = ls_timers_default();
        return 0;
    }
    return words_unexpected(&r->w, "fast or default", NULL);
}

static const struct {
    const char *word;
    size_t at;
} timer_words[] = {
    {"hello", offsetof(struct ls_timers, hello)},       {"dead", offsetof(struct ls_timers, dead)},
    {"hold", offsetof(struct ls_timers, hold)},         {"flood-bound", offsetof(struct ls_timers, flood_bound)},
    {"retry", offsetof(struct ls_timers, retry)},       {"pending-limit", offsetof(struct ls_timers, pending_limit)},
    {"pace", offsetof(struct ls_timers, pace)},         {"damp", offsetof(struct ls_timers, damp)},
    {"damp-max", offsetof(struct ls_timers, damp_max)}, {"refresh", offsetof(struct ls_timers, refresh)},
};
enum { TIMER_WORDS = sizeof timer_words / sizeof *timer_words };

static int read_timer(struct reader *r)
{
    for (size_t i = 0; i < TIMER_WORDS; i++) {
        if (words_skip(&r->w, timer_words[i].word)) {
            cw_span span;
            int rc = words_span(&r->w, &span);
            memcpy((char *)&r->s->config.node.timers + timer_words[i].at, &span, rc == 0 ? sizeof span : 0);
            r->timers_line = r->w.line;
            return rc;
        }
    }
    return words_unexpected(
        &r->w, "hello, dead, hold, flood-bound, retry, pending-limit, pace, damp, damp-max or refresh", NULL);
}

static int read_limit(struct reader *r)
{
    struct node_config *node = &r->s->config.node;
    uint64_t value;
    struct {
        const char *word;
        uint32_t *out;
    } const limits[] = {
        {"queue-packets", &node->queue_packets}, {"queue-bytes", &node->queue_bytes},
        {"hold-bytes", &node->hold_bytes},       {"packets", &r->s->config.packets_max},
        {"cpu-queue", &r->s->config.cpu_queue},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (words_skip(&r->w, limits[i].word)) {
            int rc = words_count(&r->w, UINT32_MAX, &value);
            *limits[i].out = rc == 0 ? (uint32_t)value : 0;
            return rc;
        }
    }
    if (words_skip(&r->w, "hops")) {
        int rc = words_count(&r->w, UINT8_MAX, &value);
        node->hop_limit = rc == 0 ? (uint8_t)value : 0;
        return rc;
    }
    return words_unexpected(&r->w, "queue-packets, queue-bytes, hold-bytes, packets, cpu-queue or hops", NULL);
}

/* "49.7us" for each frame, "8.2ns" for each byte of it: the second in picoseconds. */
static int read_cost(struct reader *r, cw_span *frame, uint32_t *ps_per_byte)
{
    struct words *w = &r->w;
    if (words_span(w, frame) < 0) {
        return -EINVAL;
    }
    if (words_key(w, "byte") == 1) {
        uint64_t ps;
        size_t length = w->word[w->at].length;
        /* ps: as if ns were us, so that three more digits are whole. */
        int64_t millionths;
        if (length < 3 || memcmp(w->word[w->at].text + length - 2, "ns", 2) != 0 ||
            quantity_millionths(w->word[w->at].text, length - 2, &millionths) < 0 || millionths < 0 ||
            millionths % 1000 != 0 || (ps = (uint64_t)millionths / 1000) > UINT32_MAX) {
            return words_unexpected(w, "ns for each byte, as 8.2ns", NULL);
        }
        w->at++;
        *ps_per_byte = (uint32_t)ps;
    }
    return 0;
}

static int read_host(struct reader *r)
{
    return read_cost(r, &r->s->config.wire.hop_delay, &r->s->config.wire.hop_ps_per_byte);
}

static int read_cpu(struct reader *r)
{
    return read_cost(r, &r->s->config.cpu_per_frame, &r->s->config.cpu_ps_per_byte);
}

static int read_clocks(struct reader *r)
{
    int rc = words_ppm(&r->w, 100000, &r->s->config.clock_ppm);
    if (rc == 0 && words_key(&r->w, "offset") == 1) {
        rc = words_span(&r->w, &r->s->config.clock_offset);
    }
    return rc;
}

static int read_carrier(struct reader *r)
{
    if (words_skip(&r->w, "never")) {
        r->s->config.carrier = (cw_span){-1};
        return 0;
    }
    return words_span(&r->w, &r->s->config.carrier);
}

static int read_boot(struct reader *r)
{
    return words_span(&r->w, &r->s->boot);
}

static int read_corrupted(struct reader *r)
{
    if (words_skip(&r->w, "pass")) {
        r->s->config.corrupt_passes = true;
        return 0;
    }
    if (words_skip(&r->w, "drop")) {
        r->s->config.corrupt_passes = false;
        return 0;
    }
    return words_unexpected(&r->w, "drop (the card sees it) or pass (bits are flipped)", NULL);
}

static int read_end(struct reader *r)
{
    cw_span span;
    int rc = words_span(&r->w, &span);
    if (rc == 0) {
        r->s->end = (cw_time){span.ns};
        r->ended = true;
    }
    return rc;
}

static int read_capture(struct reader *r)
{
    struct scenario *s = r->s;
    struct scenario_capture capture = {.links = torus_links(&r->torus)};
    cw_link link;
    if (s->captures == SCENARIO_CAPTURES_MAX) {
        return words_wrong(&r->w, "more than %d captures", SCENARIO_CAPTURES_MAX);
    }
    if (words_server(&r->w, &r->torus, &capture.server) < 0) {
        return -EINVAL;
    }
    r->placed = true;
    for (capture.links = words_more(&r->w) ? CW_LINKS_NONE : capture.links; words_more(&r->w);) {
        if (words_link(&r->w, &link) < 0) {
            return -EINVAL;
        }
        capture.links |= cw_links_of(link);
    }
    s->capture[s->captures++] = capture;
    return 0;
}

/* ---- Expectations ---------------------------------------------------------------------------------------------------- */

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

static int read_expect(struct reader *r)
{
    struct words *w = &r->w;
    struct scenario *s = r->s;
    struct scenario_expect expect = {.line = w->line, .relation = SCENARIO_EQUAL};
    if (s->expects == SCENARIO_EXPECTS_MAX) {
        return words_wrong(w, "more than %d expectations", SCENARIO_EXPECTS_MAX);
    }
    const struct word *word = words_more(w) ? &w->word[w->at] : NULL;
    if (word == NULL || word->length >= sizeof expect.field || !report_field_known(word->text, word->length)) {
        const char *near =
            word == NULL ? NULL : options_nearest(word->text, word->length, field_nth, NULL, report_field_count());
        return words_unexpected(w, "a number of the report, as misdelivered, delivered or dropped_by_cause.no-route",
                                near);
    }
    memcpy(expect.field, word->text, word->length);
    w->at++;
    bool found = false;
    for (unsigned i = 0; i < RELATIONS && !found; i++) {
        found = words_skip(w, relation_names[i]);
        expect.relation = found ? (enum scenario_relation)i : expect.relation;
    }
    if (!found) {
        return words_unexpected(w, "= != < <= > or >=", NULL);
    }
    if (!words_more(w) || quantity_millionths(w->word[w->at].text, w->word[w->at].length, &expect.millionths) < 0) {
        return words_unexpected(w, "a number, as 0, 0.96 or 0.3%", NULL);
    }
    w->at++;
    s->expect[s->expects++] = expect;
    return 0;
}

/* ---- What happens when ------------------------------------------------------------------------------------------------- */

static int read_time(struct words *w, cw_time *out)
{
    cw_span span;
    int rc = words_span(w, &span);
    if (rc == 0) {
        *out = (cw_time){span.ns};
    }
    return rc;
}

static int add_load(struct reader *r, const struct scenario_load *load)
{
    struct scenario *s = r->s;
    if (s->loads == SCENARIO_LOADS_MAX) {
        return words_wrong(&r->w, "more than %d workloads", SCENARIO_LOADS_MAX);
    }
    s->load[s->loads++] = *load;
    return 0;
}

static int read_workload(struct reader *r, cw_time at)
{
    struct words *w = &r->w;
    struct scenario_load load = {.at = at};
    uint64_t value;
    if (words_skip(w, "keys")) {
        load.load.kind = WORKLOAD_KEYS;
        load.load.rate = 1000;
    } else if (words_skip(w, "all")) {
        load.load.kind = WORKLOAD_ALL_TO_ALL;
    } else if (words_skip(w, "neighbours")) {
        load.load.kind = WORKLOAD_NEIGHBOURS;
    } else {
        return words_unexpected(w, "keys, all or neighbours", NULL);
    }
    while (words_more(w)) {
        if (words_key(w, "rate") == 1) {
            if (words_count(w, 1000000000, &value) < 0) {
                return -EINVAL;
            }
            load.load.rate = (uint32_t)value;
        } else if (words_key(w, "load") == 1) {
            if (words_ppm(w, 2000000, &load.load.load_ppm) < 0) {
                return -EINVAL;
            }
        } else if (words_key(w, "bytes") == 1) {
            if (words_count(w, 9000, &value) < 0) {
                return -EINVAL;
            }
            load.load.bytes = (uint32_t)value;
        } else if (words_key(w, "links") == 1) {
            if (words_count(w, CW_LINK_COUNT, &value) < 0) {
                return -EINVAL;
            }
            load.load.links = (cw_link)value;
        } else {
            return words_unexpected(w, "rate=, load=, bytes= or links=", NULL);
        }
    }
    if (load.load.kind == WORKLOAD_ALL_TO_ALL && load.load.rate == 0 && load.load.load_ppm == 0) {
        return words_wrong(
            w, "an all-to-all needs rate= (packets a second and server) or load= (of what the torus carries)");
    }
    return add_load(r, &load);
}

static const char *action_nth(const void *context, size_t i)
{
    static const char *const others[] = {"workload", "stop", "quiet"};
    return i < 3 ? others[i] : scenario_fault_nth(context, i - 3);
}

static int read_action(struct reader *r, cw_time from, cw_time to)
{
    struct words *w = &r->w;
    bool ends = cw_time_before(to, CW_NEVER);
    if (words_skip(w, "workload")) {
        int rc = read_workload(r, from);
        return rc < 0 || !ends ? rc : add_load(r, &(struct scenario_load){.at = to, .stop = true});
    }
    if (!ends && words_skip(w, "stop")) {
        return add_load(r, &(struct scenario_load){.at = from, .stop = true});
    }
    if (!ends && words_skip(w, "quiet")) {
        if (r->s->quiets == SCENARIO_QUIETS_MAX) {
            return words_wrong(w, "more than %d times of quiet", SCENARIO_QUIETS_MAX);
        }
        r->s->quiet[r->s->quiets++] = from;
        return 0;
    }
    if (words_more(w) && scenario_fault_word(&w->word[w->at])) {
        r->placed = true;
        return scenario_fault_read(w, &r->torus, from, to, &r->s->plan);
    }
    const char *near = words_more(w) ? options_nearest(w->word[w->at].text, w->word[w->at].length, action_nth, NULL,
                                                       3 + scenario_fault_count())
                                     : NULL;
    return words_unexpected(
        w,
        "what happens: workload, stop, quiet, kill, power, start, leave, pause, cut, mend, harm, loss, "
        "duplicate, corrupt, clock, kill-plane, kill-row, partition or heal",
        near);
}

static int read_at(struct reader *r)
{
    cw_time at;
    int rc = read_time(&r->w, &at);
    return rc < 0 ? rc : read_action(r, at, CW_NEVER);
}

static int read_from(struct reader *r)
{
    cw_time from = {0}, to = {0};
    if (read_time(&r->w, &from) < 0) {
        return -EINVAL;
    }
    if (!words_skip(&r->w, "to")) {
        return words_unexpected(&r->w, "'to' and a time", NULL);
    }
    if (read_time(&r->w, &to) < 0) {
        return -EINVAL;
    }
    if (!cw_time_before(from, to)) {
        return words_wrong(&r->w, "the second time must be after the first");
    }
    return read_action(r, from, to);
}

/* ---- Lines -------------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int (*read)(struct reader *r);
} line_words[] = {
    {"torus", read_torus},     {"seed", read_seed},
    {"rate", read_rate},       {"propagation", read_propagation},
    {"ring", read_ring},       {"mtu", read_mtu},
    {"timers", read_timers},   {"timer", read_timer},
    {"limit", read_limit},     {"host", read_host},
    {"cpu", read_cpu},         {"clocks", read_clocks},
    {"carrier", read_carrier}, {"corrupted", read_corrupted},
    {"boot", read_boot},       {"at", read_at},
    {"from", read_from},       {"capture", read_capture},
    {"expect", read_expect},   {"end", read_end},
};
enum { LINE_WORDS = sizeof line_words / sizeof *line_words };

static const char *line_nth(const void *context, size_t i)
{
    (void)context;
    return line_words[i].word;
}

static int read_line(struct reader *r)
{
    struct words *w = &r->w;
    for (size_t i = 0; i < LINE_WORDS; i++) {
        if (words_skip(w, line_words[i].word)) {
            int rc = line_words[i].read(r);
            return rc < 0 ? rc : words_done(w);
        }
    }
    return words_unexpected(
        w, "a setting (torus, seed, rate, mtu, timers, ...), 'at', 'from', 'capture', 'expect' or 'end'",
        options_nearest(w->word[0].text, w->word[0].length, line_nth, NULL, LINE_WORDS));
}

/* What no single line can say: things fit together. */
static int check_whole(struct reader *r)
{
    struct scenario *s = r->s;
    struct words *w = &r->w;
    cw_time last = {0};
    for (uint32_t i = 0; i < s->plan.count; i++) {
        last = cw_time_max(last, s->plan.fault[i].at);
    }
    for (unsigned i = 0; i < s->loads; i++) {
        last = cw_time_max(last, s->load[i].at);
    }
    for (unsigned i = 0; i < s->quiets; i++) {
        last = cw_time_max(last, s->quiet[i]);
    }
    if (!r->ended) {
        return words_wrong(w, "the file ends without an 'end TIME' line");
    }
    if (cw_time_before(s->end, last)) {
        char text[QUANTITY_TEXT];
        quantity_span_format((cw_span){last.ns}, text);
        return words_wrong(w, "something happens at %s, after the end", text);
    }
    w->line = r->timers_line != 0 ? r->timers_line : w->line;
    if (ls_timers_check(&s->config.node.timers) < 0) {
        return words_wrong(
            w, "these timers cannot keep the guarantee: expected dead >= 2 hello and hold >= dead + flood-bound");
    }
    fault_plan_sort(&s->plan);
    return 0;
}

int scenario_read(struct scenario *s, const char *file, const char *text, size_t length, char error[static WORDS_ERROR])
{
    struct reader r = {.s = s};
    int rc;
    scenario_init(s);
    words_open(&r.w, file, text, length, error);
    rc = torus_init(&r.torus, s->config.dims);
    while (rc == 0 && (rc = words_line(&r.w)) == 1) {
        rc = read_line(&r);
    }
    if (rc == 0) {
        rc = check_whole(&r);
    }
    if (rc < 0) {
        if (error[0] == '\0') {
            snprintf(error, WORDS_ERROR, "%s: no memory", file);
        }
        scenario_free(s);
        return error[0] != '\0' && rc == -ENOMEM ? -ENOMEM : -EINVAL;
    }
    return 0;
}

int scenario_load_file(struct scenario *s, const char *path, char error[static WORDS_ERROR])
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        snprintf(error, WORDS_ERROR, "%s: %s", path, strerror(errno));
        return -EINVAL;
    }
    char *text = malloc(FILE_BYTES_MAX);
    if (text == NULL) {
        fclose(f);
        snprintf(error, WORDS_ERROR, "%s: no memory", path);
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
        snprintf(error, WORDS_ERROR, "%s: %s", path,
                 length < FILE_BYTES_MAX ? strerror(failed) : "longer than a scenario (1 MiB)");
    }
    free(text);
    return rc;
}
