/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_record.h - one record of the log as bytes: a register as it is now, or that it is gone. What a register means is
 * its owner's business: the log knows a key, a kind, a name to list it by, a note (opaque), and a value, which stands
 * in the record or at a place of its own. All numbers are in network order (docs/storage.md draws it).
 *
 * A record ends in a checksum of its own, which is seeded with the class and the place: a record that is read alone is
 * known to be whole, and to be the one that was written there.
 */
#ifndef STORAGE_LOG_RECORD_H
#define STORAGE_LOG_RECORD_H

#include "cubeway/types.h"

#include <stddef.h>
#include <stdint.h>

enum {
    LOG_RECORD_HEAD = 64, /* bytes before note, name and value */
    LOG_RECORD_SUM = 8,   /* bytes behind them */
    LOG_NOTE_MAX = 1024,
    LOG_NAME_MAX = 1024,
};

enum log_record_flag {
    LOG_DROP = 1,   /* the register is gone; no value */
    LOG_PLACED = 2, /* the value is at place, not in the record */
    LOG_MOVED = 4,  /* written by compaction: holds only when the register is as the group `before` left it */
};

/* A place on the disk: length bytes in segment number `segment`, counted from 1. Segment 0: nowhere. */
struct log_place {
    uint32_t segment, offset, length;
};

/* Plain values; note, name and value are borrowed. */
struct log_record {
    uint8_t kind; /* the owner's; with the key it names the register */
    uint8_t flags;
    uint16_t note_size, name_size; /* name_size 0: it is not listed */
    cw_key key;
    uint32_t space; /* the namespace of the name: a job */
    uint32_t value_size;
    const void *note, *name, *value; /* value: NULL with LOG_PLACED */
    uint64_t value_sum;              /* storage_sum() of the value, which travels with it */
    uint64_t before;                 /* LOG_MOVED: the position */
    struct log_place place;          /* LOG_PLACED; length is value_size */
};

/* The seed of what stands at a place: of a class for records, of a store for groups. */
uint64_t log_seed(uint64_t id, uint32_t segment, uint32_t offset);

/* The bytes of the record, checksum included. */
uint32_t log_record_size(const struct log_record *r);
/* Writes log_record_size() bytes; log_record_seal() must follow when the place is known. */
void log_record_encode(const struct log_record *r, uint8_t *out);
/* Closes an encoded record of size bytes: its checksum, seeded with log_seed() of its class and place. */
void log_record_seal(uint8_t *bytes, uint32_t size, uint64_t seed);

/*
 * The record at the start of up to size bytes, of which it takes *used; what it holds points into them. -EBADMSG: it is
 * cut short, says nonsense, or its checksum is wrong; -EBADMSG for bytes that no record is made of, too.
 */
CW_MUST_CHECK int log_record_decode(struct log_record *r, uint64_t seed, const uint8_t *bytes, size_t size,
                                    uint32_t *used);
/* The same of bytes that were encoded here and not sealed yet: without the checksum. */
CW_MUST_CHECK int log_record_parse(struct log_record *r, const uint8_t *bytes, size_t size, uint32_t *used);

#endif
