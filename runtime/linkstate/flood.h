/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flood.h - what one server still has to tell its six neighbours: one log in the order in which it learned, six readers
 * (feed.h).
 *
 * Guarantee: every reader gets the entries it is owed in the order of the log, each with the bytes it was appended
 * with, as often as it asks, until it has let go of them.
 *
 * The order and the bytes are what admission stands on. Who has read the log up to an entry knows all that its writer
 * knew when he appended it (docs/semantics.md, "Closed knowledge"); a newer record put in the place of an older one, or
 * sent before what was learned earlier, would break that. So nothing is replaced and nothing overtakes; instead the log
 * is bounded, and a reader that holds it up for too long is cut off (flood_append() returns NULL) and starts again with
 * a whole exchange.
 *
 * Entries lie in chunks that come when the log reaches them and go when all readers have passed: it takes the memory of
 * what it holds now, not of the most it ever held, and nothing is copied when it grows.
 *
 * What need not be told is struck out: flood_forget() when the neighbour shows that it knows the record already.
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
    FLOOD_SYNCED, /* what was sent so far is whole: apply what was to be applied together */
    FLOOD_ACK,
};

struct flood_entry {
    union {
        struct record record;
        struct ack ack;
        uint64_t digest;
    };
    uint8_t kind;  /* enum flood_kind */
    bool more;     /* a record that is to be applied together with what follows, up to FLOOD_SYNCED */
    cw_links owed; /* links it is for */
};

enum { FLOOD_CHUNK = 64 }; /* entries, a power of two */

/* Positions count entries since the beginning of time; those in [first, end) are here. */
struct flood {
    struct flood_entry **chunk; /* limit / FLOOD_CHUNK of them, in turns; NULL where no entry is */
    uint64_t first, end;
    uint32_t held;    /* chunks */
    uint32_t limit;   /* entries it may ever hold, a power of two */
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

/* After a record of origin was appended: remembers where. */
void flood_note(struct flood *f, cw_server origin);

/* The position of the newest record appended of this origin, if it is still here and names the same origin: true. */
bool flood_find(const struct flood *f, cw_server origin, const cw_coord *coord, uint64_t *position);

/* Lets go of everything before position. */
void flood_trim(struct flood *f, uint64_t position);

/* Where the chunk of a position is found: positions that are `limit` apart are never here together. */
static inline struct flood_entry **flood_chunk(const struct flood *f, uint64_t position)
{
    return &f->chunk[(position & (f->limit - 1)) / FLOOD_CHUNK];
}

static inline struct flood_entry *flood_at(const struct flood *f, uint64_t position)
{
    CHECK_SLOW(position >= f->first && position < f->end);
    return *flood_chunk(f, position) + position % FLOOD_CHUNK;
}

/* True when one entry more takes memory, or is one too many: time to let go of old ones. */
static inline bool flood_is_full(const struct flood *f)
{
    return f->end - f->first == f->limit || *flood_chunk(f, f->end) == NULL;
}

static inline size_t flood_bytes(const struct flood *f)
{
    return (size_t)f->held * FLOOD_CHUNK * sizeof(struct flood_entry);
}

#endif
