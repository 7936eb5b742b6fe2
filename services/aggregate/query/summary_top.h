/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_top.h - the most frequent lines: space-saving with 1,024 counters (Metwally, Agrawal, El Abbadi, 2005), which
 * can be merged (Agarwal, Cormode, Huang, Phillips, Wei, Yi, "Mergeable summaries", PODS 2012). Pure.
 *
 * Guarantees, for any order of lines and merges
 *  - An item came at most `count` times, and at least `count - error` times.
 *  - What is no item came at most `floor` times. error and floor are at most lines / 1,024.
 *  - As long as no more than 1,024 different lines came, everything is exact.
 *
 * Why merging keeps it: less the floor, counts are those of Misra and Gries, which are added, and of which the 1,025th
 * largest is taken from all; that the floor grows by.
 *
 * A line is known by its hash; of its text the first bytes are kept, to show.
 */
#ifndef SERVICES_AGGREGATE_QUERY_SUMMARY_TOP_H
#define SERVICES_AGGREGATE_QUERY_SUMMARY_TOP_H

#include "services/aggregate/query/summary.h"

enum {
    SUMMARY_ITEMS = 1024,
    SUMMARY_ITEM_TEXT = 38,
    SUMMARY_TOP_HEAD = 20,
    SUMMARY_TOP_BYTES = SUMMARY_TOP_HEAD + SUMMARY_ITEMS * (26 + SUMMARY_ITEM_TEXT), /* at most */
};

struct summary_item {
    uint64_t hash, count, error;
    uint8_t length; /* of text */
    bool cut;       /* the line was longer */
    char text[SUMMARY_ITEM_TEXT];
};

/* Zeroed but for `of` it is empty. */
struct summary_top {
    uint8_t of; /* enum summary_of */
    uint16_t used;
    uint64_t lines, floor;
    struct summary_item item[SUMMARY_ITEMS];
};

/* An item of that hash and text, whose beginning is copied. */
struct summary_item summary_item_of(uint64_t hash, const char *text, size_t length, uint64_t count);

/* Room to work in, for summary_top_merge(). */
struct summary_union {
    struct summary_item item[2 * SUMMARY_ITEMS];
};
/*
 * Adds b to a, and leaves both sorted. -EINVAL: they are of different sources; -EPROTO: an item is in one of them
 * twice; then nothing has changed.
 */
CW_MUST_CHECK int summary_top_merge(struct summary_top *a, struct summary_top *b, struct summary_union *room);
/* The items with the largest counts first; of equal ones, the one with the least hash. */
void summary_top_sort(struct summary_top *t);

/* Gives the bytes written, at most SUMMARY_TOP_BYTES. t is sorted. */
size_t summary_top_encode(const struct summary_top *t, uint8_t *out);
/* -EPROTO: it is none. What is decoded is sorted. */
CW_MUST_CHECK int summary_top_decode(const uint8_t *bytes, size_t size, struct summary_top *out);

#endif
