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
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t node_mutants_in; /* set of 1 << enum node_mutant */
#define NODE_MUTANT(name) ((node_mutants_in >> NODE_MUTANT_##name & 1) != 0)
#else
#define NODE_MUTANT(name) false
#endif

#endif
