/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the names that one shard tells of when it is asked for a list: pure, from its table and the order.
 *
 * A page is names in the order of memcmp(), each with what is there, as it is read at one instant of the list. A name
 * with a write under way is waited for, as a get of it would be (store rule 8): the page keeps what it has, and goes on
 * behind that.
 */
#ifndef SERVICES_STORE_HELD_PAGE_H
#define SERVICES_STORE_HELD_PAGE_H

#include "services/store/held/verdict.h"

struct store_page {
    uint8_t *bytes; /* struct store_named, one behind the other: wire.h */
    size_t length, room;
    unsigned count;
    size_t last;  /* where the last one begins */
    bool is_full; /* there may be names behind it for which there was no room, or no more were wanted */
};

/* room: bytes. NULL: no memory. Freed by store_page_free(). */
struct store_page *store_page_new(size_t room);
void store_page_free(struct store_page *p); /* NULL is allowed */
/*
 * Reads on, behind what the page has. Gives the register whose write is waited for; NULL: the page is done, as far as
 * the shard's names, its room, or the order go. waits: a write under way is waited for.
 */
struct store_register *store_page_read(struct store_page *p, const struct store_table *t, const struct store_order *o,
                                       bool waits);

/*
 * Up to where a watcher has been told: of the leadership that told it, all versions up to n (store rule 36). Under
 * another ballot it says nothing: what was never chosen may have been chosen since, with a version of before. n 0:
 * nothing has been told.
 */
struct store_cursor {
    struct store_ballot ballot;
    uint64_t n;
};
enum { STORE_CURSOR_BYTES = 24 };
void store_cursor_encode(struct store_cursor c, uint8_t out[static STORE_CURSOR_BYTES]);
struct store_cursor store_cursor_decode(const uint8_t bytes[static STORE_CURSOR_BYTES]);

/* A name that a WATCH is about. */
bool store_page_watches(const struct store_order *o, const struct store_register *r);
/*
 * Reads the changes that the order waits for, by rising version, and gives where the watcher is then. now: the leader's
 * ballot, and an n up to which all writes are over. What is under way has a version behind it; should that never be
 * chosen, another leader comes, by whose ballot all is told again.
 */
struct store_cursor store_page_changes(struct store_page *p, const struct store_table *t, const struct store_order *o,
                                       struct store_cursor now);

/* The highest version of what the order watches; 0: there is nothing. */
uint64_t store_page_newest(const struct store_table *t, const struct store_order *o);

/* The order of names: below 0, 0 or above 0 as a is before, is, or is behind b. Jobs do not count. */
int store_name_compare(const struct store_name *a, const struct store_name *b);
bool store_name_begins(const struct store_name *name, const uint8_t *prefix, size_t length);

#endif
