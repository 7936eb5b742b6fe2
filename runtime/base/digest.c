/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include "base/bytes.h"

static void one_byte(struct digest *d, unsigned char byte)
{
    d->tail |= (uint64_t)byte << d->length % 8 * 8;
    if (++d->length % 8 == 0) {
        digest_word(d, d->tail);
        d->tail = 0;
    }
}

void digest_bytes(struct digest *d, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (; size >= 8; size -= 8, p += 8) {
        digest_u64(d, get_le64(p));
    }
    for (; size != 0; size--, p++) {
        one_byte(d, *p);
    }
}

uint64_t digest_of(const void *bytes, size_t size)
{
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, bytes, size);
    return digest_value(&d);
}

uint64_t digest_of_words(const uint64_t *words, size_t count)
{
    struct digest d;
    digest_init(&d);
    for (size_t i = 0; i < count; i++) {
        digest_u64(&d, words[i]);
    }
    return digest_value(&d);
}
