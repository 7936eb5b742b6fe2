/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - which packets of one association have come, for its acknowledgements: the newest, and one bit for each
 * of the 256 before it.
 */
#ifndef SERVICES_TRANSPORT_ARRIVALS_H
#define SERVICES_TRANSPORT_ARRIVALS_H

#include "cubeway/time.h"

enum { ARRIVALS_WORDS = 4 };

struct arrivals {
    bool any;
    uint32_t newest;
    uint64_t word[ARRIVALS_WORDS]; /* bit i of word w: newest - 1 - (64 w + i) */
    cw_time at;                    /* when newest came */
};

/* True when this very packet is known to have come. */
bool arrivals_has(const struct arrivals *a, uint32_t packet);
/* The packet has come. One older than all bits is not noted: its sender will repeat it under another number. */
void arrivals_note(struct arrivals *a, uint32_t packet, cw_time now);
/* How many words are in use: those behind are 0. */
unsigned arrivals_words(const struct arrivals *a);

#endif
