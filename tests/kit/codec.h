/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h - what must be true of every decoder of runtime/wire, tried on any bytes: accepted bytes encode to
 * themselves, refused bytes leave the output untouched. For unit tests and fuzz targets alike: a broken promise prints
 * and aborts.
 */
#ifndef KIT_CODEC_H
#define KIT_CODEC_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/reason.h"

enum { CODEC_OUT_MAX = 256, CODEC_BYTES_MAX = 65536 };

struct codec {
    const char *name;
    size_t out_bytes; /* of the decoded struct */
    enum wire_reason (*decode)(const uint8_t *bytes, size_t size, void *out);
    size_t (*encode)(const void *in, uint8_t *bytes); /* into CODEC_BYTES_MAX; gives the bytes written */
};

static inline void codec_broken(const struct codec *codec, const char *promise, const uint8_t *bytes, size_t size)
{
    fprintf(stderr, "%s: %s:", codec->name, promise);
    for (size_t i = 0; i < size; i++) {
        fprintf(stderr, " %02x", bytes[i]);
    }
    fprintf(stderr, "\n");
    abort();
}

/* Decodes bytes[size], checks both promises and returns what the decoder said. */
static inline enum wire_reason codec_try(const struct codec *codec, const uint8_t *bytes, size_t size)
{
    _Alignas(16) uint8_t out[CODEC_OUT_MAX], before[CODEC_OUT_MAX];
    if (codec->out_bytes > sizeof out) {
        codec_broken(codec, "out_bytes is too large for this kit", bytes, 0);
    }
    memset(out, 0xa5, sizeof out);
    memset(before, 0xa5, sizeof before);
    enum wire_reason reason = codec->decode(bytes, size, out);
    if (memcmp(out + codec->out_bytes, before, sizeof out - codec->out_bytes) != 0) {
        codec_broken(codec, "wrote beyond its output", bytes, size);
    }
    if (reason != WIRE_OK) {
        if ((unsigned)reason >= WIRE_REASON_COUNT) {
            codec_broken(codec, "gave a reason without a name", bytes, size);
        }
        if (memcmp(out, before, sizeof out) != 0) {
            codec_broken(codec, "refused, but touched its output", bytes, size);
        }
        return reason;
    }
    uint8_t *again = malloc(CODEC_BYTES_MAX);
    if (again == NULL) {
        abort();
    }
    memset(again, 0x5a, CODEC_BYTES_MAX);
    if (codec->encode(out, again) != size || memcmp(again, bytes, size) != 0) {
        codec_broken(codec, "accepted bytes that it would not write", bytes, size);
    }
    free(again);
    return WIRE_OK;
}

/* As codec_try(), from a heap block of the exact size, so that a sanitizer sees a read past the end. */
static inline enum wire_reason codec_try_exact(const struct codec *codec, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, size);
    enum wire_reason reason = codec_try(codec, copy, size);
    free(copy);
    return reason;
}

/* Every shorter piece of these good bytes must be refused. */
static inline void codec_try_truncations(const struct codec *codec, const uint8_t *bytes, size_t size)
{
    for (size_t cut = 0; cut < size; cut++) {
        if (codec_try_exact(codec, bytes, cut) == WIRE_OK) {
            codec_broken(codec, "accepted a truncation", bytes, cut);
        }
    }
}

/* Flips every single bit: each try must keep both promises. Returns how many were refused. */
static inline unsigned codec_try_flips(const struct codec *codec, const uint8_t *bytes, size_t size)
{
    unsigned refused = 0;
    uint8_t *copy = malloc(size);
    if (copy == NULL) {
        abort();
    }
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(copy, bytes, size);
        copy[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        refused += codec_try(codec, copy, size) != WIRE_OK;
    }
    free(copy);
    return refused;
}

#endif
