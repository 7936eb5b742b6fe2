/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox_read.h - the process's side of its inbox: messages are used where they lie.
 *
 * A process trusts its daemon, and nobody else can write `com`: so a message's bytes are lent out of shared memory and
 * stay as they are until they are released. Messages are released in any order; the room goes back to the daemon up to
 * the first one that is still held.
 */
#ifndef SHARE_INBOX_READ_H
#define SHARE_INBOX_READ_H

#include "share/record.h"
#include "share/shared.h"

struct share_inbox_reader {
    struct share_in com;
    struct share_out sub;
    size_t at;
    uint64_t bytes;
    uint64_t head;   /* released up to here */
    uint64_t next;   /* read up to here */
    uint64_t tail;   /* as it was seen last */
    uint32_t *units; /* [share_inbox_units()] of each record that was read: times 64 bytes, the top bit: released */
    bool broken;
};

static inline size_t share_inbox_units(const struct share_geometry *g)
{
    return g->inbox_bytes / SHARE_RECORD_BYTES;
}

/* Borrows the areas and the array. */
void share_inbox_reader_open(struct share_inbox_reader *r, const struct share_in *com, const struct share_out *sub,
                             const struct share_geometry *g, uint32_t *units, uint64_t start);

/* A message: its head, its bytes (NULL where the kind has none), and by what it is released. */
struct share_message {
    struct share_record head;
    const void *bytes;
    uint64_t release;
};

/*
 * The next message: 1; 0: none now; -EPROTO: what lies there is no inbox, which no daemon writes. *out stays good until
 * it is released.
 */
CW_MUST_CHECK int share_inbox_next(struct share_inbox_reader *r, struct share_message *out);

/* Each message once, in any order. False, and nothing is done: no message is held there. */
bool share_inbox_release(struct share_inbox_reader *r, uint64_t release);

#endif
