/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/record.h"

#include "base/check.h"
#include "base/digest.h"

#include <errno.h>
#include <string.h>

enum { MORE = 0x80, BITS = 7 };

uint64_t record_hash(cw_bytes key)
{
    return digest_of(key.bytes, key.length);
}

uint32_t record_partition(cw_bytes key, uint32_t partitions)
{
    return (uint32_t)(record_hash(key) % partitions);
}

void record_reader_init(struct record_reader *r)
{
    r->at = r->end = r->value = NULL;
    r->value_length = 0;
    r->key_length = r->shared = 0;
    r->first = true;
}

void record_reader_block(struct record_reader *r, const void *block, size_t length)
{
    r->at = block;
    r->end = length == 0 ? r->at : r->at + length;
    r->first = true;
}

/* Reads a length of at most `bytes` bytes. UINT32_MAX: there is none, or it is not in its shortest form. */
static uint32_t length_read(const uint8_t **at, const uint8_t *end, unsigned bytes)
{
    uint32_t length = 0;
    for (unsigned i = 0; i < bytes && *at < end; i++) {
        uint8_t byte = *(*at)++;
        length |= (uint32_t)(byte & (MORE - 1)) << (i * BITS);
        if ((byte & MORE) == 0) {
            return byte == 0 && i > 0 ? UINT32_MAX : length;
        }
    }
    return UINT32_MAX;
}

/* Reads the three lengths. False: they are not there. */
static bool lengths_read(struct record_reader *r, uint32_t length[static 3])
{
    if (r->end - r->at >= 3 && ((r->at[0] | r->at[1] | r->at[2]) & MORE) == 0) {
        length[0] = r->at[0];
        length[1] = r->at[1];
        length[2] = r->at[2];
        r->at += 3;
        return true;
    }
    length[0] = length_read(&r->at, r->end, 2);
    length[1] = length_read(&r->at, r->end, 2);
    length[2] = length_read(&r->at, r->end, 3);
    return (length[0] | length[1] | length[2]) != UINT32_MAX;
}

/* Reads the key of the first record of a block: it stands alone, but is not below the last one of the block before. */
static int first_key(struct record_reader *r, const uint8_t *key, uint32_t length)
{
    uint32_t common = (uint32_t)record_common(r->key, r->key_length, key, length, 0);
    if (record_order(r->key, r->key_length, key, length, common) > 0) {
        return -EBADMSG;
    }
    r->first = false;
    r->shared = common;
    memcpy(r->key, key, length);
    r->key_length = length;
    return 0;
}

/*
 * Reads a key that shares its first bytes with the one before. It shares no more, and is not below it, when it begins
 * with all of it, or goes on with a greater byte.
 */
static int next_key(struct record_reader *r, uint32_t shared, const uint8_t *rest, uint32_t length)
{
    if (shared > r->key_length || (shared < r->key_length && (length == 0 || rest[0] <= r->key[shared]))) {
        return -EBADMSG;
    }
    memcpy(r->key + shared, rest, length);
    r->shared = shared;
    r->key_length = shared + length;
    return 0;
}

int record_reader_next(struct record_reader *r)
{
    uint32_t length[3];
    if (r->at == r->end) {
        return 0;
    }
    if (!lengths_read(r, length)) {
        return -EBADMSG;
    }
    uint32_t key = length[0] + length[1], left = (uint32_t)(r->end - r->at);
    if (key == 0 || key > RECORD_KEY_MOST || length[2] > RECORD_MOST - key || length[1] > left ||
        length[2] > left - length[1] || (r->first && length[0] != 0)) {
        return -EBADMSG;
    }
    int rc = r->first ? first_key(r, r->at, length[1]) : next_key(r, length[0], r->at, length[1]);
    r->value = r->at + length[1];
    r->value_length = length[2];
    r->at += length[1] + length[2];
    return rc < 0 ? rc : 1;
}

void record_writer_init(struct record_writer *w, uint8_t *out, size_t room)
{
    w->out = out;
    w->room = room;
    w->used = 0;
    w->key_length = 0;
}

static uint8_t *length_write(uint8_t *at, size_t length)
{
    for (; length >= MORE; length >>= BITS) {
        *at++ = (uint8_t)(length | MORE);
    }
    *at++ = (uint8_t)length;
    return at;
}

static size_t length_bytes(size_t length)
{
    return 1 + (length >= 1u << BITS) + (length >= 1u << 2 * BITS);
}

int record_write_shared(struct record_writer *w, cw_bytes key, cw_bytes value, size_t shared)
{
    shared = w->used == 0 ? 0 : shared;
    CHECK_SLOW(key.length >= 1 && key.length <= RECORD_KEY_MOST && value.length <= RECORD_MOST - key.length);
    CHECK_SLOW(w->used == 0 || (shared == record_common(w->key, w->key_length, key.bytes, key.length, 0) &&
                                record_order(w->key, w->key_length, key.bytes, key.length, shared) <= 0));
    size_t rest = key.length - shared, bytes = rest + value.length, left = w->room - w->used;
    if (left < bytes + RECORD_HEAD_MOST + 1 &&
        left < bytes + length_bytes(shared) + length_bytes(rest) + length_bytes(value.length)) {
        return -ENOSPC;
    }
    uint8_t *at = length_write(length_write(length_write(w->out + w->used, shared), rest), value.length);
    memcpy(at, key.bytes + shared, rest);
    memcpy(w->key + shared, key.bytes + shared, rest);
    if (value.length > 0) {
        memcpy(at + rest, value.bytes, value.length);
    }
    w->used = (size_t)(at - w->out) + bytes;
    w->key_length = (uint32_t)key.length;
    return 0;
}

int record_write(struct record_writer *w, cw_bytes key, cw_bytes value)
{
    return record_write_shared(w, key, value,
                               record_common(w->key, w->used == 0 ? 0 : w->key_length, key.bytes, key.length, 0));
}

int record_block_after(const void *block, size_t length, cw_bytes after, uint8_t *out)
{
    struct record_reader r;
    struct record_writer w;
    int rc;
    record_reader_init(&r);
    record_reader_block(&r, block, length);
    while ((rc = record_reader_next(&r)) == 1) {
        size_t common = record_common(r.key, r.key_length, after.bytes, after.length, 0);
        if (record_order(r.key, r.key_length, after.bytes, after.length, common) > 0) {
            break;
        }
    }
    if (rc <= 0) {
        return rc;
    }
    /* What follows builds on this key, and stays as it is. */
    size_t left = (size_t)(r.end - r.at);
    record_writer_init(&w, out, RECORD_BLOCK + RECORD_KEY_MOST);
    CHECK(record_write(&w, (cw_bytes){r.key, r.key_length}, (cw_bytes){r.value, r.value_length}) == 0);
    memcpy(out + w.used, r.at, left);
    return (int)(w.used + left);
}
