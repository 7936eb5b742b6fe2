/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.h - SipHash-2-4 with 128 bits (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; the long
 * output as in their reference code). Nobody can make the tag of any data without knowing the key. For tags that are
 * checked on the machine that made them; what leaves the machine is signed (formats/seal).
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
    uint64_t word[2];
};
struct siphash_tag {
    uint64_t word[2];
};

/* The tag of size bytes, which are borrowed for the call. */
struct siphash_tag siphash(const struct siphash_key *key, const void *data, size_t size);

#endif
