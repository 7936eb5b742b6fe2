/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/best.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct one {
    long double number;
    size_t key_length, value_length;
    uint8_t bytes[]; /* key, value */
};

struct best {
    uint32_t most, count;
    uint64_t room;
    bool sorted;
    struct one **at; /* a heap: the worst one is the first */
};

struct best *best_open(uint32_t count, uint64_t memory)
{
    struct best *b = calloc(1, sizeof *b);
    struct one **at = calloc(count, sizeof(struct one *));
    if (b == NULL || at == NULL) {
        free(b);
        free(at);
        return NULL;
    }
    *b = (struct best){.most = count, .room = memory, .at = at};
    return b;
}

void best_close(struct best *b)
{
    if (b == NULL) {
        return;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        free(b->at[i]);
    }
    free(b->at);
    free(b);
}

static long double number_of(cw_bytes value)
{
    enum { DIGITS = 63 };
    char text[DIGITS + 1];
    size_t length = value.length < DIGITS ? value.length : DIGITS;
    if (length > 0) {
        memcpy(text, value.bytes, length);
    }
    text[length] = '\0';
    return strtold(text, NULL);
}

static bool better(const struct one *a, const struct one *b)
{
    if (a->number != b->number) {
        return a->number > b->number;
    }
    size_t least = a->key_length < b->key_length ? a->key_length : b->key_length;
    int order = memcmp(a->bytes, b->bytes, least);
    return order != 0 ? order < 0 : a->key_length < b->key_length;
}

static void swap(struct best *b, uint32_t i, uint32_t k)
{
    struct one *o = b->at[i];
    b->at[i] = b->at[k];
    b->at[k] = o;
}

/* The one at i goes down to its place among the first n. */
static void sink(struct best *b, uint32_t i, uint32_t n)
{
    for (uint32_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && better(b->at[k], b->at[k + 1])) {
            k++;
        }
        if (!better(b->at[i], b->at[k])) {
            return;
        }
        swap(b, i, k);
    }
}

static void rise(struct best *b, uint32_t i)
{
    for (; i > 0 && better(b->at[(i - 1) / 2], b->at[i]); i = (i - 1) / 2) {
        swap(b, i, (i - 1) / 2);
    }
}

int best_add(struct best *b, cw_bytes key, cw_bytes value)
{
    size_t size = sizeof(struct one) + key.length + value.length;
    struct one *o = malloc(size);
    if (o == NULL) {
        return -ENOMEM;
    }
    *o = (struct one){.number = number_of(value), .key_length = key.length, .value_length = value.length};
    memcpy(o->bytes, key.bytes, key.length);
    if (value.length > 0) {
        memcpy(o->bytes + key.length, value.bytes, value.length);
    }
    if (b->count == b->most) {
        struct one *worst = b->at[0];
        if (!better(o, worst)) {
            free(o);
            return 0;
        }
        b->room += sizeof *worst + worst->key_length + worst->value_length;
        b->at[0] = o;
        free(worst);
        sink(b, 0, b->count);
    } else {
        b->at[b->count] = o;
        rise(b, b->count++);
    }
    if (size > b->room) {
        return -ENOBUFS;
    }
    b->room -= size;
    return 0;
}

bool best_get(struct best *b, uint32_t rank, cw_bytes *key, cw_bytes *value)
{
    for (uint32_t n = b->count; !b->sorted && n > 1; n--) {
        swap(b, 0, n - 1); /* the worst one goes last */
        sink(b, 0, n - 1);
    }
    b->sorted = true;
    if (rank >= b->count) {
        return false;
    }
    const struct one *o = b->at[rank];
    *key = (cw_bytes){o->bytes, o->key_length};
    *value = (cw_bytes){o->bytes + o->key_length, o->value_length};
    return true;
}
