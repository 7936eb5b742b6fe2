/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary.h - "these are the versions that I hold": how an exchange of databases begins (semantics 4.6). Entries of 16
 * bytes:
 *
 *      0               8              16              24             32
 *    0 |   origin x    |       y      |       z       |       0      |
 *    4 |                         incarnation                         |
 *    8 |                                                             |  never 0
 *   12 |                             seq                             |  never 0
 *
 * The entries of a large database (4,096 servers: 64 KiB) fill several items; the item with the last entries has the
 * flag LAST, and only then does the receiver know what the sender lacks.
 */
#ifndef WIRE_SUMMARY_H
#define WIRE_SUMMARY_H

#include "wire/control.h"

struct summary_entry {
    uint64_t incarnation;
    uint32_t seq;
    cw_coord origin;
};

/* A list of entries in wire form: they are borrowed, and read one at a time by index. */
struct summary {
    const uint8_t *entries; /* count * SUMMARY_ENTRY_BYTES */
    uint16_t count;         /* 1 or more */
    bool last;              /* flag LAST */
};

/* Reads count entries, which *out borrows. All are checked here, so that summary_get() cannot fail. */
CW_MUST_CHECK enum wire_reason summary_decode(const uint8_t *entries, size_t count, struct summary *out);

/* Entry i, below s->count, of a summary that summary_decode() accepted or summary_put() filled. */
struct summary_entry summary_get(const struct summary *s, size_t i);

/* Writes entry i of a list that the caller is making; entries has room for it. */
void summary_put(const struct summary_entry *entry, uint8_t *entries, size_t i);

#endif
