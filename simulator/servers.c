/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers.c - servers start, die, pause and leave; their clocks.
 */
#include "simulator/check_relay.h"
#include "simulator/world_internal.h"

#include "nmu/book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void announce(struct world *w, cw_server s)
{
    w->server[s].since_ns = w->now.ns;
    if (w->watch.server != NULL) {
        w->watch.server(w->watch.context, s, w->server[s].state, w->now);
    }
    if (w->check != NULL) {
        check_disturbed(w->check);
    }
}

/* ---- Work beside a node ------------------------------------------------------------------------------------------ */

struct beside {
    struct beside *next; /* while a server ends */
    uint64_t ticket;
    uint32_t starts; /* of the server, when it was given */
};

void servers_offload(void *context, struct node *n, void (*work)(void *), void *arg, uint64_t ticket, cw_span cost)
{
    struct world *w = context;
    cw_server s = node_self(n);
    struct beside *b = malloc(sizeof *b);
    CHECK(b != NULL);
    *b = (struct beside){NULL, ticket, w->server[s].starts};
    work(arg);
    wheel_put(&w->wheel, cw_time_add(w->now, cost), EVENT_ORDER(s, EVENT_OFFLOAD), b);
}

void servers_offload_done(struct world *w, cw_server s, struct beside *b)
{
    struct sim_server *h = &w->server[s];
    struct beside done = *b;
    if (h->state == WORLD_PAUSED) {
        wheel_put(&w->wheel, cw_time_add(w->now, CW_MS(1)), EVENT_ORDER(s, EVENT_OFFLOAD), b);
        return;
    }
    free(b);
    if (h->state == WORLD_RUNS && h->starts == done.starts) {
        pump_after(w, s, node_offload_done(h->node, done.ticket, pump_local(w, h)));
    }
}

/* Takes the list of work that runs beside a server which ends: its node wants all of it reported before (node.h). */
static void end_offloads(struct world *w, struct sim_server *h, struct beside *first)
{
    node_end_offloads(h->node);
    for (struct beside *b = first, *next; b != NULL; b = next) {
        next = b->next;
        if (b->starts == h->starts) {
            (void)node_offload_done(h->node, b->ticket, pump_local(w, h));
        }
        free(b);
    }
}

/* ---- Starting ---------------------------------------------------------------------------------------------------- */

static int add_services(struct world *w, struct node *n, cw_time local)
{
    for (unsigned i = 0; i < w->config.service_count; i++) {
        const struct world_service *svc = &w->config.services[i];
        if (svc->runs_on != NULL && !svc->runs_on(node_self(n))) {
            continue;
        }
        int rc = node_service_add(n, svc->table, local);
        if (rc == 0 && svc->policy.weight != 0) {
            rc = node_service_policy(n, svc->table->job, &svc->policy);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static void power(struct world *w, cw_server s, bool on)
{
    if (w->server[s].powered == on) {
        return;
    }
    w->server[s].powered = on;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (w->links & cw_links_of(link)) {
            cables_tell(w, w->neighbours[(size_t)s * CW_LINK_COUNT + link], cw_link_opposite(link));
        }
    }
}

int servers_open(struct world *w, cw_server s)
{
    struct sim_server *h = &w->server[s];
    /* Above what it wrote down, and above the time of its boot by its own clock (semantics 4.6). */
    uint64_t boot = (uint64_t)(w->now.ns / 1000) + 1;
    struct node_config config = w->config.node;
    config.self = torus_coord(&w->torus, s);
    config.incarnation = h->stored + 1 > boot ? h->stored + 1 : boot;
    struct prng seeds = prng_stream(w->config.seed, s | (uint64_t)h->starts << 32, WORLD_STREAM_NODE);
    struct node_env env = {
        .packets = w->packets,
        .neighbours = w->neighbours,
        .seed = prng_next(&seeds),
        .watch = seen_watch(w),
        .offload = servers_offload,
        .offload_context = w,
        .option = w->config.option,
        .option_context = w->config.option_context,
        .records = {w->book, book_record},
        .mark = w->config.mark,
        .meter = w->config.meter,
    };
    if (w->config.objects != NULL) {
        env.objects = w->config.objects(w->config.objects_context, s);
    }
    int rc = node_open(&h->node, &config, &env);
    if (rc < 0) {
        return rc;
    }
    h->linkstate = node_linkstate(h->node);
    h->state = WORLD_RUNS;
    h->starts++;
    h->wake_ns = INT64_MAX;
    h->leaving = false;
    h->notes = 0;
    w->running++;
    w->totals.starts++;
    return 0;
}

int servers_equip(struct world *w, cw_server s)
{
    struct sim_server *h = &w->server[s];
    int rc = add_services(w, h->node, pump_local(w, h));
    rc = rc < 0 ? rc : relays_start(w, s);
    if (rc < 0) {
        world_kill(w, s, false);
    }
    return rc;
}

void servers_go(struct world *w, cw_server s, cw_links links)
{
    announce(w, s);
    if (w->check != NULL) {
        check_server(w->check, s);
    }
    pump_after(w, s, links);
    if (w->started != NULL) {
        w->started(w, s, w->started_context);
    }
}

int world_start(struct world *w, cw_server s)
{
    CHECK(s < w->servers);
    struct sim_server *h = &w->server[s];
    if (h->state != WORLD_DEAD) {
        return -EALREADY;
    }
    int rc = servers_open(w, s);
    rc = rc < 0 ? rc : servers_equip(w, s);
    if (rc < 0) {
        return rc;
    }
    power(w, s, true);
    h->light = CW_LINKS_NONE;
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((w->links & cw_links_of(link)) && cables_light(w, s, link)) {
            h->light |= cw_links_of(link);
            links |= node_carrier(h->node, link, true, pump_local(w, h));
        }
    }
    servers_go(w, s, links);
    return 0;
}

static void start_one(struct world *w, void *arg)
{
    (void)world_start(w, (cw_server)(uintptr_t)arg);
}

void world_start_all(struct world *w, cw_span spread)
{
    if (w->config.settled && w->totals.starts == 0) {
        int rc = settled_start(w);
        if (rc < 0) {
            check_violated(w, 0, 0, NULL, "a server did not start: error %d", -rc);
        }
        return;
    }
    for (cw_server s = 0; s < w->servers; s++) {
        if (w->server[s].state != WORLD_DEAD) {
            continue;
        }
        struct prng random = prng_stream(w->config.seed, s | (uint64_t)w->server[s].starts << 32, WORLD_STREAM_BOOT);
        world_at(w, cw_time_add(w->now, prng_span(&random, CW_NS(0), spread)), start_one, (void *)(uintptr_t)s);
    }
}

/* ---- Ending ------------------------------------------------------------------------------------------------------ */

struct ending {
    struct world *world;
    cw_server server;
    int64_t whole_ns;     /* frames of the server that arrive later had not left it wholly */
    struct beside *first; /* its work */
};

static bool ends_with(void *context, const struct wheel_event *e)
{
    struct ending *end = context;
    struct world *w = end->world;
    unsigned kind = EVENT_KIND(e->order);
    if (e->order < EVENT_ORDER(0, 0)) {
        return false;
    }
    bool frame = kind >= EVENT_FRAME && kind < EVENT_FRAME + CW_LINK_COUNT;
    if (!frame) {
        if (EVENT_SERVER(e->order) != end->server) {
            return false;
        }
        if (kind >= EVENT_RELAY && kind < EVENT_RELAY + CW_LINK_COUNT) {
            return false; /* in the kernel, which lives */
        }
        if (kind == EVENT_OFFLOAD) {
            struct beside *b = e->what;
            b->next = end->first;
            end->first = b;
        }
        return true;
    }
    cw_server from = w->neighbours[(size_t)EVENT_SERVER(e->order) * CW_LINK_COUNT + (kind - EVENT_FRAME)];
    if (from != end->server || e->at_ns <= end->whole_ns) {
        return false;
    }
    w->totals.flying -= pump_data_packets(e->what);
    pump_lose(w, e->what, WORLD_LOSS_KILLED);
    return true;
}

void servers_empty_card(struct world *w, cw_server s, enum world_loss cause)
{
    struct sim_server *h = &w->server[s];
    while (h->card_first != NULL) {
        struct cw_packet *frame = h->card_first;
        h->card_first = frame->next;
        w->totals.flying -= pump_data_packets(frame);
        pump_lose(w, frame, cause);
    }
    h->card_last = NULL;
    h->card_count = 0;
}

/* Ends the node, and adds what it has counted up to its very end to the world's totals. */
static void close_node(struct world *w, struct node *n, cw_time local)
{
    struct node_tally tally = node_close(n, local);
    w->totals.made += tally.made;
    w->totals.ended += tally.ended;
}

void world_kill(struct world *w, cw_server s, bool power_off)
{
    CHECK(s < w->servers);
    struct sim_server *h = &w->server[s];
    if (h->state != WORLD_DEAD) {
        pump_look(w, s); /* for the last time: what it said of itself stays true */
        uint64_t incarnation = ls_incarnation(node_linkstate(h->node));
        h->stored = incarnation > h->stored ? incarnation : h->stored;
        struct ending end = {w, s, w->now.ns + w->config.wire.propagation.ns + w->config.wire.hop_delay.ns, NULL};
        (void)wheel_sweep(&w->wheel, ends_with, &end);
        end_offloads(w, h, end.first);
        struct relays_last last;
        relays_killing(w, s, power_off, &last);
        w->killing = true;
        close_node(w, h->node, pump_local(w, h));
        w->killing = false;
        h->node = NULL;
        h->linkstate = NULL;
        h->state = WORLD_DEAD;
        h->working = false;
        h->busy_ns = 0;
        w->running--;
        w->totals.kills++;
        servers_empty_card(w, s, WORLD_LOSS_KILLED);
        h->polled = CW_LINKS_NONE;
        oracle_runs(&w->oracle, s, 0);
        announce(w, s);
        if (w->check != NULL) {
            check_server(w->check, s);
        }
        relays_killed(w, s, &last);
    }
    if (power_off) {
        relays_free(w, s);
        power(w, s, false);
    }
}

static void resume(struct world *w, void *arg)
{
    cw_server s = (cw_server)((uintptr_t)arg & EVENT_SERVERS_MAX);
    uint32_t starts = (uint32_t)((uintptr_t)arg >> 24);
    struct sim_server *h = &w->server[s];
    if (h->state != WORLD_PAUSED || h->starts != starts) {
        return;
    }
    h->state = WORLD_RUNS;
    announce(w, s);
    pump_resume(w, s);
}

void world_pause(struct world *w, cw_server s, cw_span span)
{
    CHECK(s < w->servers && span.ns >= 0);
    struct sim_server *h = &w->server[s];
    if (h->state != WORLD_RUNS) {
        return;
    }
    h->state = WORLD_PAUSED;
    h->stands = pump_local(w, h);
    w->totals.pauses++;
    announce(w, s);
    if (w->check != NULL) {
        check_relay_paused(w->check, s);
    }
    world_at(w, cw_time_add(w->now, span), resume, (void *)((uintptr_t)h->starts << 24 | s));
}

/* A server that leaves is asked every ms whether it may close. */
static void try_leave(struct world *w, void *arg)
{
    cw_server s = (cw_server)(uintptr_t)arg;
    struct sim_server *h = &w->server[s];
    if (h->state == WORLD_DEAD || !h->leaving) {
        return;
    }
    if (h->state == WORLD_RUNS && node_left(h->node, pump_local(w, h))) {
        world_kill(w, s, false);
        return;
    }
    world_at(w, cw_time_add(w->now, CW_MS(1)), try_leave, arg);
}

void world_leave(struct world *w, cw_server s)
{
    CHECK(s < w->servers);
    struct sim_server *h = &w->server[s];
    if (h->state != WORLD_RUNS || h->leaving) {
        return;
    }
    h->leaving = true;
    node_leave(h->node, pump_local(w, h));
    announce(w, s);
    pump_after(w, s, node_tx_links(h->node));
    world_at(w, cw_time_add(w->now, CW_MS(1)), try_leave, (void *)(uintptr_t)s);
}

/* ---- Clocks and questions ---------------------------------------------------------------------------------------- */

void world_clock(struct world *w, cw_server s, int32_t ppm)
{
    CHECK(s < w->servers && ppm > -1000000 && ppm < 1000000);
    struct sim_server *h = &w->server[s];
    h->clock_local = pump_local(w, h).ns;
    h->clock_true = w->now.ns;
    h->ppm = ppm;
    if (!w->clocks) {
        w->clocks = true;
        for (cw_server i = 0; i < w->servers; i++) {
            if (i != s) {
                w->server[i].clock_local = w->server[i].clock_true = w->now.ns;
            }
        }
    }
    if (h->state == WORLD_RUNS) {
        h->wake_ns = INT64_MAX; /* the queued one is for another rate */
        pump_after(w, s, CW_LINKS_NONE);
    }
}

cw_time world_occupy(struct world *w, cw_server s, cw_span work)
{
    CHECK(s < w->servers && work.ns >= 0);
    return pump_occupy(w, &w->server[s], work);
}

enum world_server_state world_state(const struct world *w, cw_server s)
{
    return w->server[s].state;
}

struct node *world_node(struct world *w, cw_server s)
{
    return w->server[s].node;
}

int world_command(struct world *w, cw_server s, const char *service, int argc, const char *const *argv,
                  const struct node_request_sink *sink)
{
    CHECK(s < w->servers);
    struct sim_server *h = &w->server[s];
    if (h->state == WORLD_DEAD) {
        return -ENOENT;
    }
    if (h->state == WORLD_PAUSED) {
        /* As if it had come just before: a process that stands still sends nothing, and does not see the time pass. */
        (void)node_command(h->node, service, argc, argv, sink, h->stands);
        return 0;
    }
    pump_after(w, s, node_command(h->node, service, argc, argv, sink, pump_local(w, h)));
    return 0;
}

int world_visit(struct world *w, cw_server s, const char *service, unsigned version,
                void (*visit)(void *context, cw_svc *svc, const void *exports), void *context)
{
    CHECK(s < w->servers);
    struct sim_server *h = &w->server[s];
    cw_links links = CW_LINKS_NONE;
    if (h->state == WORLD_DEAD) {
        return -ENOENT;
    }
    cw_time at = h->state == WORLD_PAUSED ? h->stands : pump_local(w, h);
    bool here = node_visit(h->node, service, version, visit, context, at, &links);
    if (h->state != WORLD_PAUSED) {
        pump_after(w, s, links);
    }
    return here ? 0 : -ENOENT;
}
