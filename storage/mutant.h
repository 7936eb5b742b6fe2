/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. STORAGE_MUTANT(NAME) is the constant false, and the code
 * behind it is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. Each breaks a rule of docs/storage.md, "The rules"; the numbers
 * of rules and of mutants are not the same.
 */
#ifndef STORAGE_MUTANT_H
#define STORAGE_MUTANT_H

enum storage_mutant {
    STORAGE_MUTANT_NONE = 0,
    STORAGE_MUTANT_ACK_BEFORE_SYNC = 1,   /* storage rule 1: a group is told when it is written, and not synced yet */
    STORAGE_MUTANT_ACK_BEFORE_VALUE = 2,  /* storage rule 1: a group is told although its values are not synced */
    STORAGE_MUTANT_NO_BODY_SUM = 3,       /* storage rule 3: a group counts when its header is whole */
    STORAGE_MUTANT_ANY_POSITION = 4,      /* storage rule 4: any group that verifies continues the chain */
    STORAGE_MUTANT_RECYCLE_EARLY = 5,     /* storage rule 5: a segment is used again before a checkpoint covers it */
    STORAGE_MUTANT_TORN_IS_END = 6,       /* storage rule 6: whatever does not verify is the end of the log */
    STORAGE_MUTANT_NO_LAST_VALUES = 7,    /* storage rule 7: values of the last group are not looked at */
    STORAGE_MUTANT_NO_WIPE = 8,           /* storage rule 8: what recovery drops stays on the disk */
    STORAGE_MUTANT_NO_REWRITE = 9,        /* storage rule 9: the last group counts as synced because it can be read */
    STORAGE_MUTANT_GOES_ON = 10,          /* storage rule 10: after a failed write or sync the log goes on */
    STORAGE_MUTANT_FORGETS_DEATH = 11,    /* storage rule 10: the next opening does not know of the failure */
    STORAGE_MUTANT_MOVE_WINS = 12,        /* storage rule 11: a moved record replaces whatever the register has now */
    STORAGE_MUTANT_APPLY_EARLY = 13,      /* storage rule 12: the index changes before the group is on the disk */
    STORAGE_MUTANT_NO_VALUE_SUM = 14,     /* storage rule 13: a value is given out as it is read */
    STORAGE_MUTANT_CHECKPOINT_EARLY = 15, /* storage rule 14: a checkpoint counts before it is synced */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t storage_mutants_in; /* set of 1 << enum storage_mutant */
#define STORAGE_MUTANT(name) ((storage_mutants_in >> STORAGE_MUTANT_##name & 1) != 0)
#else
#define STORAGE_MUTANT(name) false
#endif

#endif
