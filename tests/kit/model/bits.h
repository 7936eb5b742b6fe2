/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - a writer of bit fields, most significant first, one bit at a time: the pictures of docs/wire.md typed in
 * field by field. Too slow and too simple to be wrong; the encoders are compared with it.
 */
#ifndef KIT_BITS_H
#define KIT_BITS_H

#include <stdint.h>

struct bits {
    uint8_t *bytes; /* zeroed by the user */
    uint32_t count; /* bits written */
};

static inline void bits_put(struct bits *b, unsigned width, uint64_t value)
{
    while (width-- > 0) {
        if (value >> width & 1) {
            b->bytes[b->count / 8] |= (uint8_t)(0x80u >> b->count % 8);
        }
        b->count++;
    }
}

#endif
