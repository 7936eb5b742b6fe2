/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strand.h - one strand at its receiver: which number comes next, what waits for it, and what has come.
 *
 * Pieces leave a strand in the order of their numbers. A piece behind a *hole*, a number that has not come, waits; the
 * owner says when the hole is given up (strand_skip()). A number that comes after that still leaves, at once: TCP knows
 * what to do with it. No number leaves twice as long as the second one comes within STRAND_SEEN numbers of the first.
 *
 * A strand knows two *lives* of its sender, the present one and the one before. A life that it has not met becomes the
 * present one and begins with whatever number comes first; pieces of the former life leave at once, unordered.
 *
 * What is queued is an opaque pointer and its size. Nothing here allocates but the waiting room, while anything waits.
 */
#ifndef SERVICES_TUNNEL_STRAND_H
#define SERVICES_TUNNEL_STRAND_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum {
    STRAND_WINDOW = 256,        /* numbers from the next one on that may wait; a power of two */
    STRAND_SEEN = 512,          /* numbers before the next one of which is known whether they have come; likewise */
    STRAND_BYTES = 1024 * 1024, /* that may wait behind a hole */
};

struct strand_slot {
    void *piece; /* NULL: not here */
    uint32_t bytes;
    cw_time came;
};

/* Zeroed: nothing has come yet. Members may be read by anybody, and are written by the functions below. */
struct strand {
    bool has_life, has_former;
    uint16_t life, former;
    /* A number of the present life has come. */
    bool begun;
    /* The number that is to leave next. */
    uint32_t next;
    /* Bit n % STRAND_SEEN: number n, one of the STRAND_SEEN before `next`, has come. */
    uint64_t seen[STRAND_SEEN / 64];
    /* What waits, at number % STRAND_WINDOW; NULL while nothing does. */
    struct strand_slot *room;
    uint32_t waiting;
    /* The least number that waits, while any does. */
    uint32_t first;
    size_t bytes;
    /* When the piece that has waited longest came: since then it is known that a number is missing. */
    cw_time since;
    /* The numbers of the hole that was given up last, and when it was seen first. */
    uint32_t hole, hole_end;
    cw_time hole_since;
};

enum strand_fate {
    STRAND_LEAVES, /* it is the next one: it leaves now, and strand_pull() gives those that it was missing to */
    STRAND_FILLS,  /* the same, and others had waited for it */
    STRAND_WAITS,  /* the strand has taken it */
    STRAND_LATE,   /* it comes after it was given up: it leaves now */
    STRAND_FORMER, /* it is of the former life: it leaves now */
    STRAND_DOUBLE, /* the number has come already: it is dropped */
    STRAND_AHEAD,  /* its number is too far ahead: nothing was done; strand_skip() and try again */
    STRAND_BORN,   /* of a new life: nothing was done; empty the strand by strand_skip(), strand_renew(), try again */
};

/*
 * A piece with that life and number came. What becomes of it is said; *late is how late it was, for STRAND_FILLS and
 * STRAND_LATE, and 0 otherwise. STRAND_LATE without memory of its hole has *late 0, too. Takes the piece with
 * STRAND_WAITS only. Where there is no memory for a waiting room the answer is STRAND_LEAVES, and the hole before it
 * is given up.
 */
enum strand_fate strand_take(struct strand *s, uint16_t life, uint32_t number, void *piece, uint32_t bytes, cw_time now,
                             cw_span *late);

/* Gives the next piece, when it is there; NULL: nothing waits, or a hole is next. */
void *strand_pull(struct strand *s);

/* Gives up the hole: what waits behind it is next, and strand_pull() gives it. Nothing happens when nothing waits. */
void strand_skip(struct strand *s);

/*
 * Gives up so many numbers that `number`, which is STRAND_AHEAD, has room. Nothing may wait; at most STRAND_WINDOW - 1
 * numbers before it are still waited for.
 */
void strand_jump(struct strand *s, uint32_t number);

/*
 * Begins anew with that life. Nothing may wait. Numbers of a life begin with 0, and are waited for from there on when
 * the first one that comes is below STRAND_WINDOW; otherwise the strand begins with that one.
 */
void strand_renew(struct strand *s, uint16_t life);

/* Begins anew with whatever comes next, of either life. Nothing may wait. */
void strand_forget(struct strand *s);

/* When the piece that has waited longest came: CW_NEVER when nothing waits. */
cw_time strand_waits_since(const struct strand *s);

#endif
