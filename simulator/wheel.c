/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/wheel.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NONE = UINT32_MAX,
    POOL_FIRST = 1024,
    HEAP_FIRST = 256,
    ARITY = 4,
    BUCKETS_MIN = 64,
    BUCKETS_MAX = 1 << 16,
    WORD = 64,
    INSERTION_MAX = 8, /* buckets up to this size are sorted by insertion */
};

static bool before(const struct wheel_event *a, const struct wheel_event *b)
{
    if (a->at_ns != b->at_ns) {
        return a->at_ns < b->at_ns;
    }
    if (a->order != b->order) {
        return a->order < b->order;
    }
    return a->sequence < b->sequence;
}

int wheel_open(struct wheel *w, cw_span horizon, cw_span gap)
{
    CHECK(horizon.ns > 0 && gap.ns >= 0);
    *w = (struct wheel){.free = NONE, .open = NONE};
    while (gap.ns >> (w->shift + 1) > 0) {
        w->shift++;
    }
    uint32_t buckets = BUCKETS_MIN;
    while (buckets < BUCKETS_MAX && (int64_t)buckets << w->shift < horizon.ns) {
        buckets *= 2;
    }
    while ((int64_t)buckets << w->shift < horizon.ns) {
        w->shift++;
    }
    w->mask = buckets - 1;
    w->bucket = malloc(buckets * sizeof *w->bucket);
    w->taken = calloc(buckets / WORD, sizeof *w->taken);
    w->pool = malloc(POOL_FIRST * sizeof *w->pool);
    w->heap = malloc(HEAP_FIRST * sizeof *w->heap);
    if (w->bucket == NULL || w->taken == NULL || w->pool == NULL || w->heap == NULL) {
        wheel_close(w);
        return -ENOMEM;
    }
    w->room = POOL_FIRST;
    w->heap_room = HEAP_FIRST;
    memset(w->bucket, 0xff, buckets * sizeof *w->bucket);
    return 0;
}

void wheel_close(struct wheel *w)
{
    free(w->bucket);
    free(w->taken);
    free(w->pool);
    free(w->heap);
    *w = (struct wheel){.free = NONE, .open = NONE};
}

/* ---- The heap ---------------------------------------------------------------------------------------------------- */

static void sift_up(struct wheel *w, uint32_t i, const struct wheel_event *e)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / ARITY;
        if (!before(e, &w->heap[parent])) {
            break;
        }
        w->heap[i] = w->heap[parent];
        i = parent;
    }
    w->heap[i] = *e;
}

static void sift_down(struct wheel *w, uint32_t i, const struct wheel_event *e)
{
    for (;;) {
        uint32_t first = i * ARITY + 1, least = first;
        if (first >= w->heap_count) {
            break;
        }
        uint32_t end = first + ARITY < w->heap_count ? first + ARITY : w->heap_count;
        for (uint32_t c = first + 1; c < end; c++) {
            if (before(&w->heap[c], &w->heap[least])) {
                least = c;
            }
        }
        if (!before(&w->heap[least], e)) {
            break;
        }
        w->heap[i] = w->heap[least];
        i = least;
    }
    w->heap[i] = *e;
}

static void heap_put(struct wheel *w, const struct wheel_event *e)
{
    if (w->heap_count == w->heap_room) {
        struct wheel_event *more = realloc(w->heap, (size_t)w->heap_room * 2 * sizeof *more);
        CHECK(more != NULL);
        w->heap = more;
        w->heap_room *= 2;
    }
    sift_up(w, w->heap_count++, e);
}

static void heap_take(struct wheel *w, struct wheel_event *out)
{
    *out = w->heap[0];
    struct wheel_event last = w->heap[--w->heap_count];
    if (w->heap_count > 0) {
        sift_down(w, 0, &last);
    }
}

/* ---- The buckets ------------------------------------------------------------------------------------------------- */

static uint32_t pool_take(struct wheel *w)
{
    uint32_t i = w->free;
    if (__builtin_expect(i != NONE, 1)) {
        w->free = w->pool[i].next;
        return i;
    }
    if (w->made == w->room) {
        struct wheel_event *more = realloc(w->pool, (size_t)w->room * 2 * sizeof *more);
        CHECK(more != NULL);
        w->pool = more;
        w->room *= 2;
    }
    return w->made++;
}

static void pool_give(struct wheel *w, uint32_t i)
{
    w->pool[i].next = w->free;
    w->free = i;
}

void wheel_put(struct wheel *w, cw_time at, uint32_t order, void *what)
{
    int64_t slot = at.ns >> w->shift;
    struct wheel_event e = {.at_ns = at.ns, .order = order, .sequence = w->sequence++, .what = what};
    if (slot <= w->slot || slot - w->slot > w->mask) {
        heap_put(w, &e);
        return;
    }
    uint32_t i = pool_take(w), b = (uint32_t)slot & w->mask;
    e.next = w->bucket[b];
    w->pool[i] = e;
    w->filled += w->bucket[b] == NONE;
    w->bucket[b] = i;
    w->taken[b / WORD] |= UINT64_C(1) << (b % WORD);
    w->near++;
}

/* The next bucket behind that slot which holds something: its slot. There is one. */
static int64_t next_slot(const struct wheel *w, int64_t slot)
{
    uint32_t start = (uint32_t)(slot + 1) & w->mask, words = (w->mask + 1) / WORD;
    uint32_t i = start / WORD;
    uint64_t word = w->taken[i] & ~UINT64_C(0) << (start % WORD);
    while (word == 0) {
        i = (i + 1) % words;
        word = w->taken[i]; /* coming round to the first word, what it has below start is the far end of the turn */
    }
    uint32_t b = i * WORD + (uint32_t)__builtin_ctzll(word);
    return slot + 1 + (int64_t)((b - start) & w->mask);
}

/* A bucket was opened: looks one further. More than WHEEL_AHEAD others hold something. */
static void look_ahead(struct wheel *w)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < w->seen; i++) {
        if (w->ahead[i] > w->slot) {
            w->ahead[kept++] = w->ahead[i];
        }
    }
    int64_t last = kept > 0 ? w->ahead[kept - 1] : w->slot;
    for (; kept < WHEEL_AHEAD; kept++) {
        last = next_slot(w, last);
        if (last - w->slot > w->mask) {
            break; /* round again */
        }
        w->ahead[kept] = last;
    }
    w->seen = kept;
}

static uint32_t merge(struct wheel_event *pool, uint32_t a, uint32_t b)
{
    uint32_t head = NONE, *tail = &head;
    while (a != NONE && b != NONE) {
        uint32_t *least = before(&pool[a], &pool[b]) ? &a : &b;
        *tail = *least;
        tail = &pool[*least].next;
        *least = *tail;
    }
    *tail = a != NONE ? a : b;
    return head;
}

/* Merge sort from below: run k holds 2^k events. Thousands of servers may well do something at one instant. */
static uint32_t sort_many(struct wheel_event *pool, uint32_t list)
{
    uint32_t run[32];
    unsigned runs = 0;
    while (list != NONE) {
        uint32_t one = list;
        list = pool[one].next;
        pool[one].next = NONE;
        unsigned k = 0;
        for (; k < runs && run[k] != NONE; k++) {
            one = merge(pool, run[k], one);
            run[k] = NONE;
        }
        run[k] = one;
        runs = k == runs ? k + 1 : runs;
    }
    uint32_t all = NONE;
    for (unsigned k = 0; k < runs; k++) {
        all = merge(pool, run[k], all);
    }
    return all;
}

/* Sorts the list of a bucket. What came last is its head; so far it is nearly always one event or two. */
static uint32_t sort(struct wheel_event *pool, uint32_t list)
{
    uint32_t sorted = NONE;
    for (unsigned n = 0; list != NONE; n++) {
        if (n == INSERTION_MAX) {
            return merge(pool, sorted, sort_many(pool, list));
        }
        uint32_t one = list, *at = &sorted;
        list = pool[one].next;
        while (*at != NONE && before(&pool[*at], &pool[one])) {
            at = &pool[*at].next;
        }
        pool[one].next = *at;
        *at = one;
    }
    return sorted;
}

static void open_bucket(struct wheel *w, int64_t slot)
{
    uint32_t b = (uint32_t)slot & w->mask;
    w->slot = slot;
    w->open = sort(w->pool, w->bucket[b]);
    w->bucket[b] = NONE;
    w->filled--;
    w->taken[b / WORD] &= ~(UINT64_C(1) << (b % WORD));
    if (w->filled > WHEEL_AHEAD) {
        look_ahead(w);
    }
}

bool wheel_take(struct wheel *w, cw_time until, struct wheel_event *out)
{
    if (w->open == NONE && w->near > 0) {
        int64_t slot = next_slot(w, w->slot);
        /* A bucket is opened when its turn comes and not before: what is put until then still finds it. */
        if (slot <= until.ns >> w->shift && (w->heap_count == 0 || slot <= w->heap[0].at_ns >> w->shift)) {
            open_bucket(w, slot);
        }
    }
    const struct wheel_event *near = w->open != NONE ? &w->pool[w->open] : NULL;
    if (w->heap_count > 0 && (near == NULL || before(&w->heap[0], near))) {
        if (w->heap[0].at_ns > until.ns) {
            return false;
        }
        heap_take(w, out);
        /* Every bucket before it is empty. */
        int64_t slot = out->at_ns >> w->shift;
        w->slot = slot > w->slot ? slot : w->slot;
        return true;
    }
    if (near == NULL || near->at_ns > until.ns) {
        return false;
    }
    *out = *near;
    pool_give(w, w->open);
    w->open = out->next;
    w->near--;
    return true;
}

/* Head of the bucket, NONE when it is not what it was. */
static uint32_t head_ahead(const struct wheel *w, unsigned ahead)
{
    return ahead < w->seen && w->ahead[ahead] > w->slot ? w->bucket[(uint32_t)w->ahead[ahead] & w->mask] : NONE;
}

const struct wheel_event *wheel_ahead(const struct wheel *w, unsigned ahead)
{
    uint32_t i = head_ahead(w, ahead);
    return i != NONE ? &w->pool[i] : NULL;
}

void wheel_prefetch(const struct wheel *w, unsigned ahead)
{
    uint32_t i = head_ahead(w, ahead);
    if (i != NONE) {
        __builtin_prefetch(&w->pool[i]);
    }
}

/* ---- Rare -------------------------------------------------------------------------------------------------------- */

static uint32_t sweep_list(struct wheel *w, uint32_t *at, bool (*remove)(void *, const struct wheel_event *),
                           void *context)
{
    uint32_t removed = 0;
    while (*at != NONE) {
        uint32_t i = *at;
        if (!remove(context, &w->pool[i])) {
            at = &w->pool[i].next;
            continue;
        }
        *at = w->pool[i].next;
        pool_give(w, i);
        removed++;
    }
    w->near -= removed;
    return removed;
}

uint32_t wheel_sweep(struct wheel *w, bool (*remove)(void *context, const struct wheel_event *event), void *context)
{
    uint32_t removed = sweep_list(w, &w->open, remove, context);
    for (uint32_t b = 0; b <= w->mask; b++) {
        if (w->bucket[b] == NONE) {
            continue;
        }
        removed += sweep_list(w, &w->bucket[b], remove, context);
        if (w->bucket[b] == NONE) {
            w->filled--;
            w->taken[b / WORD] &= ~(UINT64_C(1) << (b % WORD));
        }
    }
    uint32_t count = w->heap_count, kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!remove(context, &w->heap[i])) {
            w->heap[kept++] = w->heap[i];
        }
    }
    w->heap_count = 0;
    while (w->heap_count < kept) {
        struct wheel_event e = w->heap[w->heap_count];
        sift_up(w, w->heap_count++, &e);
    }
    return removed + count - kept;
}

uint32_t wheel_count(const struct wheel *w)
{
    return w->near + w->heap_count;
}

size_t wheel_bytes(const struct wheel *w)
{
    return (size_t)(w->mask + 1) * sizeof *w->bucket + (w->mask + 1) / 8 + (size_t)w->room * sizeof *w->pool +
           (size_t)w->heap_room * sizeof *w->heap;
}
