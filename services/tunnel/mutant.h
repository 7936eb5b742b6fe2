/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. TUNNEL_MUTANT(NAME) is the constant false, and what it
 * guards is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever.
 */
#ifndef SERVICES_TUNNEL_MUTANT_H
#define SERVICES_TUNNEL_MUTANT_H

enum tunnel_mutant {
    TUNNEL_MUTANT_NONE = 0,
    TUNNEL_MUTANT_SEQUENCE_STAYS = 1,    /* each piece of a TCP packet has the sequence number of the first */
    TUNNEL_MUTANT_PUSH_ON_EACH = 2,      /* PSH and FIN stay set on all pieces, not on the last one only */
    TUNNEL_MUTANT_CWR_ON_EACH = 3,       /* CWR stays set on all pieces, not on the first one only */
    TUNNEL_MUTANT_ID_ALIKE = 4,          /* all pieces have the same IPv4 identification */
    TUNNEL_MUTANT_OLD_PSEUDO_SUM = 5,    /* a piece has the pseudo-head's sum of the packet that it was cut from */
    TUNNEL_MUTANT_JOIN_OVER_HOLE = 6,    /* pieces are joined whose sequence numbers do not follow each other */
    TUNNEL_MUTANT_JOIN_ANY_ACK = 7,      /* pieces are joined whose acknowledgements, windows or options differ */
    TUNNEL_MUTANT_CE_LOST = 8,           /* pieces are joined whose traffic classes differ: a mark is lost */
    TUNNEL_MUTANT_ANY_SOURCE = 9,        /* the source address of a packet is not looked at */
    TUNNEL_MUTANT_JOIN_AFTER_SHORT = 10, /* pieces are joined behind a segment that is shorter than the others */
    TUNNEL_MUTANT_LATE_DROPPED = 11,     /* a piece that comes after its number was given up is dropped */
    TUNNEL_MUTANT_LIFE_IGNORED = 12,     /* the numbers of a new life are taken for those of the one before */
    TUNNEL_MUTANT_NEVER_GIVEN_UP = 13,   /* a strand waits for ever for a number that was lost */
    TUNNEL_MUTANT_GIVEN_UP_AT_ONCE = 14, /* a strand waits for nothing */
    TUNNEL_MUTANT_ICMP_ABOUT_ICMP = 15,  /* an ICMP error is answered by another one */
    TUNNEL_MUTANT_MARK_UNHEARD = 16,     /* a mark of a server on the way is not told to TCP */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t tunnel_mutants_in; /* set of 1 << enum tunnel_mutant */
#define TUNNEL_MUTANT(name) ((tunnel_mutants_in >> TUNNEL_MUTANT_##name & 1) != 0)
#else
#define TUNNEL_MUTANT(name) false
#endif

#endif
