/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/checkpoint_format.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "base/sum.h"

#include <errno.h>

enum { MAGIC = 0x43774331 }; /* "CwC1" */

uint64_t checkpoint_seed(uint64_t store_id, uint64_t sequence, uint64_t chunk)
{
    return digest_of_words((uint64_t[]){store_id, sequence, chunk}, 3);
}

void checkpoint_seal(uint8_t *bytes, enum checkpoint_type type, uint32_t count, uint32_t body, uint64_t seed)
{
    put_be32(bytes, MAGIC);
    put_be32(bytes + 4, (uint32_t)type);
    put_be32(bytes + 8, count);
    put_be32(bytes + 12, body);
    put_be64(bytes + CHECKPOINT_CHUNK_HEAD + body, sum_of(seed, bytes, CHECKPOINT_CHUNK_HEAD + body));
}

int checkpoint_chunk_decode(struct checkpoint_chunk *chunk, const uint8_t *bytes, size_t size, uint64_t seed,
                            uint32_t *used)
{
    struct reader r = reader_of(bytes, size);
    uint32_t magic = reader_be32(&r), type = reader_be32(&r);
    *chunk = (struct checkpoint_chunk){.type = (enum checkpoint_type)type, .count = reader_be32(&r)};
    chunk->size = reader_be32(&r);
    if (magic != MAGIC || type < CHECKPOINT_HEAD || type > CHECKPOINT_END || chunk->size > CHECKPOINT_BODY_MAX) {
        return -EBADMSG;
    }
    chunk->body = reader_take(&r, chunk->size);
    uint64_t sum = reader_be64(&r);
    *used = CHECKPOINT_CHUNK_HEAD + chunk->size + CHECKPOINT_CHUNK_SUM;
    return reader_ok(&r) && sum == sum_of(seed, bytes, CHECKPOINT_CHUNK_HEAD + chunk->size) ? 0 : -EBADMSG;
}

void checkpoint_head_encode(const struct checkpoint_head *head, uint8_t *out)
{
    put_be64(out, head->class_id);
    put_be64(out + 8, head->store_id);
    put_be64(out + 16, head->sequence);
    put_be64(out + 24, head->position);
    put_be32(out + 32, head->head);
    put_be32(out + 36, head->head_offset);
}

void checkpoint_head_decode(struct checkpoint_head *head, const uint8_t *bytes)
{
    *head = (struct checkpoint_head){.class_id = get_be64(bytes),
                                     .store_id = get_be64(bytes + 8),
                                     .sequence = get_be64(bytes + 16),
                                     .position = get_be64(bytes + 24),
                                     .head = get_be32(bytes + 32),
                                     .head_offset = get_be32(bytes + 36)};
}

static void place_encode(const struct log_place *place, uint8_t *out)
{
    put_be32(out, place->segment);
    put_be32(out + 4, place->offset);
    put_be32(out + 8, place->length);
}

static struct log_place place_decode(const uint8_t *bytes)
{
    return (struct log_place){get_be32(bytes), get_be32(bytes + 4), get_be32(bytes + 8)};
}

void checkpoint_slot_encode(const struct key_slot *slot, uint8_t *out)
{
    memcpy(out, slot->key.b, CW_KEY_BYTES);
    out[20] = slot->kind;
    out[21] = slot->flags;
    put_be16(out + 22, 0);
    place_encode(&slot->record, out + 24);
    place_encode(&slot->value, out + 36);
    put_be64(out + 48, slot->value_sum);
    put_be64(out + 56, slot->position);
}

void checkpoint_slot_decode(struct key_slot *slot, const uint8_t *bytes)
{
    *slot = (struct key_slot){.kind = bytes[20],
                              .flags = bytes[21],
                              .record = place_decode(bytes + 24),
                              .value = place_decode(bytes + 36),
                              .value_sum = get_be64(bytes + 48),
                              .position = get_be64(bytes + 56)};
    memcpy(slot->key.b, bytes, CW_KEY_BYTES);
}
