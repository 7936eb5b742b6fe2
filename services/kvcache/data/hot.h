/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.h - the keys that are asked for most, of very many, in little memory: the Space-Saving sketch (Metwally, Agrawal,
 * El Abbadi: "Efficient computation of frequent and top-k elements in data streams", ICDT 2005). HOT_KEYS keys are
 * counted. A key that is not among them takes the place of the one with the lowest count, and starts with that count,
 * which is also its possible error. A key that makes up more than one in HOT_KEYS of all questions is always among
 * them.
 *
 * One in HOT_SAMPLE questions is drawn and counted, so that sampling costs next to nothing. Counts are halved every
 * HOT_HALF_S, so that they tell of the last ten seconds or so. Pure: time comes in, chance from a seed.
 */
#ifndef SERVICES_KVCACHE_DATA_HOT_H
#define SERVICES_KVCACHE_DATA_HOT_H

#include "services/kvcache/data/items.h"
#include "services/kvcache/data/request.h"

enum { HOT_KEYS = 64, HOT_SAMPLE = 4, HOT_HALF_S = 10 };

struct hot_key {
    cw_key id;
    cw_job job;
    uint8_t length;
    uint8_t key[KV_KEY_MAX];
};

struct hot {
    uint64_t mark[HOT_KEYS]; /* the first bytes of their ids: searched for each question that is drawn */
    uint32_t count[HOT_KEYS], error[HOT_KEYS];
    struct hot_key key[HOT_KEYS];
    unsigned used;
    unsigned halved; /* how often counts were halved, up to where it makes no difference any more */
    cw_time since;   /* when they were last halved */
    uint64_t chance; /* the generator's state */
};

void hot_open(struct hot *h, uint64_t seed, cw_time now);
/* Somebody asked for the key. */
void hot_sample(struct hot *h, const struct item_name *name, cw_time now);

struct hot_row {
    const struct hot_key *key; /* borrowed, until the next hot_sample() */
    uint64_t rate;             /* questions in 1,000 seconds, at most */
    uint64_t error;            /* how many of these may be other keys' */
};
/* Writes the hottest keys, the hottest first, at most so many; returns how many. */
unsigned hot_top(struct hot *h, cw_time now, struct hot_row *out, unsigned most);

#endif
