/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - a torus, all its naive sequences, and the same failures twice: as a struct reach and as an array of bools.
 */
#ifndef UNIT_KEYSPACE_WORLD_H
#define UNIT_KEYSPACE_WORLD_H

#include "keyspace/key.h"
#include "keyspace/reach.h"
#include "naive.h"
#include "rng.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

struct state {
    struct reach reach;
    bool *up;
};

static inline void state_set(struct state *s, cw_server server, bool up)
{
    (void)(up ? reach_add(&s->reach, server) : reach_remove(&s->reach, server));
    s->up[server] = up;
}

static inline void state_fill(struct state *s, bool up)
{
    for (cw_server i = 0; i < s->reach.servers; i++) {
        state_set(s, i, up);
    }
}

static inline struct state state_open(uint32_t servers)
{
    struct state s = {.up = malloc(servers * sizeof *s.up)};
    reach_init(&s.reach, servers, malloc(reach_bytes(servers)));
    state_fill(&s, true);
    return s;
}

static inline void state_close(struct state *s)
{
    free(s->reach.word);
    free(s->up);
}

/* Each server is up with the chance of up_of in all_of. */
static inline void state_random(struct state *s, struct rng *rng, unsigned up_of, unsigned all_of)
{
    for (cw_server i = 0; i < s->reach.servers; i++) {
        state_set(s, i, rng_below(rng, all_of) < up_of);
    }
}

/* Exactly so many servers down. */
static inline void state_fail(struct state *s, struct rng *rng, uint32_t down)
{
    state_fill(s, true);
    while (s->reach.members + down > s->reach.servers) {
        state_set(s, (cw_server)rng_below(rng, s->reach.servers), false);
    }
}

struct world {
    struct torus torus;
    cw_server *table; /* naive_table() */
};

static inline struct world world_open(uint16_t x, uint16_t y, uint16_t z)
{
    cw_dims dims = {x, y, z};
    struct world w = {.table = naive_table(dims)};
    if (torus_init(&w.torus, dims) != 0) {
        ck_abort_msg("%ux%ux%u", x, y, z);
    }
    return w;
}

static inline void world_close(struct world *w)
{
    free(w->table);
}

static inline const cw_server *world_sequence(const struct world *w, cw_server home, unsigned index)
{
    return w->table + ((size_t)home * NAIVE_SEQUENCES + index) * w->torus.servers;
}

static inline cw_server world_root(const struct world *w, cw_server home, unsigned index, const struct state *s)
{
    return naive_first(world_sequence(w, home, index), w->torus.servers, s->up);
}

/* A route of this home and index; the turn chooses among them. */
static inline uint64_t world_route(const struct world *w, cw_server home, unsigned index, uint64_t turn)
{
    return key_first(&w->torus, home) + turn * NAIVE_SEQUENCES + index;
}

#endif
