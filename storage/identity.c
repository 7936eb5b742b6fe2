/* SPDX-License-Identifier: Apache-2.0 */
#include "storage/identity.h"

#include "base/bytes.h"
#include "base/sum.h"

#include <errno.h>

enum { MAGIC = 0x43774931, SUMMED = 72 }; /* "CwI1" */

void identity_encode(const struct identity *id, uint8_t *out)
{
    memset(out, 0, IDENTITY_BLOCK);
    put_be32(out, MAGIC);
    put_be32(out + 4, id->dead ? 1 : 0);
    put_be64(out + 8, id->sequence);
    put_be64(out + 16, id->class_id);
    put_be64(out + 24, id->store_id);
    put_be64(out + 32, id->before);
    put_be64(out + 40, id->boot);
    put_be32(out + 48, id->block);
    put_be32(out + 52, id->meta_segment);
    put_be32(out + 56, id->blob_segment);
    put_be64(out + SUMMED, sum_of(MAGIC, out, SUMMED));
}

uint32_t identity_offset(uint64_t sequence)
{
    return sequence % 2 == 0 ? 0 : IDENTITY_BLOCK;
}

static int decode_block(struct identity *id, const uint8_t *bytes)
{
    struct reader r = reader_of(bytes, IDENTITY_BLOCK);
    uint32_t magic = reader_be32(&r), dead = reader_be32(&r);
    *id = (struct identity){.sequence = reader_be64(&r), .dead = dead != 0};
    id->class_id = reader_be64(&r);
    id->store_id = reader_be64(&r);
    id->before = reader_be64(&r);
    id->boot = reader_be64(&r);
    id->block = reader_be32(&r);
    id->meta_segment = reader_be32(&r);
    id->blob_segment = reader_be32(&r);
    return magic == MAGIC && dead <= 1 && get_be64(bytes + SUMMED) == sum_of(MAGIC, bytes, SUMMED) ? 0 : -EBADMSG;
}

int identity_decode(struct identity *id, const uint8_t *bytes, uint32_t size)
{
    int rc = -EBADMSG;
    for (uint32_t at = 0; at + IDENTITY_BLOCK <= size && at < IDENTITY_BYTES; at += IDENTITY_BLOCK) {
        struct identity found;
        if (decode_block(&found, bytes + at) == 0 && (rc != 0 || found.sequence > id->sequence)) {
            *id = found;
            rc = 0;
        }
    }
    return rc;
}
