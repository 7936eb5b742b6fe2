/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - 64 bits that tell whether two states are equal. They are the same on every machine and in every build.
 *
 *   struct digest      of a sequence: depends on every byte and on their order. Only the concatenation counts, not how
 *                      it was cut into updates; so a caller that digests things of varying length must digest their
 *                      lengths too.
 *   struct digest_set  of a set: depends on the items and not on the order in which they came and went, so that a
 *                      database keeps it up to date in O(1) while records are replaced. Items are digests; an item
 *                      that is added twice counts twice.
 *
 * Digest values, not memory: it may hold padding or pointers. The function is SipHash-1-3 (Aumasson and Bernstein,
 * 2012) with the key zero. Since the key is known, a digest does not resist an attacker who builds collisions: it
 * compares honest states and finds mistakes.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/sip.h"

#include <stddef.h>
#include <stdint.h>

struct digest {
    uint64_t v[4];
    uint64_t tail;   /* the last length % 8 bytes, which do not fill a word yet; the first byte is the lowest */
    uint64_t length; /* bytes digested so far */
};

static inline void digest_init(struct digest *d)
{
    *d = (struct digest){.v = {SIP_V0, SIP_V1, SIP_V2, SIP_V3}};
}

/* Digests size bytes, which are borrowed for the call; bytes may be NULL when size is 0. */
void digest_bytes(struct digest *d, const void *bytes, size_t size);

/* For the functions of this module: SipHash's step for one word, which counts no length. */
static inline void digest_word(struct digest *d, uint64_t word)
{
    d->v[3] ^= word;
    sip_round(d->v);
    d->v[0] ^= word;
}

/* Digests the eight bytes of value, the least significant first. */
static inline void digest_u64(struct digest *d, uint64_t value)
{
    unsigned held = (unsigned)(d->length % 8) * 8;
    uint64_t word = value;
    if (held != 0) {
        word = d->tail | value << held;
        d->tail = value >> (64 - held);
    }
    digest_word(d, word);
    d->length += 8;
}

/* The digest of everything so far. More may follow. */
static inline uint64_t digest_value(const struct digest *d)
{
    struct digest end = *d;
    digest_word(&end, d->length << 56 | d->tail);
    end.v[2] ^= 0xff;
    sip_round(end.v);
    sip_round(end.v);
    sip_round(end.v);
    return end.v[0] ^ end.v[1] ^ end.v[2] ^ end.v[3];
}

/* The digest of size bytes, and of count words, in one call. */
uint64_t digest_of(const void *bytes, size_t size);
uint64_t digest_of_words(const uint64_t *words, size_t count);

/*
 * The sum of the items' digests modulo 2^64. (A sum, because in an exclusive or an item that is added twice would
 * vanish.) The empty set is {0}.
 */
struct digest_set {
    uint64_t value;
};

static inline void digest_set_add(struct digest_set *set, uint64_t item)
{
    set->value += item;
}

static inline void digest_set_remove(struct digest_set *set, uint64_t item)
{
    set->value -= item;
}

static inline void digest_set_replace(struct digest_set *set, uint64_t old_item, uint64_t new_item)
{
    set->value += new_item - old_item;
}

#endif
