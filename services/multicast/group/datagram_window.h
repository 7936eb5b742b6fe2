/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagram_window.h - which numbers of one sender have been here, so that nothing is taken twice (as the replay window
 * of IPsec, RFC 4303 3.4.3).
 *
 *  1. A number is fresh at most once in a life of the sender.
 *  2. Numbers within DATAGRAM_WINDOW of the newest are told apart; older ones are refused unseen. A sender that waits
 *     for answers keeps its numbers within DATAGRAM_WINDOW / 2 of one another, so that no number that it repeats is
 *     ever too old.
 *  3. A life that another one has followed is over: none of its numbers is taken.
 *
 * Pure, a plain value; zeroed it has seen nothing.
 */
#ifndef SERVICES_MULTICAST_GROUP_DATAGRAM_WINDOW_H
#define SERVICES_MULTICAST_GROUP_DATAGRAM_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { DATAGRAM_WINDOW = 512, DATAGRAM_WINDOW_WORDS = DATAGRAM_WINDOW / 64 };

struct datagram_window {
    uint64_t life, over;                                                  /* over: the one before */
    uint64_t newest;                                                      /* 0: none */
    uint64_t seen[DATAGRAM_WINDOW_WORDS], refused[DATAGRAM_WINDOW_WORDS]; /* by number % DATAGRAM_WINDOW */
};

enum datagram_seen { DATAGRAM_FRESH, DATAGRAM_TAKEN, DATAGRAM_REFUSED, DATAGRAM_TOO_OLD };

/* What is known of a number (from 1 on). Changes nothing. */
enum datagram_seen datagram_window_look(const struct datagram_window *w, uint64_t life, uint64_t number);
/* Records that a fresh number was taken, or refused. */
void datagram_window_mark(struct datagram_window *w, uint64_t life, uint64_t number, bool taken);

#endif
