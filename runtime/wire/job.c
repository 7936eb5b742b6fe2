/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/job.h"
#include "base/check.h"
#include "wire/field.h"

#include <string.h>

static enum wire_reason part_judge(const struct job_part *p)
{
    bool good = p->total >= 1 && p->total <= JOB_RECORD_BYTES_MAX && p->used >= 1;
    good = good && p->offset <= p->total && p->used <= p->total - p->offset;
    return good ? WIRE_OK : WIRE_BAD_VALUE;
}

size_t job_part_size(const struct job_part *part)
{
    return JOB_PART_HEAD_BYTES + ((size_t)part->used + 3) / 4 * 4;
}

enum wire_reason job_part_decode(const uint8_t *bytes, size_t size, struct job_part *out)
{
    if (size < JOB_PART_HEAD_BYTES) {
        return WIRE_TRUNCATED;
    }
    struct job_part part = {
        .job = get_be32(bytes),
        .version = get_be64(bytes + 4),
        .total = get_be32(bytes + 12),
        .offset = get_be32(bytes + 16),
        .used = get_be16(bytes + 20),
        .bytes = bytes + JOB_PART_HEAD_BYTES,
    };
    if (get_be16(bytes + 22) != 0) {
        return WIRE_RESERVED;
    }
    enum wire_reason reason = part_judge(&part);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (job_part_size(&part) != size) {
        return WIRE_BAD_COUNT;
    }
    for (size_t i = JOB_PART_HEAD_BYTES + part.used; i < size; i++) {
        if (bytes[i] != 0) {
            return WIRE_RESERVED;
        }
    }
    *out = part;
    return WIRE_OK;
}

void job_part_encode(const struct job_part *part, uint8_t *bytes)
{
    CHECK(part_judge(part) == WIRE_OK);
    put_be32(bytes, part->job);
    put_be64(bytes + 4, part->version);
    put_be32(bytes + 12, part->total);
    put_be32(bytes + 16, part->offset);
    put_be16(bytes + 20, part->used);
    put_be16(bytes + 22, 0);
    memcpy(bytes + JOB_PART_HEAD_BYTES, part->bytes, part->used);
    size_t end = JOB_PART_HEAD_BYTES + (size_t)part->used;
    memset(bytes + end, 0, job_part_size(part) - end);
}

static enum wire_reason ack_judge(const struct job_ack *a)
{
    return a->incarnation != 0 ? WIRE_OK : WIRE_BAD_VALUE;
}

enum wire_reason job_ack_decode(const uint8_t bytes[static JOB_ACK_BYTES], struct job_ack *out)
{
    if (bytes[3] != 0) {
        return WIRE_RESERVED;
    }
    struct job_ack ack = {
        .server = field_get_coord(bytes),
        .incarnation = get_be64(bytes + 4),
        .job = get_be32(bytes + 12),
        .version = get_be64(bytes + 16),
    };
    enum wire_reason reason = ack_judge(&ack);
    if (reason == WIRE_OK) {
        *out = ack;
    }
    return reason;
}

void job_ack_encode(const struct job_ack *ack, uint8_t bytes[static JOB_ACK_BYTES])
{
    CHECK(ack_judge(ack) == WIRE_OK);
    field_put_coord(bytes, ack->server);
    bytes[3] = 0;
    put_be64(bytes + 4, ack->incarnation);
    put_be32(bytes + 12, ack->job);
    put_be64(bytes + 16, ack->version);
}

enum wire_reason job_summary_decode(const uint8_t *entries, size_t count, struct job_summary *out)
{
    if (count > UINT16_MAX) {
        return WIRE_BAD_COUNT;
    }
    *out = (struct job_summary){.entries = entries, .count = (uint16_t)count};
    return WIRE_OK;
}

struct job_summary_entry job_summary_get(const struct job_summary *s, size_t i)
{
    CHECK(i < s->count);
    const uint8_t *p = s->entries + i * JOB_SUMMARY_ENTRY_BYTES;
    return (struct job_summary_entry){.job = get_be32(p), .version = get_be64(p + 4)};
}

void job_summary_put(const struct job_summary_entry *entry, uint8_t *entries, size_t i)
{
    uint8_t *p = entries + i * JOB_SUMMARY_ENTRY_BYTES;
    put_be32(p, entry->job);
    put_be64(p + 4, entry->version);
}
