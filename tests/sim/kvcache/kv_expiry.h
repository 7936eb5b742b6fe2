/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kv_expiry.h - was anything read after it was to expire? The latest end of a value is taken that the questions allow:
 * of the one that made it (APPEND, INCR and DECR leave it as it was), of each TOUCH and GAT that was told of it, each
 * as late as it may have been done, and with the drift of clocks. From the beginning of a TOUCH or GAT without an
 * answer on nothing is said of its key.
 */
#ifndef SIM_KV_EXPIRY_H
#define SIM_KV_EXPIRY_H

#include "kv_ledger.h"

/* After kv_counters_resolve(). False: *why says what. */
bool kv_expiry_check(const struct kv_ledger *l, char *why, size_t room);

#endif
