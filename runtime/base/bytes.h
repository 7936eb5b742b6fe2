/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - numbers in bytes, in network order. There are two levels:
 *
 *   get_be32(p), put_be32(p, v)   fields at fixed offsets, of any alignment; the caller has checked that the bytes are
 *                                 there.
 *   struct reader, struct writer  cursors that do not leave their bounds. A cursor that is asked for more than is left
 *                                 fails once and for all: from then on it reads zeros and writes nothing, and its
 *                                 position stays where the overrun began. So a decoder reads all its fields and asks
 *                                 reader_ok() once, at the end.
 *
 * A read or a write happens as a whole or not at all. Cursors borrow the bytes; they are plain values, and a copy of
 * one is a second, independent cursor (a bookmark).
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_BE(bits, v) __builtin_bswap##bits(v)
#else
#define BYTES_BE(bits, v) (v)
#endif

static inline uint16_t get_be16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return BYTES_BE(16, v);
}

static inline uint32_t get_be24(const void *p)
{
    const uint8_t *b = p;
    return (uint32_t)b[0] << 16 | get_be16(b + 1);
}

static inline uint32_t get_be32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return BYTES_BE(32, v);
}

static inline uint64_t get_be64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return BYTES_BE(64, v);
}

/* Little-endian, for sums and digests that take eight bytes at a time. */
static inline uint64_t get_le64(const void *p)
{
    return __builtin_bswap64(get_be64(p));
}

static inline void put_be16(void *p, uint16_t v)
{
    v = BYTES_BE(16, v);
    memcpy(p, &v, sizeof v);
}

/* v is below 2^24. */
static inline void put_be24(void *p, uint32_t v)
{
    CHECK_SLOW(v < 1u << 24);
    uint8_t *b = p;
    b[0] = (uint8_t)(v >> 16);
    put_be16(b + 1, (uint16_t)v);
}

static inline void put_be32(void *p, uint32_t v)
{
    v = BYTES_BE(32, v);
    memcpy(p, &v, sizeof v);
}

static inline void put_be64(void *p, uint64_t v)
{
    v = BYTES_BE(64, v);
    memcpy(p, &v, sizeof v);
}

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

/* Gives a reader of size bytes, which it borrows; bytes may be NULL when size is 0. */
static inline struct reader reader_of(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    return (struct reader){at, size == 0 ? at : at + size, false};
}

/* True as long as all that was asked for was there. */
static inline bool reader_ok(const struct reader *r)
{
    return !r->failed;
}

/* How many bytes are left to read; 0 once the reader has failed. */
static inline size_t reader_left(const struct reader *r)
{
    return r->failed ? 0 : (size_t)(r->end - r->at);
}

/* True when all bytes have been read and none was missing: the whole message was read. */
static inline bool reader_done(const struct reader *r)
{
    return !r->failed && r->at == r->end;
}

/*
 * Moves past size bytes and gives where they are: borrowed, for as long as the reader's bytes. NULL when they are not
 * all there.
 */
static inline const uint8_t *reader_take(struct reader *r, size_t size)
{
    if (__builtin_expect(r->failed || (size_t)(r->end - r->at) < size, 0)) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *taken = r->at;
    r->at = size == 0 ? taken : taken + size;
    return taken;
}

static inline void reader_skip(struct reader *r, size_t size)
{
    (void)reader_take(r, size);
}

/* Copies size bytes into `to`; fills it with zeros when they are not all there. */
static inline void reader_copy(struct reader *r, void *to, size_t size)
{
    const uint8_t *p = reader_take(r, size);
    if (size == 0) {
        return;
    }
    if (p == NULL) {
        memset(to, 0, size);
        return;
    }
    memcpy(to, p, size);
}

/* Gives a reader of the next size bytes, which r moves past; when they are not all there, both readers have failed. */
static inline struct reader reader_slice(struct reader *r, size_t size)
{
    const uint8_t *p = reader_take(r, size);
    if (r->failed) {
        return (struct reader){r->at, r->at, true};
    }
    return reader_of(p, size);
}

static inline uint8_t reader_u8(struct reader *r)
{
    const uint8_t *p = reader_take(r, 1);
    return p == NULL ? 0 : *p;
}

static inline uint16_t reader_be16(struct reader *r)
{
    const uint8_t *p = reader_take(r, 2);
    return p == NULL ? 0 : get_be16(p);
}

static inline uint32_t reader_be24(struct reader *r)
{
    const uint8_t *p = reader_take(r, 3);
    return p == NULL ? 0 : get_be24(p);
}

static inline uint32_t reader_be32(struct reader *r)
{
    const uint8_t *p = reader_take(r, 4);
    return p == NULL ? 0 : get_be32(p);
}

static inline uint64_t reader_be64(struct reader *r)
{
    const uint8_t *p = reader_take(r, 8);
    return p == NULL ? 0 : get_be64(p);
}

struct writer {
    uint8_t *at, *end, *start;
    bool failed;
};

/* Gives a writer into size bytes, which it borrows; bytes may be NULL when size is 0. */
static inline struct writer writer_of(void *bytes, size_t size)
{
    uint8_t *at = bytes;
    return (struct writer){at, size == 0 ? at : at + size, at, false};
}

/* True as long as all that was written found room. */
static inline bool writer_ok(const struct writer *w)
{
    return !w->failed;
}

/* How many bytes of room are left; 0 once the writer has failed. */
static inline size_t writer_left(const struct writer *w)
{
    return w->failed ? 0 : (size_t)(w->end - w->at);
}

/* How many bytes were written so far; after a failure, those before the overrun. */
static inline size_t writer_size(const struct writer *w)
{
    return (size_t)(w->at - w->start);
}

/*
 * Moves past size bytes and gives where they are, for the caller to fill: a length that is known later, for example.
 * NULL when there is no room for them.
 */
static inline uint8_t *writer_take(struct writer *w, size_t size)
{
    if (__builtin_expect(w->failed || (size_t)(w->end - w->at) < size, 0)) {
        w->failed = true;
        return NULL;
    }
    uint8_t *taken = w->at;
    w->at = size == 0 ? taken : taken + size;
    return taken;
}

static inline void writer_copy(struct writer *w, const void *from, size_t size)
{
    uint8_t *p = writer_take(w, size);
    if (p != NULL && size != 0) {
        memcpy(p, from, size);
    }
}

static inline void writer_zeros(struct writer *w, size_t size)
{
    uint8_t *p = writer_take(w, size);
    if (p != NULL && size != 0) {
        memset(p, 0, size);
    }
}

static inline void writer_u8(struct writer *w, uint8_t v)
{
    uint8_t *p = writer_take(w, 1);
    if (p != NULL) {
        *p = v;
    }
}

static inline void writer_be16(struct writer *w, uint16_t v)
{
    uint8_t *p = writer_take(w, 2);
    if (p != NULL) {
        put_be16(p, v);
    }
}

static inline void writer_be24(struct writer *w, uint32_t v)
{
    uint8_t *p = writer_take(w, 3);
    if (p != NULL) {
        put_be24(p, v);
    }
}

static inline void writer_be32(struct writer *w, uint32_t v)
{
    uint8_t *p = writer_take(w, 4);
    if (p != NULL) {
        put_be32(p, v);
    }
}

static inline void writer_be64(struct writer *w, uint64_t v)
{
    uint8_t *p = writer_take(w, 8);
    if (p != NULL) {
        put_be64(p, v);
    }
}

#endif
