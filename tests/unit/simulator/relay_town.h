/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_town.h - small worlds whose servers have relays. The service of town.h looks at its transit; here it does not,
 * so that its packets may be relayed.
 */
#ifndef UNIT_SIMULATOR_RELAY_TOWN_H
#define UNIT_SIMULATOR_RELAY_TOWN_H

#include "simulator/world_internal.h"

#include "town.h"

enum { RELAY_ALL = 1000000 };

/* A row of servers along z, all with relays. */
static inline struct world_config relay_town_config(uint16_t servers, uint64_t seed)
{
    static cw_service plain;
    static struct world_service list = {.table = &plain};
    struct world_config config = town_config((cw_dims){1, 1, servers}, seed);
    plain = *town_services()->table;
    plain.on_path = CW_PATH_NONE;
    config.services = &list;
    config.relay_ppm = RELAY_ALL;
    return config;
}

static inline struct world *relay_town_up(uint16_t servers, uint64_t seed)
{
    struct world_config config = relay_town_config(servers, seed);
    struct world *w = town_open(&config);
    town_boot(w);
    town_run(w, CW_MS(200));
    return w;
}

#endif
