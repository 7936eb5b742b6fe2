/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sorted.h - texts of bytes in order, each with a tail of a few bytes: for listings. Two levels: a list of blocks of
 * some kilobytes, and in each block its texts one behind the other. A text costs its bytes, its tail and two more,
 * times 1.5 for the room that blocks keep free; finding one takes a binary search among the blocks and a walk through
 * one.
 *
 * Order is that of memcmp(); of two texts of which one begins the other, the shorter comes first. Memory comes from
 * malloc. One thread; pure.
 */
#ifndef STORAGE_SORTED_H
#define STORAGE_SORTED_H

#include "cubeway/types.h"

#include <stddef.h>
#include <stdint.h>

enum { SORTED_TEXT_MAX = 1100, SORTED_TAIL_MAX = 32 };

struct sorted_block;

struct sorted {
    struct sorted_block **block;
    size_t blocks, room, count;
    uint32_t tail; /* bytes with each text */
};

/* A text and its tail: borrowed, until the list changes. */
struct sorted_item {
    const uint8_t *text, *tail;
    uint32_t size;
};

/* An empty list; tail: 0..SORTED_TAIL_MAX. Nothing is allocated. */
void sorted_open(struct sorted *list, uint32_t tail);
void sorted_close(struct sorted *list);
/* Adds a text of up to SORTED_TEXT_MAX bytes, or gives one that is there another tail. -ENOMEM: nothing changed. */
CW_MUST_CHECK int sorted_put(struct sorted *list, const void *text, uint32_t size, const void *tail);
/* True when it was there. */
bool sorted_remove(struct sorted *list, const void *text, uint32_t size);
/* The first text that is not before `text`, or with `behind` the first behind it. False: there is none. */
bool sorted_seek(const struct sorted *list, const void *text, uint32_t size, bool behind, struct sorted_item *item);
/* Bytes of memory that the list takes. */
uint64_t sorted_memory(const struct sorted *list);
/* For tests and CHECK_SLOW: all texts are in order, and as many as are counted. */
bool sorted_valid(const struct sorted *list);

#endif
