/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - what the control stream says of jobs: parts of signed job records, who holds which record, and which are
 * known (jobs rule 1). A record's bytes have no meaning here; whoever puts the parts together checks the signature.
 *
 *   part                                               ack
 *      0              16             32                   0       8       16      24      32
 *    0 |             job             |                  0 |   x   |   y   |   z   |   0   |
 *    4 |           version           |                  4 |      server's incarnation     |
 *    8 |                             |                  8 |                               |  never 0
 *   12 |            total            |  1..1 MiB       12 |              job              |
 *   16 |            offset           |                 16 |            version            |
 *   20 |     used     |       0      |  used: 1..      20 |                               |
 *   24   used bytes, then zeros to a multiple of 4
 *
 *   summary, entries of 12 bytes: job:32 version:64
 */
#ifndef WIRE_JOB_H
#define WIRE_JOB_H

#include "wire/control.h"

enum {
    JOB_PART_HEAD_BYTES = ITEM_JOB_HEAD_BYTES - ITEM_HEAD_BYTES,
    JOB_ACK_BYTES = ITEM_JOB_ACK_BYTES - ITEM_HEAD_BYTES,
};

/* Bytes offset .. offset + used - 1 of a job record that has total bytes; offset + used <= total. */
struct job_part {
    uint64_t version;
    cw_job job;
    uint32_t total;
    uint32_t offset;
    uint16_t used;
    const uint8_t *bytes; /* borrowed */
};

/* "This server holds this version of the job's record." */
struct job_ack {
    uint64_t version;
    uint64_t incarnation;
    cw_job job;
    cw_coord server;
};

struct job_summary_entry {
    uint64_t version;
    cw_job job;
};

/* A list of entries in wire form, as in summary.h; it may be empty. */
struct job_summary {
    const uint8_t *entries; /* borrowed: count * JOB_SUMMARY_ENTRY_BYTES */
    uint16_t count;
    bool last;
};

/* The size of a part in bytes, with its padding and without the item's head. */
size_t job_part_size(const struct job_part *part);

/* Reads the part that fills bytes[size]; *out borrows its bytes. See control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason job_part_decode(const uint8_t *bytes, size_t size, struct job_part *out);

/* Writes job_part_size() bytes, which part->bytes must not overlap. */
void job_part_encode(const struct job_part *part, uint8_t *bytes);

CW_MUST_CHECK enum wire_reason job_ack_decode(const uint8_t bytes[static JOB_ACK_BYTES], struct job_ack *out);
void job_ack_encode(const struct job_ack *ack, uint8_t bytes[static JOB_ACK_BYTES]);

/* As the functions of summary.h. Any bytes are good entries, so that only a count above 65,535 is refused. */
CW_MUST_CHECK enum wire_reason job_summary_decode(const uint8_t *entries, size_t count, struct job_summary *out);
struct job_summary_entry job_summary_get(const struct job_summary *s, size_t i);
void job_summary_put(const struct job_summary_entry *entry, uint8_t *entries, size_t i);

#endif
