/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcomes.h - what became of the messages of one association at their receiver: what makes a message be taken once,
 * and its sender told, however often its packets come.
 *
 * Of the SEGMENT_NUMBERS numbers from the floor on; the sender raises the floor over those it has been told of, and
 * begins none beyond.
 */
#ifndef SERVICES_TRANSPORT_OUTCOMES_H
#define SERVICES_TRANSPORT_OUTCOMES_H

#include "services/transport/segment.h"

enum { OUTCOMES_WORDS = SEGMENT_NUMBERS / 64 };

struct outcomes {
    uint32_t floor;
    uint64_t known[OUTCOMES_WORDS]; /* bit number % SEGMENT_NUMBERS */
    uint64_t tell[OUTCOMES_WORDS];  /* of these: to be told with the next acknowledgement */
    uint16_t result[SEGMENT_NUMBERS];
};

enum outcome { OUTCOME_OPEN, OUTCOME_KNOWN, OUTCOME_OUTSIDE };

void outcomes_restart(struct outcomes *o, uint32_t floor);
/* Numbers below it are forgotten. One that is not ahead is ignored: it was said before a later one. */
void outcomes_raise(struct outcomes *o, uint32_t floor);
/* OPEN: it may begin, or go on. OUTSIDE: it ended before the floor, or is beyond what may be begun. */
enum outcome outcomes_of(const struct outcomes *o, uint32_t number);
/* The end of an OPEN one; it will be told. */
void outcomes_end(struct outcomes *o, uint32_t number, uint16_t result);
/* Its sender did not hear: a KNOWN one is told again. */
void outcomes_tell(struct outcomes *o, uint32_t number);
bool outcomes_untold(const struct outcomes *o);
/* Takes up to most of those to be told into note. */
unsigned outcomes_notes(struct outcomes *o, struct segment_note *note, unsigned most);

#endif
