/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/pattern.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    uint64_t tag;
    uint64_t wrong; /* pieces */
};

/* The finalizer of SplitMix64 (Steele, Lea, Flood, 2014). */
static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void cast_pattern(uint64_t tag, uint64_t offset, uint8_t *out, size_t length)
{
    uint8_t word[8];
    for (size_t at = 0; at < length; at += 8) {
        put_be64(word, mix(tag + (offset + at) / 8));
        memcpy(out + at, word, length - at < 8 ? length - at : 8);
    }
}

bool cast_pattern_is(uint64_t tag, uint64_t offset, const uint8_t *bytes, size_t length)
{
    uint64_t at = tag + offset / 8, differ = 0;
    size_t words = length / 8;
    for (size_t i = 0; i < words; i++) { /* no way out: the compiler takes several at a time */
        differ |= get_be64(bytes + 8 * i) ^ mix(at + i);
    }
    uint8_t last[8];
    put_be64(last, mix(at + words));
    return differ == 0 && memcmp(bytes + 8 * words, last, length % 8) == 0;
}

static struct pattern *pattern_of(const uint8_t id[CAST_ID_BYTES])
{
    struct pattern *p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->tag = get_be64(id);
    }
    return p;
}

static int read_pattern(void *context, uint64_t offset, uint8_t *out, size_t length)
{
    const struct pattern *p = context;
    cast_pattern(p->tag, offset, out, length);
    return 0;
}

int cast_pattern_source(const uint8_t id[CAST_ID_BYTES], struct cast_source *out)
{
    *out = (struct cast_source){.context = pattern_of(id), .read = read_pattern, .close = free};
    return out->context != NULL ? 0 : -ENOMEM;
}

static int write_pattern(void *context, uint64_t offset, const uint8_t *bytes, size_t length)
{
    struct pattern *p = context;
    p->wrong += !cast_pattern_is(p->tag, offset, bytes, length);
    return 0;
}

static int end_pattern(void *context, int status)
{
    struct pattern *p = context;
    int rc = status < 0 ? status : p->wrong > 0 ? -EBADMSG : 0;
    free(p);
    return rc;
}

int cast_pattern_accept(void *context, const struct cast_offer *offer, struct cast_sink *out)
{
    (void)context;
    *out = (struct cast_sink){.context = pattern_of(offer->id), .write = write_pattern, .end = end_pattern};
    return out->context != NULL ? 0 : -ENOMEM;
}
