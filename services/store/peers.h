/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - a leader's items on their way to another member: one packet each way, or a letter (carry.h). No packet is
 * repeated here: a leader sends again what is not answered (lead.c).
 */
#ifndef SERVICES_STORE_PEERS_H
#define SERVICES_STORE_PEERS_H

#include "services/store/carry.h"

/*
 * Sends an item of the lead's ballot to a member, by its place. class, shard, store id and ballot are filled in here.
 * When a reply comes while the same leadership lasts, store_lead_heard() is called with that number. A packet that
 * cannot be sent is as good as lost.
 */
void store_peers_send(struct store_lead *lead, unsigned member, struct store_item item, uint64_t number);
/* The same to all other members of the set that are in view. */
void store_peers_send_all(struct store_lead *lead, unsigned set, struct store_item item, uint64_t number);
/*
 * The same by letters, unless one of that kind and number is under way to the member. parcel: NULL, or a register's,
 * which follows the item as its bytes and is lent.
 */
void store_peers_letter(struct store_lead *lead, unsigned member, struct store_item item, uint64_t number,
                        struct store_parcel *parcel);
void store_peers_letter_all(struct store_lead *lead, unsigned set, struct store_item item, uint64_t number,
                            struct store_parcel *parcel);
/* The shard's leadership is over: its letters that are under way end. */
void store_peers_recall(struct store *s, const struct store_shard *shard);

#endif
