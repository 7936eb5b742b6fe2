/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - what a member answers: to the leader of a shard (port 3), and to an asker (ports 1 and 2), whom it sends
 * on when it does not lead.
 */
#ifndef SERVICES_STORE_ENTRY_MEMBER_H
#define SERVICES_STORE_ENTRY_MEMBER_H

#include "services/store/carry.h"

/* Borrow all of it. */
void store_member_item(struct store *s, const uint8_t *bytes, size_t size, const struct store_caller *from);
void store_member_ask(struct store *s, const uint8_t *bytes, size_t size, const struct store_caller *from);

#endif
