/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/pattern.h"

#include "base/bytes.h"

#include <stdbool.h>

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset ^ offset >> 8 ^ offset >> 16);
}

/* Eight of them from a place that is a multiple of eight: only the last three bits differ. Byte by byte this was most of what a packet cost. */
static uint64_t word_at(uint64_t offset)
{
    return byte_at(offset) * UINT64_C(0x0101010101010101) ^ UINT64_C(0x0001020304050607);
}

void pattern_fill(uint64_t offset, uint8_t *out, size_t length)
{
    size_t i = 0;
    for (; i < length && (offset + i) % 8 != 0; i++) {
        out[i] = byte_at(offset + i);
    }
    for (; i + 8 <= length; i += 8) {
        put_be64(out + i, word_at(offset + i));
    }
    for (; i < length; i++) {
        out[i] = byte_at(offset + i);
    }
}

static bool is_right(uint64_t offset, const uint8_t *bytes, size_t length)
{
    size_t i = 0;
    uint64_t wrong = 0;
    for (; i < length && (offset + i) % 8 != 0; i++) {
        wrong |= bytes[i] ^ byte_at(offset + i);
    }
    for (; i + 8 <= length; i += 8) {
        wrong |= get_be64(bytes + i) ^ word_at(offset + i);
    }
    for (; i < length; i++) {
        wrong |= bytes[i] ^ byte_at(offset + i);
    }
    return wrong == 0;
}

uint64_t pattern_wrong(uint64_t offset, const uint8_t *bytes, size_t length)
{
    uint64_t wrong = 0;
    if (is_right(offset, bytes, length)) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        wrong += bytes[i] != byte_at(offset + i);
    }
    return wrong;
}
