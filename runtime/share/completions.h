/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completions.h - how commands end: the ring by which a daemon tells it, and a process hears it.
 *
 *   word 0   kind:8 flags:8 status:16 endpoint:16 items:16
 *   word 1   user:64
 *   word 2   length:64
 *   word 3   handle:64
 *
 * No end is lost: whoever takes a command reserves a slot for its end first (commands.h), so the ring, which has twice
 * the slots of the command ring, never overflows. A process that does not look at its ends stops only itself: no more
 * commands of it are taken.
 */
#ifndef SHARE_COMPLETIONS_H
#define SHARE_COMPLETIONS_H

#include "cubeway/types.h"
#include "share/layout.h"
#include "share/shared.h"

enum share_end_kind {
    SHARE_END_SENT = 1,   /* of what sends */
    SHARE_END_ANSWER = 2, /* of a request */
    SHARE_END_RMA = 3,    /* of a read or write */
    SHARE_END_DONE = 4,   /* of what opens and closes: handle is the number that it got */
    SHARE_END_REFUSED = 5 /* the command was no good, and nothing was done: handle is enum share_verdict */
};

struct share_completion {
    uint64_t user, length, handle;
    int16_t status; /* 0 or -errno */
    uint16_t endpoint, items;
    uint8_t kind, flags;
};

enum { SHARE_COMPLETION_WORDS = SHARE_COMPLETION_BYTES / 8 };

void share_completion_encode(const struct share_completion *c, uint64_t word[static SHARE_COMPLETION_WORDS]);
struct share_completion share_completion_decode(const uint64_t word[static SHARE_COMPLETION_WORDS]);

/* The daemon's side. */
struct share_teller {
    struct share_out com;
    struct share_in sub;
    uint32_t slots;
    uint32_t tail;      /* told, published or not */
    uint32_t published; /* the tail that the process may see */
    uint32_t head_seen;
    uint32_t reserved; /* slots of commands that are under way */
    bool broken;       /* its head is out of bounds: nothing is read from it any more */
};

/* Borrows both areas. They are zeroed, or all indices are `start` (for tests of their wrap). */
void share_teller_open(struct share_teller *t, const struct share_out *com, const struct share_in *sub,
                       const struct share_geometry *g, uint32_t start);

/* A slot for the end of one more command: 1; 0: there is none now; -EPROTO: broken. */
CW_MUST_CHECK int share_teller_reserve(struct share_teller *t);
/* Uses a reserved slot. The process sees it after share_teller_publish(). */
void share_teller_tell(struct share_teller *t, const struct share_completion *c);
/* Gives a reserved slot back: the command has ended well and did not ask to be told. */
void share_teller_keep_silent(struct share_teller *t);
/* Once a turn. True: there was something, so whoever rests is to be woken (rest.h). */
bool share_teller_publish(struct share_teller *t);

/* The process's side. */
struct share_listener {
    struct share_in com;
    struct share_out sub;
    uint32_t slots;
    uint32_t head, tail_seen;
    bool broken;
};

void share_listener_open(struct share_listener *l, const struct share_in *com, const struct share_out *sub,
                         const struct share_geometry *g, uint32_t start);
/* The next end: 1; 0: none now; -EPROTO: the daemon's index is out of bounds, which no daemon does. */
CW_MUST_CHECK int share_listener_next(struct share_listener *l, struct share_completion *out);
/* Slots that were read are the daemon's again. */
void share_listener_publish(const struct share_listener *l);

#endif
