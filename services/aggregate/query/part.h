/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - what goes up a tree: the summaries of one kind, one for each group of servers that the question asks for
 * (all; a plane of x, y or z; a server), as bytes:
 *
 *     group (4) length (4) summary | group length summary | ...        groups ascend
 *
 * A part with no groups is the summary of nothing. Pure.
 */
#ifndef SERVICES_AGGREGATE_QUERY_PART_H
#define SERVICES_AGGREGATE_QUERY_PART_H

#include "services/aggregate/query/summary_distinct.h"
#include "services/aggregate/query/summary_histogram.h"
#include "services/aggregate/query/summary_names.h"
#include "services/aggregate/query/summary_number.h"
#include "services/aggregate/query/summary_top.h"

enum {
    PART_BYTES_MOST = 1 << 20,
    PART_HEAD = 8,
    PART_SUMMARY_MOST = SUMMARY_TOP_BYTES, /* of what one server says itself, names apart */
};

/* A summary of any kind but names, decoded. */
union part_summary {
    struct summary_number number;
    struct summary_histogram histogram;
    struct summary_distinct distinct;
    struct summary_top top;
};

/* Room to work in, for part_merge(). */
struct part_room {
    union part_summary a, b;
    struct summary_union items;
};

struct part_entry {
    uint32_t group;
    size_t length;
    const uint8_t *bytes; /* borrowed */
};

/* Reads the entry at bytes + *at, and moves *at behind it. 1; 0: that was all; -EPROTO. Does not look inside. */
int part_next(const uint8_t *bytes, size_t size, size_t *at, struct part_entry *out);
/* Writes one entry. Gives the bytes written; 0: there is no room. Entries are written in the order of their groups. */
size_t part_put(uint32_t group, const uint8_t *summary, size_t length, uint8_t *out, size_t room);
/* Decodes a summary of that kind, not of names. -EPROTO. */
CW_MUST_CHECK int part_decode(enum summary_kind kind, const uint8_t *bytes, size_t size, union part_summary *out);
/* Encodes it to out, of PART_SUMMARY_MOST bytes, and gives how many it took. */
size_t part_encode(enum summary_kind kind, const union part_summary *s, uint8_t *out);
/*
 * Writes what both together say. Gives its length; -EPROTO: one of them is no part of that kind; -EINVAL: a source is
 * not of the same kind in both; -EMSGSIZE: there is no room. Whatever of a and b is written is checked to be right.
 */
CW_MUST_CHECK int64_t part_merge(enum summary_kind kind, const uint8_t *a, size_t a_size, const uint8_t *b,
                                 size_t b_size, uint8_t *out, size_t room, struct part_room *work);

#endif
