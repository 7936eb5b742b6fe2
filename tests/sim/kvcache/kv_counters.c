/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_counters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 5, TRIES_MAX = 4 * 1000 * 1000 };

/* Numbers of counters and who made them: open addressing, never full. */
struct made {
    uint64_t number, value;
    uint32_t key;
};

struct resolver {
    struct kv_ledger *l;
    struct made *made;
    size_t mask;
    size_t *open; /* INCR and DECR without an answer, and not found out */
    size_t opens;
    unsigned tries;
    char *why;
    size_t room;
};

static struct made *place(const struct resolver *r, uint32_t key, uint64_t number)
{
    uint64_t hash = (number ^ key * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    size_t at = (hash ^ hash >> 31) & r->mask;
    while (r->made[at].value != 0 && (r->made[at].number != number || r->made[at].key != key)) {
        at = (at + 1) & r->mask;
    }
    return &r->made[at];
}

static uint64_t maker(const struct resolver *r, uint32_t key, uint64_t number)
{
    return place(r, key, number)->value;
}

static bool note(struct resolver *r, const struct kv_entry *e, uint64_t number)
{
    struct made *m = place(r, e->key, number);
    if (m->value != 0) {
        snprintf(r->why, r->room, "key %u: %" PRIu64 " and %" PRIu64 " both made it %" PRIu64, e->key, m->value,
                 kv_ledger_value(r->l, e), number);
        return false;
    }
    *m = (struct made){.key = e->key, .number = number, .value = kv_ledger_value(r->l, e)};
    return true;
}

static bool steps(const struct kv_entry *e)
{
    return e->op == KV_INCR || e->op == KV_DECR;
}

/* What it was before the step. */
static uint64_t undone(const struct kv_entry *e, uint64_t number)
{
    return e->op == KV_INCR ? number - e->number : number + e->number;
}

static bool is_open(const struct kv_entry *e)
{
    return e->op != 0 && e->ended == KV_NO_END;
}

/* Finds `depth` open steps that lead to the number from one that is known. */
static bool search(struct resolver *r, uint32_t key, uint64_t number, unsigned depth)
{
    for (size_t i = 0; i < r->opens && r->tries < TRIES_MAX; i++) {
        struct kv_entry *e = &r->l->entry[r->open[i]];
        if (e->key != key || e->seen != 0) {
            continue;
        }
        r->tries++;
        uint64_t before = undone(e, number);
        e->seen = number;
        bool found = depth == 1 ? (e->initial != 0 && e->initial == number) || maker(r, key, before) != 0
                                : search(r, key, before, depth - 1);
        if (found) {
            e->before = maker(r, key, before);
            return note(r, e, number);
        }
        e->seen = 0;
    }
    return false;
}

static unsigned open_of(const struct resolver *r, uint32_t key)
{
    unsigned count = 0;
    for (size_t i = 0; i < r->opens; i++) {
        const struct kv_entry *e = &r->l->entry[r->open[i]];
        count += e->key == key && e->seen == 0;
    }
    return count;
}

/* Who made it. 0: nobody, and *why says so - or, without a word, that there were too many to try. */
static uint64_t find(struct resolver *r, const struct kv_entry *e, uint64_t number)
{
    uint64_t value = maker(r, e->key, number);
    unsigned most = value == 0 ? open_of(r, e->key) : 0, depth = 1;
    r->tries = 0;
    for (; depth <= DEPTH_MAX && depth <= most && value == 0; depth++) {
        value = search(r, e->key, number, depth) ? maker(r, e->key, number) : 0;
    }
    if (value == 0 && depth > most && r->tries < TRIES_MAX) {
        snprintf(r->why, r->room, "key %u: question %" PRIu64 " found %" PRIu64 " there, which nobody made", e->key,
                 kv_ledger_value(r->l, e), number);
    }
    return value;
}

static bool take_makers(struct resolver *r)
{
    for (size_t i = 0; i < r->l->count; i++) {
        const struct kv_entry *e = &r->l->entry[i];
        bool done = e->answered && e->status == KV_OK;
        if (!e->counter || !(done || is_open(e))) {
            continue;
        }
        if (kv_makes_anew(e->op) && !note(r, e, e->number)) {
            return false;
        }
        if (steps(e) && done && !note(r, e, e->seen)) {
            return false;
        }
        if (steps(e) && !done) {
            r->open[r->opens++] = i;
        }
    }
    return true;
}

static bool take_readers(struct resolver *r)
{
    for (size_t i = 0; i < r->l->count; i++) {
        struct kv_entry *e = &r->l->entry[i];
        if (!e->counter || !e->answered || e->status != KV_OK) {
            continue;
        }
        if (e->op == KV_GET || e->op == KV_GAT) {
            e->value = find(r, e, e->seen);
        } else if (steps(e) && !(e->initial != 0 && e->seen == e->initial)) {
            e->before = find(r, e, undone(e, e->seen));
        }
        if (r->why[0] != '\0') {
            return false;
        }
    }
    return true;
}

bool kv_counters_resolve(struct kv_ledger *l, char *why, size_t room)
{
    size_t size = 16;
    while (size < 4 * l->count) {
        size *= 2;
    }
    struct resolver r = {.l = l,
                         .made = calloc(size, sizeof *r.made),
                         .mask = size - 1,
                         .open = malloc((l->count + 1) * sizeof *r.open),
                         .why = why,
                         .room = room};
    why[0] = '\0';
    bool good = take_makers(&r) && take_readers(&r);
    free(r.made);
    free(r.open);
    return good;
}
