/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - the shards that this server knows of, and who their members are. What a shard's config says is decided:
 * nothing that was accepted under the epoch before counts any more, and nothing is accepted under it (store rule 9).
 */
#ifndef SERVICES_STORE_MEMBERS_H
#define SERVICES_STORE_MEMBERS_H

#include "services/store/internal.h"

/* The shard, which is made if it is not known: nothing is known of its members then. NULL: no memory. */
struct store_shard *store_members_shard(struct store *s, uint32_t number);
/*
 * That config is decided: follows it, unless as new a one is known. A leadership here ends. Who is no member by it
 * forgets what it holds.
 */
void store_members_follow(struct store *s, struct store_shard *shard, const struct store_config *config);
/* This server is a learner of the shard from now on, whose members those are. */
void store_members_learn(struct store *s, struct store_shard *shard, const struct store_config *config);
/* Notes the members' stores as peers: how far their logs go is heard from now on. */
void store_members_note(struct store *s, const struct store_config *config);
/* A seal is void once a leader above the one that asked for it has written: it knew that nothing was decided. */
void store_members_unseal(struct store_shard *shard, struct store_ballot written);
void store_members_close(struct store *s);

#endif
