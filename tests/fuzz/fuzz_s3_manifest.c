/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as what the image store keeps: a manifest that is read is within its bytes and is written to the same. */
#include "services/s3/object/drop.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct s3_lot lots[S3_PART_NUMBER_MOST];
    struct s3_manifest m;
    struct s3_lot_note note;
    struct s3_buffer out = {0};
    if (s3_manifest_read(data, size, &m)) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < m.lots; i++) {
            lots[i] = s3_manifest_lot(&m, i);
            sum += lots[i].size;
            must(s3_lot_chunks(&lots[i]) > 0 && s3_lot_chunk(&lots[i], s3_lot_chunks(&lots[i]) - 1) > 0);
        }
        must(m.lots == 0 || sum == m.size);
        s3_manifest_write(&m, lots, &out);
        must(out.failed || (out.length == size && memcmp(out.bytes, data, size) == 0));
        s3_buffer_clear(&out);
    }
    if (s3_lot_note_read(data, size, &note)) {
        s3_lot_note_write(&note, &out);
        must(out.failed || (out.length == size && memcmp(out.bytes, data, size) == 0));
    }
    s3_buffer_drop(&out);
    return 0;
}
