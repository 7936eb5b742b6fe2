/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs of groups and messages on purpose, to test the tests. GROUP_MUTANT(NAME) is the constant
 * false, and what it guards is in no program, but for one build of these sources with CW_MUTANTS that tests/sim makes
 * for itself (as linkstate/mutant.h). A number names a bug for ever. Each says which rule it breaks: a number of that
 * header's list.
 */
#ifndef SERVICES_MULTICAST_GROUP_MUTANT_H
#define SERVICES_MULTICAST_GROUP_MUTANT_H

enum group_mutant {
    GROUP_MUTANT_NONE = 0,
    /* A new root answers at once: membership.h 2. */
    GROUP_MUTANT_NO_SETTLE = 1,
    /* Members do not announce themselves anew when the view changes: membership.h 1, announcer.h 2. */
    GROUP_MUTANT_NOT_UNSURE = 2,
    /* Members do not announce themselves from time to time: membership.h 1, announcer.h 2. */
    GROUP_MUTANT_NO_REFRESH = 3,
    /* An older announcement takes the place of a newer one: table.h 2. */
    GROUP_MUTANT_ANY_SERIAL = 4,
    /* A join is acknowledged when it was sent: announcer.h 3, membership.h 1. */
    GROUP_MUTANT_ACK_UNSAID = 5,
    /* Groups of one name are one group: membership.h 4. */
    GROUP_MUTANT_ONE_JOB = 6,
    /* Reliable messages go to the members of some time ago: PUBLISHER_STALE of publisher.h, a reliable one asks. */
    GROUP_MUTANT_STALE_SET = 7,
    /* A message that arrives twice is delivered twice: datagram_window.h 1. */
    GROUP_MUTANT_NO_WINDOW = 8,
    /* A sender that began anew is taken for its former life: datagram_window.h 1 and 3. */
    GROUP_MUTANT_NO_LIFE = 9,
    /* What is not acknowledged is not sent again: datagrams.h 2. */
    GROUP_MUTANT_NO_REPEAT = 10,
    /* One acknowledgement counts for all members: datagrams.h 2. */
    GROUP_MUTANT_ACK_FOR_ALL = 11,
    /* Messages are delivered until the root knows that this server has left: leave() of cubeway/multicast.h. */
    GROUP_MUTANT_LATE_LEAVE = 12,
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t group_mutants_in; /* set of 1 << enum group_mutant */
#define GROUP_MUTANT(name) ((group_mutants_in >> GROUP_MUTANT_##name & 1) != 0)
#else
#define GROUP_MUTANT(name) false
#endif

#endif
