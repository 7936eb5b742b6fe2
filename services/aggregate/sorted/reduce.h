/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - what the reducer makes of the sorted records that have come: the results, each key once.
 *
 * Where the combiner is associative, a record that comes is a key's, and its value is finished. Where it is not (the
 * way up has only merged), all values of a key are gathered in memory that is given, combined in one call, and
 * finished.
 * Without combiner the records are the results.
 *
 * Pure: any thread, one at a time.
 */
#ifndef SERVICES_AGGREGATE_SORTED_REDUCE_H
#define SERVICES_AGGREGATE_SORTED_REDUCE_H

#include "services/aggregate/sorted/combine.h"
#include "services/aggregate/sorted/record.h"

/* Takes a result, borrowed for the call. 0, or -errno, which ends the reduction. */
typedef int (*reduce_sink_fn)(void *context, cw_bytes key, cw_bytes value);

struct reduce {
    struct combine combine;
    reduce_sink_fn sink;
    void *context;
    uint8_t *memory; /* values of the key, from the beginning; cw_bytes of them, from the end */
    size_t size, used;
    uint32_t values, key_length;
    uint64_t records_in, results;
    uint8_t key[RECORD_KEY_MOST];
    uint8_t out[2][RECORD_BLOCK];
};

/* memory is lent as long as r is used, and aligned to 8 bytes; NULL and 0 unless the combiner is not associative. */
void reduce_open(struct reduce *r, const struct combine *combine, void *memory, size_t size, reduce_sink_fn sink,
                 void *context);
/*
 * Takes the next record; keys ascend. 0; -E2BIG: the values of one key are more than the memory holds; what the
 * combiner or the sink says. reduce_key() is the key.
 */
CW_MUST_CHECK int reduce_add(struct reduce *r, cw_bytes key, cw_bytes value);
/* All have come. Gives what reduce_add() gives. */
CW_MUST_CHECK int reduce_end(struct reduce *r);
cw_bytes reduce_key(const struct reduce *r);

#endif
