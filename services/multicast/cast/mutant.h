/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. CAST_MUTANT(NAME) is the constant false, and what it guards
 * is in no program, but for one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever.
 */
#ifndef SERVICES_MULTICAST_CAST_MUTANT_H
#define SERVICES_MULTICAST_CAST_MUTANT_H

enum cast_mutant {
    CAST_MUTANT_NONE = 0,
    CAST_MUTANT_LACKS_NOTHING = 1, /* a member says that it lacks nothing when a round ends */
    CAST_MUTANT_FORGETS_LACK = 2,  /* the source forgets what a member reports as lacking */
    CAST_MUTANT_WRONG_PLACE = 3,   /* a piece's number in the tree is taken for that in the message */
    CAST_MUTANT_KEEPS_ALL = 4,     /* a parent does not care whether its child knows that the tree has ended */
    CAST_MUTANT_BASE_AHEAD = 5,    /* a server lets go of what its children may lack */
    CAST_MUTANT_NO_REPEAT = 6,     /* what is lost on a link is not sent again */
    CAST_MUTANT_NO_MEND = 7,       /* a server that loses its parent gets no other */
    CAST_MUTANT_GIVES_TWICE = 8,   /* a piece that comes twice is given to the sink twice */
    CAST_MUTANT_FORGETS_END = 9,   /* a member that has it all forgets it when it loses sight of the source */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t multicast_mutants_in; /* set of 1 << enum cast_mutant */
#define CAST_MUTANT(name) ((multicast_mutants_in >> CAST_MUTANT_##name & 1) != 0)
#else
#define CAST_MUTANT(name) false
#endif

#endif
