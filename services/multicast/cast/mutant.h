/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. CAST_MUTANT(NAME) is the constant false, and what it guards
 * is in no program, but for one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. Each says which rule it breaks: a number of that header's list.
 */
#ifndef SERVICES_MULTICAST_CAST_MUTANT_H
#define SERVICES_MULTICAST_CAST_MUTANT_H

enum cast_mutant {
    CAST_MUTANT_NONE = 0,
    /* A member says that it lacks nothing when a round ends: rounds.h 2. */
    CAST_MUTANT_LACKS_NOTHING = 1,
    /* The source forgets what a member reports as lacking: rounds.h 3. */
    CAST_MUTANT_FORGETS_LACK = 2,
    /* A piece's number in the tree is taken for that in the message: receiver.h 1. */
    CAST_MUTANT_WRONG_PLACE = 3,
    /* A parent does not care whether its child knows that the tree has ended: edge.h 3. */
    CAST_MUTANT_KEEPS_ALL = 4,
    /* A server lets go of what its children may lack: the meaning of a ring's base (ring.h; cast_session_advance()). */
    CAST_MUTANT_BASE_AHEAD = 5,
    /* What is lost on a link is not sent again: edge.h 2. */
    CAST_MUTANT_NO_REPEAT = 6,
    /* A server that loses its parent gets no other: plan.h, every member that can be reached hears by every tree. */
    CAST_MUTANT_NO_MEND = 7,
    /* A piece that comes twice is given to the sink twice: receiver.h 1, and A2. */
    CAST_MUTANT_GIVES_TWICE = 8,
    /* A member that has it all forgets it when it loses sight of the source: receiver.h 1, as it all comes again. */
    CAST_MUTANT_FORGETS_END = 9,
    /* A member that loses sight of the source forgets what it has of the trees: session.h, cast_session_leave(). */
    CAST_MUTANT_FORGETS_TREES = 10,
    /* A tree has as many pieces under way while servers come and go as at rest: stripe.h 3. */
    CAST_MUTANT_CARELESS = 11,
    /* New pieces go by trees with several edges at the source, whatever that costs: rounds.h 5. */
    CAST_MUTANT_ANY_TREE = 12,
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t multicast_mutants_in; /* set of 1 << enum cast_mutant */
#define CAST_MUTANT(name) ((multicast_mutants_in >> CAST_MUTANT_##name & 1) != 0)
#else
#define CAST_MUTANT(name) false
#endif

#endif
