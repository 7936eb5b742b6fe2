/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner.h - a server that is to become a member of a shard, until it is one. The leader gives it registers and takes
 * others away from it until both hold the same. It has no vote, and what it holds is nothing that was accepted: so a
 * register may be replaced by an older one, and what the leader does not hold goes (store rule 14).
 */
#ifndef SERVICES_STORE_ENTRY_LEARNER_H
#define SERVICES_STORE_ENTRY_LEARNER_H

#include "services/store/carry.h"

/* A LEARN came. bytes: of the reply, its room is STORE_CONFIG_MOST at least. */
void store_learner_begin(struct store *s, const struct store_item *item, struct store_reply *reply, uint8_t *bytes);
/* May the leader of that ballot give this learner anything, and ask it? */
bool store_learner_heeds(const struct store_shard *shard, struct store_ballot ballot);
/* GIVE and DROP. parcel: of a letter, as of struct store_caller. */
void store_learner_item(struct store *s, struct store_shard *shard, const struct store_item *item,
                        struct store_parcel *parcel, struct store_reply *reply);

#endif
