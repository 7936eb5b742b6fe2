/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dedup.h - the writes that other servers asked this root for, so that none takes effect twice (kvcache rules 10 and
 * 11).
 *
 * An asker numbers its writes, upwards, and says with each write which number is the lowest that is not over for it:
 * its floor. A write below the floor is a late repetition: nobody waits for the answer, and it must not take effect. A
 * write from the floor on is remembered until the floor passes it. When there are too many, or one is old, the oldest
 * is forgotten and the floor moves past it: the root then refuses repetitions of it, and never repeats it.
 *
 * An asker is an instance of the service; a server whose service was loaded again is another asker. The last
 * DEDUP_LIVES instances of each server are told apart.
 */
#ifndef SERVICES_KVCACHE_DEDUP_H
#define SERVICES_KVCACHE_DEDUP_H

#include "base/list.h"
#include "services/kvcache/data/op.h"

enum { DEDUP_LIVES = 4, DEDUP_CHAINS = 4096 };

struct dedup_asker {
    uint64_t instance; /* 0: nobody */
    uint64_t floor;
    uint64_t used; /* dedup.clock when it last wrote */
    struct list writes;
};

/* One write. */
struct dedup_write {
    struct list_node of_asker, by_age;
    struct dedup_write *chain;
    struct dedup_asker *asker;
    uint64_t number;
    cw_time at;      /* when it first came */
    void *under_way; /* the user's, while the write has no result */
    bool refused;    /* it was not done, and never will be by this number */
    /* The result. */
    enum kv_status status;
    uint64_t cas;
    uint32_t flags;
    uint8_t marks; /* of enum kv_mark */
    uint8_t digits;
    uint8_t number_text[OP_NUMBER_MAX]; /* of INCR and DECR */
};

struct dedup {
    struct dedup_asker *askers; /* DEDUP_LIVES for each server */
    uint32_t servers;
    size_t most, count;
    cw_span life;
    uint64_t clock; /* counts the writes that came */
    struct list ages;
    struct dedup_write *chain[DEDUP_CHAINS];
};

/* Remembers at most so many writes, for at most so long. -ENOMEM. */
CW_MUST_CHECK int dedup_open(struct dedup *d, uint32_t servers, size_t most, cw_span life);
void dedup_close(struct dedup *d);

enum dedup_known {
    DEDUP_NEW,       /* *out is its record, without a result, until dedup_forget() */
    DEDUP_KNOWN,     /* the write came before, and *out is its record: with its result, unless it is under way */
    DEDUP_OVER,      /* nobody waits for it any more */
    DEDUP_NO_MEMORY, /* or no such server, or no instance */
};
/* A write came. */
enum dedup_known dedup_meet(struct dedup *d, cw_server server, uint64_t instance, uint64_t number, uint64_t floor,
                            cw_time now, struct dedup_write **out);
/* The write was not done, and may come again under its number. */
void dedup_forget(struct dedup *d, struct dedup_write *w);

#endif
