/* SPDX-License-Identifier: Apache-2.0 */
/* authority.h - may this server speak for a key? authority.c has the reasons. */
#ifndef SERVICES_KVCACHE_AUTHORITY_H
#define SERVICES_KVCACHE_AUTHORITY_H

#include "services/kvcache/internal.h"

/*
 * True when more than half of all servers are within this server's reach, and have been for so long that every server
 * which was of another majority before knows that it is not any more (kvcache rules 13 and 18).
 */
bool kv_settled(const struct kvcache *k);
/*
 * True when packets to this server's own keys are delivered here now: it is their root in every view, and its lease
 * holds.
 */
bool kv_serving(const struct kvcache *k);
/*
 * True when what was learned of the key in that epoch may still be served: cw_key_steady(), and settled without a break
 * since then. While this server was not of the majority others may have written (kvcache rules 4 to 7 and 12).
 */
bool kv_steady(const struct kvcache *k, const cw_key *id, uint64_t since);
/*
 * True when this server, as root of the key, may take writes: it has been root for so long that nobody serves copies of
 * what another root gave away (kvcache rules 14 and 17).
 */
bool kv_may_change(const struct kvcache *k, const cw_key *id);
/*
 * True when the server is in neither view, and has been gone for so long that it serves nothing any more, whatever it
 * believes (kvcache rules 9, 15 and 18).
 */
bool kv_is_gone(const struct kvcache *k, cw_server s);

/* -ENOMEM: authority_close() gives back what there is. */
int authority_open(struct kvcache *k);
void authority_close(struct kvcache *k);
/* The server is not reachable any more. authority_review() follows. */
void authority_lost(struct kvcache *k, cw_server s);
/* To be called when the view has changed, and now and then in case there was no memory for a timer. */
void authority_review(struct kvcache *k);

#endif
