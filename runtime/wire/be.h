/* SPDX-License-Identifier: Apache-2.0 */
/*
 * be.h - big-endian loads and stores at any alignment, for headers whose fields sit at fixed offsets.
 * The caller has made sure that the bytes are there. One instruction each at -O2 (a move and a byte swap).
 */
#ifndef WIRE_BE_H
#define WIRE_BE_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BE_SWAP(bits, x) __builtin_bswap##bits(x)
#else
#define BE_SWAP(bits, x) (x)
#endif

static inline uint16_t get_be16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return BE_SWAP(16, v);
}

static inline uint32_t get_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return BE_SWAP(32, v);
}

static inline uint64_t get_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return BE_SWAP(64, v);
}

static inline void put_be16(uint8_t *p, uint16_t v)
{
    v = BE_SWAP(16, v);
    memcpy(p, &v, sizeof v);
}

static inline void put_be32(uint8_t *p, uint32_t v)
{
    v = BE_SWAP(32, v);
    memcpy(p, &v, sizeof v);
}

static inline void put_be64(uint8_t *p, uint64_t v)
{
    v = BE_SWAP(64, v);
    memcpy(p, &v, sizeof v);
}

#endif
