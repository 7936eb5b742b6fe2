/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note_window.h - which numbers of one sender have been here: so that nothing is taken twice (as IPsec's replay window, RFC 4303 3.4.3).
 *
 *  1. A number is fresh at most once in a life of the sender.
 *  2. Numbers within NOTE_WINDOW of the newest are told apart; older ones are none of ours any more. A sender that waits for answers keeps its own
 *     numbers within NOTE_WINDOW / 2 of one another, so that none that it repeats is ever too old.
 *  3. A life that has been followed by another is over.
 *
 * Pure, a plain value; zeroed it has seen nothing.
 */
#ifndef SERVICES_MULTICAST_GROUP_NOTE_WINDOW_H
#define SERVICES_MULTICAST_GROUP_NOTE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTE_WINDOW = 512, NOTE_WINDOW_WORDS = NOTE_WINDOW / 64 };

struct note_window {
    uint64_t life, over;                                          /* over: the one before */
    uint64_t newest;                                              /* 0: none */
    uint64_t seen[NOTE_WINDOW_WORDS], refused[NOTE_WINDOW_WORDS]; /* by number % NOTE_WINDOW */
};

enum note_seen { NOTE_FRESH, NOTE_TAKEN, NOTE_REFUSED, NOTE_TOO_OLD };

/* What is known of a number (from 1 on); nothing changes. */
enum note_seen note_window_look(const struct note_window *w, uint64_t life, uint64_t number);
/* A fresh one has been taken, or refused. */
void note_window_mark(struct note_window *w, uint64_t life, uint64_t number, bool taken);

#endif
