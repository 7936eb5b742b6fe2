/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what one server says of its own links: the unit of the link-state database (semantics 4.6).
 *
 *      0               8              16              24             32
 *    0 |       x       |       y      |       z       |  0    | flags |
 *    4 |                         incarnation                         |
 *    8 |                                                             |  never 0
 *   12 |                             seq                             |  never 0
 *   16 |      up       |    pending   |          boot nonce          |  two disjoint sets of links
 *   20 |    neighbour incarnation 0   |    neighbour incarnation 1   |  the low 16 bits, by link;
 *   24 |    neighbour incarnation 2   |    neighbour incarnation 3   |  0 where the link is in
 *   28 |    neighbour incarnation 4   |    neighbour incarnation 5   |  neither set
 *
 * The version of a record is the pair (incarnation, seq). The word of a neighbour may also be 0 where the link is up or
 * pending: one incarnation in 65,536 ends in sixteen zero bits.
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include <assert.h>

#include "wire/control.h"

enum record_flags {
    RECORD_LEAVING = 0x1, /* the server is leaving, and is no key's root any more */
    RECORD_ACTIVE = 0x2,  /* the server has had a committed link since it started */
    RECORD_FLAGS = 0x3,
};

/* There is no padding: two records are equal when their bytes are equal, and a database may keep them as they are. */
struct record {
    uint64_t incarnation;
    uint32_t seq;
    cw_coord origin;
    uint8_t flags; /* set of enum record_flags */
    cw_links up;
    cw_links pending;
    uint16_t boot_nonce;
    uint16_t neighbour[CW_LINK_COUNT];
};
static_assert(sizeof(struct record) == RECORD_BYTES, "a decoded record is as small as its bytes");

/* Reads a record; see control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason record_decode(const uint8_t bytes[static RECORD_BYTES], struct record *out);
/* The two halves of it, for who must know that all of several are sound before it reads the first. */
CW_MUST_CHECK enum wire_reason record_check(const uint8_t bytes[static RECORD_BYTES]);
void record_read(const uint8_t bytes[static RECORD_BYTES], struct record *out);

/* Writes RECORD_BYTES. */
void record_encode(const struct record *record, uint8_t bytes[static RECORD_BYTES]);

#endif
