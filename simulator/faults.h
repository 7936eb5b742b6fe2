/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - what goes wrong and when: plain values in a plan. A scenario file is read into a plan, swarm draws one from a seed, and
 * shrinking leaves elements out; whoever made it, fault_plan_schedule() carries it out.
 */
#ifndef SIMULATOR_FAULTS_H
#define SIMULATOR_FAULTS_H

#include "simulator/world.h"

enum fault_kind {
    FAULT_KILL,      /* server: the process dies */
    FAULT_POWER,     /* server: the host dies */
    FAULT_START,     /* server */
    FAULT_LEAVE,     /* server */
    FAULT_PAUSE,     /* server, span */
    FAULT_CUT,       /* server, link: cable, both ways */
    FAULT_CUT_OUT,   /* server, link: only the direction out of it */
    FAULT_MEND,      /* server, link: the cable works both ways again */
    FAULT_HARM,      /* server, link (CW_SERVER_NONE: all servers; CW_LINK_SELF: all links), harm */
    FAULT_CLOCK,     /* server, number: ppm */
    FAULT_KILL_SLAB, /* axis, number: every server with that coordinate (a plane) */
    FAULT_KILL_ROW,  /* server, axis: every server on its row along the axis */
    FAULT_PARTITION, /* axis, number: cuts the cables between plane number - 1 and number, and those where the ring closes */
    FAULT_REJOIN, /* axis, number: mends them */
    FAULT_HEAL,   /* everything: cables work, wires are sound, clocks are right, the dead start */
    FAULT_KINDS,
};

struct fault {
    cw_time at;
    enum fault_kind kind;
    cw_server server;
    cw_link link;
    uint8_t axis;
    int32_t number;
    cw_span span;
    struct wire_harm harm;
};

/* Zeroed is an empty plan. */
struct fault_plan {
    struct fault *fault;
    uint32_t count, room;
};
/* -ENOMEM: the plan is as before. */
CW_MUST_CHECK int fault_plan_add(struct fault_plan *plan, const struct fault *fault);
void fault_plan_free(struct fault_plan *plan);
/* By time; equal times keep the order in which they were added. */
void fault_plan_sort(struct fault_plan *plan);
/* Every fault happens in w at its time. Borrows the plan until then. */
void fault_plan_schedule(const struct fault_plan *plan, struct world *w);
void fault_apply(struct world *w, const struct fault *fault);

const char *fault_name(enum fault_kind kind); /* "kill"; the words of scenario files */
/* One line, as in a scenario file, without the time: "kill 1,0,2". Gives the length as snprintf does. */
int fault_format(const struct fault *fault, const struct torus *torus, char *out, size_t room);

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
 * Swarm: the seed draws which kinds of faults exist at all and how often they come, between from and to; at `to` everything heals.
 * Chance for each kind to exist: one half. Adds to the plan; -ENOMEM.
 */
CW_MUST_CHECK int fault_plan_draw(struct fault_plan *plan, const struct torus *torus, const struct ls_timers *timers,
                                  uint64_t seed, cw_time from, cw_time to);
/*
 * Swarm: draws dims (small and odd most of the time, at most servers_max), timers (x 0.1 to x 10, sound ones), limits
 * down to 1, rates, clock rates within +-1 %. Services and replay are left as they are.
 */
void world_config_draw(struct world_config *config, uint64_t seed, uint32_t servers_max);

#endif
