/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/sorted.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 5104, /* so that half of it and two of the longest texts fit: what split() relies on */
    SIZE_BYTES = 2,
    ROOM_LEAST = 8,
};

struct sorted_block {
    uint32_t used, count;
    uint8_t bytes[BLOCK_BYTES]; /* size, text, tail; the next one */
};

void sorted_open(struct sorted *list, uint32_t tail)
{
    CHECK(tail <= SORTED_TAIL_MAX);
    *list = (struct sorted){.tail = tail};
}

void sorted_close(struct sorted *list)
{
    for (size_t i = 0; i < list->blocks; i++) {
        free(list->block[i]);
    }
    free(list->block);
    sorted_open(list, list->tail);
}

static struct sorted_item item_at(const struct sorted_block *b, uint32_t at)
{
    uint16_t size;
    memcpy(&size, b->bytes + at, SIZE_BYTES);
    const uint8_t *text = b->bytes + at + SIZE_BYTES;
    return (struct sorted_item){.text = text, .tail = text + size, .size = size};
}

static uint32_t bytes_of(const struct sorted *list, uint32_t size)
{
    return SIZE_BYTES + size + list->tail;
}

static int compare(const void *a, uint32_t a_size, const void *b, uint32_t b_size)
{
    uint32_t both = a_size < b_size ? a_size : b_size;
    int order = both == 0 ? 0 : memcmp(a, b, both);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* The last block whose first text is not behind `text`; 0 when there is none such. */
static size_t block_for(const struct sorted *list, const void *text, uint32_t size)
{
    size_t low = 0, high = list->blocks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        struct sorted_item first = item_at(list->block[middle], 0);
        if (compare(first.text, first.size, text, size) <= 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where in the block the first text stands that is not before `text`; *same: it is that text. */
static uint32_t place_in(const struct sorted *list, const struct sorted_block *b, const void *text, uint32_t size,
                         bool *same)
{
    uint32_t at = 0;
    *same = false;
    while (at < b->used) {
        struct sorted_item item = item_at(b, at);
        int order = compare(item.text, item.size, text, size);
        if (order >= 0) {
            *same = order == 0;
            break;
        }
        at += bytes_of(list, item.size);
    }
    return at;
}

/* Makes an empty block at this place of the list. */
static struct sorted_block *add_block(struct sorted *list, size_t at)
{
    if (list->blocks == list->room) {
        size_t room = list->room == 0 ? ROOM_LEAST : list->room * 2;
        struct sorted_block **more = realloc(list->block, room * sizeof(struct sorted_block *));
        if (more == NULL) {
            return NULL;
        }
        list->block = more;
        list->room = room;
    }
    struct sorted_block *b = malloc(sizeof *b);
    if (b == NULL) {
        return NULL;
    }
    b->used = 0;
    b->count = 0;
    memmove(list->block + at + 1, list->block + at, (list->blocks - at) * sizeof(struct sorted_block *));
    list->block[at] = b;
    list->blocks++;
    return b;
}

/* Moves the second half of a block's texts into a new one behind it. */
static int split(struct sorted *list, size_t n)
{
    struct sorted_block *upper = add_block(list, n + 1), *b = list->block[n];
    if (upper == NULL) {
        return -ENOMEM;
    }
    uint32_t at = 0, count = 0;
    while (at < b->used / 2) {
        at += bytes_of(list, item_at(b, at).size);
        count++;
    }
    upper->used = b->used - at;
    upper->count = b->count - count;
    memcpy(upper->bytes, b->bytes + at, upper->used);
    b->used = at;
    b->count = count;
    return 0;
}

int sorted_put(struct sorted *list, const void *text, uint32_t size, const void *tail)
{
    CHECK(size <= SORTED_TEXT_MAX);
    if (list->blocks == 0 && add_block(list, 0) == NULL) {
        return -ENOMEM;
    }
    size_t n = block_for(list, text, size);
    bool same;
    uint32_t at = place_in(list, list->block[n], text, size, &same), bytes = bytes_of(list, size);
    if (!same && list->block[n]->used + bytes > BLOCK_BYTES) {
        if (split(list, n) != 0) {
            return -ENOMEM;
        }
        n = block_for(list, text, size);
        at = place_in(list, list->block[n], text, size, &same);
    }
    struct sorted_block *b = list->block[n];
    if (!same) {
        CHECK(b->used + bytes <= BLOCK_BYTES);
        memmove(b->bytes + at + bytes, b->bytes + at, b->used - at);
        memcpy(b->bytes + at, &(uint16_t){(uint16_t)size}, SIZE_BYTES);
        if (size != 0) {
            memcpy(b->bytes + at + SIZE_BYTES, text, size);
        }
        b->used += bytes;
        b->count++;
        list->count++;
    }
    if (list->tail != 0) {
        memcpy(b->bytes + at + SIZE_BYTES + size, tail, list->tail);
    }
    return 0;
}

bool sorted_remove(struct sorted *list, const void *text, uint32_t size)
{
    if (list->blocks == 0) {
        return false;
    }
    size_t n = block_for(list, text, size);
    struct sorted_block *b = list->block[n];
    bool same;
    uint32_t at = place_in(list, b, text, size, &same), bytes = bytes_of(list, size);
    if (!same) {
        return false;
    }
    memmove(b->bytes + at, b->bytes + at + bytes, b->used - at - bytes);
    b->used -= bytes;
    b->count--;
    list->count--;
    if (b->used == 0) {
        free(b);
        list->blocks--;
        memmove(list->block + n, list->block + n + 1, (list->blocks - n) * sizeof(struct sorted_block *));
    }
    return true;
}

bool sorted_seek(const struct sorted *list, const void *text, uint32_t size, bool behind, struct sorted_item *item)
{
    if (list->blocks == 0) {
        return false;
    }
    size_t n = block_for(list, text, size);
    bool same;
    uint32_t at = place_in(list, list->block[n], text, size, &same);
    at += same && behind ? bytes_of(list, size) : 0;
    if (at == list->block[n]->used) {
        n++;
        at = 0;
    }
    if (n == list->blocks) {
        return false;
    }
    *item = item_at(list->block[n], at);
    return true;
}

uint64_t sorted_memory(const struct sorted *list)
{
    return list->blocks * sizeof(struct sorted_block) + list->room * sizeof(struct sorted_block *);
}

bool sorted_valid(const struct sorted *list)
{
    struct sorted_item last = {.size = 0};
    size_t count = 0;
    for (size_t n = 0; n < list->blocks; n++) {
        const struct sorted_block *b = list->block[n];
        uint32_t here = 0;
        for (uint32_t at = 0; at < b->used; here++) {
            struct sorted_item item = item_at(b, at);
            if (count + here != 0 && compare(last.text, last.size, item.text, item.size) >= 0) {
                return false;
            }
            last = item;
            at += bytes_of(list, item.size);
        }
        if (here != b->count || here == 0) {
            return false;
        }
        count += here;
    }
    return count == list->count;
}
