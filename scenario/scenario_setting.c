/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_setting.c - the lines of a scenario that say what the cluster is. */
#include "base/quantity.h"
#include "scenario/scenario_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { RATE_LEAST = 1000 };
#define RATE_MOST UINT64_C(8000000000000) /* a byte takes a picosecond */

/* ---- Settings that are one value --------------------------------------------------------------------------------- */

#define OF(word, what, field, ...)                                                     \
    {                                                                                  \
        .name = word, .kind = what, SETTING_FIELD(struct scenario, field), __VA_ARGS__ \
    }

const struct setting scenario_values[] = {
    OF("seed", SETTING_COUNT, config.seed, .most = INT64_MAX),
    OF("rate", SETTING_RATE, config.wire.bits_per_second, .least = RATE_LEAST, .most = RATE_MOST),
    OF("mtu", SETTING_COUNT, config.node.mtu, .least = 1500, .most = 9000, .of = "bytes"),
    OF("propagation", SETTING_SPAN, config.wire.propagation, .most = SETTING_ANY),
    OF("boot", SETTING_SPAN, boot, .most = SETTING_ANY),
    {.name = NULL},
};

const struct setting scenario_timers[] = {
    OF("hello", SETTING_SPAN, config.node.timers.hello, .most = SETTING_ANY),
    OF("dead", SETTING_SPAN, config.node.timers.dead, .most = SETTING_ANY),
    OF("hold", SETTING_SPAN, config.node.timers.hold, .most = SETTING_ANY),
    OF("flood-bound", SETTING_SPAN, config.node.timers.flood_bound, .most = SETTING_ANY),
    OF("retry", SETTING_SPAN, config.node.timers.retry, .most = SETTING_ANY),
    OF("pending-limit", SETTING_SPAN, config.node.timers.pending_limit, .most = SETTING_ANY),
    OF("pace", SETTING_SPAN, config.node.timers.pace, .most = SETTING_ANY),
    OF("damp", SETTING_SPAN, config.node.timers.damp, .most = SETTING_ANY),
    OF("damp-max", SETTING_SPAN, config.node.timers.damp_max, .most = SETTING_ANY),
    OF("refresh", SETTING_SPAN, config.node.timers.refresh, .most = SETTING_ANY),
    {.name = NULL},
};

const struct setting scenario_limits[] = {
    OF("queue-packets", SETTING_COUNT, config.node.queue_packets, .most = UINT32_MAX),
    OF("queue-bytes", SETTING_COUNT, config.node.queue_bytes, .most = UINT32_MAX),
    OF("hold-bytes", SETTING_COUNT, config.node.hold_bytes, .most = UINT32_MAX),
    OF("hops", SETTING_COUNT, config.node.hop_limit, .most = UINT8_MAX),
    OF("packets", SETTING_COUNT, config.packets_max, .most = UINT32_MAX),
    OF("cpu-queue", SETTING_COUNT, config.cpu_queue, .most = UINT32_MAX),
    {.name = NULL},
};

static int read_value(struct scenario_reader *r)
{
    r->w.at--; /* back to the name */
    return lines_named(&r->w, scenario_values, r->s);
}

/* "settled": nobody boots, the cluster begins at rest. */
static int read_boot(struct scenario_reader *r)
{
    r->s->config.settled = lines_skip(&r->w, "settled");
    if (r->s->config.settled) {
        r->s->boot = CW_NS(0);
        return 0;
    }
    return read_value(r);
}

static int read_timer(struct scenario_reader *r)
{
    r->timers_line = r->w.line;
    return lines_named(&r->w, scenario_timers, r->s);
}

static int read_limit(struct scenario_reader *r)
{
    return lines_named(&r->w, scenario_limits, r->s);
}

/* ---- The others -------------------------------------------------------------------------------------------------- */

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
    s->service_line[s->services++] = w->line;
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
    {"seed", read_value},
    {"rate", read_value},
    {"propagation", read_value},
    {"ring", read_ring},
    {"mtu", read_value},
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
