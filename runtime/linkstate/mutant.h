/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests (semantics 8.3).
 *
 * MUTANT(NAME) marks the place in the code where a rule would be forgotten. It is the constant false, so that what it
 * guards is in no program, except in one build of these sources with CW_MUTANTS, which tests/sim makes for itself:
 * there mutants_in says which bugs are in, and tests/sim/mutants.py demands that each is found. A number names a bug
 * for ever; its comment begins with the section of docs/semantics.md that has the rule which the bug breaks. The table
 * of 8.3 there says what finds it.
 */
#ifndef LINKSTATE_MUTANT_H
#define LINKSTATE_MUTANT_H

enum mutant {
    MUTANT_NONE = 0,
    MUTANT_ACK_BY_INCARNATION = 1,       /* 4.2, detail 1: acks name the incarnation only, not the record version */
    MUTANT_NO_LOOKTHROUGH = 2,           /* 4.2, detail 2: O looks through one's own pending links only */
    MUTANT_ACK_OVERTAKES = 3,            /* 4.2, detail 3: acks do not wait for the records before them */
    MUTANT_FROZEN_WAIT_SET = 4,          /* 4.2, detail 4: a round waits for those who were there when it began */
    MUTANT_NO_EXCHANGE = 5,              /* 4.2, detail 5: admission before the databases were exchanged */
    MUTANT_NO_NEIGHBOUR_INCARNATION = 6, /* 4.2, detail 5: a link counts whatever incarnation its ends name */
    MUTANT_NO_HOLD = 7,                  /* 4.2, removing: whoever is unreachable leaves O at once */
    MUTANT_NO_FENCE = 8,                 /* 4.2, removing: a server without a lease goes on */
    MUTANT_NO_GATE = 9,                  /* 4.4: data is forwarded before the control it was sent after */
    MUTANT_LIVEBFS = 10,                 /* 3.3: keys are inherited over live servers only */
    MUTANT_HELD_NOT_WAITED = 11,         /* 4.2, adding (2): a round does not wait for servers that are held in O */
    MUTANT_FOLLOW_WITHOUT_ROUND = 12,    /* 4.2, adding: the far end goes up as soon as the near end has */
    MUTANT_NO_LEASE_ECHO = 13,           /* 4.2, removing: the lease runs from the last hello, echoed or not */
    MUTANT_REPLACE_IN_PLACE = 14,        /* 4.3, in order: a newer record is sent at the place of an older one */
    MUTANT_OPEN_EXCHANGE = 15,           /* 4.3, whole: records of an exchange are applied and passed on one by one */
    MUTANT_ONE_ROUND = 16,               /* 4.3, each end: only the lower end asks everybody; the far end follows */
    MUTANT_GAIN_BY_SERVER = 17,          /* 4.3, each gain: a round starts again for a new server, not for a new link */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t mutants_in; /* set of 1 << enum mutant */
#define MUTANT(name) ((mutants_in >> MUTANT_##name & 1) != 0)
#else
#define MUTANT(name) false
#endif

#endif
