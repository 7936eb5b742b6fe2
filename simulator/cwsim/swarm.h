/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swarm.h - draws scenarios from seeds, and makes scenarios that fail smaller (semantics 8.2).
 *
 * A seed draws the cluster (dims, timers, limits, clocks), the load, which kinds of faults exist at all, and how often
 * these come. Then everything heals, and the cluster must become quiet.
 */
#ifndef SIMULATOR_CWSIM_SWARM_H
#define SIMULATOR_CWSIM_SWARM_H

#include "scenario/scenario.h"

/* -ENOMEM. The scenario is the caller's to free. The same seed and limit: the same scenario, for ever. */
CW_MUST_CHECK int swarm_draw(uint64_t seed, uint32_t servers_max, struct scenario *out);

/*
 * Makes a scenario that fails smaller as long as it still does: fewer events, fewer servers, plainer settings, an
 * earlier end. fails() says whether a scenario still fails in the same way, and if so when.
 */
struct swarm_shrink {
    bool (*fails)(void *context, const struct scenario *s, cw_time *when);
    void *context;
    unsigned tries_max;
    unsigned tries; /* made */
};
/* *s fails at `when`. Afterwards *s is the smallest scenario that was found to fail in the same way. */
void swarm_shrink(struct swarm_shrink *shrink, struct scenario *s, cw_time when);

#endif
