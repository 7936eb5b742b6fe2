/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_counters.h - which question made the number that a counter showed? A question that was answered says so itself. Of
 * the INCR and DECR without an answer, some were carried out: a number that no answered question has made must be a
 * known number plus the steps of some of those. As steps are drawn from a large range there is one such set of steps;
 * the smallest is taken.
 */
#ifndef SIM_KV_COUNTERS_H
#define SIM_KV_COUNTERS_H

#include "kv_ledger.h"

/* Sets `value` of hits and `before` of steps. False: *why says which number no question made, or two did. */
bool kv_counters_resolve(struct kv_ledger *l, char *why, size_t room);

#endif
