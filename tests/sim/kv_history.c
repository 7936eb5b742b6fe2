/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct zone {
    int64_t low, high;
    uint64_t value;
    bool forward;
};

static int by_value(const void *a, const void *b)
{
    const struct kv_event *x = a, *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    if (x->value != y->value) {
        return x->value < y->value ? -1 : 1;
    }
    return (x->kind == KV_EVENT_HIT) - (y->kind == KV_EVENT_HIT); /* the write first */
}

static int by_low(const void *a, const void *b)
{
    const struct zone *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : 0;
}

/* The cluster of one value; false: a read without a write, or before it. */
static bool zone_of(const struct kv_event *e, size_t count, struct zone *zone, char *why, size_t room)
{
    int64_t first_end = KV_NO_END, last_begin = INT64_MIN;
    if (e[0].kind == KV_EVENT_HIT) {
        snprintf(why, room, "key %u: a hit at server %u of %" PRIu64 ", which nobody wrote", e[0].key, e[0].server,
                 e[0].value);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (e[i].ended < e[0].begun) {
            snprintf(why, room, "key %u: a hit of %" PRIu64 " before it was written", e[i].key, e[i].value);
            return false;
        }
        first_end = e[i].ended < first_end ? e[i].ended : first_end;
        last_begin = e[i].begun > last_begin ? e[i].begun : last_begin;
    }
    bool forward = first_end < last_begin;
    *zone = (struct zone){.low = forward ? first_end : last_begin,
                          .high = forward ? last_begin : first_end,
                          .value = e[0].value,
                          .forward = forward};
    return true;
}

/* Zones of one key, by their low ends. */
static bool fit(struct zone *zones, size_t count, uint32_t key, char *why, size_t room)
{
    qsort(zones, count, sizeof *zones, by_low);
    const struct zone *forward = NULL; /* the one that reaches furthest so far */
    for (size_t i = 0; i < count; i++) {
        const struct zone *z = &zones[i];
        if (z->forward && forward != NULL && z->low < forward->high) {
            snprintf(why, room,
                     "key %u: values %" PRIu64 " [%" PRId64 ", %" PRId64 "] and %" PRIu64 " [%" PRId64 ", %" PRId64
                     "] were both there",
                     key, forward->value, forward->low, forward->high, z->value, z->low, z->high);
            return false;
        }
        if (!z->forward && forward != NULL && z->low > forward->low && z->high < forward->high) {
            snprintf(why, room,
                     "key %u: value %" PRIu64 " [%" PRId64 ", %" PRId64 "] was seen before and after %" PRIu64
                     " was written [%" PRId64 ", %" PRId64 "]",
                     key, forward->value, forward->low, forward->high, z->value, z->low, z->high);
            return false;
        }
        if (z->forward) {
            forward = z;
        }
    }
    return true;
}

/* Leaves out what constrains nothing; gives every DELETE a value of its own. */
static size_t prepare(struct kv_event *e, size_t count)
{
    size_t kept = 0;
    uint64_t nothing = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (e[i].kind == 0 || (e[i].kind == KV_EVENT_DELETE && e[i].ended == KV_NO_END)) {
            continue;
        }
        e[kept] = e[i];
        if (e[i].kind == KV_EVENT_DELETE) {
            e[kept].value = nothing--;
        }
        kept++;
    }
    qsort(e, kept, sizeof *e, by_value);
    return kept;
}

bool kv_history_check(struct kv_event *e, size_t count, char *why, size_t room)
{
    count = prepare(e, count);
    struct zone *zones = malloc((count + 1) * sizeof *zones);
    bool good = zones != NULL;
    for (size_t at = 0; at < count && good;) {
        uint32_t key = e[at].key;
        size_t found = 0;
        while (at < count && e[at].key == key && good) {
            size_t n = 1;
            while (at + n < count && e[at + n].key == key && e[at + n].value == e[at].value) {
                n++;
            }
            bool unread = n == 1 && e[at].ended == KV_NO_END;
            good = unread || zone_of(&e[at], n, &zones[found], why, room);
            found += !unread;
            at += n;
        }
        good = good && fit(zones, found, key, why, room);
    }
    free(zones);
    return good;
}
