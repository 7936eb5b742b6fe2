/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_index.h - where each register is: 64 bytes a register, in open hash tables. There are 64 of them by the key's
 * hash, so that a table which grows moves a 64th of all and holds nobody up, and so that a checkpoint can write one at
 * a time, each as it is at one instant.
 *
 * The hash is salted, so that nobody who chooses names chooses collisions. Memory comes from malloc; one thread.
 */
#ifndef STORAGE_KEY_INDEX_H
#define STORAGE_KEY_INDEX_H

#include "storage/log_record.h"

enum { KEY_INDEX_PARTS = 64 };

enum key_index_flag {
    KEY_USED = 1,
    KEY_PLACED = 2,  /* the value is at a place of its own */
    KEY_WARM = 4,    /* from before the store id changed: bytes to compare with, no register to answer by */
    KEY_DAMAGED = 8, /* its bytes were read, and are not what was written */
};

struct key_slot {
    cw_key key;
    uint8_t kind, flags;
    uint16_t unused;
    struct log_place record; /* length: of the whole record */
    struct log_place value;  /* KEY_PLACED, else only its length counts */
    uint64_t value_sum;
    uint64_t position; /* of the group that the record is in */
};

struct key_index {
    struct key_part {
        struct key_slot *slot;
        uint32_t count, room; /* room: a power of two or 0 */
    } part[KEY_INDEX_PARTS];
    uint64_t salt, count;
};

/* An empty index. */
void key_index_open(struct key_index *index, uint64_t salt);
void key_index_close(struct key_index *index);

/* The register's slot, good until the index changes; NULL when it has none. */
struct key_slot *key_index_find(const struct key_index *index, uint8_t kind, const cw_key *key);
/* Its slot, made when it has none: all zero but for kind, key and KEY_USED. NULL: no memory, and nothing changed. */
struct key_slot *key_index_put(struct key_index *index, uint8_t kind, const cw_key *key);
/* Removes a slot that key_index_find() gave. */
void key_index_remove(struct key_index *index, struct key_slot *slot);
/*
 * The first used slot at or behind *at, which then is behind it; NULL at the end. *at begins as 0; whoever changes the
 * index in between may see a slot twice or not at all.
 */
struct key_slot *key_index_next(const struct key_index *index, uint64_t *at);
/* Bytes that the tables take. */
uint64_t key_index_memory(const struct key_index *index);
/* For tests and CHECK_SLOW: every slot is found, and all are counted. */
bool key_index_valid(const struct key_index *index);

#endif
