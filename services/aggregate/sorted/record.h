/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - blocks of sorted records, as they go from server to server and to the spool.
 *
 *      0                   1
 *     +--------+--------+--------+----------------+------------------+
 *     | shared | rest   | value  | rest bytes of  | value bytes      |   and the next record
 *     | 1..2   | 1..2   | 1..3   | the key        |                  |
 *     +--------+--------+--------+----------------+------------------+
 *
 * A key is its first `shared` bytes, which are those of the key before it, and the rest. The three lengths are written
 * seven bits a byte, the lowest first, a set top bit says that more follow, and the shortest form is the only one. The
 * first key of a block shares nothing, so a block stands alone; within a block `shared` is all that two keys share.
 * Keys ascend as memcmp() orders them, a key that begins another one first; equal keys may follow each other.
 *
 * So a reader knows with one comparison that a key is not below the one before it, and how much of it is the same: the
 * merge (merge.h) lives from that. There is one form of a list of records, given where blocks end.
 */
#ifndef SERVICES_AGGREGATE_SORTED_RECORD_H
#define SERVICES_AGGREGATE_SORTED_RECORD_H

#include "base/bytes.h"
#include "cubeway/combine.h"

enum {
    RECORD_BLOCK = 64 * 1024,                      /* bytes of a block at most */
    RECORD_KEY_MOST = 1024,                        /* bytes of a key, at least 1 */
    RECORD_HEAD_MOST = 1 + 2 + 3,                  /* bytes of the lengths of a record that shares nothing */
    RECORD_MOST = RECORD_BLOCK - RECORD_HEAD_MOST, /* bytes of a key and its value together */
};

/* How many first bytes two keys have in common, of which `known` are known. */
static inline size_t record_common(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length, size_t known)
{
    size_t n = a_length < b_length ? a_length : b_length, i = known;
    for (; i + sizeof(uint64_t) <= n; i += sizeof(uint64_t)) {
        uint64_t unlike = get_le64(a + i) ^ get_le64(b + i);
        if (unlike != 0) {
            return i + (unsigned)__builtin_ctzll(unlike) / 8;
        }
    }
    while (i < n && a[i] == b[i]) {
        i++;
    }
    return i;
}

/* Of two keys that have `common` first bytes in common and no more: < 0, 0 or > 0, as memcmp() gives it. */
static inline int record_order(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length, size_t common)
{
    if (common == a_length || common == b_length) {
        return (a_length > b_length) - (a_length < b_length);
    }
    return a[common] - b[common];
}

/* A number that a key has, the same on all machines, and the partition, 0..partitions-1, that it is of by that. */
uint64_t record_hash(cw_bytes key);
uint32_t record_partition(cw_bytes key, uint32_t partitions);

/* Reads blocks, one after the other, of a source that nobody trusts. */
struct record_reader {
    const uint8_t *at, *end; /* what is left of the block */
    const uint8_t *value;    /* of the record; in the block */
    size_t value_length;
    uint32_t key_length; /* of the record; 0: no record was read yet */
    uint32_t shared;     /* how many first bytes it has in common with the key before it; all of them, block or not */
    bool first;          /* the next record is the first of its block */
    uint8_t key[RECORD_KEY_MOST];
};

void record_reader_init(struct record_reader *r);
/* Lends r the next block, until it has ended; the one before has. A block may be empty. */
void record_reader_block(struct record_reader *r, const void *block, size_t length);
/*
 * Reads the next record. 1: key, value and shared are its. 0: the block has ended, and is the caller's again; key and
 * key_length are still those of its last record. -EBADMSG: the bytes are no such block, or its keys do not ascend; r is
 * good for nothing then but record_reader_init().
 */
int record_reader_next(struct record_reader *r);

/*
 * Writes to out, RECORD_BLOCK + RECORD_KEY_MOST bytes, a block of those records of a block whose keys are above
 * `after`. Gives its length, or -EBADMSG: the bytes are no block.
 */
CW_MUST_CHECK int record_block_after(const void *block, size_t length, cw_bytes after, uint8_t *out);

/* Writes one block after the other into memory of the caller's. */
struct record_writer {
    uint8_t *out;
    size_t room, used; /* bytes; used is the block's length */
    uint32_t key_length;
    uint8_t key[RECORD_KEY_MOST]; /* of the last record; meaningless when used is 0 */
};

/*
 * An empty block in out[room], which is lent until the next call. room is at most RECORD_BLOCK; where it is less, some
 * record may never fit.
 */
void record_writer_init(struct record_writer *w, uint8_t *out, size_t room);
/*
 * Adds a record, whose key is not below the last one's (CHECK_SLOW). The lengths are right: 1..RECORD_KEY_MOST, and
 * RECORD_MOST together. 0; -ENOSPC: it does not fit, and nothing has changed: take the block, and begin another one.
 */
CW_MUST_CHECK int record_write(struct record_writer *w, cw_bytes key, cw_bytes value);
/*
 * The same, for who knows that the key shares `shared` bytes with the last key of this block, no more. For the first of
 * a block nobody asks.
 */
CW_MUST_CHECK int record_write_shared(struct record_writer *w, cw_bytes key, cw_bytes value, size_t shared);

#endif
