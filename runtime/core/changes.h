/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - the last changes of the committed view, to answer "did this key's root change since?" without having kept
 * the views.
 *
 * Exact (moved() below is true if and only if some change after the epoch gave the key another root). Let A be the root
 * now, and walk the changes back from now. As long as the root was A: undoing the coming of s changes the root if and
 * only if s = A, because only a root's leaving moves a key (owner.h, 4); undoing the going of s changes it if and only
 * if s comes before A in the key's sequence. And whoever came and comes before A has gone again later, else A were not
 * root; so one test serves both: the key moved if and only if some server that came or went is A or comes before A in
 * the key's sequence.
 *
 * A ring: what is older than it remembers counts as moved.
 */
#ifndef CORE_CHANGES_H
#define CORE_CHANGES_H

#include "cubeway/types.h"
#include "keyspace/torus.h"

enum { CHANGES_MAX = 128 };

struct changes {
    uint64_t forgotten; /* epoch of the latest change no longer remembered */
    uint64_t count;     /* changes noted so far */
    struct {
        uint64_t epoch;
        cw_server server;
    } ring[CHANGES_MAX];
};

/* As of this epoch, which is remembered, nothing has changed yet. */
void changes_init(struct changes *c, uint64_t epoch);

/* The server came or went; in the epoch given the view is already without or with it. Epochs never fall. */
void changes_note(struct changes *c, uint64_t epoch, cw_server server);

/*
 * True when the root of a key with these routing bits, which is root now (CW_SERVER_NONE: it has none), changed after
 * that epoch. At most CHANGES_MAX steps; O(1) when nothing changed since.
 */
bool changes_moved(const struct changes *c, const struct torus *t, uint64_t route, cw_server root, uint64_t since);

#endif
