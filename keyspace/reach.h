/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - a set of servers: those that are held to be reachable.
 *
 * The set has one bit for each server, in memory that the caller lends: 512 bytes for 4,096 servers. Use it only
 * through these functions, so that it may be stored otherwise one day, for millions of servers. No function allocates
 * or fails. Server ids that are handed in are below set->servers, and two sets that are handed in together are of one
 * torus; breaking that is the caller's mistake and stops a debug build (assert). A set has one writer at a time.
 */
#ifndef KEYSPACE_REACH_H
#define KEYSPACE_REACH_H

#include "cubeway/types.h"

#include <assert.h>

struct reach {
    uint64_t *word;   /* borrowed; bits at and above servers are 0 */
    uint32_t servers; /* of the torus */
    uint32_t members; /* of the set */
};

/* How many bytes of memory a set needs for so many servers. */
static inline size_t reach_bytes(uint32_t servers)
{
    return ((size_t)servers + 63) / 64 * sizeof(uint64_t);
}

/* Makes *set empty. Borrows memory (reach_bytes(servers), aligned for uint64_t) for as long as the set is used. */
void reach_init(struct reach *set, uint32_t servers, void *memory);

static inline bool reach_has(const struct reach *set, cw_server s)
{
    assert(s < set->servers);
    return set->word[s / 64] >> (s % 64) & 1;
}

/* Each is true when the set changed. */
bool reach_add(struct reach *set, cw_server s);
bool reach_remove(struct reach *set, cw_server s);

void reach_fill(struct reach *set);
void reach_clear(struct reach *set);
/*
 * Replaces 64 bits: server 64 * index + i is in the set from now on when bit i of members is set. Bits that stand for
 * no server must be 0.
 */
void reach_put_word(struct reach *set, uint32_t index, uint64_t members);
void reach_copy(struct reach *to, const struct reach *from);
bool reach_equal(const struct reach *a, const struct reach *b);

/*
 * Iteration in rising order: gives the first member at or above from, which may be any number; CW_SERVER_NONE when
 * there is none.
 *     for (cw_server s = reach_next(set, 0); s != CW_SERVER_NONE; s = reach_next(set, s + 1))
 * reach_next_change() does the same for the servers that are in exactly one of the two sets.
 */
cw_server reach_next(const struct reach *set, cw_server from);
cw_server reach_next_change(const struct reach *a, const struct reach *b, cw_server from);

#endif
