/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - the set of servers held reachable.
 *
 * One bit a server in memory lent by the caller: 512 bytes for 4,096 servers. Use it only through these functions: at
 * millions of servers the set will be stored as what differs from all (docs/architecture.md, "Scale"), and callers
 * should not notice. No function allocates or fails. Server ids handed in are below set->servers and two sets handed in
 * together are of one torus; breaking that is the caller's mistake and stops a debug build (assert). A set has one writer at a time.
 */
#ifndef KEYSPACE_REACH_H
#define KEYSPACE_REACH_H

#include "cubeway/types.h"

#include <assert.h>

struct reach {
    uint64_t *word; /* borrowed; bits at and above servers are 0 */
    uint32_t servers;
    uint32_t members;
};

/* Bytes of memory a set of this many servers needs. */
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

/* True when the set changed. */
bool reach_add(struct reach *set, cw_server s);
bool reach_remove(struct reach *set, cw_server s);

void reach_fill(struct reach *set);
void reach_clear(struct reach *set);
/* Of servers 64 * index to 64 * index + 63 those are in the set whose bits are set; bits at and above servers must be 0. */
void reach_put_word(struct reach *set, uint32_t index, uint64_t members);
void reach_copy(struct reach *to, const struct reach *from);
bool reach_equal(const struct reach *a, const struct reach *b);

/*
 * Iteration in rising order: the first member at or above from, CW_SERVER_NONE when there is none; from may be any
 * number.
 *     for (cw_server s = reach_next(set, 0); s != CW_SERVER_NONE; s = reach_next(set, s + 1))
 * reach_next_change(): likewise over the servers that are in exactly one of the two sets.
 */
cw_server reach_next(const struct reach *set, cw_server from);
cw_server reach_next_change(const struct reach *a, const struct reach *b, cw_server from);

#endif
