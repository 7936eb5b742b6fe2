/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/tally.h"

#include "base/siphash.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2 * SUMMARY_ITEMS, FREE = UINT16_MAX };

/*
 * The items stay where they are. heap: their numbers, that with the least count first; place: where each is in it.
 * slot: their numbers by hash, looked up one slot after the other.
 */
struct tally {
    cw_server at;
    struct summary_number number;
    struct summary_histogram histogram;
    struct summary_distinct distinct;
    struct summary_top top;
    uint16_t heap[SUMMARY_ITEMS], place[SUMMARY_ITEMS], slot[SLOTS];
};

uint64_t tally_hash(const char *line, size_t length)
{
    /* The same on all servers, so that equal lines are equal everywhere: the digits of pi behind the point, in hex. */
    static const struct siphash_key key = {{UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)}};
    return siphash(&key, line, length).word[0];
}

size_t tally_bytes(void)
{
    return sizeof(struct tally);
}

struct tally *tally_open(cw_server at)
{
    struct tally *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->at = at;
        t->number.of = t->histogram.of = t->top.of = SUMMARY_OF_FEED;
        memset(t->slot, 0xff, sizeof t->slot);
    }
    return t;
}

void tally_close(struct tally *t)
{
    free(t);
}

/* ---- By hash ----------------------------------------------------------------------------------------------------- */

static unsigned home_of(uint64_t hash)
{
    return (unsigned)hash % SLOTS;
}

/* The slot of the hash, or the free one where it would go. */
static unsigned slot_of(const struct tally *t, uint64_t hash)
{
    unsigned s = home_of(hash);
    while (t->slot[s] != FREE && t->top.item[t->slot[s]].hash != hash) {
        s = (s + 1) % SLOTS;
    }
    return s;
}

/* Frees a slot, and moves those behind it that were put there because it was taken. */
static void free_slot(struct tally *t, unsigned s)
{
    t->slot[s] = FREE;
    for (unsigned at = (s + 1) % SLOTS; t->slot[at] != FREE; at = (at + 1) % SLOTS) {
        unsigned home = home_of(t->top.item[t->slot[at]].hash);
        bool stays = s < at ? home > s && home <= at : home > s || home <= at;
        if (!stays) {
            t->slot[s] = t->slot[at];
            t->slot[at] = FREE;
            s = at;
        }
    }
}

/* ---- By count ---------------------------------------------------------------------------------------------------- */

static uint64_t count_at(const struct tally *t, unsigned i)
{
    return t->top.item[t->heap[i]].count;
}

static void put_at(struct tally *t, unsigned i, uint16_t item)
{
    t->heap[i] = item;
    t->place[item] = (uint16_t)i;
}

/* An item's count has grown: it goes down, away from the least. */
static void sift_down(struct tally *t, unsigned i)
{
    uint16_t item = t->heap[i];
    uint64_t count = t->top.item[item].count;
    for (unsigned child; (child = 2 * i + 1) < t->top.used; i = child) {
        child += child + 1 < t->top.used && count_at(t, child + 1) < count_at(t, child);
        if (count_at(t, child) >= count) {
            break;
        }
        put_at(t, i, t->heap[child]);
    }
    put_at(t, i, item);
}

static void sift_up(struct tally *t, unsigned i)
{
    uint16_t item = t->heap[i];
    uint64_t count = t->top.item[item].count;
    for (unsigned up; i > 0 && count_at(t, up = (i - 1) / 2) > count; i = up) {
        put_at(t, i, t->heap[up]);
    }
    put_at(t, i, item);
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static void add_item(struct tally *t, uint64_t hash, const char *line, size_t length)
{
    unsigned s = slot_of(t, hash);
    t->top.lines++;
    if (t->slot[s] != FREE) {
        t->top.item[t->slot[s]].count++;
        sift_down(t, t->place[t->slot[s]]);
        return;
    }
    if (t->top.used < SUMMARY_ITEMS) {
        uint16_t item = t->top.used++;
        t->top.item[item] = summary_item_of(hash, line, length, 1);
        t->slot[s] = item;
        put_at(t, item, item);
        sift_up(t, item);
        return;
    }
    uint16_t least = t->heap[0];
    struct summary_item *item = &t->top.item[least];
    uint64_t floor = item->count;
    free_slot(t, slot_of(t, item->hash));
    *item = summary_item_of(hash, line, length, floor + 1);
    item->error = floor;
    t->slot[slot_of(t, hash)] = least;
    sift_down(t, 0);
    t->top.floor = floor; /* whoever is no item was never seen, or was put out with at most that */
}

void tally_line(struct tally *t, const char *line, size_t length)
{
    uint64_t hash = tally_hash(line, length);
    summary_value v;
    if (summary_value_read(line, length, &v)) {
        summary_number_add(&t->number, v, 1, t->at);
        summary_histogram_add(&t->histogram, v, 1);
    } else {
        t->number.count++;
    }
    summary_distinct_add(&t->distinct, hash);
    add_item(t, hash, line, length);
}

/* ---- What is asked ----------------------------------------------------------------------------------------------- */

const struct summary_number *tally_number(const struct tally *t)
{
    return &t->number;
}

const struct summary_histogram *tally_histogram(const struct tally *t)
{
    return &t->histogram;
}

const struct summary_distinct *tally_distinct(const struct tally *t)
{
    return &t->distinct;
}

void tally_top(const struct tally *t, struct summary_top *out)
{
    *out = t->top;
    summary_top_sort(out);
}
