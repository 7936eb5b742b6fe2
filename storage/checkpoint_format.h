/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_format.h - the bytes of a checkpoint: chunks, each with a header and a checksum that is seeded with the
 * store, the checkpoint's sequence and the chunk's number. First the head, then slots of the index, then names in
 * order, then an end that counts both. A checkpoint without its end is none.
 */
#ifndef STORAGE_CHECKPOINT_FORMAT_H
#define STORAGE_CHECKPOINT_FORMAT_H

#include "storage/key_index.h"

enum checkpoint_type { CHECKPOINT_HEAD = 1, CHECKPOINT_SLOTS, CHECKPOINT_NAMES, CHECKPOINT_END };

enum {
    CHECKPOINT_CHUNK_HEAD = 16, /* magic, type, count, bytes of the body: 32 bits each */
    CHECKPOINT_CHUNK_SUM = 8,
    CHECKPOINT_BODY_MAX = 64 << 10,
    CHECKPOINT_CHUNK_MAX = CHECKPOINT_CHUNK_HEAD + CHECKPOINT_BODY_MAX + CHECKPOINT_CHUNK_SUM,
    CHECKPOINT_HEAD_BYTES = 40,
    CHECKPOINT_SLOT = 64,
};

struct checkpoint_head {
    uint64_t class_id, store_id;
    uint64_t sequence;          /* of checkpoints */
    uint64_t position;          /* all groups up to it are in the index; the log is read from the next on, */
    uint32_t head, head_offset; /* which is here, or first in a segment; head 0: the latter */
};

/* One chunk; body is borrowed from the bytes that it was read from. */
struct checkpoint_chunk {
    enum checkpoint_type type;
    uint32_t count, size; /* size: of the body */
    const uint8_t *body;
};

uint64_t checkpoint_seed(uint64_t store_id, uint64_t sequence, uint64_t chunk);
/* Writes header and checksum round a body that stands already at bytes + CHECKPOINT_CHUNK_HEAD. */
void checkpoint_seal(uint8_t *bytes, enum checkpoint_type type, uint32_t count, uint32_t body, uint64_t seed);
/* The chunk at the start of size bytes, and *used of them. -EBADMSG: it is no whole chunk. */
CW_MUST_CHECK int checkpoint_chunk_decode(struct checkpoint_chunk *chunk, const uint8_t *bytes, size_t size,
                                          uint64_t seed, uint32_t *used);

/* CHECKPOINT_HEAD_BYTES and CHECKPOINT_SLOT bytes. */
void checkpoint_head_encode(const struct checkpoint_head *head, uint8_t *out);
void checkpoint_head_decode(struct checkpoint_head *head, const uint8_t *bytes);
void checkpoint_slot_encode(const struct key_slot *slot, uint8_t *out);
void checkpoint_slot_decode(struct key_slot *slot, const uint8_t *bytes);

#endif
