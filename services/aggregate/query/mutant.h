/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. QUERY_MUTANT(NAME) is the constant false, and what it guards
 * is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. "rule N" is the rule of docs/services/query.md that it breaks.
 */
#ifndef SERVICES_AGGREGATE_QUERY_MUTANT_H
#define SERVICES_AGGREGATE_QUERY_MUTANT_H

enum query_mutant {
    QUERY_MUTANT_NONE = 0,
    QUERY_MUTANT_OVERLAP = 1,        /* rule 9: the sets of servers are not compared */
    QUERY_MUTANT_OTHER_QUESTION = 2, /* rule 10: a part of another question of the same asker is taken */
    QUERY_MUTANT_OWN_TWICE = 3,      /* rule 11: a server that passes others' parts on puts its own in again */
    QUERY_MUTANT_SET_LOST = 4,       /* rule 12: the servers of a part that was taken are not noted */
    QUERY_MUTANT_REFUSED_NAMED = 5,  /* rule 12: the servers of a part that was not taken are noted */
    QUERY_MUTANT_NO_DEADLINE = 6,    /* rule 13: the asker waits for whoever is silent */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t query_mutants_in; /* set of 1 << enum query_mutant */
#define QUERY_MUTANT(name) ((query_mutants_in >> QUERY_MUTANT_##name & 1) != 0)
#else
#define QUERY_MUTANT(name) false
#endif

#endif
