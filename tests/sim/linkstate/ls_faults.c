/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ls_faults.c - what a seed means: the shape of the cluster, its timers, its delays, and what breaks when.
 */
#include "ls_world.h"

/* Log-uniform between the two: every order of magnitude is as likely. least at least 1. */
static cw_span draw_log(struct prng *p, cw_span least, cw_span most)
{
    int64_t low = least.ns;
    unsigned doublings = 0;
    for (int64_t top = low; top < most.ns && doublings < 40; top *= 2) {
        doublings++;
    }
    low <<= doublings == 0 ? 0 : prng_below(p, doublings);
    cw_span span = prng_span(p, CW_NS(low), CW_NS(2 * low));
    return span.ns > most.ns ? most : span;
}

static cw_span scale(cw_span span, unsigned hundredths)
{
    return CW_NS(span.ns / 100 * hundredths);
}

static void draw_timers(struct world *w)
{
    struct knobs *k = &w->knobs;
    struct prng *p = &w->chance;
    struct ls_timers *t = &k->timers;
    k->delay_most = draw_log(p, CW_US(5), CW_MS(4));
    k->tx = draw_log(p, CW_US(2), CW_NS(k->delay_most.ns / 4 + 2000));
    static const unsigned small[] = {0, 25, 90};
    k->small = small[prng_below(p, 3)];
    k->loss = prng_chance(p, 1, 3) ? 50 : 0;
    k->spikes = prng_chance(p, 1, 2) ? 100 : 5;
    t->hello = CW_NS(draw_log(p, CW_MS(1), CW_MS(10)).ns + 2 * k->delay_most.ns);
    t->dead = scale(t->hello, 250 + (unsigned)prng_below(p, 350));
    t->retry = CW_NS(2 * (k->delay_most.ns + k->tx.ns) + draw_log(p, CW_US(100), CW_MS(2)).ns);
    /*
     * A hop takes at most this, but for luck worse than three losses in a row; and a path round the holes is longer
     * than the diameter.
     */
    int64_t hop =
        2 * k->delay_most.ns + 8 * k->tx.ns + 50000 + (k->loss > 0 ? 3 * (t->retry.ns + k->delay_most.ns) : 0);
    t->flood_bound = CW_NS(hop * (torus_diameter(&w->torus) + 4) + (k->faults & 1u << FAULT_PAUSE ? t->dead.ns : 0));
    t->hold = CW_NS(t->dead.ns + t->flood_bound.ns);
    t->pace = prng_chance(p, 1, 4) ? draw_log(p, CW_US(20), CW_MS(2)) : CW_NS(k->delay_most.ns + k->tx.ns);
    t->pending_limit = CW_NS(5 * t->hold.ns + 20 * t->pace.ns);
    t->damp = draw_log(p, CW_US(100), CW_MS(50));
    t->damp_max = scale(t->damp, 400);
    t->refresh = CW_SEC(1800);
}

static void draw_delays(struct world *w)
{
    bool wide = prng_chance(&w->chance, 1, 2);
    cw_span least = wide ? CW_US(1) : CW_NS(w->knobs.delay_most.ns / 4);
    for (cw_server s = 0; s < w->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            world_pipe(w, s, link)->delay = draw_log(&w->chance, least, w->knobs.delay_most);
        }
    }
}

void faults_draw(struct world *w)
{
    static const cw_dims shapes[] = {{2, 2, 2}, {1, 2, 4}, {1, 1, 3}, {1, 1, 5}, {1, 3, 3}, {2, 3, 4}, {3, 3, 3}};
    static const unsigned often[] = {4, 4, 3, 3, 3, 2, 1};
    struct knobs *k = &w->knobs;
    struct prng *p = &w->chance;
    uint64_t draw = prng_below(p, 20);
    unsigned shape = 0;
    while (draw >= often[shape]) {
        draw -= often[shape++];
    }
    k->dims = shapes[shape];
    CHECK(torus_init(&w->torus, k->dims) == 0);
    k->faults = (unsigned)prng_below(p, 1u << FAULT_KINDS);
    draw_timers(w);
    draw_delays(w);
    static const unsigned asked[] = {100, 100, 30, 3};
    k->asked = asked[prng_below(p, 4)];
    k->goodbyes = prng_chance(p, 1, 2) ? 50 : 0;
    k->same_low = prng_chance(p, 1, 4) ? 100 : 0;
    k->alone = prng_chance(p, 1, 8);
    k->fault_gap = draw_log(p, CW_NS(k->timers.dead.ns / 10), CW_NS(k->timers.hold.ns * 2));
    static const unsigned provoked[] = {0, 5, 30};
    k->provoked = provoked[prng_below(p, 3)];
    w->focus = CW_SERVER_NONE;
    k->fault_phase = CW_NS(25 * k->timers.dead.ns);
    world_trace(w,
                "dims %ux%ux%u, faults %x, delay %lld us, loss %u/1000, hello %lld us, dead %lld us, hold %lld us, "
                "pace %lld us",
                k->dims.x, k->dims.y, k->dims.z, k->faults, (long long)k->delay_most.ns / 1000, k->loss,
                (long long)k->timers.hello.ns / 1000, (long long)k->timers.dead.ns / 1000,
                (long long)k->timers.hold.ns / 1000, (long long)k->timers.pace.ns / 1000);
}

void faults_next(struct world *w)
{
    if (w->breaking && w->knobs.faults != 0) {
        world_schedule(w, &w->fault, cw_time_add(w->now, prng_span_exponential(&w->chance, w->knobs.fault_gap)));
    }
}

void faults_provoke(struct world *w, cw_server s)
{
    if (!w->breaking || w->knobs.faults == 0 || !prng_chance(&w->chance, w->knobs.provoked, 100)) {
        return;
    }
    cw_time at = cw_time_add(w->now, draw_log(&w->chance, CW_US(1), CW_NS(8 * w->knobs.delay_most.ns + 10000)));
    if (!heap_is_queued(&w->fault.entry) || cw_time_before(at, w->fault.entry.at)) {
        world_schedule(w, &w->fault, at);
        w->focus = s;
    }
}

/* Where the next fault is: at the focus, beside it, or anywhere. */
static cw_server choose(struct world *w)
{
    struct prng *p = &w->chance;
    cw_server s = w->focus;
    w->focus = CW_SERVER_NONE;
    if (s == CW_SERVER_NONE || prng_chance(p, 1, 4)) {
        return (cw_server)prng_below(p, w->torus.servers);
    }
    return prng_chance(p, 1, 2) ? s : world_peer(w, s, (cw_link)prng_below(p, CW_LINK_COUNT));
}

/* Light goes on or off in one direction of a cable; the end that it falls on may be asleep or dead. */
static void shine(struct world *w, cw_server from, cw_link by, bool on)
{
    cw_server s = world_peer(w, from, by);
    world_pipe(w, from, by)->dark = !on;
    if (world_ls(w, s) != NULL && !w->servers[s].paused) {
        world_show_light(w, s, cw_link_opposite(by));
        world_after(w, s);
    }
}

/* Restores a cable in both directions. */
static void mend(struct world *w, cw_server s, cw_link link)
{
    cw_server peer = world_peer(w, s, link);
    cw_link back = cw_link_opposite(link);
    world_trace(w, "cable %u.%u - %u.%u is mended", s, link, peer, back);
    world_pipe(w, s, link)->cut = world_pipe(w, peer, back)->cut = false;
    w->moved = true;
    shine(w, s, link, true);
    shine(w, peer, back, true);
}

static void cut(struct world *w, cw_server s, bool both, bool dark)
{
    struct prng *p = &w->chance;
    struct repair *r = NULL;
    for (unsigned i = 0; i < REPAIRS && r == NULL; i++) {
        r = w->repairs[i].active ? NULL : &w->repairs[i];
    }
    if (r == NULL) {
        return;
    }
    cw_link link;
    do {
        link = (cw_link)prng_below(p, CW_LINK_COUNT);
    } while (!(torus_links(&w->torus) & cw_links_of(link)));
    cw_server peer = world_peer(w, s, link);
    cw_link back = cw_link_opposite(link);
    world_trace(w, "cable %u.%u - %u.%u is cut%s%s", s, link, peer, back, both ? "" : ", one way",
                dark ? ", dark" : "");
    world_pipe(w, s, link)->cut = true;
    w->moved = true;
    world_drop_pipe(w, s, link);
    if (both) {
        world_pipe(w, peer, back)->cut = true;
        world_drop_pipe(w, peer, back);
    }
    r->active = true;
    r->server = s;
    r->link = link;
    world_schedule(
        w, &r->slot,
        cw_time_add(w->now, draw_log(p, CW_NS(w->knobs.timers.dead.ns / 20), CW_NS(w->knobs.timers.hold.ns * 4))));
    if (dark) { /* the receiver sees no light; the sender does where its own direction still works */
        shine(w, s, link, false);
        if (both) {
            shine(w, peer, back, false);
        }
    }
}

static void later(struct world *w, cw_server s, cw_span least, cw_span most)
{
    world_schedule(w, &w->servers[s].repair, cw_time_add(w->now, draw_log(&w->chance, least, most)));
}

void faults_strike(struct world *w)
{
    struct prng *p = &w->chance;
    const struct ls_timers *t = &w->knobs.timers;
    enum fault kind;
    do {
        kind = (enum fault)prng_below(p, FAULT_KINDS);
    } while (!(w->knobs.faults & 1u << kind));
    cw_server s = choose(w);
    struct server *server = &w->servers[s];
    bool busy = server->ls == NULL || server->paused || server->leaving;
    switch (kind) {
    case FAULT_KILL:
        if (!busy) {
            world_kill(w, s, prng_chance(p, w->knobs.goodbyes, 100));
            later(w, s, CW_NS(t->dead.ns / 50), CW_NS(t->hold.ns * 3));
        }
        break;
    case FAULT_PAUSE:
        if (!busy) {
            world_trace(w, "server %u pauses", s);
            server->paused = true;
            later(w, s, CW_NS(t->dead.ns / 10), CW_NS(t->hold.ns * 3));
        }
        break;
    case FAULT_CUT:
        cut(w, s, true, prng_chance(p, 1, 2));
        break;
    case FAULT_ONE_WAY:
        cut(w, s, false, prng_chance(p, 1, 4));
        break;
    case FAULT_CARRIER: /* the light flickers at one end */
        if (!busy) {
            cw_link link = (cw_link)prng_below(p, CW_LINK_COUNT);
            world_trace(w, "light of %u.%u flickers", s, link);
            ls_carrier(server->ls, link, false, w->now);
            world_after(w, s);
            world_show_light(w, s, link);
            world_after(w, s);
        }
        break;
    case FAULT_LEAVE:
        if (!busy) {
            world_trace(w, "server %u leaves", s);
            server->leaving = true;
            ls_leave(server->ls, w->now);
            world_after(w, s);
            world_schedule(w, &server->repair, cw_time_add(w->now, CW_NS(2 * t->flood_bound.ns)));
        }
        break;
    case FAULT_KINDS:
        break;
    }
}

/* A server's own repair: boots, goes on, or is gone after having left. */
static void repair_server(struct world *w, cw_server s)
{
    struct server *server = &w->servers[s];
    if (server->ls == NULL) {
        world_boot(w, s);
    } else if (server->leaving) {
        if (!ls_left(server->ls, w->now)) {
            world_schedule(w, &server->repair, cw_time_add(w->now, w->knobs.timers.hello));
            return;
        }
        world_kill(w, s, false);
        later(w, s, CW_NS(w->knobs.timers.dead.ns / 50), CW_NS(w->knobs.timers.hold.ns * 3));
    } else {
        world_resume(w, s);
    }
}

void faults_repair(struct world *w, struct slot *slot)
{
    for (unsigned i = 0; i < REPAIRS; i++) {
        struct repair *r = &w->repairs[i];
        if (slot == &r->slot) {
            r->active = false;
            mend(w, r->server, r->link);
            return;
        }
    }
    repair_server(w, slot->server);
}

void faults_heal(struct world *w)
{
    world_trace(w, "everything is mended");
    w->knobs.loss = 0;
    world_schedule(w, &w->fault, CW_NEVER);
    for (unsigned i = 0; i < REPAIRS; i++) {
        if (w->repairs[i].active) {
            world_schedule(w, &w->repairs[i].slot, CW_NEVER);
            w->repairs[i].active = false;
            mend(w, w->repairs[i].server, w->repairs[i].link);
        }
    }
    for (cw_server s = 0; s < w->torus.servers; s++) {
        struct server *server = &w->servers[s];
        if (heap_is_queued(&server->repair.entry) && !server->leaving) {
            world_schedule(w, &server->repair, CW_NEVER);
            repair_server(w, s);
        }
        oracle_look(w);
    }
}
