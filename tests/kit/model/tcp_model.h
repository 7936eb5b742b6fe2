/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_model.h - one TCP connection as a network sees it: when segments are sent, and what is answered. For figures of
 * all to all in the simulator: thousands of connections in one process, no payload looked at.
 *
 * The sender has slow start from 10 segments and congestion avoidance with half the window at a loss (NewReno),
 * selective acknowledgements, losses found by time (RACK, RFC 8985: a segment is lost when one that was sent later by a
 * quarter of the least round trip has come), ECN (RFC 3168: half the window once a round trip), and a time-out from
 * the measured round trip, at least 200 ms, that doubles. The receiver acknowledges every second segment, at once
 * where something is missing or marked, and otherwise after 40 ms. Numbers are Linux's.
 *
 * Segments are counted from 0; all are equally long. What a program does with a packet (addresses, heads, bytes) is the
 * owner's: send() below is told segments only. A selective acknowledgement has a bit for each segment of the window, so
 * that no block is ever missing of it; it is to take the place of one block.
 */
#ifndef KIT_TCP_MODEL_H
#define KIT_TCP_MODEL_H

#include "cubeway/time.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    TCP_WINDOW = 64, /* segments on their way at most: the bits of a word */
    TCP_BURST = 7,   /* segments of one packet */
};

/* Asks the owner to send segments at .. at + count - 1; reduced: the packet says that the window was (CWR). */
struct tcp_send {
    void (*data)(void *context, uint32_t at, uint32_t count, bool reduced);
    /* An acknowledgement of all before `expected`, and of those after it whose bit is set; echo: marks came (ECE). */
    void (*ack)(void *context, uint32_t expected, uint64_t beyond, bool echo);
    void *context;
};

struct tcp_counts {
    uint64_t again, timeouts, reduced;
};

/* Zeroed, and tcp_begin(). Members are read by anybody. */
struct tcp_model {
    /* The sender: bits of sets are segments from `first` on. */
    uint32_t total; /* segments to send; UINT32_MAX: without end */
    uint32_t first, next;
    uint32_t window, grown, threshold, recover, reduced_at;
    bool recovering, say_reduced;
    uint64_t came, lost, again;
    cw_time sent[TCP_WINDOW], newest;
    cw_span round_trip, deviation, least, timeout;
    cw_time deadline; /* CW_NEVER: nothing is on its way */
    struct tcp_counts counts;
    /* The receiver. */
    uint32_t expected, unacknowledged;
    uint64_t beyond; /* bit i: segment expected + i */
    bool echo;
    cw_time ack_due; /* CW_NEVER: none is owed */
};

void tcp_begin(struct tcp_model *c, uint32_t total);
/* Sends what the window lets. */
void tcp_send_more(struct tcp_model *c, const struct tcp_send *to, cw_time now);
/* Data came to the receiver. */
void tcp_data_came(struct tcp_model *c, uint32_t at, uint32_t count, bool marked, bool reduced,
                   const struct tcp_send *to, cw_time now);
/* An acknowledgement came to the sender. */
void tcp_ack_came(struct tcp_model *c, uint32_t expected, uint64_t beyond, bool echo, const struct tcp_send *to,
                  cw_time now);
/* Asked now and then at either end: time-outs, losses that time tells, acknowledgements that are owed. */
void tcp_sender_tick(struct tcp_model *c, const struct tcp_send *to, cw_time now);
void tcp_receiver_tick(struct tcp_model *c, const struct tcp_send *to, cw_time now);

static inline bool tcp_all_sent(const struct tcp_model *c)
{
    return c->first == c->total;
}

#endif
