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
    OPEN_FIRST = 64,
    INSERTION_MAX = 48, /* so many events are kept in order by insertion */
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
    *w = (struct wheel){.free = NONE, .next = INT64_MAX};
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
    w->open = malloc(OPEN_FIRST * sizeof *w->open);
    if (w->bucket == NULL || w->taken == NULL || w->pool == NULL || w->heap == NULL || w->open == NULL) {
        wheel_close(w);
        return -ENOMEM;
    }
    w->room = POOL_FIRST;
    w->heap_room = HEAP_FIRST;
    w->open_room = OPEN_FIRST;
    memset(w->bucket, 0xff, buckets * sizeof *w->bucket);
    return 0;
}

void wheel_close(struct wheel *w)
{
    free(w->bucket);
    free(w->taken);
    free(w->pool);
    free(w->heap);
    free(w->open);
    *w = (struct wheel){.free = NONE, .next = INT64_MAX};
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

/* ---- Opened buckets ---------------------------------------------------------------------------------------------- */

/* Makes room for one event more at the end. */
static void open_grow(struct wheel *w)
{
    if (w->end < w->open_room) {
        return;
    }
    struct wheel_event *more = realloc(w->open, (size_t)w->open_room * 2 * sizeof *more);
    CHECK(more != NULL);
    w->open = more;
    w->open_room *= 2;
}

/* Puts the event where it belongs among those at `from` and behind, which are in order. */
static void open_insert(struct wheel *w, uint32_t from, const struct wheel_event *e)
{
    open_grow(w);
    uint32_t i = w->end++;
    for (; i > from && before(e, &w->open[i - 1]); i--) {
        w->open[i] = w->open[i - 1];
    }
    w->open[i] = *e;
}

static int compare(const void *a, const void *b)
{
    return (int)before(b, a) - (int)before(a, b);
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
    if (slot <= w->slot && w->end - w->first < INSERTION_MAX) {
        open_insert(w, w->first, &e);
        w->near++;
        return;
    }
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
    w->next = slot < w->next ? slot : w->next;
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

static void find_next(struct wheel *w)
{
    w->next = w->filled > 0 ? next_slot(w, w->slot) : INT64_MAX;
}

/*
 * Opens the next bucket: its events go behind those that are left of the buckets before it. Thousands of servers may
 * well do something at one instant.
 */
static void open_next(struct wheel *w)
{
    uint32_t b = (uint32_t)w->next & w->mask, left = w->end - w->first;
    if (w->first > 0) {
        memmove(w->open, w->open + w->first, left * sizeof *w->open); /* less than WHEEL_AHEAD */
        w->first = 0;
        w->end = left;
    }
    for (uint32_t i = w->bucket[b]; i != NONE;) {
        uint32_t next = w->pool[i].next;
        if (w->end - left < INSERTION_MAX) {
            open_insert(w, left, &w->pool[i]);
        } else {
            open_grow(w);
            w->open[w->end++] = w->pool[i];
        }
        pool_give(w, i);
        i = next;
    }
    if (w->end - left > INSERTION_MAX) {
        qsort(w->open + left, w->end - left, sizeof *w->open, compare);
    }
    w->bucket[b] = NONE;
    w->filled--;
    w->taken[b / WORD] &= ~(UINT64_C(1) << (b % WORD));
    w->slot = w->next;
    find_next(w);
    if (w->next != INT64_MAX) {
        __builtin_prefetch(&w->pool[w->bucket[(uint32_t)w->next & w->mask]]);
    }
}

bool wheel_take(struct wheel *w, cw_time until, struct wheel_event *out)
{
    /* Early, so that what comes next is known; what is put into an opened bucket until its turn finds its place. */
    while (w->end - w->first <= WHEEL_AHEAD && w->next != INT64_MAX) {
        open_next(w);
    }
    const struct wheel_event *near = w->first < w->end ? &w->open[w->first] : NULL;
    if (w->heap_count > 0 && (near == NULL || before(&w->heap[0], near))) {
        if (w->heap[0].at_ns > until.ns) {
            return false;
        }
        heap_take(w, out);
        /* With nothing opened every bucket before it is empty. */
        int64_t slot = out->at_ns >> w->shift;
        w->slot = slot > w->slot ? slot : w->slot;
        return true;
    }
    if (near == NULL || near->at_ns > until.ns) {
        return false;
    }
    *out = *near;
    w->first++;
    w->near--;
    return true;
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
    uint32_t removed = 0, open = w->first;
    for (uint32_t i = w->first; i < w->end; i++) {
        if (remove(context, &w->open[i])) {
            removed++;
        } else {
            w->open[open++] = w->open[i];
        }
    }
    w->end = open;
    w->near -= removed;
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
    find_next(w);
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
           ((size_t)w->heap_room + w->open_room) * sizeof *w->heap;
}
