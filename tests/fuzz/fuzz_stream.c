/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_stream.c - any bytes as a stream packet; then the same bytes with a head that is right about length and session,
 * so that all chance goes into the count and the items.
 */
#include "control_codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)codec_try(&codec_stream, data, size);
    if (size < STREAM_HEAD_BYTES || size > ITEM_BYTES_MAX || size % 4 != 0) {
        return 0;
    }
    uint8_t *copy = malloc(size);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, data, size);
    control_encode(&(struct control_head){CONTROL_STREAM, (uint16_t)size, 1}, copy);
    copy[8] |= 1;
    copy[22] = copy[23] = 0;
    (void)codec_try(&codec_stream, copy, size);
    free(copy);
    return 0;
}
