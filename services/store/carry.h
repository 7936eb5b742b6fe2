/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carry.h - questions, items and their answers on their way. What fits a packet is a call, one packet each way. What
 * does not is a *letter*, a request of the transport on a port of its own, which repeats what is lost by itself: a
 * letter is not sent again while it is under way.
 *
 * Long bytes are in *parcels*, which are counted: those of questions and of what comes of them at the leader, those of
 * items at a member, and those that a leader gives to members that lack them, each up to limits.hand_max. Who asks
 * waits when that is reached, by the transport; the sorts are apart, because a leader's items wait for other members,
 * and a member's for its disk alone, and because a member without room may keep waiting what it is given.
 */
#ifndef SERVICES_STORE_CARRY_H
#define SERVICES_STORE_CARRY_H

#include "services/store/internal.h"

/* A letter's tag is the port that it would have come to as a call, its head the bytes that its answer may have:32. */
enum { STORE_LETTER_HEAD = 4, STORE_LETTER_MOST = CW_STORE_VALUE_MAX + 8192, STORE_LETTER_S = 10 };

struct store_parcel {
    struct store *store;
    enum store_hand hand;
    unsigned users;
    size_t counted; /* against the hand */
    size_t size;
    uint8_t bytes[];
};

/* Where a letter with an item has a register as its record on the disk, whose first byte takes that of the item. */
enum { STORE_PARCEL_ITEM = STORE_ITEM_HEAD - 1 };

/* Who says something, and has a right to an answer. */
struct store_caller {
    cw_job job;
    cw_server server;
    unsigned port;
    struct store_right right;
    struct store_parcel *parcel; /* what it says, when it is a letter: may be kept, and an item's be written to */
};

/* Bytes, not written yet, of one user; extra: bytes that are counted with them. NULL: no memory. */
struct store_parcel *store_parcel_new(struct store *s, enum store_hand hand, size_t size, size_t extra);
/* One user more, and one less: the last one frees it. NULL is allowed. */
struct store_parcel *store_parcel_share(struct store_parcel *p);
void store_parcel_drop(struct store_parcel *p);
/*
 * A register as its record on the disk, which is a byte and then the register as items carry it. NULL: no memory.
 */
struct store_parcel *store_parcel_of(struct store *s, enum store_hand hand, const struct store_register *r);

/* Does a packet carry that many bytes of ours? */
bool store_carry_fits(const struct store *s, size_t size);
bool store_carry_fits_item(const struct store *s, const struct store_register *r);
/* Is the hand full, so that one more of those bytes has to wait? What is alone in it never does. */
bool store_carry_is_full(const struct store *s, enum store_hand hand, size_t bytes);
/* How much longer something of that size may take than what fits a packet, at a server with nothing else in hand. */
cw_span store_carry_span(const struct store *s, size_t size);

/* Answers: bytes are copied. And with a parcel, which it takes. */
void store_carry_answer(struct store *s, const struct store_right *to, const uint8_t *bytes, size_t size);
void store_carry_give(struct store *s, const struct store_right *to, struct store_parcel *parcel);

#endif
