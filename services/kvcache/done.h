/* SPDX-License-Identifier: Apache-2.0 */
/*
 * done.h - the writes that others asked this root for, so that none takes effect twice (kvcache rules 10 and 11).
 *
 * An asker numbers its writes, upwards, and says with each from which number on they are not over for it (its floor). What is below the
 * floor is a late repetition: nobody waits for the answer, and it must not take effect. From the floor on every write is remembered
 * until the floor passes it. When there are too many, or one is old, the oldest goes and the floor goes past it: that refuses, and never repeats.
 *
 * A server whose service was loaded again is another asker. The last DONE_LIVES of each server are told apart.
 */
#ifndef SERVICES_KVCACHE_DONE_H
#define SERVICES_KVCACHE_DONE_H

#include "base/list.h"
#include "services/kvcache/op.h"

enum { DONE_LIVES = 4, DONE_CHAINS = 4096 };

struct done_asker {
    uint64_t instance; /* 0: nobody */
    uint64_t floor;
    uint64_t used; /* when, by done.clock */
    struct list writes;
};

/* One write. */
struct done_write {
    struct list_node of_asker, by_age;
    struct done_write *chain;
    struct done_asker *asker;
    uint64_t number;
    cw_time at;
    void *under_way; /* the user's, while it has no result */
    bool refused;    /* it was not done, and never will be by this number */
    enum kv_status status;
    uint64_t cas;
    uint32_t flags;
    uint8_t marks; /* of enum kv_mark */
    uint8_t digits;
    uint8_t number_text[OP_NUMBER_MAX]; /* INCR and DECR */
};

struct done {
    struct done_asker *askers; /* DONE_LIVES for each server */
    uint32_t servers;
    size_t most, count;
    cw_span life;
    uint64_t clock;
    struct list ages;
    struct done_write *chain[DONE_CHAINS];
};

/* Remembers at most so many, for so long. -ENOMEM. */
CW_MUST_CHECK int done_open(struct done *d, uint32_t servers, size_t most, cw_span life);
void done_close(struct done *d);

enum done_known { DONE_NEW, DONE_KNOWN, DONE_OVER, DONE_NO_MEMORY };
/*
 * A write came. NEW: it is now remembered, without a result, at *out, until done_forget(); KNOWN: it came before, and this is it (its
 * result is there unless it is under way); OVER: nobody waits for it any more.
 */
enum done_known done_meet(struct done *d, cw_server server, uint64_t instance, uint64_t number, uint64_t floor,
                          cw_time now, struct done_write **out);
/* It was not done, and may come again. */
void done_forget(struct done *d, struct done_write *w);

#endif
