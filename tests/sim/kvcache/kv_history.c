/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_history.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define OF_DELETE (UINT64_C(1) << 62)

/* A value: all events that saw it, and those that made it and took its place. */
struct node {
    uint64_t value;
    const struct kv_event *maker;
    struct node *next; /* what took its place */
    bool counts;       /* it was there for sure */
    bool follows;      /* something in the history stands before it in its chain */
    bool placed;
    size_t first, reads; /* events that saw it */
};

struct zone {
    int64_t low, high;
    uint64_t value; /* the first of the chain */
    bool forward;
};

struct judge {
    struct kv_event *event;
    size_t count;
    struct node *node;
    size_t nodes;
    struct zone *zone;
    size_t zones;
    uint32_t key;
    char *why;
    size_t room;
    bool good;
};

__attribute__((format(printf, 2, 3))) static void blame(struct judge *j, const char *format, ...)
{
    va_list args;
    int at = snprintf(j->why, j->room, "key %u: ", j->key);
    va_start(args, format);
    if (j->good && at >= 0 && (size_t)at < j->room) {
        (void)vsnprintf(j->why + at, j->room - (size_t)at, format, args);
    }
    va_end(args);
    j->good = false;
}

/* ---- Values known by their cas ----------------------------------------------------------------------------------- */

struct pair {
    uint64_t cas, value;
};

static int by_cas(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->cas != y->cas) {
        return x->cas < y->cas ? -1 : 1;
    }
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : 0;
}

static int by_value_of_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return by_cas(a, b);
}

static uint64_t value_of(const struct pair *pair, size_t count, uint64_t cas)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pair[middle].cas < cas) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && pair[low].cas == cas ? pair[low].value : 0;
}

/*
 * One cas for one value, and one value for one cas; then events that know a value by its cas get to know it. Where
 * nobody knows both it could be any that was made without an answer: then nothing is said.
 */
static void resolve(struct judge *j)
{
    struct pair *pair = malloc((j->count + 1) * sizeof *pair);
    size_t pairs = 0;
    for (size_t i = 0; i < j->count; i++) {
        if (j->event[i].value != 0 && j->event[i].cas != 0) {
            pair[pairs++] = (struct pair){.cas = j->event[i].cas, .value = j->event[i].value};
        }
    }
    qsort(pair, pairs, sizeof *pair, by_value_of_pair);
    for (size_t i = 1; i < pairs; i++) {
        if (pair[i].value == pair[i - 1].value && pair[i].cas != pair[i - 1].cas) {
            blame(j, "value %" PRIu64 " has two cas: %" PRIu64 " and %" PRIu64, pair[i].value, pair[i - 1].cas,
                  pair[i].cas);
        }
    }
    qsort(pair, pairs, sizeof *pair, by_cas);
    for (size_t i = 1; i < pairs; i++) {
        if (pair[i].cas == pair[i - 1].cas && pair[i].value != pair[i - 1].value) {
            blame(j, "cas %" PRIu64 " is of two values: %" PRIu64 " and %" PRIu64, pair[i].cas, pair[i - 1].value,
                  pair[i].value);
        }
    }
    for (size_t i = 0; i < j->count; i++) {
        struct kv_event *e = &j->event[i];
        if (e->value == 0 && e->kind == KV_EVENT_READ) {
            e->value = value_of(pair, pairs, e->cas);
            e->kind = e->value != 0 ? KV_EVENT_READ : KV_EVENT_NONE;
        }
        if (e->before == 0 && e->before_cas != 0) {
            e->before = value_of(pair, pairs, e->before_cas);
        }
    }
    free(pair);
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const struct kv_event *x = a, *y = b;
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return (x->kind == KV_EVENT_READ) - (y->kind == KV_EVENT_READ); /* the write first */
}

static struct node *node_of(const struct judge *j, uint64_t value)
{
    size_t low = 0, high = j->nodes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->node[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < j->nodes && j->node[low].value == value ? &j->node[low] : NULL;
}

static void gather(struct judge *j)
{
    uint64_t deletes = OF_DELETE;
    for (size_t i = 0; i < j->count; i++) {
        if (j->event[i].kind == KV_EVENT_DELETE) {
            j->event[i].value = deletes++;
        }
    }
    qsort(j->event, j->count, sizeof *j->event, by_value);
    j->nodes = 0;
    for (size_t i = 0; i < j->count; i++) {
        const struct kv_event *e = &j->event[i];
        if (e->kind == KV_EVENT_NONE) {
            continue; /* they stand first: 0 is no value */
        }
        if (j->nodes == 0 || e->value != e[-1].value) {
            j->node[j->nodes++] = (struct node){.value = e->value, .first = i};
        }
        struct node *n = &j->node[j->nodes - 1];
        if (e->kind == KV_EVENT_READ) {
            n->first = n->reads == 0 ? i : n->first;
            n->reads++;
        } else if (n->maker == NULL) {
            n->maker = e;
        } else {
            blame(j, "value %" PRIu64 " was made twice", e->value);
        }
    }
}

/* From what was answered up to what it needs: those writes without an answer were done. */
static void count_in(struct judge *j)
{
    for (size_t i = 0; i < j->nodes && j->good; i++) {
        struct node *n = &j->node[i];
        if (n->reads == 0 && n->maker->ended == KV_NO_END) {
            continue;
        }
        while (n != NULL && !n->counts) {
            n->counts = true;
            if (n->maker == NULL) {
                const struct kv_event *e = &j->event[n->first];
                blame(j, "a hit at server %u of %" PRIu64 ", which nobody wrote", e->server, n->value);
            }
            uint64_t before = n->maker != NULL ? n->maker->before : 0;
            struct node *up = before != 0 ? node_of(j, before) : NULL;
            if (before != 0 && up == NULL) {
                blame(j, "%" PRIu64 " took the place of %" PRIu64 ", which nobody wrote", n->value, before);
            }
            n = up;
        }
    }
}

/* What took the place of what. */
static void link_chains(struct judge *j)
{
    for (size_t i = 0; i < j->nodes && j->good; i++) {
        struct node *n = &j->node[i], *up;
        if (!n->counts || n->maker == NULL || n->maker->before == 0 || (up = node_of(j, n->maker->before)) == NULL) {
            continue;
        }
        if (up->next != NULL) {
            blame(j, "%" PRIu64 " and %" PRIu64 " both took the place of %" PRIu64, up->next->value, n->value,
                  up->value);
        }
        up->next = n;
        n->follows = true;
    }
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

struct block {
    int64_t first_end, last_begin;
};

/* The event comes behind all that began at `ahead` or before. */
static void stand(struct judge *j, struct block *b, const struct kv_event *e, int64_t ahead)
{
    if (e->ended < ahead) {
        blame(j,
              "%s of %" PRIu64 " at server %u ended at %" PRId64
              ", before something that it needs had begun, at %" PRId64,
              e->kind == KV_EVENT_READ ? "a hit" : "the write", e->value, e->server, e->ended, ahead);
    }
    b->first_end = e->ended < b->first_end ? e->ended : b->first_end;
    b->last_begin = e->begun > b->last_begin ? e->begun : b->last_begin;
}

static void place_chain(struct judge *j, struct node *head)
{
    struct block b = {.first_end = KV_NO_END, .last_begin = INT64_MIN};
    for (struct node *n = head; n != NULL && j->good; n = n->next) {
        n->placed = true;
        if (n->maker != NULL) {
            stand(j, &b, n->maker, b.last_begin);
        }
        int64_t ahead = b.last_begin; /* reads of one value have no order of their own */
        for (size_t i = 0; i < n->reads && j->good; i++) {
            stand(j, &b, &j->event[n->first + i], ahead);
        }
    }
    bool forward = b.first_end < b.last_begin;
    j->zone[j->zones++] = (struct zone){.low = forward ? b.first_end : b.last_begin,
                                        .high = forward ? b.last_begin : b.first_end,
                                        .value = head->value,
                                        .forward = forward};
}

static void place(struct judge *j)
{
    j->zones = 0;
    for (size_t i = 0; i < j->nodes && j->good; i++) {
        if (j->node[i].counts && !j->node[i].follows) {
            place_chain(j, &j->node[i]);
        }
    }
    for (size_t i = 0; i < j->nodes && j->good; i++) {
        if (j->node[i].counts && !j->node[i].placed) {
            blame(j, "%" PRIu64 " and others took one another's place in a circle", j->node[i].value);
        }
    }
}

static int by_low(const void *a, const void *b)
{
    const struct zone *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : 0;
}

static void contradict(struct judge *j, const struct zone *x, const struct zone *y)
{
    blame(j,
          "the chain from %" PRIu64 " [%" PRId64 ", %" PRId64 "] was there before and after the one from %" PRIu64
          " [%" PRId64 ", %" PRId64 "]",
          x->value, x->low, x->high, y->value, y->low, y->high);
}

static void fit(struct judge *j)
{
    qsort(j->zone, j->zones, sizeof *j->zone, by_low);
    const struct zone *forward = NULL; /* the last: those before it have ended */
    for (size_t i = 0; i < j->zones && j->good; i++) {
        const struct zone *z = &j->zone[i];
        bool inside = forward != NULL && z->low < forward->high;
        if (inside && (z->forward || (z->low > forward->low && z->high < forward->high))) {
            contradict(j, forward, z);
        }
        forward = z->forward ? z : forward;
    }
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    const struct kv_event *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : 0;
}

static bool says_something(const struct kv_event *e)
{
    return e->kind != KV_EVENT_NONE && !(e->kind != KV_EVENT_WRITE && e->ended == KV_NO_END);
}

static void judge_key(struct judge *j)
{
    resolve(j);
    gather(j);
    count_in(j);
    link_chains(j);
    place(j);
    if (j->good) {
        fit(j);
    }
}

bool kv_history_check(struct kv_event *event, size_t count, char *why, size_t room)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (says_something(&event[i])) {
            event[kept++] = event[i];
        }
    }
    qsort(event, kept, sizeof *event, by_key);
    struct judge j = {.node = malloc((kept + 1) * sizeof *j.node),
                      .zone = malloc((kept + 1) * sizeof *j.zone),
                      .why = why,
                      .room = room,
                      .good = true};
    for (size_t at = 0; at < kept && j.good; at += j.count) {
        j.event = event + at;
        j.key = event[at].key;
        for (j.count = 1; at + j.count < kept && event[at + j.count].key == j.key;) {
            j.count++;
        }
        judge_key(&j);
    }
    free(j.node);
    free(j.zone);
    return j.good;
}
