/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moves.h - which keys have different roots under two reachability sets.
 *
 * Keys move in groups: all keys that share a home and a sequence index (owner.h) have the same root. By property 4 of
 * owner.h a group moves only when its old root left or its new root joined, so the servers that differ between the two
 * sets lead to the groups that move. For a single key ask owner_moved().
 */
#ifndef KEYSPACE_MOVES_H
#define KEYSPACE_MOVES_H

#include "keyspace/reach.h"
#include "keyspace/torus.h"

/* One group that moved: all keys with this home and index. CW_SERVER_NONE stands for the root in an empty set. */
struct moves_entry {
    cw_server home;
    unsigned index;
    cw_server from; /* the root under the set `before` */
    cw_server to;   /* the root under the set `after` */
};

/* Borrows the entry for the call. 0 goes on; any other result ends the iteration. */
typedef int moves_fn(void *arg, const struct moves_entry *entry);

/*
 * Calls fn once for every group whose root differs between the two sets, and gives 0, or the result of fn that ended
 * it. Any two sets of the torus may be compared. The order of calls depends on the sets only. fn must not change the
 * sets. Allocates nothing.
 *
 * While most servers are in both sets, the cost follows the number of moves: a death among 4,096 servers looks up about
 * a hundred roots, not 2 x 196,608. When small islands meet, most keys move and roots are far from their homes: then
 * this costs several times as much as looking up all roots of both sets, which is seconds at 4,096 servers. A caller
 * who must not be held up that long asks owner_moved() for each of its own keys.
 */
int moves_between(const struct torus *t, const struct reach *before, const struct reach *after, moves_fn *fn,
                  void *arg);

#endif
