/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.c - a world opens and closes, time passes, and what came of it is added up.
 */
#include "simulator/world_internal.h"

#include "base/digest.h"
#include "nmu/book.h"
#include "wire/limits.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_PACKET = 512, /* memory of a small packet: a control frame of a few records, or padding only */
    PACKETS_PER_SERVER = 512,
    PACKETS_LEAST = 65536,
    STILL_MAX = 50 * 1000 * 1000, /* events at one instant: something answers itself for ever */
    BUSY_LOAD = 2,                /* buckets are made for links that are half used */
};

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static int check_config(const struct world_config *c, struct torus *torus)
{
    bool ring = c->wire.ring == 1 || c->wire.ring == 2 || c->wire.ring == WIRE_RING_MAX;
    if (torus_init(torus, c->dims) < 0 || ls_timers_check(&c->node.timers) < 0 || !ring ||
        c->wire.bits_per_second == 0 || c->wire.propagation.ns < 0 || c->wire.hop_delay.ns < 0 || c->cpu_queue == 0 ||
        c->clock_ppm >= WIRE_MILLION || c->clock_offset.ns < 0 || c->cpu_per_frame.ns < 0) {
        return -EINVAL;
    }
    if (torus->servers > EVENT_SERVERS_MAX - 1) {
        return -E2BIG;
    }
    struct node_config any = c->node; /* what no server could start with */
    any.self = (cw_coord){0, 0, 0};
    any.incarnation = 1;
    return node_config_check(&any);
}

static int open_wheel(struct world *w)
{
    const struct wire_config *wire = &w->config.wire;
    int64_t full = (int64_t)wire_bytes(w->config.node.mtu) * w->ps_per_byte / 1000;
    int64_t host = wire->hop_delay.ns + (int64_t)w->config.node.mtu * wire->hop_ps_per_byte / 1000;
    /* A link that is half used sends a full frame, and is polled for it, every two frame times. */
    int64_t gap = full * BUSY_LOAD / ((int64_t)w->servers * CW_LINK_COUNT) * 2;
    return wheel_open(&w->wheel, CW_NS(3 * (full + wire->propagation.ns + host)), CW_NS(gap));
}

static int open_packets(struct world *w)
{
    uint32_t most = w->servers < UINT32_MAX / PACKETS_PER_SERVER ? w->servers * PACKETS_PER_SERVER : UINT32_MAX;
    struct pkt_home_config config = {
        .small_bytes = SMALL_PACKET,
        .large_bytes = w->config.node.mtu + PKT_HEADROOM,
        .packets_max = most > PACKETS_LEAST ? most : PACKETS_LEAST,
    };
    if (w->config.packets_max != 0) {
        config.packets_max = w->config.packets_max;
    }
    return pkt_home_open(&w->packets, &config);
}

static void set_clocks(struct world *w)
{
    w->clocks = w->config.clock_ppm != 0 || w->config.clock_offset.ns != 0;
    int32_t most = (int32_t)w->config.clock_ppm;
    for (cw_server s = 0; s < w->servers; s++) {
        struct prng random = prng_stream(w->config.seed, s, WORLD_STREAM_CLOCK);
        struct sim_server *h = &w->server[s];
        h->ppm = (int32_t)prng_below(&random, (uint64_t)most * 2 + 1) - most;
        h->clock_local = prng_span(&random, CW_NS(0), w->config.clock_offset).ns;
        h->wake_ns = INT64_MAX;
    }
}

static void release(struct world *w)
{
    check_close(w->check);
    oracle_close(&w->oracle);
    wheel_close(&w->wheel);
    if (w->packets != NULL) {
        pkt_home_close(w->packets);
    }
    book_close(w->book);
    free(w->harm);
    free(w->harm_random);
    free(w->started_context);
    free(w->neighbours);
    free(w->wire);
    free(w->server);
    free(w);
}

/* The services are jobs, with the privileges that the configuration names. */
static int open_book(struct world *w)
{
    int rc = book_open(&w->book, w->servers);
    for (unsigned i = 0; i < w->config.service_count && rc == 0; i++) {
        const cw_service *table = w->config.services[i].table;
        rc = book_add(w->book, table->job, table->name);
    }
    for (unsigned i = 0; i < w->config.grant_count && rc == 0; i++) {
        rc = book_allow(w->book, &w->config.grants[i]);
    }
    w->config.grants = NULL;
    w->config.grant_count = 0;
    return rc;
}

static int build(struct world *w)
{
    size_t n = w->servers, links = n * CW_LINK_COUNT;
    w->server = aligned_alloc(_Alignof(struct sim_server), n * sizeof *w->server);
    w->wire = aligned_alloc(_Alignof(struct wire), links * sizeof *w->wire);
    w->neighbours = malloc(links * sizeof *w->neighbours);
    if (w->server == NULL || w->wire == NULL || w->neighbours == NULL) {
        return -ENOMEM;
    }
    memset(w->server, 0, n * sizeof *w->server);
    memset(w->wire, 0, links * sizeof *w->wire);
    torus_neighbours_fill(&w->torus, w->neighbours);
    set_clocks(w);
    int rc = open_wheel(w);
    if (rc == 0) {
        rc = open_packets(w);
    }
    if (rc == 0) {
        rc = open_book(w);
    }
    if (rc == 0) {
        rc = oracle_open(&w->oracle, &w->torus, w->neighbours);
    }
    if (rc == 0 && !w->config.checks_off) {
        rc = check_open(&w->check, w);
    }
    return rc;
}

int world_open(struct world **out, const struct world_config *config)
{
    struct torus torus;
    struct world_config full = *config;
    full.node.dims = config->dims;
    full.node.bits_per_second = config->wire.bits_per_second;
    full.node.hop_limit = config->node.hop_limit != 0 ? config->node.hop_limit : HOP_LIMIT_DEFAULT;
    about_fill(&full.node.about, "simulated", NULL);
    int rc = check_config(&full, &torus);
    if (rc < 0) {
        return rc;
    }
    struct world *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    w->config = full;
    w->torus = torus;
    w->servers = torus.servers;
    w->links = torus_links(&torus);
    w->ps_per_byte = wire_ps_per_byte(&config->wire);
    w->busy = config->cpu_per_frame.ns > 0 || config->cpu_ps_per_byte > 0;
    rc = build(w);
    if (rc < 0) {
        release(w);
        return rc;
    }
    if (w->check != NULL) {
        check_begin(w->check);
    }
    *out = w;
    return 0;
}

static bool is_frame(const struct wheel_event *e)
{
    unsigned kind = EVENT_KIND(e->order);
    return e->order >= EVENT_ORDER(0, 0) && kind >= EVENT_FRAME && kind < EVENT_FRAME + CW_LINK_COUNT;
}

static bool is_relayed(const struct wheel_event *e)
{
    unsigned kind = EVENT_KIND(e->order);
    return e->order >= EVENT_ORDER(0, 0) && kind >= EVENT_RELAY && kind < EVENT_RELAY + CW_LINK_COUNT;
}

static bool discard(void *context, const struct wheel_event *e)
{
    (void)context;
    if (is_frame(e) || is_relayed(e)) {
        pkt_release(e->what);
    } else {
        free(e->what);
    }
    return true;
}

void world_close(struct world *w)
{
    check_close(w->check);
    w->check = NULL;
    w->watch = (struct world_watch){.context = NULL};
    for (cw_server s = 0; s < w->servers; s++) {
        world_kill(w, s, false);
        relays_free(w, s);
    }
    (void)wheel_sweep(&w->wheel, discard, NULL);
    release(w);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

cw_time world_now(const struct world *w)
{
    return w->now;
}

void world_stop(struct world *w)
{
    w->stopped = true;
}

void world_at(struct world *w, cw_time at, void (*fn)(struct world *w, void *arg), void *arg)
{
    CHECK(!cw_time_before(at, w->now));
    struct action *action = malloc(sizeof *action);
    CHECK(action != NULL);
    *action = (struct action){fn, arg};
    wheel_put(&w->wheel, at, EVENT_WORLD, action);
}

/*
 * Thousands of nodes do not fit into a cache, and their order is known a little ahead. Each step brings near what the
 * next one reads: the host of the event and its frame; from the host, what the node reads first; from the node and the
 * frame, what the node will ask of where the frame is going.
 */
static void prefetch(const struct world *w)
{
    enum { NODE_LINES = 3, LINKSTATE_LINES = 4, LINE = 64 };
    const struct wheel_event *e = wheel_ahead(&w->wheel, 2);
    if (e != NULL && e->order >= EVENT_ORDER(0, 0)) {
        __builtin_prefetch(&w->server[EVENT_SERVER(e->order)]);
        if (e->what != NULL) {
            const char *frame = e->what;
            __builtin_prefetch(frame);
            __builtin_prefetch(frame + LINE);
            __builtin_prefetch(frame + sizeof(struct cw_packet) + PKT_HEADROOM);
        }
    }
    e = wheel_ahead(&w->wheel, 1);
    if (e != NULL && e->order >= EVENT_ORDER(0, 0)) {
        const struct sim_server *h = &w->server[EVENT_SERVER(e->order)];
        for (unsigned i = 0; h->node != NULL && i < NODE_LINES; i++) {
            __builtin_prefetch((const char *)h->node + i * LINE);
        }
        for (unsigned i = 0; h->linkstate != NULL && i < LINKSTATE_LINES; i++) {
            __builtin_prefetch((const char *)h->linkstate + i * LINE);
        }
    }
    e = wheel_ahead(&w->wheel, 0);
    if (e != NULL && is_frame(e)) {
        const struct sim_server *h = &w->server[EVENT_SERVER(e->order)];
        if (h->node != NULL) {
            node_expect(h->node, e->what);
        }
    }
}

static void time_stands_still(struct world *w, const struct wheel_event *e)
{
    cw_server s = e->order >= EVENT_ORDER(0, 0) ? EVENT_SERVER(e->order) : 0;
    check_violated(w, 0, 1, &s, "time stands still: %u events at one instant, the last of kind %u", w->still,
                   EVENT_KIND(e->order));
}

int world_run(struct world *w, cw_time until)
{
    struct wheel_event e;
    CHECK(!cw_time_before(until, w->now));
    while (!w->stopped && wheel_take(&w->wheel, until, &e)) {
        prefetch(w);
        w->still = e.at_ns == w->now.ns ? w->still + 1 : 0;
        w->now.ns = e.at_ns;
        w->totals.events++;
        if (__builtin_expect(w->still > STILL_MAX, 0)) {
            time_stands_still(w, &e);
        }
        pump_event(w, &e);
    }
    if (w->stopped) {
        return 1;
    }
    w->now = until;
    return 0;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

const struct torus *world_torus(const struct world *w)
{
    return &w->torus;
}

const struct world_config *world_config(const struct world *w)
{
    return &w->config;
}

const cw_server *world_neighbours(const struct world *w)
{
    return w->neighbours;
}

const struct wire *world_wire(const struct world *w, cw_server s, cw_link link)
{
    return &w->wire[(size_t)s * CW_LINK_COUNT + link];
}

struct oracle *world_oracle(struct world *w)
{
    return &w->oracle;
}

unsigned world_running(const struct world *w)
{
    return w->running;
}

bool world_is_active(struct world *w, cw_server s)
{
    return w->server[s].state != WORLD_DEAD && w->oracle.active[s];
}

unsigned world_active(struct world *w)
{
    unsigned active = 0;
    for (cw_server s = 0; s < w->servers; s++) {
        active += world_is_active(w, s);
    }
    return active;
}

/* Is the view of s, which is active, exactly its component, which has so many members? */
static bool is_component(struct world *w, cw_server s, uint32_t members)
{
    const struct reach *view = ls_committed(w->server[s].linkstate);
    cw_server own = oracle_component(&w->oracle, s);
    bool agrees = view->members == members;
    for (cw_server m = reach_next(view, 0); agrees && m != CW_SERVER_NONE; m = reach_next(view, m + 1)) {
        agrees = w->oracle.active[m] && w->oracle.component[m] == own;
    }
    return agrees;
}

bool world_agrees(struct world *w, cw_server s)
{
    uint32_t members = 0;
    if (!world_is_active(w, s)) {
        return false;
    }
    cw_server own = oracle_component(&w->oracle, s); /* brings all components up to date */
    for (cw_server m = 0; m < w->servers; m++) {
        members += w->oracle.active[m] && w->oracle.component[m] == own;
    }
    return is_component(w, s, members);
}

unsigned world_agreeing(struct world *w)
{
    uint32_t *members = calloc(w->servers, sizeof *members);
    CHECK(members != NULL);
    for (cw_server s = 0; s < w->servers; s++) {
        if (w->oracle.active[s]) {
            members[oracle_component(&w->oracle, s)]++;
        }
    }
    unsigned agreeing = 0;
    for (cw_server s = 0; s < w->servers; s++) {
        agreeing += world_is_active(w, s) && is_component(w, s, members[oracle_component(&w->oracle, s)]);
    }
    free(members);
    return agreeing;
}

void world_watch(struct world *w, const struct world_watch *watch)
{
    w->watch = *watch;
}

void world_stamps(struct world *w, const struct world_stamp *stamp)
{
    CHECK(stamp->bytes <= 32);
    w->stamp = *stamp;
}

void world_totals(struct world *w, struct world_totals *out)
{
    *out = w->totals;
    out->now = w->now;
    for (cw_server s = 0; s < w->servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            const struct wire *wire = world_wire(w, s, link);
            out->frames += wire->frames;
            out->bytes += wire->bytes;
            out->control_frames += wire->control_frames;
        }
        if (w->server[s].node != NULL) {
            struct node_tally tally = node_tally(w->server[s].node);
            out->made += tally.made;
            out->ended += tally.ended;
            out->inside += node_packets_inside(w->server[s].node);
        }
    }
}

uint64_t world_digest(struct world *w)
{
    struct digest d;
    digest_init(&d);
    digest_u64(&d, w->deliveries);
    digest_u64(&d, (uint64_t)w->now.ns);
    digest_u64(&d, w->totals.packet_hops);
    for (cw_server s = 0; s < w->servers; s++) {
        digest_u64(&d, w->server[s].node != NULL ? node_digest(w->server[s].node) : 0);
    }
    return digest_value(&d);
}

size_t world_node_bytes(struct world *w)
{
    size_t bytes = 0;
    for (cw_server s = 0; s < w->servers; s++) {
        bytes += w->server[s].node != NULL ? node_bytes(w->server[s].node) : 0;
    }
    return bytes;
}

size_t world_bytes(struct world *w)
{
    size_t links = (size_t)w->servers * CW_LINK_COUNT;
    size_t bytes = sizeof *w + w->servers * sizeof *w->server + links * (sizeof *w->wire + sizeof *w->neighbours);
    bytes += w->harm != NULL ? links * (sizeof *w->harm + sizeof *w->harm_random) : 0;
    bytes += wheel_bytes(&w->wheel) + oracle_bytes(&w->oracle) + pkt_home_bytes(w->packets);
    bytes += w->check != NULL ? check_bytes(w->check) : 0;
    return bytes + world_node_bytes(w);
}

const struct world_violation *world_violation(const struct world *w)
{
    return w->violation.text[0] != '\0' ? &w->violation : NULL;
}
