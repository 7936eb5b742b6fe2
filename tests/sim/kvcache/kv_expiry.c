/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_expiry.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLACK_NS = 2 * 1000 * 1000, DRIFT_PARTS = 50 }; /* two clocks, each of which may be 1 % off */

/* The latest instant at which a value whose expiry this entry set may still be there. */
static int64_t lasts(const struct kv_entry *e)
{
    if (e->expiry.ns == 0 || e->ended == KV_NO_END) {
        return KV_NO_END;
    }
    int64_t span = e->expiry.ns < 0 ? 0 : e->expiry.ns;
    return e->ended + span + span / DRIFT_PARTS + SLACK_NS;
}

/* A value's name for TOUCH, which is told no more of it. */
struct known {
    uint32_t key;
    uint64_t cas, value;
};

static int by_cas(const void *a, const void *b)
{
    const struct known *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->cas != y->cas ? (x->cas < y->cas ? -1 : 1) : 0;
}

struct ends {
    const struct kv_ledger *l;
    int64_t *end;   /* of the value that each entry made: the latest */
    int64_t *doubt; /* of each key: from then on nothing is known */
    struct known *known;
    size_t count;
};

static void begin(struct ends *x)
{
    for (size_t i = 0; i < x->l->count; i++) {
        const struct kv_entry *e = &x->l->entry[i];
        x->doubt[e->key] = KV_NO_END;
        uint64_t value = e->value != 0 ? e->value : i + 1;
        bool tells = e->cas != 0 && e->status == KV_OK && e->ended != KV_NO_END;
        if (tells && e->op != KV_TOUCH && e->op != KV_DELETE) {
            x->known[x->count++] = (struct known){.key = e->key, .cas = e->cas, .value = value};
        }
        bool steps = e->op == KV_APPEND || e->op == KV_INCR || e->op == KV_DECR;
        x->end[i] = kv_makes_anew(e->op) ? lasts(e) : steps && e->before != 0 ? INT64_MIN : KV_NO_END;
    }
    qsort(x->known, x->count, sizeof *x->known, by_cas);
}

/*
 * True when the root carried the question out. A GAT whose first answer was lost is told a miss when it is asked again
 * after its value has gone (recall_look() in services/kvcache/root.c); the answer still names the value that the GAT
 * has renewed.
 */
static bool was_done(const struct kv_entry *e)
{
    return e->status == KV_OK || (e->op == KV_GAT && e->status == KV_MISS && e->cas != 0);
}

static void renew(struct ends *x)
{
    for (size_t i = 0; i < x->l->count; i++) {
        const struct kv_entry *e = &x->l->entry[i];
        if (!kv_renews(e->op)) {
            continue;
        }
        if (e->ended == KV_NO_END) {
            x->doubt[e->key] = e->begun < x->doubt[e->key] ? e->begun : x->doubt[e->key];
            continue;
        }
        const struct known want = {.key = e->key, .cas = e->cas};
        const struct known *k = was_done(e) ? bsearch(&want, x->known, x->count, sizeof want, by_cas) : NULL;
        if (k != NULL && lasts(e) > x->end[k->value - 1]) {
            x->end[k->value - 1] = lasts(e);
        }
    }
}

static bool judge(const struct ends *x, char *why, size_t room)
{
    const struct kv_ledger *l = x->l;
    for (size_t i = 0; i < l->count; i++) {
        const struct kv_entry *e = &l->entry[i];
        if (e->op != KV_GET || e->value == 0 || e->begun >= x->doubt[e->key]) {
            continue;
        }
        int64_t last = INT64_MIN;
        for (uint64_t v = e->value; v != 0; v = kv_makes_anew(l->entry[v - 1].op) ? 0 : l->entry[v - 1].before) {
            last = x->end[v - 1] > last ? x->end[v - 1] : last;
        }
        if (e->begun > last) {
            snprintf(why, room,
                     "key %u: a hit at server %u of %" PRIu64 ", begun at %" PRId64 ", which was to expire by %" PRId64,
                     e->key, e->server, e->value, e->begun, last);
            return false;
        }
    }
    return true;
}

bool kv_expiry_check(const struct kv_ledger *l, char *why, size_t room)
{
    uint32_t keys = 0;
    for (size_t i = 0; i < l->count; i++) {
        keys = l->entry[i].key >= keys ? l->entry[i].key + 1 : keys;
    }
    struct ends x = {.l = l,
                     .end = malloc((l->count + 1) * sizeof *x.end),
                     .doubt = malloc((keys + 1) * sizeof *x.doubt),
                     .known = malloc((l->count + 1) * sizeof *x.known)};
    begin(&x);
    renew(&x);
    bool good = judge(&x, why, room);
    free(x.end);
    free(x.doubt);
    free(x.known);
    return good;
}
