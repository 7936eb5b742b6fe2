/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/log_group.h"

#include "base/bytes.h"
#include "base/sum.h"
#include "storage/log_record.h"

#include <errno.h>

enum { MAGIC = 0x43774731, HEAD_SUMMED = LOG_GROUP_HEAD - 8 }; /* "CwG1" */

/* Salted by the class: another class's store with the same id has other sums. */
static uint64_t seed_of(const struct log_group *g, uint32_t offset)
{
    return log_seed(g->store_id ^ g->class_id * UINT64_C(0x9e3779b97f4a7c15), g->segment, offset);
}

uint64_t log_group_sum(const struct log_group *g, uint32_t offset, const uint8_t *records)
{
    return sum_of(seed_of(g, offset) + g->position, records, g->length);
}

void log_group_encode(const struct log_group *g, uint32_t offset, uint8_t *out)
{
    put_be32(out, MAGIC);
    put_be32(out + 4, g->segment);
    put_be64(out + 8, g->class_id);
    put_be64(out + 16, g->store_id);
    put_be64(out + 24, g->position);
    put_be64(out + 32, g->synced);
    put_be32(out + 40, g->length);
    put_be32(out + 44, g->records);
    put_be64(out + 48, g->sum);
    put_be64(out + HEAD_SUMMED, sum_of(seed_of(g, offset), out, HEAD_SUMMED));
}

int log_group_decode(struct log_group *g, uint64_t class_id, uint64_t store_id, uint32_t segment, uint32_t offset,
                     const uint8_t *bytes)
{
    struct reader r = reader_of(bytes, LOG_GROUP_HEAD);
    uint32_t magic = reader_be32(&r);
    *g = (struct log_group){.segment = reader_be32(&r)};
    g->class_id = reader_be64(&r);
    g->store_id = reader_be64(&r);
    g->position = reader_be64(&r);
    g->synced = reader_be64(&r);
    g->length = reader_be32(&r);
    g->records = reader_be32(&r);
    g->sum = reader_be64(&r);
    uint64_t head_sum = reader_be64(&r);
    bool ours = magic == MAGIC && g->segment == segment && g->class_id == class_id && g->store_id == store_id &&
                g->position != 0;
    return ours && head_sum == sum_of(seed_of(g, offset), bytes, HEAD_SUMMED) ? 0 : -EBADMSG;
}
