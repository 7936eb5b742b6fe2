/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the frames that instances of the service exchange, as bytes and decoded. Network order; what is 0 must be 0.
 *
 * Every frame begins with  0  format:8 kind:8 0:16   4  cluster:32, and goes on, by kind:
 *
 *   RECORD   8 origin:32 0:32  16 ticket:64  24 a signed record
 *            Take the record in and, when ticket is not 0, acknowledge it to the origin.
 *   OFFER    8 origin:32 0:32  16 ticket:64  24 mark
 *            As RECORD, for one that does not fit a packet: fetch it from the sender of this.
 *   ACK      8 flags:32 0:32   16 ticket:64  24 mark
 *            I hold this record of the job. Flags: 1 it is stored; 2 my NMU has no room for it.
 *   HELLO    8 flags:32 count:32  16 sum:64
 *            I hold so many records, and their digest is sum. Flags: 1 this answers your hello.
 *   SUMMARY  8 first:32 last:32   16 count:16 0:48  24 marks
 *            All that I hold of the jobs first to last.
 *   FETCH    8 offset:32 0:32     16 mark
 *            A call: send bytes of that record.
 *   PART     8 offset:32 total:32 16 mark   48 bytes
 *            The answer to FETCH.
 *   ASK      8 source job:32 source process:32  16 job:32 process:32  24 port:16 flags:16 0:32
 *            A call: would this packet be let in? Flags: 1 it is to a key.
 *   SAID     8 cause:32 0:32  16 server:32 0:32  24 refused:64  32 version:64
 *            The answer to ASK; version is that of the source's record there.
 *   AUDIT    8 from:32 0:32
 *            A call: send your rows of refusals, from that one on.
 *   ROWS     8 next:32 count:16 0:16  16 total:64  24 overflow:64  32 rows
 *            The answer to AUDIT; next is 0 with the last rows.
 *
 *   mark     0 job:32 flags:32 (1 destroyed)  8 generation:64  16 version:64  24 digest:64
 *   row      0 source job:32 source process:32  8 job:32 process:32  16 port:16 key:8 cause:8 0:32  24 times:64
 *
 * A decoder accepts what an encoder writes and nothing else.
 */
#ifndef SERVICES_JOBS_WIRE_H
#define SERVICES_JOBS_WIRE_H

#include "nmu/denied.h"
#include "services/jobs/host.h"

enum jobs_kind {
    JOBS_RECORD = 1,
    JOBS_OFFER,
    JOBS_ACK,
    JOBS_HELLO,
    JOBS_SUMMARY,
    JOBS_FETCH,
    JOBS_PART,
    JOBS_ASK,
    JOBS_SAID,
    JOBS_AUDIT,
    JOBS_ROWS,
    JOBS_KINDS,
};

enum {
    JOBS_FORMAT = 1,
    JOBS_HEAD_BYTES = 8,
    JOBS_MARK_BYTES = 32,
    JOBS_ROW_BYTES = 32,
    JOBS_RECORD_AT = 24,
    JOBS_SUMMARY_AT = 24,
    JOBS_PART_AT = 48,
    JOBS_ROWS_AT = 32,
    JOBS_FRAME_BYTES_MAX = 56, /* of a frame without a record, marks, bytes or rows behind it */
};

/*
 * Names one state of one job's record. Marks of a job are in a total order, the same everywhere: generation, destroyed,
 * version, digest (jobs rule 2). So the end of a generation is final whatever was said of it elsewhere, and two records
 * that claim one version have one winner.
 */
struct jobs_mark {
    cw_job job; /* not 0 */
    bool destroyed;
    uint64_t generation, version; /* not 0 */
    uint64_t digest;              /* of the record's bytes, without the signature */
};

struct jobs_frame {
    uint8_t kind;
    uint32_t cluster;
    cw_server origin; /* RECORD, OFFER */
    uint64_t ticket;
    bool flag;             /* ACK, HELLO, ASK: flag 1 above */
    bool closed;           /* ACK: flag 2 above: the job may do nothing there */
    struct jobs_mark mark; /* OFFER, ACK, FETCH, PART */
    uint32_t count;        /* HELLO, SUMMARY, ROWS */
    uint64_t sum;
    cw_job first, last;     /* SUMMARY */
    uint32_t offset, total; /* FETCH, PART */
    struct denied_row row;  /* ASK: who to whom; SAID: cause, times */
    cw_server server;       /* SAID: where the destination lives, CW_SERVER_NONE */
    uint64_t version;       /* SAID */
    uint32_t from;          /* AUDIT, ROWS */
    uint64_t all, overflow; /* ROWS */
    const uint8_t *rest;    /* borrowed: a signed record, marks, bytes, rows; as decoded */
    size_t rest_size;
};

enum jobs_fault { JOBS_GOOD, JOBS_MALFORMED, JOBS_FOREIGN };
/*
 * Reads a frame of this cluster. *out, which borrows its bytes, only when it is good. Allocates nothing; linear in the
 * frame at most.
 */
CW_MUST_CHECK enum jobs_fault jobs_decode(const uint8_t *bytes, size_t size, uint32_t cluster, struct jobs_frame *out);

/* How many bytes jobs_encode() writes: all of the frame but its rest. */
size_t jobs_frame_size(unsigned kind);
/* Writes everything of the frame but its rest. */
void jobs_encode(const struct jobs_frame *frame, uint8_t *bytes);

/* Mark or row i of a decoded SUMMARY or ROWS; _put() writes it at its place behind the frame. */
struct jobs_mark jobs_mark_at(const struct jobs_frame *frame, size_t i);
void jobs_mark_put(const struct jobs_mark *mark, uint8_t *rest, size_t i);
struct denied_row jobs_row_at(const struct jobs_frame *frame, size_t i);
void jobs_row_put(const struct denied_row *row, uint8_t *rest, size_t i);

/* > 0 when a wins over b, a mark of the same job; < 0, 0. *fork (may be NULL): they claim one version and differ. */
int jobs_mark_compare(const struct jobs_mark *a, const struct jobs_mark *b, bool *fork);
/* Gives the mark of a record. False: the bytes are no record. Linear. */
bool jobs_mark_of(const uint8_t *record, size_t size, struct jobs_mark *out);

#endif
