/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/log_record.h"

#include "base/bytes.h"
#include "base/digest.h"
#include "base/sum.h"

#include <errno.h>

uint64_t log_seed(uint64_t id, uint32_t segment, uint32_t offset)
{
    return digest_of_words((uint64_t[]){id, (uint64_t)segment << 32 | offset}, 2);
}

static uint32_t inline_size(const struct log_record *r)
{
    return (r->flags & (LOG_PLACED | LOG_DROP)) != 0 ? 0 : r->value_size;
}

uint32_t log_record_size(const struct log_record *r)
{
    return LOG_RECORD_HEAD + r->note_size + r->name_size + inline_size(r) + LOG_RECORD_SUM;
}

void log_record_encode(const struct log_record *r, uint8_t *out)
{
    uint32_t size = log_record_size(r);
    struct writer w = writer_of(out, size);
    writer_be32(&w, size);
    writer_u8(&w, r->kind);
    writer_u8(&w, r->flags);
    writer_be16(&w, r->note_size);
    writer_copy(&w, r->key.b, sizeof r->key.b);
    writer_be32(&w, r->space);
    writer_be16(&w, r->name_size);
    writer_be16(&w, 0);
    writer_be32(&w, r->value_size);
    writer_be32(&w, r->place.segment);
    writer_be32(&w, r->place.offset);
    writer_be64(&w, r->value_sum);
    writer_be64(&w, r->before);
    writer_copy(&w, r->note, r->note_size);
    writer_copy(&w, r->name, r->name_size);
    writer_copy(&w, r->value, inline_size(r));
    writer_zeros(&w, LOG_RECORD_SUM);
    CHECK(writer_ok(&w) && writer_size(&w) == size);
}

void log_record_seal(uint8_t *bytes, uint32_t size, uint64_t seed)
{
    put_be64(bytes + size - LOG_RECORD_SUM, sum_of(seed, bytes, size - LOG_RECORD_SUM));
}

/* Do the fields fit each other? */
static bool is_sane(const struct log_record *r, uint32_t size, uint16_t zero)
{
    bool drop = (r->flags & LOG_DROP) != 0, placed = (r->flags & LOG_PLACED) != 0;
    return zero == 0 && (r->flags & ~(LOG_DROP | LOG_PLACED | LOG_MOVED)) == 0 && r->note_size <= LOG_NOTE_MAX &&
           r->name_size <= LOG_NAME_MAX && !(drop && (placed || r->value_size != 0)) &&
           placed == (r->place.segment != 0) && ((r->flags & LOG_MOVED) != 0 || r->before == 0) &&
           size - LOG_RECORD_HEAD - LOG_RECORD_SUM == (uint64_t)r->note_size + r->name_size + inline_size(r);
}

int log_record_parse(struct log_record *r, const uint8_t *bytes, size_t size, uint32_t *used)
{
    struct reader in = reader_of(bytes, size);
    uint32_t length = reader_be32(&in);
    if (!reader_ok(&in) || length < LOG_RECORD_HEAD + LOG_RECORD_SUM || length > size) {
        return -EBADMSG;
    }
    *r = (struct log_record){.kind = reader_u8(&in), .flags = 0};
    r->flags = reader_u8(&in);
    r->note_size = reader_be16(&in);
    reader_copy(&in, r->key.b, sizeof r->key.b);
    r->space = reader_be32(&in);
    r->name_size = reader_be16(&in);
    uint16_t zero = reader_be16(&in);
    r->value_size = reader_be32(&in);
    r->place.segment = reader_be32(&in);
    r->place.offset = reader_be32(&in);
    r->value_sum = reader_be64(&in);
    r->before = reader_be64(&in);
    r->place.length = (r->flags & LOG_PLACED) != 0 ? r->value_size : 0;
    if (!is_sane(r, length, zero)) {
        return -EBADMSG;
    }
    r->note = reader_take(&in, r->note_size);
    r->name = reader_take(&in, r->name_size);
    r->value = reader_take(&in, inline_size(r));
    if ((r->flags & LOG_PLACED) != 0) {
        r->value = NULL;
    }
    *used = length;
    return reader_ok(&in) ? 0 : -EBADMSG;
}

int log_record_decode(struct log_record *r, uint64_t seed, const uint8_t *bytes, size_t size, uint32_t *used)
{
    int rc = log_record_parse(r, bytes, size, used);
    if (rc != 0) {
        return rc;
    }
    uint32_t body = *used - LOG_RECORD_SUM;
    return get_be64(bytes + body) == sum_of(seed, bytes, body) ? 0 : -EBADMSG;
}
