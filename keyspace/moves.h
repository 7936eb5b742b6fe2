/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moves.h - which keys have another root under one reachability set than under another.
 *
 * Keys move in groups: all that share a home and a sequence index (owner.h) have the same root. By property 4 of
 * owner.h the groups that move are those whose old root left or whose new root joined, so the differences of the two
 * sets lead to them. For one key ask owner_moved().
 */
#ifndef KEYSPACE_MOVES_H
#define KEYSPACE_MOVES_H

#include "keyspace/reach.h"
#include "keyspace/torus.h"

/* All keys with this home and index went from one root to the other; CW_SERVER_NONE where that set is empty. */
struct moves_entry {
    cw_server home;
    unsigned index;
    cw_server from, to;
};

/* Is lent the entry for the call. 0 goes on; anything else ends the iteration and is its result. */
typedef int moves_fn(void *arg, const struct moves_entry *entry);

/*
 * Calls fn once for every (home, index) whose root differs between the two sets, for any two sets of the torus;
 * returns 0, or what fn did. The order depends on the sets only. fn must not change the sets. Allocates nothing.
 *
 * While most servers are in both sets the cost follows the moves: a death among 4,096 servers looks up about a hundred
 * roots, not 2 x 196,608. When small islands meet, most keys move and a root is far away: then it is some times the
 * cost of looking up all roots of both sets, seconds at 4,096 servers. Who must not be held up that long asks for his
 * own keys with owner_moved().
 */
int moves_between(const struct torus *t, const struct reach *before, const struct reach *after, moves_fn *fn,
                  void *arg);

#endif
