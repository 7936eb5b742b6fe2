/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the ring of commands: a process puts, its daemon takes.
 *
 * What a process can do to the daemon by writing whatever it wants, whenever it wants, is to have its own commands
 * refused, or itself detached:
 *   - The daemon's index is its own. The process's is loaded once a batch and judged: behind what was seen, or more
 *     than the ring ahead, is -EPROTO for ever ("index").
 *   - 64 bytes of a command are copied by eight loads, and the copy is judged; then the inline bytes that it may have
 *     are copied, and judged as a copy; a message's bytes are copied once, to where they are wanted, and nothing is
 *     decided by them here. No byte is loaded twice (invariant 38).
 *   - A batch is never longer than the ring.
 *   - A command whose end could not be told is not taken: it waits in the ring (completions.h).
 */
#ifndef SHARE_COMMANDS_H
#define SHARE_COMMANDS_H

#include "share/command.h"
#include "share/completions.h"

/* The process's side. */
struct share_putter {
    struct share_out sub;
    struct share_in com;
    uint32_t slots;
    uint32_t tail, head_seen;
    bool broken;
};

/* Borrows both areas. They are zeroed, or all indices are `start`. */
void share_putter_open(struct share_putter *p, const struct share_out *sub, const struct share_in *com,
                       const struct share_geometry *g, uint32_t start);

/*
 * Puts a command: its 64 bytes, then `lead` (what stands inline before the body) and `body`, copied. The daemon sees it
 * after share_putter_publish(). 0; -EAGAIN: the ring is full; -EMSGSIZE: more than 192 bytes; -EPROTO: the daemon's
 * index is out of bounds. lead and body may be NULL when they are empty.
 */
CW_MUST_CHECK int share_putter_put(struct share_putter *p, const struct share_command *c, const void *lead,
                                   size_t lead_bytes, const void *body, size_t body_bytes);
void share_putter_publish(const struct share_putter *p);

/* Where the answer to a request goes: 24 bytes as region:16 generation:16 0:32, offset:64, length:64. */
struct share_place {
    uint64_t offset, length;
    uint16_t region, generation;
};
enum { SHARE_PLACE_WORDS = 3, SHARE_KEY_WORDS = 3 };

void share_place_encode(const struct share_place *p, uint64_t word[static SHARE_PLACE_WORDS]);
/* A key inline: its 20 bytes, then 0:32. */
void share_key_encode(const cw_key *key, uint64_t word[static SHARE_KEY_WORDS]);

/* A command that was taken: a copy, judged. Only what its op and flags have is set. */
struct share_taken {
    struct share_command c;
    struct share_shape shape;
    cw_key key;                /* flag KEY */
    uint64_t remote;           /* READ, WRITE */
    struct share_place answer; /* flag WINDOW */
    /* SHARE_BODY_PARTS: decoded; SHARE_BODY_ITEMS: as they came, two words each. [c.parts] */
    struct share_part part[SHARE_PARTS_MOST];
    uint64_t item[2 * SHARE_PARTS_MOST];
};

/* The daemon's side. */
struct share_taker {
    struct share_in sub;
    struct share_out com;
    struct share_teller *ends;
    uint32_t slots;
    uint32_t head, published;
    uint32_t tail; /* as it was seen last */
    bool broken;
    bool has_body; /* the bytes of the last command may be copied still */
    uint64_t taken;
    uint64_t refused[SHARE_VERDICTS];
};

/* Borrows the areas and the other ring. */
void share_taker_open(struct share_taker *t, const struct share_in *sub, const struct share_out *com,
                      struct share_teller *ends, const struct share_geometry *g, uint32_t start);

/* Begins a batch: how many commands wait, or -EPROTO. */
CW_MUST_CHECK int share_taker_look(struct share_taker *t);

/*
 * The next command of the batch. 1: *out is it, and a slot is reserved for its end. 0: the batch is over, or there is
 * no slot for an end now. -EINVAL, -ENOENT: it was refused, which is told and counted already, and *out is not to be
 * used: nothing of it has happened. -EPROTO: a ring is broken, and the process is to be detached.
 */
CW_MUST_CHECK int share_taker_next(struct share_taker *t, const struct share_tables *tables, struct share_taken *out);

/*
 * Copies the body of the command that was taken last (SHARE_BODY_BYTES), c.length bytes, at most once and before
 * share_taker_publish(). From now on these bytes are what was said, whatever the process writes.
 */
void share_taker_body(struct share_taker *t, const struct share_tables *tables, const struct share_taken *taken,
                      void *to);

/* Slots that were taken are the process's again. */
void share_taker_publish(struct share_taker *t);

#endif
