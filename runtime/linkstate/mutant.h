/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests (semantics 8.3).
 *
 * MUTANT(NAME) marks in the code where a rule would be forgotten. It is the constant false, and what it guards is in no
 * program, but for one build of these sources with CW_MUTANTS, which tests/sim makes for itself: there mutants_in says
 * which bugs are in, and tests/sim/mutants.py demands that each is found. A number names a bug for ever.
 */
#ifndef LINKSTATE_MUTANT_H
#define LINKSTATE_MUTANT_H

enum mutant {
    MUTANT_NONE = 0,
    MUTANT_ACK_BY_INCARNATION = 1,       /* acks name the incarnation only, not the record version */
    MUTANT_NO_LOOKTHROUGH = 2,           /* O looks through one's own pending links only */
    MUTANT_ACK_OVERTAKES = 3,            /* acks do not wait for the records before them */
    MUTANT_FROZEN_WAIT_SET = 4,          /* a round waits for those who were there when it began */
    MUTANT_NO_EXCHANGE = 5,              /* admission before the databases were exchanged */
    MUTANT_NO_NEIGHBOUR_INCARNATION = 6, /* a link counts whatever incarnation its ends name */
    MUTANT_NO_HOLD = 7,                  /* whoever is unreachable leaves O at once */
    MUTANT_NO_FENCE = 8,                 /* a server without a lease goes on */
    MUTANT_NO_GATE = 9,                  /* data is forwarded before the control it was sent after */
    MUTANT_LIVEBFS = 10,                 /* keys are inherited over live servers only */
    MUTANT_HELD_NOT_WAITED = 11,         /* a round does not wait for servers that are held in O */
    MUTANT_FOLLOW_WITHOUT_ROUND = 12,    /* the far end goes up as soon as the near end has */
    MUTANT_NO_LEASE_ECHO = 13,           /* the lease runs from the last hello heard, not from the last one echoed */
    MUTANT_REPLACE_IN_PLACE = 14, /* a newer record is sent at the place of an older one, before what it builds on */
    MUTANT_OPEN_EXCHANGE = 15,    /* records of an exchange are applied and passed on one by one */
    MUTANT_ONE_ROUND =
        16, /* only the lower end asks everybody; the far end follows when it has seen the link pending */
    MUTANT_GAIN_BY_SERVER = 17, /* a round starts again for a new server only, not for a new link */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t mutants_in; /* set of 1 << enum mutant */
#define MUTANT(name) ((mutants_in >> MUTANT_##name & 1) != 0)
#else
#define MUTANT(name) false
#endif

#endif
