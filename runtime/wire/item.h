/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item.h - what the control stream carries: one item is one of seven things.
 *
 *      0               8              16                             32
 *    0 |     type      |     flags    |            length            |  of the item with these 4 bytes; a multiple of 4
 *    4   body
 *
 * Flags: LAST on summary and job summary: no more entries follow in later items. MORE on a record: it is one of several that are
 * to be applied together, at the next item without the flag.
 */
#ifndef WIRE_ITEM_H
#define WIRE_ITEM_H

#include "wire/ack.h"
#include "wire/job.h"
#include "wire/record.h"
#include "wire/summary.h"

enum item_type {
    ITEM_RECORD = 1,
    ITEM_ACK = 2,
    ITEM_SUMMARY = 3,
    ITEM_SYNCED = 4, /* the sender has sent all that the receiver's summary lacked */
    ITEM_JOB_PART = 5,
    ITEM_JOB_ACK = 6,
    ITEM_JOB_SUMMARY = 7,
};

struct item {
    enum item_type type; /* says which member is meant */
    bool more;           /* record: not to be applied alone */
    union {
        struct record record;
        struct ack ack;
        struct summary summary;
        uint64_t synced; /* digest of the sender's link-state database */
        struct job_part job_part;
        struct job_ack job_ack;
        struct job_summary job_summary;
    };
};

/*
 * Reads the item at the start of bytes[size], which may hold more; item_size(out) bytes of it are the item. The lists and the
 * job part borrow bytes. See control.h for what every decoder promises.
 */
CW_MUST_CHECK enum wire_reason item_decode(const uint8_t *bytes, size_t size, struct item *out);

/* Bytes of the item on the wire, a multiple of 4. A list in the making may be longer than an item can be, ITEM_BYTES_MAX. */
size_t item_size(const struct item *item);

/* Writes item_size() bytes, which must be ITEM_BYTES_MAX or less. Lists and the job part must lie elsewhere. */
void item_encode(const struct item *item, uint8_t *bytes);

#endif
