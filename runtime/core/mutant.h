/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. NODE_MUTANT(NAME) is the constant false, and what it guards
 * is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever; its comment begins with the invariant of docs/semantics.md that
 * the bug breaks.
 */
#ifndef CORE_MUTANT_H
#define CORE_MUTANT_H

enum node_mutant {
    NODE_MUTANT_NONE = 0,
    NODE_MUTANT_UNKNOWN_DROPPED = 1,  /* 70: what passes by of a job that has no service here is dropped */
    NODE_MUTANT_ONE_TURN = 2,         /* 71: all jobs that have no service here wait in one queue */
    NODE_MUTANT_BY_DESTINATION = 3,   /* 71: the turns are of the jobs that packets are for */
    NODE_MUTANT_ONE_WEIGHT = 4,       /* 71: several jobs that have no service here count as one */
    NODE_MUTANT_NOT_SORTED = 5,       /* 70: what waits of such jobs is not routed anew when the view moves */
    NODE_MUTANT_MARK_CLEARED = 6,     /* 72: a server where a packet did not wait takes its mark away */
    NODE_MUTANT_BACKGROUND_FIRST = 7, /* 23: background places are served like all others */
    NODE_MUTANT_OWN_STARVES = 8,      /* 73: what a service begins waits until nothing passes by that wants the link */
    NODE_MUTANT_GUEST_LIFE = 9,       /* 50: every attachment has the same life */
    NODE_MUTANT_GUEST_MEANT = 10,     /* 50: what is meant for one attachment is handed to its successor */
    NODE_MUTANT_GUEST_STAMP = 11,     /* 50: packets of guests say the server's process */
    NODE_MUTANT_GUEST_ASKS = 12,      /* 50: a guest is judged by the grants of its host */
    NODE_MUTANT_GUEST_RIGHTS = 13,    /* 49: who asked a guest that goes is told nothing */
    NODE_MUTANT_GUEST_CALLS = 14,     /* 49: the calls of a guest that goes stay open */
    NODE_MUTANT_GUEST_QUEUE = 15,     /* 55: what a guest that goes has sent stays in the turns */
    NODE_MUTANT_GUEST_STALE = 16,     /* 50: a guest of an earlier generation of its job stays */
    NODE_MUTANT_GUEST_PORT = 17,      /* 50: keys go to guests that do not serve them, too */
    NODE_MUTANT_GUEST_KEY = 18,       /* 50: of several that serve a key, the last that came gets it */
    NODE_MUTANT_GUEST_ROOM = 19,      /* 22: a guest may have any number of packets waiting */
    NODE_MUTANT_GUEST_TOLD = 20,      /* 49: who was refused room is not told when there is some */
    NODE_MUTANT_GUEST_PLACE = 21,     /* 71: a guest's packets wait in the place of the service that they are for */
    NODE_MUTANT_GUEST_REFUSED = 22,   /* 49: requests for a process that is not here are dropped */
    NODE_MUTANT_GUEST_HERE = 23,      /* 22: a guest's packets that wait for their delivery here are not counted */
    NODE_MUTANT_GUEST_HELD = 24,      /* 55: what a guest that goes has sent to its own server keeps its number */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t node_mutants_in; /* set of 1 << enum node_mutant */
#define NODE_MUTANT(name) ((node_mutants_in >> NODE_MUTANT_##name & 1) != 0)
#else
#define NODE_MUTANT(name) false
#endif

#endif
