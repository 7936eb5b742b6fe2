/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/hot.h"

#include <stdlib.h>
#include <string.h>

enum { HALVED_MOST = 20 }; /* after so many halvings the time before the first one makes no difference */

static uint64_t mark_of(const cw_key *id)
{
    uint64_t mark;
    memcpy(&mark, id->b, sizeof mark);
    return mark;
}

void hot_open(struct hot *h, uint64_t seed, cw_time now)
{
    memset(h, 0, sizeof *h);
    h->chance = seed | 1;
    h->since = now;
}

/* Halves the counts as often as it is due. Keys whose count becomes 0 go. */
static void halve(struct hot *h, cw_time now)
{
    while (cw_time_since(now, h->since).ns >= CW_SEC(HOT_HALF_S).ns) {
        unsigned kept = 0;
        if (h->used == 0) { /* nothing to halve, however often it is due */
            h->since = now;
            h->halved = 0;
            return;
        }
        for (unsigned i = 0; i < h->used; i++) {
            if (h->count[i] / 2 == 0) {
                continue;
            }
            h->mark[kept] = h->mark[i];
            h->count[kept] = h->count[i] / 2;
            h->error[kept] = h->error[i] / 2;
            if (kept != i) {
                h->key[kept] = h->key[i];
            }
            kept++;
        }
        h->used = kept;
        h->halved += h->halved < HALVED_MOST;
        h->since = cw_time_add(h->since, CW_SEC(HOT_HALF_S));
    }
}

static bool is_drawn(struct hot *h)
{
    h->chance ^= h->chance << 13;
    h->chance ^= h->chance >> 7;
    h->chance ^= h->chance << 17;
    return (h->chance >> 32) % HOT_SAMPLE == 0;
}

static unsigned find(const struct hot *h, uint64_t mark)
{
    unsigned found = HOT_KEYS;
    for (unsigned i = 0; i < HOT_KEYS; i++) { /* no early end: so the compiler looks at several at once */
        found = h->mark[i] == mark && i < h->used ? i : found; /* places from `used` on hold keys that went */
    }
    return found;
}

static unsigned least(const struct hot *h)
{
    unsigned at = 0;
    for (unsigned i = 1; i < HOT_KEYS; i++) {
        at = h->count[i] < h->count[at] ? i : at;
    }
    return at;
}

void hot_sample(struct hot *h, const struct item_name *name, cw_time now)
{
    if (!is_drawn(h)) {
        return;
    }
    halve(h, now);
    uint64_t mark = mark_of(&name->id);
    unsigned i = find(h, mark);
    if (i == HOT_KEYS) {
        bool room = h->used < HOT_KEYS;
        i = room ? h->used++ : least(h);
        h->error[i] = room ? 0 : h->count[i];
        h->count[i] = h->error[i];
        h->mark[i] = mark;
        h->key[i].id = name->id;
        h->key[i].job = name->job;
        h->key[i].length = name->key_length;
        memcpy(h->key[i].key, name->key, name->key_length);
    }
    h->count[i] += h->count[i] < UINT32_MAX;
}

/*
 * The rate that such a count stands for, if questions came evenly: it has those of the time since the last halving,
 * half of those of the span before it, a quarter of those of the span before that, and so on.
 */
static uint64_t rate_of(const struct hot *h, uint32_t count, cw_time now)
{
    int64_t full = CW_SEC(HOT_HALF_S).ns;
    int64_t span = cw_time_since(now, h->since).ns + full - (full >> h->halved);
    int64_t ms = span > CW_MS(1000).ns ? span / CW_MS(1).ns : 1000;
    return (uint64_t)count * HOT_SAMPLE * 1000 * 1000 / (uint64_t)ms;
}

static int by_rate(const void *a, const void *b)
{
    const struct hot_row *x = a, *y = b;
    return x->rate != y->rate ? (x->rate < y->rate ? 1 : -1) : memcmp(&x->key->id, &y->key->id, sizeof x->key->id);
}

unsigned hot_top(struct hot *h, cw_time now, struct hot_row *out, unsigned most)
{
    struct hot_row all[HOT_KEYS];
    halve(h, now);
    for (unsigned i = 0; i < h->used; i++) {
        all[i] = (struct hot_row){&h->key[i], rate_of(h, h->count[i], now), rate_of(h, h->error[i], now)};
    }
    qsort(all, h->used, sizeof *all, by_rate);
    unsigned n = h->used < most ? h->used : most;
    if (n > 0) {
        memcpy(out, all, n * sizeof *all);
    }
    return n;
}
