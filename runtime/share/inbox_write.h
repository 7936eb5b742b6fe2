/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox_write.h - the daemon's side of an inbox: a ring of records in `com` that the process uses where they lie.
 *
 * Room is never taken twice: what was promised (a window's record, an answer) is set aside when it is promised, and
 * found when it comes. Only what came unasked, a datagram or a short message, has no room of its own. Of what is free
 * and not set aside an endpoint may hold half with such messages: whoever floods one port leaves the others room.
 *
 * How long records are, and whose they are, is noted in memory of the daemon's own: the process releases by moving one
 * position forward, which is judged by these notes. Anything else it writes there is -EPROTO, for ever.
 */
#ifndef SHARE_INBOX_WRITE_H
#define SHARE_INBOX_WRITE_H

#include "share/record.h"
#include "share/shared.h"

/* Of a record in the ring: how many times 64 bytes, for which endpoint, and does it count against its share? */
struct share_note {
    uint32_t units;
    uint16_t endpoint;
    bool shared;
};

struct share_inbox_writer {
    struct share_out com;
    struct share_in sub;
    size_t at;      /* where the ring begins in com */
    uint64_t bytes; /* of the ring */
    uint64_t tail;  /* written, published or not */
    uint64_t published;
    uint64_t head;     /* released, as it was seen last */
    uint64_t reserved; /* set aside for what was promised */
    uint64_t dropped;
    struct share_note *note; /* [bytes / 64] */
    uint64_t *held;          /* [endpoints] bytes in the ring that count against an endpoint's share */
    uint32_t endpoints;
    bool broken;
};

/* How many notes an inbox of this geometry needs. */
static inline size_t share_inbox_notes(const struct share_geometry *g)
{
    return g->inbox_bytes / SHARE_RECORD_BYTES;
}

/* Borrows the areas and both arrays, [share_inbox_notes()] and [endpoints]; start is a multiple of 64. */
void share_inbox_writer_open(struct share_inbox_writer *w, const struct share_out *com, const struct share_in *sub,
                             const struct share_geometry *g, struct share_note *note, uint64_t *held,
                             uint32_t endpoints, uint64_t start);

/* Sets room aside for a record with so many bytes: 0, -ENOBUFS there is none, -EPROTO. To be used or given back. */
CW_MUST_CHECK int share_inbox_reserve(struct share_inbox_writer *w, uint32_t length);
void share_inbox_unreserve(struct share_inbox_writer *w, uint32_t length);

/*
 * Writes a record, and its bytes where the kind has some, for r->endpoint (below `endpoints`). 0; -ENOBUFS: the inbox
 * is full; -EDQUOT: its endpoint's share is; -EPROTO. What finds no room is counted in `dropped`.
 */
CW_MUST_CHECK int share_inbox_put(struct share_inbox_writer *w, const struct share_record *r, const void *bytes);
/* The same into room that was set aside for `reserved` bytes, at least those of the record: always finds it. */
void share_inbox_put_reserved(struct share_inbox_writer *w, const struct share_record *r, const void *bytes,
                              uint32_t reserved);

/* Once a turn; true: there was something new. */
bool share_inbox_publish(struct share_inbox_writer *w);

/* Bytes that are free and not set aside, by what the process released until now. 0 when it is broken. */
uint64_t share_inbox_free(struct share_inbox_writer *w);

#endif
