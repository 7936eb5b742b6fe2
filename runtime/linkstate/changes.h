/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the last changes of a view, which answer "did this key's root change since?" without keeping old views.
 *
 * The answer is exact: changes_moved() is true if and only if some change after the epoch gave the key another root. To
 * see this, let A be the root now, and undo the changes one by one, the newest first. As long as the root is A, undoing
 * that s came changes the root if and only if s = A (only a root's leaving moves a key: owner.h, 4), and undoing that s
 * went changes it if and only if s precedes A in the key's sequence. A server that came and precedes A has gone again
 * later, or A would not be root. So one test serves for coming and going: the key moved if and only if some server that
 * came or went is A or precedes A in the key's sequence.
 *
 * The changes are kept in a ring: for an epoch before the oldest change in it, every key counts as moved.
 */
#ifndef LINKSTATE_CHANGES_H
#define LINKSTATE_CHANGES_H

#include "cubeway/types.h"
#include "keyspace/torus.h"

enum { CHANGES_MAX = 128 };

struct changes {
    uint64_t forgotten; /* epoch of the latest change that has left the ring */
    uint64_t count;     /* changes that were ever noted */
    struct {
        uint64_t epoch;
        cw_server server;
    } ring[CHANGES_MAX];
};

/* Nothing has changed since this epoch. */
void changes_init(struct changes *c, uint64_t epoch);

/* The server came or went, and with that the epoch given began. Epochs never fall. */
void changes_note(struct changes *c, uint64_t epoch, cw_server server);

/*
 * True when the root of the key with these routing bits changed after the epoch `since`. root is the key's root now,
 * CW_SERVER_NONE when it has none. At most CHANGES_MAX steps; O(1) when nothing has changed since.
 */
bool changes_moved(const struct changes *c, const struct torus *t, uint64_t route, cw_server root, uint64_t since);

#endif
