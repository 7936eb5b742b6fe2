/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - what goes wrong and when: plain values in a plan. A scenario file is read into a plan, swarm draws one
 * from a seed, and shrinking leaves elements out; whoever made it, fault_plan_schedule() carries it out.
 */
#ifndef SIMULATOR_FAULTS_H
#define SIMULATOR_FAULTS_H

#include "scenario/plan.h"
#include "simulator/world.h"

/* Every fault happens in w at its time. Borrows the plan until then. */
void fault_plan_schedule(const struct fault_plan *plan, struct world *w);
void fault_apply(struct world *w, const struct fault *fault);

/*
 * Churn (figure 5c): failures come as a Poisson process of `failures` per `per`; servers start again so that on average
 * down_ppm of them are down (each stays down for an exponential time around down / rate). The first down_ppm are dead
 * at `from` already when start_down. Adds to the plan; -ENOMEM.
 */
struct fault_churn {
    uint64_t seed;
    uint32_t failures;
    cw_span per;
    uint32_t down_ppm;
    bool start_down;
    bool power;
    cw_time from, to;
};
CW_MUST_CHECK int fault_plan_churn(struct fault_plan *plan, const struct torus *torus, const struct fault_churn *churn);

/*
 * Swarm: the seed draws which kinds of faults exist at all and how often they come, between from and to; at `to`
 * everything heals. Chance for each kind to exist: one half. Adds to the plan; -ENOMEM.
 */
CW_MUST_CHECK int fault_plan_draw(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *timers,
                                  uint64_t seed, cw_time from, cw_time to);
/*
 * Swarm: draws dims (small and odd most of the time, at most servers_max), timers (x 0.1 to x 10, sound ones), limits
 * down to 1, rates, clock rates within +-1 %. Services and replay are left as they are.
 */
void world_config_draw(struct world_config *config, uint64_t seed, uint32_t servers_max);

#endif
