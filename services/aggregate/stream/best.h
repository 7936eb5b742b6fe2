/* SPDX-License-Identifier: Apache-2.0 */
/*
 * best.h - the N records with the greatest values, of any number that come: `--top N`. Values are decimal numbers; what
 * is none counts as 0. Of equal values the lower key is the better one. Pure: any thread, one at a time.
 */
#ifndef SERVICES_AGGREGATE_STREAM_BEST_H
#define SERVICES_AGGREGATE_STREAM_BEST_H

#include "cubeway/combine.h"

enum { BEST_MOST = 100000 };

struct best;

/* For the best `count` records, 1 to BEST_MOST, of at most `memory` bytes together. NULL: no memory. */
struct best *best_open(uint32_t count, uint64_t memory);
/* Takes b, which may be NULL. */
void best_close(struct best *b);
/* Copies a record, if it is among the best. 0; -ENOBUFS: they are more than the memory; -ENOMEM. */
CW_MUST_CHECK int best_add(struct best *b, cw_bytes key, cw_bytes value);
/* Lends the record that is number `rank`, from 0 on; nothing is added afterwards. False: there are no more. */
bool best_get(struct best *b, uint32_t rank, cw_bytes *key, cw_bytes *value);

#endif
