/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood.h - what one server still has to tell its six neighbours: one log, in the order in which the server learned of
 * it, with six readers (feed.h).
 *
 * Guarantee: every reader gets the entries it is owed in the order of the log, each with the bytes it was appended
 * with, as often as it asks, until it has let go of them.
 *
 * Admission stands on the order and on the bytes. A reader that has read the log up to an entry knows all that the
 * writer knew when it appended the entry (semantics 4.3). A newer record that took the place of an older one, or was
 * sent before what was learned earlier, would break that. So no entry is replaced, and none overtakes another. Instead
 * the log is bounded: a reader that holds it up for too long is cut off (flood_append() gives NULL) and begins again
 * with a whole exchange.
 *
 * Entries lie in chunks, which are allocated when the log reaches them and freed when all readers have passed them. So
 * the log takes the memory of what it holds now, and nothing is copied when it grows.
 *
 * An entry that a neighbour need not be told is struck out for it, when the neighbour shows that it knows the record.
 */
#ifndef LINKSTATE_FLOOD_H
#define LINKSTATE_FLOOD_H

#include "base/arena.h"
#include "base/check.h"
#include "cubeway/types.h"
#include "wire/ack.h"
#include "wire/record.h"

enum flood_kind {
    FLOOD_RECORD,
    FLOOD_SYNCED, /* the end of records that are to be applied together */
    FLOOD_ACK,
    FLOOD_ABOUT, /* what this server says of its software; the entry has no body */
};

struct flood_entry {
    union {
        struct record record;
        struct ack ack;
        uint64_t digest;
    };
    uint8_t kind;  /* enum flood_kind */
    bool more;     /* a record that is to be applied together with what follows, up to FLOOD_SYNCED */
    cw_links owed; /* the links by which it is still to be told */
};

enum { FLOOD_CHUNK = 64 }; /* entries, a power of two */

/* A position counts the entries that were ever appended before; the entries in [first, end) are here. */
struct flood {
    struct flood_entry **chunk; /* a ring of limit / FLOOD_CHUNK chunks; NULL where no entry is */
    uint64_t first, end;
    uint32_t held;    /* chunks that are allocated */
    uint32_t limit;   /* entries that it may hold at one time, a power of two */
    uint32_t *latest; /* by origin: low bits of the position of the newest record appended */
};

/* Carves 4 bytes a server and 8 a chunk; over a measuring arena it only counts. */
void flood_init(struct flood *f, uint32_t servers, uint32_t limit, struct arena *arena);
void flood_close(struct flood *f);

/*
 * Makes room for one entry more at f->end and returns it, zeroed but for kind and owed, for the caller to fill; NULL
 * when the log is at its limit or memory is out: let go of old entries first.
 */
struct flood_entry *flood_append(struct flood *f, enum flood_kind kind, cw_links owed);

/* After a record of origin was appended: notes its position. */
void flood_note(struct flood *f, cw_server origin);

/* True, and *position is that of the newest record of this origin that was appended: it is still here. False: not. */
bool flood_find(const struct flood *f, cw_server origin, const cw_coord *coord, uint64_t *position);

/* Drops all entries before position. */
void flood_trim(struct flood *f, uint64_t position);

/* Where the chunk of a position is: positions that are `limit` apart are not here at the same time. */
static inline struct flood_entry **flood_chunk(const struct flood *f, uint64_t position)
{
    return &f->chunk[(position & (f->limit - 1)) / FLOOD_CHUNK];
}

static inline struct flood_entry *flood_at(const struct flood *f, uint64_t position)
{
    CHECK_SLOW(position >= f->first && position < f->end);
    return *flood_chunk(f, position) + position % FLOOD_CHUNK;
}

/* True when one entry more would need a new chunk, or is beyond the limit: time to drop old ones. */
static inline bool flood_is_full(const struct flood *f)
{
    return f->end - f->first == f->limit || *flood_chunk(f, f->end) == NULL;
}

static inline size_t flood_bytes(const struct flood *f)
{
    return (size_t)f->held * FLOOD_CHUNK * sizeof(struct flood_entry);
}

#endif
