/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. SHARE_MUTANT(NAME) is the constant false, and the code
 * behind it is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself. A
 * number names a bug for ever.
 */
#ifndef SHARE_MUTANT_H
#define SHARE_MUTANT_H

enum share_mutant {
    SHARE_MUTANT_NONE = 0,
    SHARE_MUTANT_TAIL_FREE = 1,        /* the tail of the command ring is not bounded */
    SHARE_MUTANT_TWICE = 2,            /* a command is loaded again after it was judged */
    SHARE_MUTANT_WRAP = 3,             /* offset + length is a sum that wraps */
    SHARE_MUTANT_GENERATION = 4,       /* the generation of a region is not compared */
    SHARE_MUTANT_DAEMON_NO_FENCE = 5,  /* no fence between the daemon's publishing and its look at who rests */
    SHARE_MUTANT_PROCESS_NO_FENCE = 6, /* none between a process's rest and its last look */
    SHARE_MUTANT_NO_RESERVE = 7,       /* a command is taken although no slot is free for its end */
    SHARE_MUTANT_NO_RECORD_ROOM = 8,   /* datagrams take the room that was reserved for windows */
    SHARE_MUTANT_LANE_BIT = 9,         /* a lane's record is taken although its endpoint's bit is not set */
    SHARE_MUTANT_LANE_HEAD_TWICE = 10, /* the head of a lane's record is loaded again after it was judged */
    SHARE_MUTANT_NO_SEQLOCK = 11,      /* the view is read without its seqlock */
    SHARE_MUTANT_RELEASE_HELD = 12,    /* the inbox is released past a message that is still held */
    SHARE_MUTANT_PUBLISH_EARLY = 13,   /* the tail is stored before the slot */
    SHARE_MUTANT_HEAD_BACK = 14,       /* the head of the completion ring may go back */
    SHARE_MUTANT_RESERVED_BITS = 15,   /* fields that an op does not have are not looked at */
    SHARE_MUTANT_NO_LOOK = 16,         /* the daemon goes to sleep without a last look at the command ring */
    SHARE_MUTANT_FILLER = 17,          /* a record may wrap round the end of the inbox */
    SHARE_MUTANT_PART_SUM = 18,        /* the parts of a long message need not add up to its length */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t share_mutants_in; /* set of 1 << enum share_mutant */
#define SHARE_MUTANT(name) ((share_mutants_in >> SHARE_MUTANT_##name & 1) != 0)
#else
#define SHARE_MUTANT(name) false
#endif

#endif
