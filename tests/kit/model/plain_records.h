/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_records.h - records in a list, sorted by a sort that is too simple to be wrong, for the tests of
 * services/aggregate/sorted: keys and values are short texts.
 */
#ifndef KIT_PLAIN_RECORDS_H
#define KIT_PLAIN_RECORDS_H

#include "rng.h"
#include "services/aggregate/sorted/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_record {
    uint8_t key[RECORD_KEY_MOST];
    size_t key_length;
    char value[64];
    unsigned order; /* in which it came */
};

/* memcmp(), what begins another key first; equal keys as they came. */
static inline int plain_order(const void *a, const void *b)
{
    const struct plain_record *x = a, *y = b;
    size_t n = x->key_length < y->key_length ? x->key_length : y->key_length;
    int order = memcmp(x->key, y->key, n);
    order = order != 0 ? order : (x->key_length > y->key_length) - (x->key_length < y->key_length);
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static inline bool plain_same_key(const struct plain_record *a, const struct plain_record *b)
{
    return a->key_length == b->key_length && memcmp(a->key, b->key, a->key_length) == 0;
}

static inline cw_bytes plain_key(const struct plain_record *r)
{
    return (cw_bytes){r->key, r->key_length};
}

static inline cw_bytes plain_value(const struct plain_record *r)
{
    return (cw_bytes){(const uint8_t *)r->value, strlen(r->value)};
}

/* Draws keys that are often equal, often begin one another, and are sometimes long. */
static inline void plain_draw(struct rng *rng, struct plain_record *r, unsigned order)
{
    static const char letters[] = {'a', 'b', '\0', (char)0xff};
    uint64_t most = rng_below(rng, 50) == 0 ? RECORD_KEY_MOST : rng_below(rng, 4) == 0 ? 20 : 4;
    memset(r, 0, sizeof *r);
    r->key_length = 1 + (size_t)rng_below(rng, most);
    for (size_t i = 0; i < r->key_length; i++) {
        r->key[i] = (uint8_t)letters[i > 8 ? 0 : rng_below(rng, 4)];
    }
    snprintf(r->value, sizeof r->value, "%lld", (long long)rng_below(rng, 2000) - 1000);
    r->order = order;
}

#endif
