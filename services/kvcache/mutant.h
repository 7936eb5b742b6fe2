/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutant.h - plausible bugs on purpose, to test the tests. KV_MUTANT(NAME) is the constant false, and the code behind
 * it is in no program, except in one build of these sources with CW_MUTANTS that tests/sim makes for itself (as
 * linkstate/mutant.h). A number names a bug for ever. Each breaks a rule of docs/services/kvcache.md, "The rules"; the
 * numbers of rules and of mutants are not the same.
 */
#ifndef SERVICES_KVCACHE_MUTANT_H
#define SERVICES_KVCACHE_MUTANT_H

enum kvcache_mutant {
    KV_MUTANT_NONE = 0,
    KV_MUTANT_ACK_FIRST = 1,          /* kvcache rule 1: a write takes effect without waiting for the holders */
    KV_MUTANT_REGISTER_BUSY = 2,      /* kvcache rule 1: copies are given out while a write waits */
    KV_MUTANT_NO_POISON = 3,          /* kvcache rule 2: a fetch goes on as if its key had not been taken back */
    KV_MUTANT_REGISTER_LATE = 4,      /* kvcache rule 3: a holder is registered some time after its copy was sent */
    KV_MUTANT_KEEPS_MOVED_COPIES = 5, /* kvcache rules 4, 6 and 7: copies stay when the root of their key changes */
    KV_MUTANT_NO_LEASE = 6,           /* kvcache rule 5: copies are served without a lease */
    KV_MUTANT_NO_TENURE = 7,          /* kvcache rule 6: values stay when the key goes to another and comes back */
    KV_MUTANT_FORGETS = 8,            /* kvcache rule 9: registrations go with any change of the view */
    KV_MUTANT_RETRY_ANYWHERE = 9,     /* kvcache rule 10: a write that may have been done elsewhere is done again */
    KV_MUTANT_NO_MEMORY = 10,         /* kvcache rule 11: writes that were done are not remembered */
    KV_MUTANT_JOIN_POISONED = 11,     /* kvcache rule 2: a question joins a fetch, poisoned or not */
    KV_MUTANT_KEEPS_MINORITY = 12,    /* kvcache rule 12: a server back from a minority goes on with what it had */
    KV_MUTANT_FLUSH_SOME = 13,        /* kvcache rule 15: a flush ends although servers have not answered */
    KV_MUTANT_FLUSH_ONCE = 14,        /* kvcache rule 16: a flush drops copies in the round in which it cuts values */
    KV_MUTANT_UNSETTLED = 15,         /* kvcache rule 13: a server that comes to be of the majority serves at once */
    KV_MUTANT_HASTY_HEIR = 16,        /* kvcache rule 14: a server that comes to be root changes values at once */
    KV_MUTANT_TRUSTS_EMPTY = 17,      /* kvcache rule 17: an instance that is loaded late takes writes at once */
    KV_MUTANT_COUNTS_GHOSTS = 18,     /* kvcache rule 18: a server counts for the majority however far away it is */
    KV_MUTANT_ONE_HOLD = 19,          /* kvcache rule 18: one hold is waited for, however many servers went together */
};

#ifdef CW_MUTANTS
#include <stdint.h>
extern uint64_t kvcache_mutants_in; /* set of 1 << enum kvcache_mutant */
#define KV_MUTANT(name) ((kvcache_mutants_in >> KV_MUTANT_##name & 1) != 0)
#else
#define KV_MUTANT(name) false
#endif

#endif
