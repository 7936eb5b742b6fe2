/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owner.h - which of the reachable servers are responsible for a key: GetServersForKey (CamCubeOS 3.2).
 *
 * Sigma(key) is sequence number w mod 48 of the key's home (key.h, facet.h): an order over ALL servers, which no
 * failure changes.
 *
 *     GetServersForKey(key, r, Reach) = the first r members of Sigma(key) that are in Reach
 *     root(key, Reach)                = the first of these
 *
 * So for any set Reach, by construction:
 *  1. a key has a root as long as one server is reachable, and its list holds every reachable server once;
 *  2. when S0, the first, leaves Reach, the list only loses its head: S1 becomes the root (takeover), then S2, and so
 *     on;
 *  3. the root depends on the key and on Reach only, not on the order of events;
 *  4. a server that leaves moves only the keys that it was the root of; a server that joins moves keys only to itself.
 *
 * Keys are given by their 64 routing bits (key_route64()), which is what a packet carries. Functions are pure, allocate
 * nothing and cannot fail. The set of reachable servers is borrowed for the call, and must be of the same torus.
 */
#ifndef KEYSPACE_OWNER_H
#define KEYSPACE_OWNER_H

#include "keyspace/facet.h"
#include "keyspace/key.h"
#include "keyspace/reach.h"
#include "keyspace/torus.h"

/* Which of the 48 sequences of its home a route follows. */
static inline unsigned owner_index(const struct torus *t, uint64_t route)
{
    return (unsigned)(key_offset(t, route) % FACET_SEQUENCES);
}

/* The root of every key with this home and index; CW_SERVER_NONE when reach is empty. */
cw_server owner_root_of(const struct torus *t, cw_server home, unsigned index, const struct reach *reach);

/* The root of the route; CW_SERVER_NONE when reach is empty. A few instructions as long as the route's home is up. */
static inline cw_server owner_root(const struct torus *t, uint64_t route, const struct reach *reach)
{
    cw_server home = key_home(t, route);
    if (__builtin_expect(reach_has(reach, home), 1)) {
        return home;
    }
    return owner_root_of(t, home, owner_index(t, route), reach);
}

static inline bool owner_is_root(const struct torus *t, uint64_t route, const struct reach *reach, cw_server s)
{
    return owner_root(t, route, reach) == s;
}

/*
 * GetServersForKey: writes the first r servers of the route's list to out, fewer when fewer are reachable, and gives
 * their number. out has room for min(r, reach->members). out[0] is the root; out[i] takes over when all of out[0..i-1]
 * have gone.
 */
unsigned owner_servers_for_key(const struct torus *t, uint64_t route, const struct reach *reach, unsigned r,
                               cw_server out[]);

/* Writes the first min(r, N) servers of Sigma(route), reachable or not: where a key's replicas are first placed. */
unsigned owner_sequence(const struct torus *t, uint64_t route, unsigned r, cw_server out[]);

/*
 * The list, one server at a time, for callers who do not know beforehand how many they need. Borrows reach, which must
 * not change meanwhile; the walk itself is a plain value. owner_walk_next() gives CW_SERVER_NONE behind the last.
 *     owner_walk_init(&w, t, route, reach);
 *     while ((s = owner_walk_next(&w)) != CW_SERVER_NONE)
 */
struct owner_walk {
    struct facet_walk sequence;
    const struct reach *reach;
    uint32_t left; /* members of reach that have not been given yet */
    bool started;
};
void owner_walk_init(struct owner_walk *w, const struct torus *t, uint64_t route, const struct reach *reach);
cw_server owner_walk_next(struct owner_walk *w);

/* True when the route's root under `after` is not its root under `before`. */
bool owner_moved(const struct torus *t, uint64_t route, const struct reach *before, const struct reach *after);

#endif
