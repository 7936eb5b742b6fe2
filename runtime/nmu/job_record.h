/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_record.h - one job in bytes: what the operator signs, servers flood and NMUs take in (NMU 3, tables 1 and 2).
 *
 * Guarantee: each job has one encoding. What job_record_decode() accepts is what the writer below writes, byte for
 * byte, so that two servers that hold a version hold the same bytes; and every reader here works on bytes that passed.
 *
 *   0  format:8  flags:8  0:16              flags: 1 destroyed (then no ranges, ports or grants)
 *   4  job:32                               not 0
 *   8  version:64                           not 0; grows with every change
 *  16  generation:64                        not 0; grows when a destroyed job is created anew
 *  24  ranges:16  ports:16
 *  28  grants:16  0:16
 *  32  name, 1..31 of a-z A-Z 0-9 - _ . then zeros
 *  64  ranges: first process:32  count:32  server of the first:32
 *      ports:  port:16  0:16  name (as above)
 *      grants: remote job:32  flags:8 (1 all processes, 2 all ports)  0:8  spans:16  ports:16  0:16
 *              spans: first process:32  last process:32;  ports: port:16, then zeros to a multiple of 4
 *
 * Ranges and spans rise and do not overlap; those that could be one are one (NMU 6.3: dense). Ports rise. Of the grants
 * for one remote job each port is in one at most, "all ports" being one more port; they stand in the order of (job, all
 * ports first, first port).
 */
#ifndef NMU_JOB_RECORD_H
#define NMU_JOB_RECORD_H

#include "base/bytes.h"
#include "cubeway/types.h"
#include "wire/limits.h"
#include "wire/reason.h"

enum {
    JOB_RECORD_FORMAT = 1,
    JOB_RECORD_NAME_BYTES = 32,
    JOB_RECORD_HEAD_BYTES = 64,
    JOB_RECORD_RANGE_BYTES = 12,
    JOB_RECORD_PORT_BYTES = 4 + JOB_RECORD_NAME_BYTES,
    JOB_RECORD_GRANT_BYTES = 12,
    JOB_RECORD_SPAN_BYTES = 8,
    JOB_RECORD_SIGNATURE_BYTES = 64, /* Ed25519; beside the record in the parts that travel */
    JOB_RECORD_BYTES_LIMIT = JOB_RECORD_BYTES_MAX - JOB_RECORD_SIGNATURE_BYTES,
    JOB_RECORD_RANGES_MAX = 4096,
    JOB_RECORD_PORTS_MAX = 256,
    JOB_RECORD_GRANTS_MAX = 16384,
    JOB_RECORD_GRANT_SPANS_MAX = 4096,
    JOB_RECORD_GRANT_PORTS_MAX = 256,
};

/*
 * The highest process that a record may give a server to. In the destination of a packet, process 2^32 - 1 is
 * "whichever process there has the key" (docs/wire.md).
 */
#define JOB_RECORD_PROCESS_MAX (UINT32_MAX - 1)

/* The fixed part, and where the rest lies: borrowed, for as long as the bytes that were decoded. */
struct job_record {
    cw_job job;
    bool destroyed;
    uint64_t version;
    uint64_t generation;
    char name[JOB_RECORD_NAME_BYTES]; /* ends with 0 */
    uint16_t ranges, ports, grants;
    const uint8_t *range_bytes, *port_bytes, *grant_bytes;
};

/* Processes first .. first + count - 1 live on servers server .. server + count - 1. */
struct job_range {
    cw_process first;
    uint32_t count;
    cw_server server;
};

struct job_span {
    cw_process first, last;
};

struct job_port {
    cw_port port;
    char name[JOB_RECORD_NAME_BYTES];
};

struct job_grant {
    cw_job job;
    bool all_processes, all_ports;
    uint16_t spans, ports; /* 0 where all */
    const uint8_t *span_bytes, *port_bytes;
};

/* Decodes a whole record of `size` bytes. Writes *out only with WIRE_OK. Linear. */
CW_MUST_CHECK enum wire_reason job_record_decode(const uint8_t *bytes, size_t size, struct job_record *out);

/* Item i of a decoded record, below its count. O(1). */
struct job_range job_record_range(const struct job_record *r, unsigned i);
struct job_port job_record_port(const struct job_record *r, unsigned i);
struct job_span job_grant_span(const struct job_grant *g, unsigned i);
cw_port job_grant_port(const struct job_grant *g, unsigned i);
/* Reads the grant at *at, which begins as r->grant_bytes, and moves *at behind it. At most r->grants times. */
struct job_grant job_record_next_grant(const uint8_t **at);

/*
 * Writing: begin, then all ranges, all ports, all grants in their order, then finish. Nothing is checked on the way:
 * finish decodes what was written and says what is wrong with it.
 */
struct job_record_writer {
    struct writer out;
    uint16_t ranges, ports, grants;
};
/* Borrows room[size] until finish; name is copied, its first 31 bytes at most. */
void job_record_begin(struct job_record_writer *w, uint8_t *room, size_t size, const struct job_record *head);
void job_record_put_range(struct job_record_writer *w, const struct job_range *range);
void job_record_put_port(struct job_record_writer *w, cw_port port, const char *name);
/* spans NULL: all processes; ports NULL: all ports. */
void job_record_put_grant(struct job_record_writer *w, cw_job job, const struct job_span *spans, unsigned span_count,
                          const cw_port *ports, unsigned port_count);
/* Gives the bytes of the record in *size. WIRE_TRUNCATED: there was no room; else as job_record_decode(). */
CW_MUST_CHECK enum wire_reason job_record_finish(struct job_record_writer *w, size_t *size);

#endif
