/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_ghosts.h - faults after which servers believe for long in others that are out of their reach (kvcache rule 18). A
 * part of the torus is cut off, and servers in it die one after the other, each a neighbour of the one before it and
 * just before it would have noticed that one's death. The living ones of the part then see a way out through the last
 * records of the dead. At about the time of the cut a server outside may leave in order, of which the part hears
 * nothing (kvcache rule 14). Drawn at random, a plan of faults hardly ever looks like that.
 */
#ifndef SIM_KVCACHE_KV_GHOSTS_H
#define SIM_KVCACHE_KV_GHOSTS_H

#include "scenario/plan.h"
#include "simulator/world.h"

/* The seeds of such worlds: from this one on. */
enum { KV_GHOSTS_FIRST = 1000000 };

static inline bool kv_ghosts_has(uint64_t seed)
{
    return seed >= KV_GHOSTS_FIRST;
}

/* The torus of the seed's world; all else of config stays. */
void kv_ghosts_shape(struct world_config *config, uint64_t seed);
/* Adds the faults, from the instant given on; at the end everything is mended. -ENOMEM. */
CW_MUST_CHECK int kv_ghosts_plan(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *timers,
                                 uint64_t seed, cw_time from);

#endif
