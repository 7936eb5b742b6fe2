/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/key_index.h"

#include "base/bytes.h"
#include "base/digest.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_LEAST = 16 };
_Static_assert(sizeof(struct key_slot) == 64, "a register takes 64 bytes");

void key_index_open(struct key_index *index, uint64_t salt)
{
    *index = (struct key_index){.salt = salt};
}

void key_index_close(struct key_index *index)
{
    for (unsigned i = 0; i < KEY_INDEX_PARTS; i++) {
        free(index->part[i].slot);
    }
    *index = (struct key_index){.salt = index->salt};
}

static uint64_t hash_of(const struct key_index *index, uint8_t kind, const cw_key *key)
{
    return digest_of_words(
        (uint64_t[]){index->salt + kind, get_be64(key->b), get_be64(key->b + 8), get_be32(key->b + 16)}, 4);
}

static const struct key_part *part_of(const struct key_index *index, uint64_t hash)
{
    return &index->part[hash % KEY_INDEX_PARTS];
}

static uint32_t home_of(const struct key_part *part, uint64_t hash)
{
    return (uint32_t)(hash >> 32) & (part->room - 1);
}

/* Its slot or, where it has none, the free one where it belongs. The part has room. */
static struct key_slot *seek(const struct key_part *part, uint64_t hash, uint8_t kind, const cw_key *key)
{
    for (uint32_t i = home_of(part, hash);; i = (i + 1) & (part->room - 1)) {
        struct key_slot *slot = &part->slot[i];
        if ((slot->flags & KEY_USED) == 0 || (slot->kind == kind && memcmp(slot->key.b, key->b, sizeof key->b) == 0)) {
            return slot;
        }
    }
}

struct key_slot *key_index_find(const struct key_index *index, uint8_t kind, const cw_key *key)
{
    uint64_t hash = hash_of(index, kind, key);
    const struct key_part *part = part_of(index, hash);
    if (part->room == 0) {
        return NULL;
    }
    struct key_slot *slot = seek(part, hash, kind, key);
    return (slot->flags & KEY_USED) != 0 ? slot : NULL;
}

static bool grow(const struct key_index *index, struct key_part *part)
{
    struct key_part larger = {.room = part->room == 0 ? ROOM_LEAST : part->room * 2, .count = part->count};
    larger.slot = calloc(larger.room, sizeof *larger.slot);
    if (larger.slot == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < part->room; i++) {
        struct key_slot *slot = &part->slot[i];
        if ((slot->flags & KEY_USED) != 0) {
            *seek(&larger, hash_of(index, slot->kind, &slot->key), slot->kind, &slot->key) = *slot;
        }
    }
    free(part->slot);
    *part = larger;
    return true;
}

struct key_slot *key_index_put(struct key_index *index, uint8_t kind, const cw_key *key)
{
    struct key_slot *slot = key_index_find(index, kind, key);
    if (slot != NULL) {
        return slot;
    }
    uint64_t hash = hash_of(index, kind, key);
    struct key_part *part = &index->part[hash % KEY_INDEX_PARTS];
    if (part->count + 1 > part->room / 4 * 3 && !grow(index, part)) {
        return NULL;
    }
    slot = seek(part, hash, kind, key);
    *slot = (struct key_slot){.key = *key, .kind = kind, .flags = KEY_USED};
    part->count++;
    index->count++;
    return slot;
}

/* Slots behind the hole move up to where a search would look for them first (Knuth, TAOCP 3, 6.4, algorithm R). */
void key_index_remove(struct key_index *index, struct key_slot *slot)
{
    struct key_part *part = &index->part[hash_of(index, slot->kind, &slot->key) % KEY_INDEX_PARTS];
    uint32_t mask = part->room - 1, hole = (uint32_t)(slot - part->slot);
    for (uint32_t i = (hole + 1) & mask; (part->slot[i].flags & KEY_USED) != 0; i = (i + 1) & mask) {
        uint32_t home = home_of(part, hash_of(index, part->slot[i].kind, &part->slot[i].key));
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            part->slot[hole] = part->slot[i];
            hole = i;
        }
    }
    part->slot[hole] = (struct key_slot){.flags = 0};
    part->count--;
    index->count--;
}

struct key_slot *key_index_next(const struct key_index *index, uint64_t *at)
{
    for (uint64_t p = *at >> 32, i = *at & UINT32_MAX; p < KEY_INDEX_PARTS; p++, i = 0) {
        for (; i < index->part[p].room; i++) {
            if ((index->part[p].slot[i].flags & KEY_USED) != 0) {
                *at = p << 32 | (i + 1);
                return &index->part[p].slot[i];
            }
        }
    }
    *at = (uint64_t)KEY_INDEX_PARTS << 32;
    return NULL;
}

uint64_t key_index_memory(const struct key_index *index)
{
    uint64_t bytes = 0;
    for (unsigned p = 0; p < KEY_INDEX_PARTS; p++) {
        bytes += (uint64_t)index->part[p].room * sizeof(struct key_slot);
    }
    return bytes;
}

bool key_index_valid(const struct key_index *index)
{
    uint64_t count = 0, at = 0;
    for (struct key_slot *slot; (slot = key_index_next(index, &at)) != NULL; count++) {
        if (key_index_find(index, slot->kind, &slot->key) != slot) {
            return false;
        }
    }
    return count == index->count;
}
