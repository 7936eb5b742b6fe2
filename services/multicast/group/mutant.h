/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs of groups and messages on purpose, to test the tests. GROUP_MUTANT(NAME) is the constant
 * false, and what it guards is in no program, but for one build of these sources with CW_MUTANTS that tests/sim makes
 * for itself (as linkstate/mutant.h). A number names a bug for ever.
 */
#ifndef SERVICES_MULTICAST_GROUP_MUTANT_H
#define SERVICES_MULTICAST_GROUP_MUTANT_H

enum group_mutant {
    GROUP_MUTANT_NONE = 0,
    GROUP_MUTANT_NO_SETTLE = 1,    /* a new root answers at once */
    GROUP_MUTANT_NOT_UNSURE = 2,   /* members do not announce themselves anew when the view changes */
    GROUP_MUTANT_NO_REFRESH = 3,   /* members do not announce themselves from time to time */
    GROUP_MUTANT_ANY_SERIAL = 4,   /* an older announcement takes the place of a newer one */
    GROUP_MUTANT_ACK_UNSAID = 5,   /* a join is acknowledged when it was sent */
    GROUP_MUTANT_ONE_JOB = 6,      /* groups of one name are one group */
    GROUP_MUTANT_STALE_SET = 7,    /* reliable messages go to the members of some time ago */
    GROUP_MUTANT_NO_WINDOW = 8,    /* a message that arrives twice is delivered twice */
    GROUP_MUTANT_NO_LIFE = 9,      /* a sender that began anew is taken for its former life */
    GROUP_MUTANT_NO_REPEAT = 10,   /* what is not acknowledged is not sent again */
    GROUP_MUTANT_ACK_FOR_ALL = 11, /* one acknowledgement counts for all members */
    GROUP_MUTANT_LATE_LEAVE = 12,  /* messages are delivered until the root knows that this server has left */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t group_mutants_in; /* set of 1 << enum group_mutant */
#define GROUP_MUTANT(name) ((group_mutants_in >> GROUP_MUTANT_##name & 1) != 0)
#else
#define GROUP_MUTANT(name) false
#endif

#endif
