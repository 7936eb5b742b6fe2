/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - carries out plans of faults, and draws them. A plan is a list of plain values (scenario/plan.h): a
 * scenario file is read into one, swarm draws one from a seed, and shrinking leaves faults out.
 */
#ifndef SIMULATOR_FAULTS_H
#define SIMULATOR_FAULTS_H

#include "scenario/plan.h"
#include "simulator/world.h"

/* Makes every fault of the plan happen in w at its time. Borrows the plan until then. */
void fault_plan_schedule(const struct fault_plan *plan, struct world *w);
/* Makes one fault happen now. */
void fault_apply(struct world *w, const struct fault *fault);

/*
 * Churn (figure 5c): failures come as a Poisson process of `failures` in each span `per`. Each server stays down for an
 * exponential time, such that on average down_ppm of all servers are down. start_down: so many are dead at `from`
 * already. power: servers die together with their cards. Adds to the plan; -ENOMEM.
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
 * Swarm: the seed draws which kinds of faults exist at all (each with probability one half), and how often they come
 * between `from` and `to`. At `to` everything heals. Adds to the plan; -ENOMEM.
 */
CW_MUST_CHECK int fault_plan_draw(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *timers,
                                  uint64_t seed, cw_time from, cw_time to);
/*
 * Swarm: draws the dims (mostly small and odd, at most servers_max servers), timers (0.1 to 10 times the usual ones,
 * such that they can keep the guarantee), limits down to 1, link rates, and clock rates within 1 %. Leaves services and
 * replay as they are.
 */
void world_config_draw(struct world_config *config, uint64_t seed, uint32_t servers_max);

#endif
