/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. STREAM_MUTANT(NAME) is the constant false, and what it
 * guards is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. "rule N" is that of docs/services/aggregate.md which it breaks.
 */
#ifndef SERVICES_AGGREGATE_STREAM_MUTANT_H
#define SERVICES_AGGREGATE_STREAM_MUTANT_H

enum stream_mutant {
    STREAM_MUTANT_NONE = 0,
    STREAM_MUTANT_OLD_ATTEMPT = 1,    /* rule 21: blocks of an earlier attempt are taken */
    STREAM_MUTANT_OWN_TWICE = 2,      /* rule 22: in a second attempt a server's own records go in twice */
    STREAM_MUTANT_CHILD_MISSING = 3,  /* rule 23: a partition goes on without a child that is late */
    STREAM_MUTANT_KEPT = 4,           /* rule 25: without a contributor, what was whole with it is kept */
    STREAM_MUTANT_NO_CREDIT = 5,      /* rule 24: a child sends before its parent has room */
    STREAM_MUTANT_REST_KEPT = 6,      /* rule 26: of a partition that was under way, what is kept comes again */
    STREAM_MUTANT_OPENED_AGAIN = 7,   /* rule 27: a grant that comes late opens a partition again */
    STREAM_MUTANT_NAMED_EARLY = 8,    /* rule 28: a part of the result gets its name before all are held */
    STREAM_MUTANT_COMMIT_ENDS = 9,    /* rule 29: who is told that its part gets its name tells nobody else */
    STREAM_MUTANT_FEED_CUT = 10,      /* rule 30: a feed whose program has gone counts as far as it came */
    STREAM_MUTANT_HEIR_FORGETS = 11,  /* rule 31: who stands in for another one puts in its own records only */
    STREAM_MUTANT_HEIR_OF_HEIR = 12,  /* rule 31: when an heir is gone, nobody is asked for what it stood in for */
    STREAM_MUTANT_ANY_DIGEST = 13,    /* rule 32: a server's own module of that name is taken, whatever its digest */
    STREAM_MUTANT_KEY_AGAIN = 14,     /* rule 26: and so does the last key of what is kept */
    STREAM_MUTANT_LAST_KEY_OPEN = 15, /* rule 26: nor is that key complete, where its records stay apart */
    STREAM_MUTANT_JOB_UNBOUND = 16,   /* rule 33: a job takes more memory than its share */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t stream_mutants_in; /* set of 1 << enum stream_mutant */
#define STREAM_MUTANT(name) ((stream_mutants_in >> STREAM_MUTANT_##name & 1) != 0)
#else
#define STREAM_MUTANT(name) false
#endif

#endif
