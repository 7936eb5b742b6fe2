/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. STORE_MUTANT(NAME) is the constant false, and the code
 * behind it is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever; it is that of the rule of docs/services/store.md, "The rules",
 * that it breaks.
 */
#ifndef SERVICES_STORE_HELD_MUTANT_H
#define SERVICES_STORE_HELD_MUTANT_H

enum store_mutant {
    STORE_MUTANT_NONE = 0,
    STORE_MUTANT_ANSWERS_EARLY = 1,    /* promises and acceptances are told before they are on the disk */
    STORE_MUTANT_ACCEPTS_BELOW = 2,    /* an acceptor takes what a deposed leader writes */
    STORE_MUTANT_DOUBLE_COUNT = 3,     /* every answer counts, whoever gave it */
    STORE_MUTANT_OWN_STATE = 4,        /* takeover keeps what the new leader has, not the highest tag */
    STORE_MUTANT_NO_SYNC = 5,          /* what the promisers did not agree on is not written again */
    STORE_MUTANT_TXN_PART = 6,         /* of a transaction that is chosen only the first change is made */
    STORE_MUTANT_NO_CONFIRM = 7,       /* gets and refusals are answered without asking the members */
    STORE_MUTANT_READS_IN_FLIGHT = 8,  /* a get does not wait for the write under way */
    STORE_MUTANT_WRITES_ON = 9,        /* a leader goes on writing while it changes the members */
    STORE_MUTANT_SEAL_IGNORED = 10,    /* a new leader does not look for what others have sealed */
    STORE_MUTANT_DECIDED_EARLY = 12,   /* the members change before all that stay have sealed it */
    STORE_MUTANT_VOTES_EMPTY = 13,     /* a newcomer becomes a member before it holds what the leader holds */
    STORE_MUTANT_UNION = 14,           /* a newcomer keeps what the leader does not hold */
    STORE_MUTANT_AMNESIA = 21,         /* a server that lost its memory goes on as the member it was */
    STORE_MUTANT_VERSIONS_AGAIN = 22,  /* a leader counts on from its own n alone */
    STORE_MUTANT_NO_MEMORY = 23,       /* what was done is not remembered: a repetition is done again */
    STORE_MUTANT_REFUSAL_UNNOTED = 24, /* a repetition is refused and nothing is written about it */
    STORE_MUTANT_CERTAIN = 25,         /* a write that a deposed leader began is sent again as a new one */
    STORE_MUTANT_SAME_BOOT = 29,       /* ballots of two lives of a server are the same */
    STORE_MUTANT_ROOM_LATE = 31,       /* whether there is room is looked at when the write has begun */
    STORE_MUTANT_NO_HEARD = 41,        /* rule 21: what others heard of an older disk is not asked */
    STORE_MUTANT_UNSEEN_N = 43,        /* rule 23: askers are told an n that the leader alone has seen */
    STORE_MUTANT_OLD_EPOCH = 44,       /* rule 9: who has moved on still takes items of the epoch before */
    STORE_MUTANT_UNCOVERED = 45,       /* rule 34: a list goes on before every shard was heard of */
    STORE_MUTANT_FIRST_PIECE = 46,     /* rule 34: of a shard, what does not fit into its first piece is left out */
    STORE_MUTANT_OLD_DEADLINE = 47,    /* rule 35: a value that is put over one with a ttl goes when that would have */
    STORE_MUTANT_WATCH_AHEAD = 48,     /* rule 36: a watcher is told that it is behind writes that are under way */
    STORE_MUTANT_WATCH_GAP = 49,       /* rule 36: what a watcher was told by another leader counts */
    STORE_MUTANT_QUOTA_LATE = 50,      /* rule 37: a job's quota is looked at when the write has begun */
    STORE_MUTANT_TXN_UNFINISHED = 51,  /* rule 6: a new leader leaves a transaction as far as it has come */
    STORE_MUTANT_TXN_ALWAYS = 52,      /* rule 38: a transaction is done, whatever has become of its names since */
    STORE_MUTANT_TXN_UNCLAIMED = 53,   /* rule 39: others write names of a transaction before it is over */
    STORE_MUTANT_TXN_RESUMED_EARLY = 55, /* rule 40: a new leader goes on with one whose names are of other ballots */
    STORE_MUTANT_TXN_UNTOUCHED = 54,     /* rule 40: a transaction begins on names that an earlier leader wrote */
    STORE_MUTANT_FULL_FOR_EVER = 56,     /* a member that was full when it was lost has no room still */
    STORE_MUTANT_WRITES_LONG = 57,       /* what is long and one member has missed is written again at all of them */
    STORE_MUTANT_SINCE_UNKNOWN = 59,     /* rule 23: a write is begun, though its asker has heard of no n */
    STORE_MUTANT_HELD_UP = 58,           /* a leader whose own disk hangs keeps the shard */
    STORE_MUTANT_GIVES_ON = 61,          /* a member without room is given the same for ever, and all else waits */
    STORE_MUTANT_ADOPTS = 60,            /* rule 2: a new leader takes what it fetches as if it had accepted it */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t store_mutants_in; /* set of 1 << enum store_mutant */
#define STORE_MUTANT(name) ((store_mutants_in >> STORE_MUTANT_##name & 1) != 0)
#else
#define STORE_MUTANT(name) false
#endif

#endif
