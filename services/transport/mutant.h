/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. TP_MUTANT(NAME) is the constant false, and what it guards is in no program, but for
 * one build of these sources with CW_MUTANTS that tests/sim makes for itself (as linkstate/mutant.h). A number names a bug for ever.
 */
#ifndef SERVICES_TRANSPORT_MUTANT_H
#define SERVICES_TRANSPORT_MUTANT_H

enum transport_mutant {
    TP_MUTANT_NONE = 0,
    TP_MUTANT_TAKE_TWICE = 1,      /* outcomes are not looked at: a message that ended may begin again */
    TP_MUTANT_ANY_ASSOCIATION = 2, /* the receiver does not look whether a packet is of the association that is open */
    TP_MUTANT_NO_GOT = 3,          /* parts that came twice count twice */
    TP_MUTANT_NO_REPEAT = 4,       /* what is lost is not sent again */
    TP_MUTANT_BLIND_RESTART = 5,   /* after a reset all is sent again, asked or not */
    TP_MUTANT_DONE_WHEN_SENT = 6,  /* a message is done when its parts have come, not when it was taken */
    TP_MUTANT_FOREVER = 7,         /* memory of messages that end unfinished is not given back */
    TP_MUTANT_WRONG_SLOT = 8,      /* pieces out of order go one slot further */
    TP_MUTANT_NO_ROOT_CHECK = 9,   /* whoever gets a message for a key takes it */
    TP_MUTANT_TRIED_AGAIN = 10,    /* a restarted message goes again to one that may have taken it */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t transport_mutants_in; /* set of 1 << enum transport_mutant */
#define TP_MUTANT(name) ((transport_mutants_in >> TP_MUTANT_##name & 1) != 0)
#else
#define TP_MUTANT(name) false
#endif

#endif
