/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_ghosts.h"

#include "base/prng.h"

enum { STREAM_SHAPE = 11, STREAM_PLAN = 12, GHOSTS_MOST = 5, TRIES = 40, AXIS_Z = 2, DEAD_MAX = 128 };

void kv_ghosts_shape(struct world_config *config, uint64_t seed)
{
    static const cw_dims shapes[] = {{3, 3, 3}, {1, 1, 27}, {1, 3, 9}, {2, 2, 6}, {1, 2, 12}};
    config->dims = shapes[prng_mix(seed, STREAM_SHAPE) % (sizeof shapes / sizeof *shapes)];
}

struct drawing {
    struct fault_plan *plan;
    const struct torus *torus;
    struct prng chance;
    unsigned planes; /* of the part that is cut off: those with a smaller z than this */
    bool dead[DEAD_MAX];
    unsigned living; /* in the part */
};

static bool is_cut_off(const struct drawing *d, cw_server s)
{
    return torus_coord(d->torus, s).z < d->planes;
}

/* A living server of the part: next to the server given, or for CW_SERVER_NONE where the cut is. NONE: not found. */
static cw_server draw_victim(struct drawing *d, cw_server last)
{
    for (unsigned i = 0; i < TRIES; i++) {
        cw_server s = (cw_server)prng_below(&d->chance, d->torus->servers);
        if (last != CW_SERVER_NONE) {
            s = torus_neighbour(d->torus, last, (cw_link)prng_below(&d->chance, CW_LINK_COUNT));
        }
        unsigned z = torus_coord(d->torus, s).z;
        bool edge = z == 0 || z + 1 == d->planes;
        if (is_cut_off(d, s) && !d->dead[s] && (edge || last != CW_SERVER_NONE)) {
            return s;
        }
    }
    return CW_SERVER_NONE;
}

/* Kills servers of the part, each some time after the one before it. */
static int add_ghosts(struct drawing *d, cw_span dead, cw_time at)
{
    unsigned most = 1 + (unsigned)prng_below(&d->chance, GHOSTS_MOST);
    cw_server last = CW_SERVER_NONE;
    int rc = 0;
    for (unsigned i = 0; i < most && d->living > 2 && rc == 0; i++) {
        at = cw_time_add(at, prng_span(&d->chance, CW_NS(dead.ns / 2), CW_NS(dead.ns / 50 * 49)));
        cw_server s = draw_victim(d, last);
        if (s == CW_SERVER_NONE) {
            break;
        }
        d->dead[s] = true;
        d->living--;
        last = s;
        const struct fault kill = {.at = at, .kind = FAULT_KILL, .server = s};
        rc = fault_plan_add(d->plan, &kill);
    }
    return rc;
}

/* Lets servers outside leave at about the time of the cut. */
static int add_leavers(struct drawing *d, cw_span dead, cw_time at)
{
    unsigned most = (unsigned)prng_below(&d->chance, 3);
    int rc = 0;
    for (unsigned i = 0; i < most && rc == 0; i++) {
        cw_server s = (cw_server)prng_below(&d->chance, d->torus->servers);
        if (!is_cut_off(d, s) && !d->dead[s]) {
            d->dead[s] = true;
            const struct fault leave = {
                .at = cw_time_add(at, prng_span(&d->chance, CW_NS(0), dead)), .kind = FAULT_LEAVE, .server = s};
            rc = fault_plan_add(d->plan, &leave);
        }
    }
    return rc;
}

int kv_ghosts_plan(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *timers, uint64_t seed,
                   cw_time from)
{
    struct drawing d = {.plan = plan, .torus = torus, .chance = prng_stream(seed, 0, STREAM_PLAN)};
    unsigned length = torus->dim[AXIS_Z];
    d.planes = 1 + (unsigned)prng_below(&d.chance, (length - 1) / 2);
    d.living = torus->servers / length * d.planes;
    cw_time at = cw_time_add(from, prng_span(&d.chance, CW_MS(40), CW_MS(120)));
    const struct fault cut = {.at = at, .kind = FAULT_PARTITION, .axis = AXIS_Z, .number = (int32_t)d.planes};
    const struct fault heal = {.at = cw_time_add(from, CW_MS(400)), .kind = FAULT_HEAL};
    int rc = fault_plan_add(plan, &cut);
    rc = rc < 0 ? rc : add_ghosts(&d, timers->dead, at);
    rc = rc < 0 ? rc : add_leavers(&d, timers->dead, at);
    rc = rc < 0 ? rc : fault_plan_add(plan, &heal);
    fault_plan_sort(plan);
    return rc;
}
