/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.h - records as they come, in memory that is given, and then sorted by partition and key, equal keys combined.
 *
 *     batch_open(b, memory, size, partitions, &combine)
 *     batch_add(b, key, value) ..                  until -ENOSPC, or the input has ended
 *     batch_sort(b)
 *     cursor = batch_seek(b, partition, after); batch_read(b, &cursor, &writer) ..     for each partition
 *     batch_clear(b)                               and again from batch_add()
 *
 * The sort is stable: values of a key meet in the order in which they came. With a combiner a key's values are combined
 * as they come, as long as they are short and the table that finds keys has room (3/4 of a 128th of the memory's bytes,
 * in keys); so a few frequent keys take little room however often they come. What is left is combined when it is read.
 *
 * Memory: for each record its bytes, 12 bytes of lengths, room for the value to grow, and 24 bytes of an entry and for
 * the sort.
 *
 * Pure; a sorted batch is only read, so several may read it at the same time.
 */
#ifndef SERVICES_AGGREGATE_SORTED_BATCH_H
#define SERVICES_AGGREGATE_SORTED_BATCH_H

#include "services/aggregate/sorted/combine.h"
#include "services/aggregate/sorted/record.h"

enum { BATCH_LEAST = 256 * 1024 }; /* bytes of memory */

struct batch_entry {
    uint64_t word; /* the first bytes of the key: as numbers order, so do keys, unless they are equal */
    uint32_t partition;
    uint32_t at; /* of the record, in units of 8 bytes from the beginning of the memory */
};

/* The last record of a key, by the key's hash. */
struct batch_slot {
    uint32_t tag;  /* the upper half of the hash; its lowest bits are the slot's number, or that of one before */
    uint32_t next; /* where the record is, in units of 8 bytes, and one more; 0: the slot is free */
};

struct batch {
    uint8_t *memory; /* records; behind them the entries */
    size_t size;
    uint32_t partitions;
    struct combine combine;
    size_t used;      /* bytes of records, from the beginning; entries grow from the end */
    uint32_t entries; /* they end where the memory ends; sorted: ascending; before: the last one that came first */
    bool sorted;
    struct batch_slot *slot; /* slots of them, a power of two; NULL: values do not meet as they come */
    uint32_t slots, slots_most, taken;
};

/* A place in a sorted batch. Its memory is for combinations. */
struct batch_cursor {
    uint32_t next, end;
    uint8_t *scratch; /* RECORD_BLOCK bytes, twice */
};

/*
 * Makes b an empty batch in memory[size], which is lent as long as b is used; aligned to 8 bytes, BATCH_LEAST..32 GiB.
 * partitions: 1..2^31. Copies
 * *combine, whose table is borrowed as long; NULL or not associative: equal keys stay apart.
 */
void batch_open(struct batch *b, void *memory, size_t size, uint32_t partitions, const struct combine *combine);
/*
 * Adds a record, with the value as contributors have it: the combiner prepares it. 0; -ENOSPC: the batch is full;
 * -EMSGSIZE: key or record is too long, or the key empty; or what the combiner says. Then nothing has changed.
 */
CW_MUST_CHECK int batch_add(struct batch *b, cw_bytes key, cw_bytes value);
void batch_sort(struct batch *b);
/*
 * The place of the first record of the partition whose key is above *after; NULL: of the first. Borrows scratch,
 * 2 * RECORD_BLOCK bytes, as long as the cursor is used.
 */
struct batch_cursor batch_seek(const struct batch *b, uint32_t partition, const cw_bytes *after, uint8_t *scratch);
/*
 * Writes records to w, from the cursor on. 1: w is full, and there may be more. 0: the partition has ended. Or the
 * combiner's -errno: *key is the key, borrowed from the batch.
 */
CW_MUST_CHECK int batch_read(const struct batch *b, struct batch_cursor *c, struct record_writer *w, cw_bytes *key);
/* How many records wait: what was added, but those whose values were combined already. */
static inline uint32_t batch_records(const struct batch *b)
{
    return b->entries;
}
/*
 * Calls fn with record_hash() of each key, at least once: for a summary that tells how many different ones there are
 * (path = auto), to which it makes no difference how often it is told of one.
 */
void batch_hashes(const struct batch *b, void (*fn)(void *context, uint64_t hash), void *context);
/* Empty again. */
void batch_clear(struct batch *b);

#endif
