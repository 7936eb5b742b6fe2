/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.h - what is true of a cache's tables whenever nothing is under way inside it. A false statement stops the
 * program and names the server, the key and the rule.
 */
#ifndef SERVICES_KVCACHE_WALK_H
#define SERVICES_KVCACHE_WALK_H

#include "services/kvcache/internal.h"

/*
 * At the end of an upcall: walks the tables when the upcalls since the last walk have paid for it (in small tables that
 * is each time). For CHECK_SLOW(): always true.
 */
bool walk_sometimes(struct kvcache *k);
/* The same, now. */
bool walk_now(struct kvcache *k);

#endif
