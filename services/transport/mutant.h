/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. TP_MUTANT(NAME) is the constant false, and what it guards is
 * in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. "rule N" is the rule of docs/services/transport.md that it
 * breaks.
 */
#ifndef SERVICES_TRANSPORT_MUTANT_H
#define SERVICES_TRANSPORT_MUTANT_H

enum transport_mutant {
    TP_MUTANT_NONE = 0,
    TP_MUTANT_TAKE_TWICE = 1, /* rule 3: outcomes are not looked at, so that a message that has ended may begin again */
    TP_MUTANT_ANY_ASSOCIATION = 2, /* rule 4: the receiver takes packets of any association */
    TP_MUTANT_NO_GOT = 3,          /* rule 5: parts that came twice count twice */
    TP_MUTANT_NO_REPEAT = 4,       /* rule 6: what is lost is not sent again */
    TP_MUTANT_BLIND_RESTART = 5,   /* rule 7: after a reset all messages are sent again, asked for or not */
    TP_MUTANT_DONE_WHEN_SENT = 6,  /* rule 2: a message is done when its parts have come, not when it was taken */
    TP_MUTANT_FOREVER = 7,         /* rule 10: memory of messages that end unfinished is not given back */
    TP_MUTANT_WRONG_SLOT = 8,      /* rule 5: pieces out of order go one slot further */
    TP_MUTANT_NO_ROOT_CHECK = 9,   /* rule 9: any server that gets a message for a key takes it */
    TP_MUTANT_TRIED_AGAIN = 10,    /* rule 8: a restarted message goes again to an incarnation that may have taken it */
    TP_MUTANT_HEAD_ONCE = 11,      /* rule 14: a message's head is in its first part alone, which others overtake */
    TP_MUTANT_ASKS_ONCE = 12,      /* rule 15: a message that is to wait asks again only when permission comes */
    TP_MUTANT_LOST_STARVES = 13,   /* rule 16: a message that waits for more bytes does not repeat what was lost */
    TP_MUTANT_NO_TURNS = 14,       /* rule 17: of the messages to one peer the first sends as much as it may */
    TP_MUTANT_NEXT_PLACE = 15,     /* rule 5: in the second place of a part the part begins once more */
    TP_MUTANT_MAIN_PLACE = 16,     /* rule 18: data of the background waits in the main place */
    TP_MUTANT_BACKGROUND_BLOCKS = 17, /* rule 18: where the background place is full, nobody sends */
    TP_MUTANT_KEEPS_PROCESS = 18,     /* rule 19: a message whose key has a new root keeps the process of the old one */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t transport_mutants_in; /* set of 1 << enum transport_mutant */
#define TP_MUTANT(name) ((transport_mutants_in >> TP_MUTANT_##name & 1) != 0)
#else
#define TP_MUTANT(name) false
#endif

#endif
