/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h - which shard a name is in, and who its members are: pure functions of the torus.
 *
 * A shard is all keys with one home and one of its 48 sequences (keyspace/owner.h); its number is home * 48 + index.
 * Its first members are the first r servers of the sequence, whoever is reachable: all keys of a shard have the same
 * ones. Later others take their places (config.h).
 */
#ifndef SERVICES_STORE_HELD_PLACES_H
#define SERVICES_STORE_HELD_PLACES_H

#include "keyspace/torus.h"
#include "services/store/held/verdict.h"

/* CANDIDATES: where an asker looks for members; others have to name those that are farther down the sequence. */
enum { STORE_CANDIDATES = 12, STORE_COPIES_LEAST = 3, STORE_COPIES_MOST = 4, STORE_SHARDS_PER_SERVER = 48 };

/*
 * The key of a name: SHA-1 over the store's job, the name's job, and the name; or, when the name begins with {tag} and
 * the tag has at least one byte, over the tag instead of the name. So names of one tag are in one shard, and with them
 * the name that their transactions stand under (intent.h).
 */
cw_key store_places_key(const struct store_name *name);
/* The key under which a name is written to a disk: all of it is hashed, whatever its tag. */
cw_key store_places_record(const struct store_name *name);
uint32_t store_places_shard(const struct torus *t, const cw_key *key);
/*
 * The first r servers of the shard's sequence, the one that is asked first at the front: its first members. Fewer in a
 * torus of fewer servers.
 */
unsigned store_places_members(const struct torus *t, uint32_t shard, unsigned r, cw_server *out);
/* All names that begin with the prefix are in this shard. False: they are in any. */
bool store_places_prefix(const struct torus *t, const struct store_name *prefix, uint32_t *shard);
/* The shard that an order is about: that of its name, or the one whose names are listed. */
uint32_t store_order_shard(const struct torus *t, const struct store_order *o);
cw_server store_places_home(uint32_t shard);
/* No two servers that are farther apart than this share a shard of r copies; r is at most STORE_COPIES_MOST. */
unsigned store_places_reach(const struct torus *t, unsigned r);

#endif
