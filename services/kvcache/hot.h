/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.h - the keys that are asked for most, of very many, in little memory: the Space-Saving sketch (Metwally, Agrawal,
 * El Abbadi: "Efficient computation of frequent and top-k elements in data streams", ICDT 2005). HOT_KEYS keys are
 * counted; one that is not among them takes the place of the one with the least, and its count as a possible error.
 * Whatever makes up more than one in HOT_KEYS of all that is asked is among them.
 *
 * One in HOT_SAMPLE is looked at, drawn, so that noting costs next to nothing; counts are halved every HOT_HALF_S, so
 * that they tell of the last some ten seconds. Pure: time comes in, chance from a seed.
 */
#ifndef SERVICES_KVCACHE_HOT_H
#define SERVICES_KVCACHE_HOT_H

#include "services/kvcache/items.h"
#include "services/kvcache/kvcache.h"

enum { HOT_KEYS = 64, HOT_SAMPLE = 4, HOT_HALF_S = 10 };

struct hot_key {
    cw_key id;
    cw_job job;
    uint8_t length;
    uint8_t key[KV_KEY_MAX];
};

struct hot {
    uint64_t mark[HOT_KEYS]; /* of their ids: looked through for each that is noted */
    uint32_t count[HOT_KEYS], error[HOT_KEYS];
    struct hot_key key[HOT_KEYS];
    unsigned used;
    unsigned halved; /* times, as far as it matters */
    cw_time since;   /* of the last time */
    uint64_t chance;
};

void hot_open(struct hot *h, uint64_t seed, cw_time now);
/* Somebody asked for it. */
void hot_sample(struct hot *h, const struct item_name *name, cw_time now);

struct hot_row {
    const struct hot_key *key; /* borrowed, until the next note */
    uint64_t rate, error;      /* times in 1,000 seconds: at most, and how much of that may be others' */
};
/* The hottest first, at most so many; how many. */
unsigned hot_top(struct hot *h, cw_time now, struct hot_row *out, unsigned most);

#endif
