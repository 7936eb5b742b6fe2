/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/swarm.h"

#include "simulator/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWARM_STREAM_NODE = 1000000, /* of WORLD_STREAM_FAULTS: apart from those that faults draws from */
    LOAD_AT_MS = 20,
    PLAIN_FRAME = 1500,
    ROUNDS_MAX = 6, /* of shrinking */
};

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static cw_span longest(cw_span a, cw_span b)
{
    return a.ns > b.ns ? a : b;
}

static cw_span times(cw_span a, int64_t n)
{
    return (cw_span){a.ns * n};
}

static struct workload draw_load(struct prng *random, uint16_t mtu)
{
    struct workload load = {.kind = WORKLOAD_KEYS, .rate = 50};
    for (uint64_t i = prng_below(random, 5); i > 0; i--) {
        load.rate *= 2; /* 50 to 800 */
    }
    load.bytes = 128 + (uint32_t)prng_below(random, PLAIN_FRAME - 128);
    if (prng_chance(random, 1, 4)) {
        load = (struct workload){.kind = WORKLOAD_ALL_TO_ALL, .bytes = mtu};
        load.load_ppm = 10000 * (1 + (uint32_t)prng_below(random, 40));
    }
    return load;
}

int swarm_draw(uint64_t seed, uint32_t servers_max, struct scenario *out)
{
    struct prng random = prng_stream(seed, SWARM_STREAM_NODE, WORLD_STREAM_FAULTS);
    struct torus torus;
    struct scenario s;
    scenario_init(&s);
    s.config.seed = seed;
    world_config_draw(&s.config, seed, servers_max);
    struct ls_timers *t = &s.config.node.timers;
    /* What a run waits for after it has healed must end: a flapping link may be damped for up to damp_max. */
    t->damp_max = longest(t->damp, CW_MS(500));
    t->pending_limit.ns = t->pending_limit.ns < times(t->dead, 4).ns ? times(t->dead, 4).ns : t->pending_limit.ns;
    s.boot = prng_chance(&random, 1, 2) ? CW_NS(0) : prng_span(&random, CW_MS(1), CW_MS(100));
    s.load[0] = (struct scenario_load){.at = {CW_MS(LOAD_AT_MS).ns}, .load = draw_load(&random, s.config.node.mtu)};

    cw_time from = {CW_MS(LOAD_AT_MS).ns};
    cw_span stretch = longest(CW_MS(100), times(t->dead, 4 + (int64_t)prng_below(&random, 12)));
    stretch.ns = stretch.ns > CW_SEC(3).ns ? CW_SEC(3).ns : stretch.ns;
    cw_time to = cw_time_add(from, stretch);
    /* Everybody finds everybody again: adjacencies, admission, and once more when one of them had to be given up. */
    cw_span rest = cw_span_add(times(t->dead, 10), cw_span_add(times(t->hold, 10), times(t->damp_max, 3)));
    rest = cw_span_add(rest, cw_span_add(times(t->pending_limit, 3), CW_MS(500)));
    s.load[1] = (struct scenario_load){.at = cw_time_add(to, CW_MS(100)), .stop = true};
    s.loads = 2;
    s.quiet[0] = cw_time_add(cw_time_add(to, CW_MS(100)), rest);
    s.quiets = 1;
    s.end = s.quiet[0];
    int rc = -EINVAL;
    if (torus_init(&torus, s.config.dims) == 0) {
        rc = fault_plan_draw(&s.plan, &torus, t, seed, from, to);
    }
    if (rc < 0) {
        scenario_free(&s);
        return rc;
    }
    *out = s;
    return 0;
}

/* ---- Shrinking --------------------------------------------------------------------------------------------------- */

static bool try_it(struct swarm_shrink *how, const struct scenario *s, cw_time *when)
{
    if (how->tries >= how->tries_max) {
        return false;
    }
    how->tries++;
    return how->fails(how->context, s, when);
}

/* Leaves out events first..first + count - 1; true and *s is without them when it still fails. */
static bool try_without(struct swarm_shrink *how, struct scenario *s, uint32_t first, uint32_t count, cw_time *when)
{
    struct fault_plan *plan = &s->plan;
    struct fault *kept = malloc((plan->count + 1) * sizeof *kept);
    if (kept == NULL) {
        return false;
    }
    struct scenario candidate = *s;
    memcpy(kept, plan->fault, first * sizeof *kept);
    memcpy(kept + first, plan->fault + first + count, (plan->count - first - count) * sizeof *kept);
    candidate.plan = (struct fault_plan){.fault = kept, .count = plan->count - count, .room = plan->count + 1};
    bool fails = try_it(how, &candidate, when);
    if (fails) {
        memcpy(plan->fault, kept, candidate.plan.count * sizeof *kept);
        plan->count = candidate.plan.count;
    }
    free(kept);
    return fails;
}

/* Zeller's ddmin, without its second half: what fails in the complement is found by leaving out. */
static bool fewer_events(struct swarm_shrink *how, struct scenario *s, cw_time *when)
{
    bool better = false;
    for (uint32_t chunk = s->plan.count; chunk > 0; chunk /= 2) {
        for (uint32_t first = 0; first < s->plan.count;) {
            uint32_t count = s->plan.count - first < chunk ? s->plan.count - first : chunk;
            if (try_without(how, s, first, count, when)) {
                better = true;
            } else {
                first += count;
            }
        }
    }
    return better;
}

/* The fault in a torus that has become smaller; false when it names what is gone. */
static bool move_fault(struct fault *f, const struct torus *from, const struct torus *to)
{
    if (f->server != CW_SERVER_NONE) {
        cw_coord c = torus_coord(from, f->server);
        if (!torus_holds(to, c)) {
            return false;
        }
        f->server = torus_id(to, c);
    }
    bool plane = f->kind == FAULT_KILL_SLAB || f->kind == FAULT_PARTITION || f->kind == FAULT_REJOIN;
    return !plane || (f->number >= 0 && (uint32_t)f->number < to->dim[f->axis]);
}

static bool try_dims(struct swarm_shrink *how, struct scenario *s, cw_dims dims, cw_time *when)
{
    struct torus from, to;
    struct scenario candidate = *s;
    if (torus_init(&from, s->config.dims) < 0 || torus_init(&to, dims) < 0 || to.servers < 2) {
        return false;
    }
    struct fault *kept = malloc((s->plan.count + 1) * sizeof *kept);
    if (kept == NULL) {
        return false;
    }
    candidate.config.dims = dims;
    candidate.captures = 0;
    candidate.plan = (struct fault_plan){.fault = kept, .count = 0, .room = s->plan.count + 1};
    for (uint32_t i = 0; i < s->plan.count; i++) {
        struct fault f = s->plan.fault[i];
        if (move_fault(&f, &from, &to)) {
            kept[candidate.plan.count++] = f;
        }
    }
    bool fails = try_it(how, &candidate, when);
    if (fails) {
        memcpy(s->plan.fault, kept, candidate.plan.count * sizeof *kept);
        s->plan.count = candidate.plan.count;
        s->config.dims = dims;
        s->captures = 0;
    }
    free(kept);
    return fails;
}

static bool fewer_servers(struct swarm_shrink *how, struct scenario *s, cw_time *when)
{
    bool better = false;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        for (uint16_t least = 1;;) {
            cw_dims dims = s->config.dims;
            uint16_t *dim = axis == 0 ? &dims.x : axis == 1 ? &dims.y : &dims.z;
            if (least >= *dim) {
                break;
            }
            uint16_t whole = *dim;
            *dim = least; /* the smallest first: most of what fails needs few servers */
            if (try_dims(how, s, dims, when)) {
                better = true;
                break;
            }
            least = (uint16_t)(whole - least > 1 ? least + 1 : whole);
        }
    }
    return better;
}

/* Settings, one after the other, as they are by default. */
static bool plainer(struct swarm_shrink *how, struct scenario *s, cw_time *when)
{
    const struct world_config plain = world_config_default();
    bool better = false;
    for (unsigned i = 0; i < 8; i++) {
        struct scenario candidate = *s;
        struct world_config *c = &candidate.config;
        switch (i) {
        case 0:
            c->clock_ppm = plain.clock_ppm;
            c->clock_offset = plain.clock_offset;
            break;
        case 1:
            c->node.queue_packets = plain.node.queue_packets;
            c->node.queue_bytes = plain.node.queue_bytes;
            c->node.hold_bytes = plain.node.hold_bytes;
            break;
        case 2:
            c->wire.ring = plain.wire.ring;
            c->carrier = plain.carrier;
            break;
        case 3:
            c->wire = plain.wire;
            break;
        case 4:
            c->cpu_per_frame = plain.cpu_per_frame;
            c->cpu_ps_per_byte = plain.cpu_ps_per_byte;
            c->cpu_queue = plain.cpu_queue;
            break;
        case 5:
            c->corrupt_passes = false;
            c->packets_max = plain.packets_max;
            break;
        case 6:
            candidate.loads = 0;
            break;
        default:
            c->node.mtu = plain.node.mtu;
            break;
        }
        if (memcmp(&candidate, s, sizeof *s) != 0 && try_it(how, &candidate, when)) {
            *s = candidate;
            better = true;
        }
    }
    return better;
}

/* Nothing after the failure matters, and perhaps not even the wait for quiet. */
static bool earlier(struct swarm_shrink *how, struct scenario *s, cw_time *when)
{
    struct scenario candidate = *s;
    if (s->quiets > 0 && cw_time_before(*when, s->quiet[0])) {
        candidate.quiets = 0;
    }
    cw_time end = cw_time_add(*when, CW_MS(1));
    if (candidate.quiets > 0 || !cw_time_before(end, s->end)) {
        return false;
    }
    candidate.end = end;
    uint32_t count = 0;
    while (count < s->plan.count && !cw_time_before(end, s->plan.fault[count].at)) {
        count++;
    }
    candidate.plan.count = count;
    for (unsigned i = 0; i < candidate.loads;) {
        if (cw_time_before(end, candidate.load[i].at)) {
            memmove(&candidate.load[i], &candidate.load[i + 1], (candidate.loads - i - 1) * sizeof candidate.load[0]);
            candidate.loads--;
        } else {
            i++;
        }
    }
    if (!try_it(how, &candidate, when)) {
        return false;
    }
    *s = candidate; /* the plan's memory is the same */
    return true;
}

void swarm_shrink(struct swarm_shrink *how, struct scenario *s, cw_time when)
{
    bool better = true;
    for (unsigned round = 0; round < ROUNDS_MAX && better && how->tries < how->tries_max; round++) {
        better = earlier(how, s, &when);
        better |= fewer_events(how, s, &when);
        better |= fewer_servers(how, s, &when);
        better |= plainer(how, s, &when);
    }
}
