/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_census.h - who the members of a world's shards are, by what all stores of its servers say, and what they hold.
 */
#ifndef SIM_STORE_CENSUS_H
#define SIM_STORE_CENSUS_H

#include "services/store/internal.h"
#include "simulator/world.h"

struct store_census {
    struct store_config config; /* the newest that anybody knows; count 0: nobody knows any */
    unsigned live;              /* its members that live, in the life that it names, with a store that is whole */
    unsigned full;              /* of these, those that are members and hold what the first of them holds */
    bool doubt;                 /* one that would have to say whether a newer one was decided is lost */
    unsigned to_expire;         /* values with a ttl, where somebody serves the shard */
    unsigned whole;             /* servers that could be members */
};

struct store_census store_census_of(struct world *w, uint32_t shard);
/* What the server that serves the shard holds of a name. */
struct store_last {
    bool served, deleted;
    uint64_t version; /* 0: nothing, or of no version */
};
struct store_last store_census_last(struct world *w, uint32_t shard, const struct store_name *name);
/* Can the shard be served, all being well? */
static inline bool store_census_serves(const struct store_census *c)
{
    return c->live > c->config.count / 2u && !c->doubt;
}

#endif
