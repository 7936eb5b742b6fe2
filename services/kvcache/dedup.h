/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dedup.h - the writes that others asked this root for, so that none takes effect twice (kvcache rules 10 and 11).
 *
 * An asker numbers its writes, upwards, and says with each from which number on they are not over for it (its floor).
 * What is below the floor is a late repetition: nobody waits for the answer, and it must not take effect. From the
 * floor on every write is remembered until the floor passes it. When there are too many, or one is old, the oldest goes
 * and the floor goes past it: that refuses, and never repeats.
 *
 * A server whose service was loaded again is another asker. The last DEDUP_LIVES of each server are told apart.
 */
#ifndef SERVICES_KVCACHE_DEDUP_H
#define SERVICES_KVCACHE_DEDUP_H

#include "base/list.h"
#include "services/kvcache/op.h"

enum { DEDUP_LIVES = 4, DEDUP_CHAINS = 4096 };

struct dedup_asker {
    uint64_t instance; /* 0: nobody */
    uint64_t floor;
    uint64_t used; /* when, by dedup.clock */
    struct list writes;
};

/* One write. */
struct dedup_write {
    struct list_node of_asker, by_age;
    struct dedup_write *chain;
    struct dedup_asker *asker;
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

struct dedup {
    struct dedup_asker *askers; /* DEDUP_LIVES for each server */
    uint32_t servers;
    size_t most, count;
    cw_span life;
    uint64_t clock;
    struct list ages;
    struct dedup_write *chain[DEDUP_CHAINS];
};

/* Remembers at most so many, for so long. -ENOMEM. */
CW_MUST_CHECK int dedup_open(struct dedup *d, uint32_t servers, size_t most, cw_span life);
void dedup_close(struct dedup *d);

enum dedup_known { DEDUP_NEW, DEDUP_KNOWN, DEDUP_OVER, DEDUP_NO_MEMORY };
/*
 * A write came. NEW: it is now remembered, without a result, at *out, until dedup_forget(); KNOWN: it came before, and
 * this is it (its result is there unless it is under way); OVER: nobody waits for it any more.
 */
enum dedup_known dedup_meet(struct dedup *d, cw_server server, uint64_t instance, uint64_t number, uint64_t floor,
                            cw_time now, struct dedup_write **out);
/* It was not done, and may come again. */
void dedup_forget(struct dedup *d, struct dedup_write *w);

#endif
