/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item.h - what the control stream carries: items of eight types, and room for types to come.
 *
 *      0               8              16                             32
 *    0 |     type      |     flags    |            length            |  of the item with these 4 bytes; a multiple of 4
 *    4   body
 *
 * Flags: LAST on a summary or a job summary says that no more entries follow in later items. MORE on a record says that
 * it is to be applied together with the records behind it, up to the next item without the flag.
 *
 * Items of types from ITEM_OPTIONAL on need not be known: a receiver that does not know one skips it by its length, as
 * if it were not there. An unknown type below refuses the packet.
 */
#ifndef WIRE_ITEM_H
#define WIRE_ITEM_H

#include "wire/about.h"
#include "wire/ack.h"
#include "wire/job.h"
#include "wire/record.h"
#include "wire/summary.h"

enum item_type {
    ITEM_RECORD = 1,
    ITEM_ACK = 2,
    ITEM_SUMMARY = 3,
    ITEM_SYNCED = 4, /* the sender has now sent all that the receiver's summary lacked */
    ITEM_JOB_PART = 5,
    ITEM_JOB_ACK = 6,
    ITEM_JOB_SUMMARY = 7,
    ITEM_OPTIONAL = 128, /* this type and those above may be skipped */
    ITEM_ABOUT = ITEM_OPTIONAL,
};

/* An optional item of a type that is not known here. */
struct item_other {
    const uint8_t *body; /* borrowed */
    uint16_t size;       /* of the body in bytes, a multiple of 4 */
    uint8_t flags;       /* any */
};

struct item {
    enum item_type type; /* says which member of the union is meant */
    bool more;           /* of a record: flag MORE */
    union {
        struct record record;
        struct ack ack;
        struct summary summary;
        uint64_t synced; /* digest of the sender's link-state database */
        struct job_part job_part;
        struct job_ack job_ack;
        struct job_summary job_summary;
        struct about about;
        struct item_other other; /* of any other type from ITEM_OPTIONAL on */
    };
};

/*
 * Reads the item at the start of bytes[size], behind which there may be others; item_size(out) says how many bytes it
 * has. Lists, job parts and unknown items borrow the bytes. See control.h for what every decoder promises.
 */
CW_MUST_CHECK enum wire_reason item_decode(const uint8_t *bytes, size_t size, struct item *out);
/*
 * The two halves of it, for who must know that all of several are sound before it reads the first: what item_decode()
 * would return, and with WIRE_OK the item's bytes in *length; and the item that was found sound.
 */
CW_MUST_CHECK enum wire_reason item_check(const uint8_t *bytes, size_t size, size_t *length);
void item_read(const uint8_t *bytes, struct item *out);

/*
 * The item's size on the wire in bytes, a multiple of 4. For a list that is being made it may be above ITEM_BYTES_MAX,
 * which no item may be.
 */
size_t item_size(const struct item *item);

/* Writes item_size() bytes, at most ITEM_BYTES_MAX. The bytes that the item borrows must not overlap these. */
void item_encode(const struct item *item, uint8_t *bytes);

#endif
