/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. AGG_MUTANT(NAME) is the constant false, and what it guards
 * is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. "rule N" is the rule of docs/services/aggregate.md that it
 * breaks.
 */
#ifndef SERVICES_AGGREGATE_DENSE_MUTANT_H
#define SERVICES_AGGREGATE_DENSE_MUTANT_H

enum aggregate_mutant {
    AGG_MUTANT_NONE = 0,
    AGG_MUTANT_OLD_ATTEMPT = 1,   /* rule 2: blocks of an earlier attempt are taken */
    AGG_MUTANT_TWICE = 2,         /* rule 3: a child's block is added twice */
    AGG_MUTANT_CHILD_MISSING = 3, /* rule 4: a block goes on when the first child is in it */
    AGG_MUTANT_KEPT = 4,          /* rule 6: without a contributor, what was settled with it is kept */
    AGG_MUTANT_NO_CREDIT = 5,     /* rule 5: credit is not looked at */
    AGG_MUTANT_LAST_BLOCK = 6,    /* rule 1: the last block, when it is short, is left out */
    AGG_MUTANT_COMMIT_EARLY = 7,  /* rule 7: members are told to take a result that not all of them have */
    AGG_MUTANT_ANY_ORDER = 9,     /* rule 9: what is to meet in a fixed order meets as it comes */
    AGG_MUTANT_SMALL_LEFT = 8,    /* rule 8: the small vector of one who has left stays in the result */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t aggregate_mutants_in; /* set of 1 << enum aggregate_mutant */
#define AGG_MUTANT(name) ((aggregate_mutants_in >> AGG_MUTANT_##name & 1) != 0)
#else
#define AGG_MUTANT(name) false
#endif

#endif
