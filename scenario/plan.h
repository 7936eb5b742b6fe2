/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what is to happen, as plain values: faults with their instants, and traffic. A plan is read from a file or
 * drawn at random; the simulator carries it out in its world, the testbed with signals and real links.
 */
#ifndef SCENARIO_PLAN_H
#define SCENARIO_PLAN_H

#include "keyspace/torus.h"
#include "scenario/cluster.h"

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
    /*
     * axis, number: cuts the cables between planes number - 1 and number, and those between the last plane and the
     * first
     */
    FAULT_PARTITION,
    FAULT_REJOIN, /* axis, number: mends these cables */
    FAULT_HEAL,   /* mends everything: cables work, wires are sound, clocks are right, dead servers start */
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
/* Sorts by time; faults of one instant keep the order in which they were added. */
void fault_plan_sort(struct fault_plan *plan);
const char *fault_name(enum fault_kind kind); /* "kill"; the words of scenario files */
/* One line, as in a scenario file, without the time: "kill 1,0,2". Gives the length as snprintf does. */
int fault_format(const struct fault *fault, const struct torus *torus, char *out, size_t room);

enum workload_kind {
    WORKLOAD_KEYS,       /* packets to random keys, `rate` per second and server */
    WORKLOAD_ALL_TO_ALL, /* packets to servers in turn or at random, at `load` of what the torus carries */
    WORKLOAD_NEIGHBOURS, /* every link of every server saturated */
    WORKLOAD_KINDS,
};

struct workload {
    enum workload_kind kind;
    uint64_t rate;     /* keys: packets per second and server */
    uint32_t load_ppm; /* all to all: of workload_bound() */
    uint32_t bytes;    /* of a frame behind the Ethernet header; 0: a full one */
    uint8_t links;     /* neighbours: how many, 1 to 6; 0: all */
};

#endif
