/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holders.h - who keeps copies of which of this root's keys, and the writes that wait until they have been taken back
 * (kvcache rules 1 and 3). A table of keys; what is done with it is root.c's. It outlives the values: a copy of an
 * evicted one is still out.
 *
 * A registration ends when the holder says that it has dropped the copy, when the holder is gone, or when no copy can
 * be as old as it. It does not end with any other change (kvcache rule 9).
 */
#ifndef SERVICES_KVCACHE_HOLDERS_H
#define SERVICES_KVCACHE_HOLDERS_H

#include "base/list.h"
#include "services/kvcache/items.h"

enum { HOLDERS_CHAINS = 4096 };

struct holder {
    cw_server server;
    uint64_t stamp; /* of its latest registration: what is said of an earlier one is not said of this */
    cw_time since;  /* that: no copy is older */
    bool asked;     /* to drop the copy, and has not answered yet */
};

struct held_key {
    struct held_key *chain;
    struct list_node by_age;
    struct list writes; /* that wait; the user's, as are these three */
    struct list_node waiting;
    unsigned write_count;
    size_t write_bytes;
    cw_time latest; /* registration */
    bool busy;      /* the user walks it: it does not go */
    unsigned count, room;
    struct holder *holder;
    struct item_name name; /* its key is at the end */
    uint8_t key[];
};

struct holders {
    struct held_key *chain[HOLDERS_CHAINS];
    struct list ages; /* by latest registration */
    size_t count, most;
    uint64_t stamps;
};

void holders_open(struct holders *h, size_t most);
void holders_close(struct holders *h);

struct held_key *holders_find(struct holders *h, const struct item_name *name);
/* The same, made if there is none; NULL: no memory, or too many. */
struct held_key *holders_get(struct holders *h, const struct item_name *name);
/* True: the server is registered, and a copy may be sent to it. */
CW_MUST_CHECK bool holders_register(struct holders *h, struct held_key *k, cw_server server, cw_time now);
/* Borrows, until the next registration or drop; NULL: it is none. */
struct holder *holders_at(struct held_key *k, cw_server server);
void holders_drop(struct held_key *k, struct holder *at);
/* Frees it when nothing is registered, nothing waits, and it is not busy. */
void holders_put(struct holders *h, struct held_key *k);
/* Ends the registrations older than that instant of keys for which nothing waits. */
void holders_expire(struct holders *h, cw_time before);

#endif
