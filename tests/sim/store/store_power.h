/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_power.h - what goes wrong with the disks of a world of the store: losses of power of one server and of all,
 * disks that fail, come back empty or older, are slow or small. Drawn from the seed.
 */
#ifndef SIM_STORE_POWER_H
#define SIM_STORE_POWER_H

#include "store_disks.h"

enum power_kind {
    POWER_DEATHS, /* servers die as the world's plan says, and with them what was not synced */
    POWER_ALL,    /* the power of all goes besides, once or twice */
    POWER_BROKEN, /* and a disk fails for good */
    POWER_EMPTY,  /* and a disk comes back empty */
    POWER_SLOW,   /* POWER_ALL on disks of which some orders take long */
    POWER_OLDER,  /* nothing else happens: a disk comes back as it was some time before */
    POWER_KINDS,
};

struct power {
    enum power_kind kind;
    struct store_disks *disks; /* NULL: the store is in memory */
    uint64_t seed;
    cw_server victim;
};

/* Disks for a world of that seed, and options for its servers in *config; calm: nothing is to go wrong. */
void power_open(struct power *p, struct world_config *config, unsigned servers, uint64_t seed, bool calm);
/* Plans what goes wrong between these instants. */
void power_plan(struct power *p, struct world *w, cw_time from, cw_time to);
/* A server has died. */
void power_died(struct power *p, cw_server s);
/* Everybody loses power now, and comes back in a moment. */
void power_all(struct power *p, struct world *w);
/* Is the server a member with a store that it knows to be whole? */
bool power_is_whole(struct world *w, cw_server s);
void power_close(struct power *p);

#endif
