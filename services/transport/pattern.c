/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/pattern.h"

#include <stdbool.h>
#include <string.h>
/*
 * Byte n is n ^ n >> 8 ^ n >> 16, cut to 8 bits. Inside a block of 256 all but the last byte of the place is the same
 * for all, and eight of these last bytes in a word count up together, without a carry from one to the next. Byte by
 * byte this was most of what a packet cost.
 */
enum { BLOCK = 256, WORD = 8 };
#define ONES UINT64_C(0x0101010101010101)

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset ^ offset >> 8 ^ offset >> 16);
}

/* Up to the end of the block, or of what is left, in whole words. The place begins a word. */
struct stretch {
    uint64_t first, same; /* last bytes of the first eight places; the rest */
    size_t words;
};

static struct stretch stretch_at(uint64_t offset, size_t left)
{
    static const uint8_t counted[WORD] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct stretch s;
    size_t room = BLOCK - offset % BLOCK;
    memcpy(&s.first, counted, WORD);
    s.first += (uint8_t)offset * ONES;
    s.same = (uint8_t)(offset >> 8 ^ offset >> 16) * ONES;
    s.words = (left < room ? left : room) / WORD;
    return s;
}

void pattern_fill(uint64_t offset, uint8_t *out, size_t length)
{
    size_t at = 0;
    for (; at < length && (offset + at) % WORD != 0; at++) {
        out[at] = byte_at(offset + at);
    }
    while (length - at >= WORD) {
        struct stretch s = stretch_at(offset + at, length - at);
        for (size_t i = 0; i < s.words; i++, at += WORD) {
            uint64_t word = (s.first + i * WORD * ONES) ^ s.same;
            memcpy(out + at, &word, WORD);
        }
    }
    for (; at < length; at++) {
        out[at] = byte_at(offset + at);
    }
}

static bool is_right(uint64_t offset, const uint8_t *bytes, size_t length)
{
    uint64_t differs = 0;
    size_t at = 0;
    for (; at < length && (offset + at) % WORD != 0; at++) {
        differs |= bytes[at] ^ byte_at(offset + at);
    }
    while (length - at >= WORD) {
        struct stretch s = stretch_at(offset + at, length - at);
        for (size_t i = 0; i < s.words; i++, at += WORD) {
            uint64_t word;
            memcpy(&word, bytes + at, WORD);
            differs |= word ^ (s.first + i * WORD * ONES) ^ s.same;
        }
    }
    for (; at < length; at++) {
        differs |= bytes[at] ^ byte_at(offset + at);
    }
    return differs == 0;
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
