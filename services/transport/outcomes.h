/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcomes.h - what became of the messages of one association, at their receiver (transport rule 3). So a message is
 * taken once, and its sender told the result, however often its packets come.
 *
 * Covers the SEGMENT_NUMBERS numbers from the floor on. The sender raises the floor over the messages whose results it
 * was told, and begins none beyond the last number.
 */
#ifndef SERVICES_TRANSPORT_OUTCOMES_H
#define SERVICES_TRANSPORT_OUTCOMES_H

#include "services/transport/segment.h"

enum { OUTCOMES_WORDS = SEGMENT_NUMBERS / 64 };

struct outcomes {
    uint32_t floor;
    uint64_t known[OUTCOMES_WORDS]; /* bit number % SEGMENT_NUMBERS */
    uint64_t tell[OUTCOMES_WORDS];  /* a subset of known: to be told with the next acknowledgement */
    uint16_t result[SEGMENT_NUMBERS];
};

enum outcome { OUTCOME_OPEN, OUTCOME_KNOWN, OUTCOME_OUTSIDE };

void outcomes_restart(struct outcomes *o, uint32_t floor);
/* Forgets the numbers below `floor`. A floor that is not ahead of ours is ignored: it was sent before a later one. */
void outcomes_raise(struct outcomes *o, uint32_t floor);
/* OPEN: it may begin, or go on. OUTSIDE: it ended before the floor, or is beyond what may be begun. */
enum outcome outcomes_of(const struct outcomes *o, uint32_t number);
/* Remembers the result of an OPEN number, to be told. Nothing happens to any other. */
void outcomes_end(struct outcomes *o, uint32_t number, uint16_t result);
/* The sender has not heard the result of a KNOWN number: it is told again. */
void outcomes_tell(struct outcomes *o, uint32_t number);
bool outcomes_untold(const struct outcomes *o);
/* Writes up to `most` results that are to be told into note, which marks them as told; returns how many. */
unsigned outcomes_notes(struct outcomes *o, struct segment_note *note, unsigned most);

#endif
