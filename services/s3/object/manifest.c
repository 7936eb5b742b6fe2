/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - the bytes of a manifest:
 *
 *   0 'M':8  version:8  metas:16   4 parts of the ETag:32   8 MD5:128   24 changed:64   32 size:64   40 lots:32
 *   44 metas, each: name NUL value NUL
 *   then lots, each: id:128 size:64 chunk:32; or, without lots, the object's bytes
 */
#include "services/s3/object/manifest.h"

#include "base/bytes.h"
#include "services/s3/protocol/moment.h"

#include <string.h>

enum { MARK = 'M', VERSION = 1, HEAD = 44, LOT = S3_LOT_ID + 12 };

void s3_manifest_write(const struct s3_manifest *m, const struct s3_lot *lot, struct s3_buffer *out)
{
    uint8_t head[HEAD] = {MARK, VERSION};
    put_be16(head + 2, (uint16_t)m->metas);
    put_be32(head + 4, m->etag.parts);
    memcpy(head + 8, m->etag.md5, HASH_MD5_BYTES);
    put_be64(head + 24, (uint64_t)m->changed_s);
    put_be64(head + 32, m->size);
    put_be32(head + 40, m->lots);
    s3_buffer_add(out, head, sizeof head);
    for (unsigned i = 0; i < m->metas; i++) {
        s3_buffer_add(out, m->meta[i].name, strlen(m->meta[i].name) + 1);
        s3_buffer_add(out, m->meta[i].value, strlen(m->meta[i].value) + 1);
    }
    for (uint32_t i = 0; i < m->lots; i++) {
        uint8_t bytes[LOT];
        memcpy(bytes, lot[i].id, S3_LOT_ID);
        put_be64(bytes + S3_LOT_ID, lot[i].size);
        put_be32(bytes + S3_LOT_ID + 8, lot[i].chunk);
        s3_buffer_add(out, bytes, sizeof bytes);
    }
    if (m->lots == 0 && m->bytes != NULL) {
        s3_buffer_add(out, m->bytes, (size_t)m->size);
    }
}

static const char *read_text(struct reader *r)
{
    size_t left = reader_left(r);
    const uint8_t *end = left > 0 ? memchr(r->at, '\0', left) : NULL;
    return end != NULL ? (const char *)reader_take(r, (size_t)(end - r->at) + 1) : NULL;
}

struct s3_lot s3_manifest_lot(const struct s3_manifest *m, uint32_t i)
{
    CHECK(i < m->lots);
    const uint8_t *bytes = m->lot_bytes + (size_t)i * LOT;
    struct s3_lot lot = {.size = get_be64(bytes + S3_LOT_ID), .chunk = get_be32(bytes + S3_LOT_ID + 8)};
    memcpy(lot.id, bytes, S3_LOT_ID);
    return lot;
}

static bool lots_are_good(const struct s3_manifest *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->lots; i++) {
        struct s3_lot lot = s3_manifest_lot(m, i);
        if (lot.size == 0 || lot.chunk == 0 || lot.size > m->size - sum) {
            return false;
        }
        sum += lot.size;
    }
    return sum == m->size;
}

bool s3_manifest_read(const uint8_t *bytes, size_t length, struct s3_manifest *out)
{
    struct reader r = reader_of(bytes, length);
    *out = (struct s3_manifest){0};
    if (reader_u8(&r) != MARK || reader_u8(&r) != VERSION) {
        return false;
    }
    out->metas = reader_be16(&r);
    out->etag.parts = reader_be32(&r);
    reader_copy(&r, out->etag.md5, HASH_MD5_BYTES);
    out->changed_s = (int64_t)reader_be64(&r);
    out->size = reader_be64(&r);
    out->lots = reader_be32(&r);
    if (!reader_ok(&r) || out->metas > S3_METAS_MOST || out->etag.parts > S3_PART_NUMBER_MOST ||
        out->size > (uint64_t)S3_OBJECT_MOST || out->changed_s < 0 || out->changed_s > S3_MOMENT_MAX) {
        return false;
    }
    for (unsigned i = 0; i < out->metas; i++) {
        out->meta[i].name = read_text(&r);
        out->meta[i].value = read_text(&r);
        if (out->meta[i].name == NULL || out->meta[i].value == NULL) {
            return false;
        }
    }
    if (out->lots == 0) {
        out->bytes = reader_left(&r) > 0 ? r.at : NULL;
        return reader_left(&r) == out->size;
    }
    out->lot_bytes = r.at;
    return out->lots <= S3_PART_NUMBER_MOST && reader_left(&r) == (size_t)out->lots * LOT && lots_are_good(out);
}

const char *s3_manifest_meta(const struct s3_manifest *m, const char *name)
{
    for (unsigned i = 0; i < m->metas; i++) {
        if (s3_same_name(m->meta[i].name, name)) {
            return m->meta[i].value;
        }
    }
    return NULL;
}

uint64_t s3_lot_chunks(const struct s3_lot *lot)
{
    return (lot->size + lot->chunk - 1) / lot->chunk;
}

uint32_t s3_lot_chunk(const struct s3_lot *lot, uint64_t i)
{
    uint64_t left = lot->size - i * lot->chunk;
    return left < lot->chunk ? (uint32_t)left : lot->chunk;
}
