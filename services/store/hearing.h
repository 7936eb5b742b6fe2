/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hearing.h - how far the logs of others went when they said so last. After a restart a member asks those that it
 * shares shards with what they heard of its own log, before it votes (store rule 21). Who heard of more than the disk
 * holds has seen answers that this disk does not know of: its store id dies.
 */
#ifndef SERVICES_STORE_HEARING_H
#define SERVICES_STORE_HEARING_H

#include "services/store/internal.h"

/* A peer has said that its log goes that far. */
void store_hearing_note(struct store *s, cw_server server, uint64_t store_id, uint64_t position);
/* What this server has heard of that store id; 0: nothing. */
uint64_t store_hearing_of(const struct store *s, cw_server server, uint64_t store_id);
/* The disk has been read: asks the others, for limits.hearing at most, and then votes, or never again. */
void store_hearing_begin(struct store *s);

#endif
