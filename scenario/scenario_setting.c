/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_setting.c - the lines of a scenario that say what the cluster is. */
#include "base/quantity.h"
#include "scenario/scenario_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static int read_torus(struct scenario_reader *r)
{
    struct lines *w = &r->w;
    cw_dims dims;
    if (r->torus_line != 0) {
        return lines_wrong(w, "the torus was said before, in line %u", r->torus_line);
    }
    if (r->placed) {
        return lines_wrong(w, "the torus must be said before the first line that names a server");
    }
    if (!lines_more(w) || quantity_dims(w->word[w->at].text, w->word[w->at].length, &dims) < 0 ||
        torus_init(&r->torus, dims) < 0) {
        return lines_unexpected(w, "dimensions of 1 to 256 each, as 3x3x3", NULL);
    }
    w->at++;
    r->s->config.dims = dims;
    r->torus_line = w->line;
    return 0;
}

static int read_seed(struct scenario_reader *r)
{
    return lines_count(&r->w, INT64_MAX, &r->s->config.seed);
}

static int read_rate(struct scenario_reader *r)
{
    int rc = lines_rate(&r->w, &r->s->config.wire.bits_per_second);
    if (rc == 0 &&
        (r->s->config.wire.bits_per_second < 1000 || r->s->config.wire.bits_per_second > UINT64_C(8000000000000))) {
        r->w.at--;
        return lines_unexpected(&r->w, "a rate from 1kbit to 8000gbit", NULL);
    }
    return rc;
}

static int read_propagation(struct scenario_reader *r)
{
    return lines_span(&r->w, &r->s->config.wire.propagation);
}

static int read_ring(struct scenario_reader *r)
{
    uint64_t ring;
    if (lines_count(&r->w, WIRE_RING_MAX, &ring) < 0) {
        return -EINVAL;
    }
    if (ring != 1 && ring != 2 && ring != 4) {
        r->w.at--;
        return lines_unexpected(&r->w, "1, 2 or 4 frames", NULL);
    }
    r->s->config.wire.ring = (uint8_t)ring;
    return 0;
}

static int read_mtu(struct scenario_reader *r)
{
    uint64_t mtu;
    if (lines_count(&r->w, 9000, &mtu) < 0) {
        return -EINVAL;
    }
    if (mtu < 1500) {
        r->w.at--;
        return lines_unexpected(&r->w, "1500 to 9000 bytes", NULL);
    }
    r->s->config.node.mtu = (uint16_t)mtu;
    return 0;
}

static int read_timers(struct scenario_reader *r)
{
    r->timers_line = r->w.line;
    if (lines_skip(&r->w, "fast")) {
        r->s->config.node.timers = ls_timers_fast();
        return 0;
    }
    if (lines_skip(&r->w, "default")) {
        r->s->config.node.timers = ls_timers_default();
        return 0;
    }
    return lines_unexpected(&r->w, "fast or default", NULL);
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

static int read_timer(struct scenario_reader *r)
{
    for (size_t i = 0; i < TIMER_WORDS; i++) {
        if (lines_skip(&r->w, timer_words[i].word)) {
            cw_span span;
            int rc = lines_span(&r->w, &span);
            memcpy((char *)&r->s->config.node.timers + timer_words[i].at, &span, rc == 0 ? sizeof span : 0);
            r->timers_line = r->w.line;
            return rc;
        }
    }
    return lines_unexpected(
        &r->w, "hello, dead, hold, flood-bound, retry, pending-limit, pace, damp, damp-max or refresh", NULL);
}

static int read_limit(struct scenario_reader *r)
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
        if (lines_skip(&r->w, limits[i].word)) {
            int rc = lines_count(&r->w, UINT32_MAX, &value);
            *limits[i].out = rc == 0 ? (uint32_t)value : 0;
            return rc;
        }
    }
    if (lines_skip(&r->w, "hops")) {
        int rc = lines_count(&r->w, UINT8_MAX, &value);
        node->hop_limit = rc == 0 ? (uint8_t)value : 0;
        return rc;
    }
    return lines_unexpected(&r->w, "queue-packets, queue-bytes, hold-bytes, packets, cpu-queue or hops", NULL);
}

/* "49.7us" for each frame, "8.2ns" for each byte of it: the second in picoseconds. */
static int read_cost(struct scenario_reader *r, cw_span *frame, uint32_t *ps_per_byte)
{
    struct lines *w = &r->w;
    if (lines_span(w, frame) < 0) {
        return -EINVAL;
    }
    if (lines_key(w, "byte") == 1) {
        uint64_t ps;
        size_t length = w->word[w->at].length;
        /* ps: as if ns were us, so that three more digits are whole. */
        int64_t millionths;
        if (length < 3 || memcmp(w->word[w->at].text + length - 2, "ns", 2) != 0 ||
            quantity_millionths(w->word[w->at].text, length - 2, &millionths) < 0 || millionths < 0 ||
            millionths % 1000 != 0 || (ps = (uint64_t)millionths / 1000) > UINT32_MAX) {
            return lines_unexpected(w, "ns for each byte, as 8.2ns", NULL);
        }
        w->at++;
        *ps_per_byte = (uint32_t)ps;
    }
    return 0;
}

static int read_host(struct scenario_reader *r)
{
    return read_cost(r, &r->s->config.wire.hop_delay, &r->s->config.wire.hop_ps_per_byte);
}

static int read_cpu(struct scenario_reader *r)
{
    return read_cost(r, &r->s->config.cpu_per_frame, &r->s->config.cpu_ps_per_byte);
}

static int read_clocks(struct scenario_reader *r)
{
    int rc = lines_ppm(&r->w, 100000, &r->s->config.clock_ppm);
    if (rc == 0 && lines_key(&r->w, "offset") == 1) {
        rc = lines_span(&r->w, &r->s->config.clock_offset);
    }
    return rc;
}

static int read_carrier(struct scenario_reader *r)
{
    if (lines_skip(&r->w, "never")) {
        r->s->config.carrier = (cw_span){-1};
        return 0;
    }
    return lines_span(&r->w, &r->s->config.carrier);
}

static int read_boot(struct scenario_reader *r)
{
    return lines_span(&r->w, &r->s->boot);
}

static int read_corrupted(struct scenario_reader *r)
{
    if (lines_skip(&r->w, "pass")) {
        r->s->config.corrupt_passes = true;
        return 0;
    }
    if (lines_skip(&r->w, "drop")) {
        r->s->config.corrupt_passes = false;
        return 0;
    }
    return lines_unexpected(&r->w, "drop (the card sees it) or pass (bits are flipped)", NULL);
}

static int read_end(struct scenario_reader *r)
{
    cw_span span;
    if (r->end_line != 0) {
        return lines_wrong(&r->w, "the end was said before, in line %u", r->end_line);
    }
    int rc = lines_span(&r->w, &span);
    if (rc == 0) {
        r->s->end = (cw_time){span.ns};
        r->end_line = r->w.line;
    }
    return rc;
}

static int read_capture(struct scenario_reader *r)
{
    struct scenario *s = r->s;
    struct scenario_capture capture = {.links = torus_links(&r->torus)};
    cw_link link;
    if (s->captures == SCENARIO_CAPTURES_MAX) {
        return lines_wrong(&r->w, "more than %d captures", SCENARIO_CAPTURES_MAX);
    }
    if (lines_server(&r->w, &r->torus, &capture.server) < 0) {
        return -EINVAL;
    }
    r->placed = true;
    for (capture.links = lines_more(&r->w) ? CW_LINKS_NONE : capture.links; lines_more(&r->w);) {
        if (lines_link(&r->w, &link) < 0) {
            return -EINVAL;
        }
        capture.links |= cw_links_of(link);
    }
    s->capture[s->captures++] = capture;
    return 0;
}

static int read_service(struct scenario_reader *r)
{
    struct lines *w = &r->w;
    struct scenario *s = r->s;
    if (s->services == SCENARIO_SERVICES_MAX) {
        return lines_wrong(w, "more than %d services", SCENARIO_SERVICES_MAX);
    }
    if (lines_take(w, s->service[s->services], SCENARIO_PATH) < 0) {
        return lines_unexpected(w, "the path of a service's .so", NULL);
    }
    s->services++;
    return 0;
}

static int read_option(struct scenario_reader *r)
{
    struct lines *w = &r->w;
    struct scenario *s = r->s;
    struct scenario_option *o = &s->option[s->options];
    if (s->options == SCENARIO_OPTIONS_MAX) {
        return lines_wrong(w, "more than %d options", SCENARIO_OPTIONS_MAX);
    }
    if (lines_take(w, o->service, sizeof o->service) < 0) {
        return lines_unexpected(w, "the name of a service, as ping", NULL);
    }
    if (lines_take(w, o->name, sizeof o->name) < 0) {
        return lines_unexpected(w, "the name of an option of the service", NULL);
    }
    if (lines_take(w, o->value, sizeof o->value) < 0) {
        return lines_unexpected(w, "the option's value, one word", NULL);
    }
    for (unsigned i = 0; i < s->options; i++) {
        if (strcmp(s->option[i].service, o->service) == 0 && strcmp(s->option[i].name, o->name) == 0) {
            return lines_wrong(w, "option %s of %s was given already", o->name, o->service);
        }
    }
    s->options++;
    return 0;
}

const struct scenario_line scenario_settings[] = {
    {"torus", read_torus},
    {"seed", read_seed},
    {"rate", read_rate},
    {"propagation", read_propagation},
    {"ring", read_ring},
    {"mtu", read_mtu},
    {"timers", read_timers},
    {"timer", read_timer},
    {"limit", read_limit},
    {"host", read_host},
    {"cpu", read_cpu},
    {"clocks", read_clocks},
    {"carrier", read_carrier},
    {"corrupted", read_corrupted},
    {"boot", read_boot},
    {"capture", read_capture},
    {"service", read_service},
    {"option", read_option},
    {"grant", scenario_grant_read},
    {"end", read_end},
    {NULL, NULL},
};
