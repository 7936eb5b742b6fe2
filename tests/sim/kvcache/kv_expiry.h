/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_expiry.h - was a value read after its expiry? The judge takes the latest expiry that the questions allow: that set
 * by the question that made the value (APPEND, INCR and DECR leave an expiry as it was), and those set by each TOUCH
 * and GAT whose answer was about this value (also by a miss that names it, the answer to a GAT that was asked again
 * when its value had gone), each carried out as late as possible, plus the drift of clocks. Once a
 * TOUCH or GAT of a key has begun that never got an answer, nothing is judged of that key.
 */
#ifndef SIM_KV_EXPIRY_H
#define SIM_KV_EXPIRY_H

#include "kv_ledger.h"

/* To be called after kv_counters_resolve(). False: a value was read too late, and *why says which. */
bool kv_expiry_check(const struct kv_ledger *l, char *why, size_t room);

#endif
