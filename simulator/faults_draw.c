/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults_draw.c - plans and worlds out of a seed: churn for the figures, swarm for finding what is wrong.
 *
 * A swarm seed first draws which kinds of faults exist at all: mistakes hide where two kinds meet, and where all are
 * mixed at once they drown one another (Groce et al., "Swarm testing", ISSTA 2012).
 */
#include "simulator/faults.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>

enum { MILLION = 1000000, FAULTS_MAX = 12, PPM_MAX = 10000 };

/* ---- Churn ------------------------------------------------------------------------------------------------------- */

struct churn {
    const struct fault_churn *config;
    struct fault_plan *plan;
    struct prng random;
    cw_span down;  /* mean */
    cw_time *back; /* by server: when it starts again; CW_NEVER while it runs */
    uint32_t servers, running;
};

static int add(struct fault_plan *plan, cw_time at, enum fault_kind kind, cw_server s)
{
    return fault_plan_add(plan, &(struct fault){.at = at, .kind = kind, .server = s, .link = CW_LINK_SELF});
}

static int fail(struct churn *c, cw_time at)
{
    if (c->running <= 1) {
        return 0; /* somebody must be left to talk to */
    }
    uint64_t pick = prng_below(&c->random, c->running);
    for (cw_server s = 0; s < c->servers; s++) {
        if (c->back[s].ns == CW_NEVER.ns && pick-- == 0) {
            c->running--;
            c->back[s] = cw_time_add(at, prng_span_exponential(&c->random, c->down));
            return add(c->plan, at, c->config->power ? FAULT_POWER : FAULT_KILL, s);
        }
    }
    return 0;
}

/* Everybody who is back before `until` starts, in the order of their times. */
static int restart(struct churn *c, cw_time until)
{
    for (;;) {
        cw_server first = CW_SERVER_NONE;
        for (cw_server s = 0; s < c->servers; s++) {
            if (cw_time_before(c->back[s], until) &&
                (first == CW_SERVER_NONE || cw_time_before(c->back[s], c->back[first]))) {
                first = s;
            }
        }
        if (first == CW_SERVER_NONE) {
            return 0;
        }
        int rc = add(c->plan, c->back[first], FAULT_START, first);
        if (rc < 0) {
            return rc;
        }
        c->back[first] = CW_NEVER;
        c->running++;
    }
}

static int draw_churn(struct churn *c)
{
    const struct fault_churn *config = c->config;
    cw_span gap = {config->per.ns / config->failures};
    uint64_t down = (uint64_t)c->servers * config->down_ppm / MILLION;
    c->down = (cw_span){(int64_t)down * gap.ns};
    int rc = 0;
    for (uint64_t i = 0; i < down && config->start_down && rc == 0; i++) {
        rc = fail(c, config->from);
    }
    cw_time at = config->from;
    while (rc == 0) {
        at = cw_time_add(at, prng_span_exponential(&c->random, gap));
        if (!cw_time_before(at, config->to)) {
            return restart(c, config->to);
        }
        rc = restart(c, at);
        if (rc == 0) {
            rc = fail(c, at);
        }
    }
    return rc;
}

int fault_plan_churn(struct fault_plan *plan, const struct torus *torus, const struct fault_churn *churn)
{
    CHECK(churn->failures > 0 && churn->per.ns > 0 && churn->down_ppm < MILLION);
    struct churn c = {
        .config = churn,
        .plan = plan,
        .random = prng_stream(churn->seed, 0, WORLD_STREAM_FAULTS),
        .back = malloc(torus->servers * sizeof *c.back),
        .servers = torus->servers,
        .running = torus->servers,
    };
    if (c.back == NULL) {
        return -ENOMEM;
    }
    for (cw_server s = 0; s < c.servers; s++) {
        c.back[s] = CW_NEVER;
    }
    int rc = draw_churn(&c);
    free(c.back);
    return rc;
}

/* ---- Swarm: what happens ----------------------------------------------------------------------------------------- */

struct draw {
    struct fault_plan *plan;
    const struct torus *torus;
    const struct ls_timers *timers;
    struct prng random;
    cw_time from, to;
};

static cw_time some_time(struct draw *d)
{
    return cw_time_add(d->from, prng_span(&d->random, CW_NS(0), cw_time_since(d->to, d->from)));
}

static cw_server some_server(struct draw *d)
{
    return (cw_server)prng_below(&d->random, d->torus->servers);
}

static cw_link some_link(struct draw *d)
{
    return (cw_link)prng_below(&d->random, CW_LINK_COUNT);
}

/* A span whose order of magnitude is drawn first: least to least * 2^doublings. */
static cw_span some_span(struct draw *d, cw_span least, unsigned doublings)
{
    int64_t low = least.ns << prng_below(&d->random, doublings);
    return prng_span(&d->random, CW_NS(low), CW_NS(2 * low));
}

/* How long something stays broken: now and then shorter than anybody can notice, often longer than all holds. */
static cw_time later(struct draw *d, cw_time at)
{
    cw_time end = cw_time_add(at, some_span(d, CW_NS(d->timers->dead.ns / 16 + 1), 9));
    return cw_time_min(end, d->to);
}

/* The fault, and what undoes it when that is anything. */
static int add_pair(struct draw *d, struct fault f, enum fault_kind undo)
{
    int rc = fault_plan_add(d->plan, &f);
    if (rc == 0 && undo != FAULT_KINDS) {
        f.at = later(d, f.at);
        f.kind = undo;
        f.harm = (struct wire_harm){.loss = 0};
        f.number = undo == FAULT_CLOCK ? 0 : f.number;
        rc = fault_plan_add(d->plan, &f);
    }
    return rc;
}

static struct wire_harm some_harm(struct draw *d)
{
    struct wire_harm harm = {.loss = 0};
    uint32_t ppm = MILLION >> (2 + prng_below(&d->random, 12));
    switch (prng_below(&d->random, 4)) {
    case 0:
        harm.loss = ppm;
        break;
    case 1:
        harm.duplicate = ppm;
        break;
    case 2:
        harm.corrupt = ppm;
        break;
    default:
        /* The guarantee rests on the flood bound: all hops of a flood together may not take longer. */
        harm.delayed = ppm;
        harm.delay_most.ns = d->timers->flood_bound.ns / (2 * (int64_t)torus_diameter(d->torus) + 2);
        break;
    }
    return harm;
}

/* Everybody on a row or in a plane dies, and starts again one after the other. */
static int draw_many(struct draw *d, enum fault_kind kind)
{
    struct fault f = {
        .at = some_time(d),
        .kind = kind,
        .server = some_server(d),
        .link = CW_LINK_SELF,
        .axis = (uint8_t)prng_below(&d->random, CW_AXES),
    };
    f.number = (int32_t)prng_below(&d->random, d->torus->dim[f.axis]);
    int rc = fault_plan_add(d->plan, &f);
    for (cw_server s = 0; s < d->torus->servers && rc == 0; s++) {
        rc = add(d->plan, later(d, f.at), FAULT_START, s); /* no effect on those that run */
    }
    return rc;
}

static int draw_one(struct draw *d, enum fault_kind kind)
{
    struct fault f = {.at = some_time(d), .kind = kind, .server = some_server(d), .link = some_link(d)};
    switch (kind) {
    case FAULT_KILL:
    case FAULT_POWER:
    case FAULT_LEAVE:
        return add_pair(d, f, FAULT_START);
    case FAULT_PAUSE:
        f.span = some_span(d, CW_NS(d->timers->dead.ns / 16 + 1), 7);
        return add_pair(d, f, FAULT_KINDS);
    case FAULT_CUT:
    case FAULT_CUT_OUT:
        return add_pair(d, f, FAULT_MEND);
    case FAULT_HARM:
        f.harm = some_harm(d);
        f.server = prng_chance(&d->random, 1, 2) ? CW_SERVER_NONE : f.server;
        f.link = prng_chance(&d->random, 1, 2) ? CW_LINK_SELF : f.link;
        return add_pair(d, f, FAULT_HARM);
    case FAULT_CLOCK:
        f.number = (int32_t)prng_below(&d->random, 2 * PPM_MAX + 1) - PPM_MAX;
        return add_pair(d, f, FAULT_CLOCK);
    case FAULT_KILL_SLAB:
    case FAULT_KILL_ROW:
        return draw_many(d, kind);
    case FAULT_PARTITION:
        f.axis = (uint8_t)prng_below(&d->random, CW_AXES);
        f.number = (int32_t)prng_below(&d->random, d->torus->dim[f.axis]);
        return f.number == 0 ? 0 : add_pair(d, f, FAULT_REJOIN);
    default:
        return 0;
    }
}

int fault_plan_draw(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *timers, uint64_t seed,
                    cw_time from, cw_time to)
{
    struct draw d = {
        .plan = plan,
        .torus = torus,
        .timers = timers,
        .from = from,
        .to = to,
    };
    struct prng kinds = prng_stream(seed, 1, WORLD_STREAM_FAULTS);
    for (unsigned kind = 0; kind < FAULT_HEAL; kind++) {
        /* Each kind has a stream of its own: whether another exists changes nothing in it. */
        d.random = prng_stream(seed, 2 + kind, WORLD_STREAM_FAULTS);
        uint64_t times = prng_chance(&kinds, 1, 2) ? 1 + prng_below(&d.random, FAULTS_MAX) : 0;
        for (uint64_t i = 0; i < times; i++) {
            int rc = draw_one(&d, kind);
            if (rc < 0) {
                return rc;
            }
        }
    }
    int rc = add(plan, to, FAULT_HEAL, CW_SERVER_NONE);
    if (rc == 0) {
        fault_plan_sort(plan);
    }
    return rc;
}

/* ---- Swarm: where ------------------------------------------------------------------------------------------------ */

static void draw_dims(struct world_config *config, struct prng *random, uint32_t servers_max)
{
    static const cw_dims shapes[] = {
        {1, 2, 4}, {2, 2, 2}, {2, 3, 4}, {3, 3, 3}, {4, 4, 4}, {1, 1, 8}, {1, 1, 3},
        {2, 2, 3}, {1, 3, 3}, {1, 1, 2}, {3, 4, 5}, {5, 5, 5}, {8, 8, 8},
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    do {
        config->dims = shapes[prng_below(random, SHAPES)];
    } while ((uint32_t)config->dims.x * config->dims.y * config->dims.z > servers_max);
}

static int64_t scale(int64_t ns, uint64_t permille)
{
    return (int64_t)((uint64_t)ns * permille / 1000);
}

/*
 * The timers all times 0.1 to 10, and against one another as far as the guarantee allows; hold often exactly at its
 * bound.
 */
static struct ls_timers draw_timers(struct prng *random)
{
    static const uint64_t scales[] = {100, 200, 500, 1000, 1000, 2000, 5000, 10000};
    uint64_t all = scales[prng_below(random, sizeof scales / sizeof *scales)];
    struct ls_timers t = prng_chance(random, 1, 2) ? ls_timers_default() : ls_timers_fast();
    t.hello.ns = scale(t.hello.ns, all);
    t.flood_bound.ns = scale(t.flood_bound.ns, all);
    t.retry.ns = scale(t.retry.ns, all);
    t.pace.ns = scale(t.pace.ns, all);
    t.damp.ns = scale(t.damp.ns, all);
    t.dead.ns = t.hello.ns * (int64_t)(2 + prng_below(random, 4));
    t.hold.ns = t.dead.ns + t.flood_bound.ns;
    if (prng_chance(random, 1, 2)) {
        t.hold.ns += prng_span(random, CW_NS(0), t.dead).ns;
    }
    if (prng_chance(random, 1, 4)) {
        t.pace.ns = 0;
    }
    if (prng_chance(random, 1, 4)) {
        t.damp.ns = 0;
    }
    t.damp_max = t.damp_max.ns < t.damp.ns ? t.damp : t.damp_max;
    return t;
}

/* Mostly what it is, sometimes one, sometimes something between in order of magnitude. */
static uint32_t draw_limit(struct prng *random, uint32_t usual, uint32_t least)
{
    switch (prng_below(random, 4)) {
    case 0:
        return least;
    case 1: {
        uint32_t limit = usual >> prng_below(random, 10);
        return limit < least ? least : limit;
    }
    default:
        return usual;
    }
}

void world_config_draw(struct world_config *config, uint64_t seed, uint32_t servers_max)
{
    static const uint64_t rates[] = {100, 1000, 1000, 1000, 10000};
    static const uint16_t mtus[] = {1500, 1500, 4000, 9000};
    CHECK(servers_max >= 2);
    struct prng random = prng_stream(seed, 0, WORLD_STREAM_CONFIG);
    config->seed = seed;
    draw_dims(config, &random, servers_max);
    config->node.timers = draw_timers(&random);
    config->node.mtu = mtus[prng_below(&random, sizeof mtus / sizeof *mtus)];
    config->node.queue_packets = draw_limit(&random, config->node.queue_packets, 1);
    config->node.hold_bytes = draw_limit(&random, config->node.hold_bytes, config->node.mtu);
    config->wire.bits_per_second = rates[prng_below(&random, sizeof rates / sizeof *rates)] * MILLION;
    config->wire.propagation = CW_NS(INT64_C(100) << prng_below(&random, 8));
    config->wire.ring = (uint8_t)(1u << prng_below(&random, 3));
    config->carrier = prng_chance(&random, 1, 2) ? CW_NS(-1) : prng_span(&random, CW_NS(0), CW_MS(1));
    config->clock_ppm = prng_chance(&random, 1, 2) ? (uint32_t)prng_below(&random, PPM_MAX + 1) : 0;
    config->clock_offset = prng_chance(&random, 1, 2) ? CW_SEC(1000) : CW_NS(0);
    if (prng_chance(&random, 1, 4)) {
        config->cpu_per_frame = prng_span(&random, CW_NS(0), CW_US(5));
    }
}
