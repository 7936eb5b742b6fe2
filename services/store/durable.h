/* SPDX-License-Identifier: Apache-2.0 */
/*
 * durable.h - what a member of a class on disks remembers over a loss of power: the class, what it has promised, and
 * its registers. In a class in memory nothing is kept, and everything is settled at once.
 *
 * Rule 1 of the store is kept here: what a member holds may be ahead of its disk, but no answer leaves, and no vote of
 * its own counts, before all that it was told and has done until then is on the disk.
 */
#ifndef SERVICES_STORE_DURABLE_H
#define SERVICES_STORE_DURABLE_H

#include "services/store/carry.h"
#include "services/store/disk/journal.h"
#include "services/store/lead.h"

/* Reads the options; begins to open the disk when a folder is set. -errno: the service cannot run, and the log says
 * why. */
CW_MUST_CHECK int store_durable_open(struct store *s);
void store_durable_close(struct store *s);

/* May this server be of a class on disks? */
bool store_durable_ready(const struct store *s);
/* The id of its store on the disk; only when it is ready. */
uint64_t store_durable_id(const struct store *s);
/* How often it was opened. */
uint64_t store_durable_boot(const struct store *s);
uint64_t store_durable_position(const struct store *s);
bool store_durable_is_full(const struct store *s);
/* Is there room on the disk for a register's record of so many bytes, and for `besides` bytes of others? As
 * journal_room(); what is short has its place in the log, and there is always room in memory. */
enum journal_room store_durable_room(struct store *s, size_t bytes, size_t besides);
/* The same of a register, which is put at once. */
bool store_durable_has_room(struct store *s, const struct store_register *r);
/* How the disk is, in words. */
const char *store_durable_text(const struct store *s);

/* Puts what has changed: the class that this server is of now, as it was told; a shard's promise; what the shard holds
 * of a name. */
void store_durable_class(struct store *s, const struct store_word *w);
void store_durable_promise(struct store *s, struct store_shard *shard);
/* All that is known of a shard beside its registers, whether it has changed or not. */
void store_durable_shard(struct store *s, struct store_shard *shard);
/* The register of that name is gone. */
void store_durable_drop(struct store *s, const struct store_name *name);
/* parcel: NULL, or what may be the very record of a long register, from byte `at` on: then it is lent to the disk. */
void store_durable_register(struct store *s, struct store_shard *shard, const struct store_name *name,
                            struct store_parcel *parcel, size_t at);

/* Is what this shard has promised on the disk? */
bool store_durable_promise_stands(const struct store *s, const struct store_shard *shard);
/*
 * Answers a call when all is on the disk. patch: where in the bytes the log's position is to be filled in then; 0:
 * nowhere. The bytes are copied.
 */
void store_durable_answer(struct store *s, const struct store_right *to, const uint8_t *bytes, size_t size,
                          size_t patch);
/*
 * The leader's own vote. True: it counts now. False: store_lead_voted() follows, while the leadership lasts.
 */
bool store_durable_vote(struct store_lead *lead, enum store_item_kind kind, uint64_t number);

#endif
