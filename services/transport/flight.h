/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flight.h - packets of one association that have left, by their number: which have come, which must be taken for lost.
 *
 * A packet is lost when one that left after it has come and `wait` has passed since it left: on a torus packets
 * overtake one another all the time, so order says nothing and time does (RACK, RFC 8985). One taken for lost is
 * remembered for a while: if it comes after all, its repetition was needless and the wait too short.
 */
#ifndef SERVICES_TRANSPORT_FLIGHT_H
#define SERVICES_TRANSPORT_FLIGHT_H

#include "cubeway/time.h"
#include "cubeway/types.h"

enum { FLIGHT_LEAST = 32, FLIGHT_MOST = 4096 };

enum flight_state { FLIGHT_GONE, FLIGHT_OUT, FLIGHT_LOST };

struct flight_packet {
    cw_time sent;
    uint32_t number, index; /* which part of which message */
    uint32_t bytes;
    enum flight_state state;
};

struct flight {
    struct flight_packet *ring;
    uint32_t capacity;    /* a power of two, or 0 */
    uint32_t first, next; /* packets remembered: first..next - 1, modulo 2^32 */
    uint32_t out;         /* how many of them are on their way */
    uint64_t out_bytes;
    uint32_t newest; /* the highest number that has come; meaningful when came */
    bool came;
};

/* Called with a packet that was on its way or, with lost, had been taken for lost; borrows it. */
typedef void (*flight_fn)(void *context, const struct flight_packet *p, bool lost);

/* Forgets all packets; the next one has the number `first`. */
void flight_restart(struct flight *f, uint32_t first);
void flight_close(struct flight *f);
/* Makes room for one packet. -EAGAIN: FLIGHT_MOST are remembered; -ENOMEM. */
CW_MUST_CHECK int flight_reserve(struct flight *f);
/* After flight_reserve(): adds a packet that leaves now, and gives its number. */
uint32_t flight_add(struct flight *f, cw_time now, uint32_t number, uint32_t index, uint32_t bytes);
/*
 * Packet newest has come, and of those before it the ones in word (segment.h). fn for each that had not; *sent (its
 * state apart) is newest, if it is news, and untouched if not. False: no such packet was ever sent.
 */
bool flight_ack(struct flight *f, uint32_t newest, const uint64_t *word, unsigned words, flight_fn fn, void *context,
                struct flight_packet *sent);
/* Calls fn for each packet that is lost by now. Gives when the next one may be lost, or CW_NEVER. */
cw_time flight_detect(struct flight *f, cw_span wait, cw_time now, flight_fn fn, void *context);
/* Takes all that is out for lost, with fn for each. */
void flight_lose_all(struct flight *f, flight_fn fn, void *context);
/* Gives memory back when nothing is out. */
void flight_rest(struct flight *f);

#endif
