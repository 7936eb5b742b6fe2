/* SPDX-License-Identifier: Apache-2.0 */
/* copies.h - copies of hot values at extra keys: copies.c. */
#ifndef SERVICES_KVCACHE_COPIES_H
#define SERVICES_KVCACHE_COPIES_H

#include "services/kvcache/internal.h"
#include "services/kvcache/rpc.h"

struct question;

/* The copy here, if there is one that may be served; borrowed until the next call. Counts as a use. */
struct item *copies_value(struct kvcache *k, const struct item_name *name);
/* The root takes the copy back: it goes, and fetches of the key are poisoned. */
void copies_drop(struct kvcache *k, const struct item_name *name);
/* From now on no copy that is here or was asked for is ever served. Their memory comes back by the sweep. */
void copies_forget(struct kvcache *k);
/* An ask that came by an extra key, of which this server is the root: answered from a copy, or the value is fetched. */
void copies_serve(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id);
/* The fetch under way that one more question about the key may join, or NULL. */
struct question *copies_fetch_of(struct kvcache *k, const cw_key *id, const struct kv_request *r);
/* The question fetches from now on: it is found by copies_fetch_of() and poisoned by copies_drop(). */
void copies_fetch_began(struct kvcache *k, struct question *q);
/* The fetch was answered: keeps a copy if it may be kept. True: its followers may have the answer, too. */
bool copies_fetched(struct kvcache *k, struct question *q, const struct kv_answer *answer, cw_server from);
/*
 * Where to read the key: 1..k for the extra key whose server is nearest, 0 for the root. *key and *at are set to that
 * place, unless no server for the key is known (0).
 */
unsigned copies_choose(struct kvcache *k, const cw_key *id, cw_key *key, cw_server *at);

#endif
