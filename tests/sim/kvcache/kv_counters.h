/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_counters.h - which question made the number that a counter showed? Those that were answered say so. Of INCR and
 * DECR without an answer some were done: a number that nobody is known to have made must be one that is known and the
 * steps of some of those, and as steps are drawn from a large range there is one such set. The smallest is taken.
 */
#ifndef SIM_KV_COUNTERS_H
#define SIM_KV_COUNTERS_H

#include "kv_ledger.h"

/* Sets value of hits and before of steps. False: *why says which number nobody made, or two did. */
bool kv_counters_resolve(struct kv_ledger *l, char *why, size_t room);

#endif
