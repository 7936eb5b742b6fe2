/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.h - which servers keep copies of which keys of this root, and the writes that wait until those copies are
 * gone (kvcache rules 1 and 3). A table of keys; root.c decides what happens with it. A key stays in the table when its
 * value is evicted: copies of the value are still out.
 *
 * A registration ends when the holder answers that it dropped the copy, when the holder is gone, or when no copy can be
 * as old as the registration. It ends with no other change (kvcache rule 9).
 */
#ifndef SERVICES_KVCACHE_DATA_HOLDERS_H
#define SERVICES_KVCACHE_DATA_HOLDERS_H

#include "base/list.h"
#include "services/kvcache/data/items.h"

enum { HOLDERS_CHAINS = 4096 };

struct holder {
    cw_server server;
    uint64_t stamp; /* of its latest registration: an answer about an earlier one says nothing about this one */
    cw_time since;  /* its latest registration: no copy there is older */
    bool asked;     /* to drop the copy, and has not answered yet */
};

struct held_key {
    struct held_key *chain;
    struct list_node by_age;
    /* These four are the user's: the writes that wait, how many and how many bytes, and a list of such keys. */
    struct list writes;
    struct list_node waiting;
    unsigned write_count;
    size_t write_bytes;
    cw_time latest; /* registration of any holder */
    bool busy;      /* the user walks this key: holders_put() does not free it */
    unsigned count, room;
    struct holder *holder; /* `count` of them, no two of one server */
    struct item_name name; /* its key points to key */
    uint8_t key[];
};

struct holders {
    struct held_key *chain[HOLDERS_CHAINS];
    struct list ages; /* by latest registration */
    size_t count, most;
    uint64_t stamps;
};

/* At most so many keys. */
void holders_open(struct holders *h, size_t most);
void holders_close(struct holders *h);

/* Borrows; NULL: no registration and no write of that name is known. */
struct held_key *holders_find(struct holders *h, const struct item_name *name);
/* As holders_find(), but makes the key if there is none. NULL: there is no memory, or there are too many keys. */
struct held_key *holders_get(struct holders *h, const struct item_name *name);
/* True: the server is registered, and a copy may be sent to it. False: there is no memory. */
CW_MUST_CHECK bool holders_register(struct holders *h, struct held_key *k, cw_server server, cw_time now);
/* Borrows, until the next registration or drop of that key; NULL: the server is no holder. */
struct holder *holders_at(struct held_key *k, cw_server server);
/* Ends a registration. */
void holders_drop(struct held_key *k, struct holder *at);
/* Frees the key if it has no holder, no write waits, and it is not busy. */
void holders_put(struct holders *h, struct held_key *k);
/* Ends all registrations of keys whose latest one is older than that instant, unless a write waits for the key. */
void holders_expire(struct holders *h, cw_time before);

#endif
