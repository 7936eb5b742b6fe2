/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - the records of a member on a disk, one for the class, one for each shard and one for each register: their
 * bytes, and what is made of them at the next start.
 */
#ifndef SERVICES_STORE_FOUND_H
#define SERVICES_STORE_FOUND_H

#include "services/store/internal.h"

/* Kinds of records (disk/journal.h): they are found in this order. */
enum { STORE_FOUND_CLASS = 1, STORE_FOUND_SHARD = 2, STORE_FOUND_REGISTER = 3 };
enum { STORE_FOUND_VERSION = 1, STORE_FOUND_SHARD_MOST = 32 + STORE_CONFIG_MOST + STORE_SEAL_MOST };

/* The key of a shard's record; 0: that of the class's. */
cw_key store_found_key(uint64_t number);
/* The record of a shard; gives its size. */
size_t store_found_shard(const struct store_shard *shard, uint8_t out[static STORE_FOUND_SHARD_MOST]);

/* As found() and damaged() of struct journal_events, of which arg is the store. Everything is in memory as well: what
 * rots on the disk is written again. */
void store_found(void *arg, uint8_t kind, const uint8_t *value, size_t size);
void store_found_damaged(void *arg, uint8_t kind, const cw_key *key);

#endif
