/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - OpenSSL's low-level calls, for the reasons of keyspace/key.c: their state is the caller's, they allocate
 * nothing, and they cannot fail.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "hash/hash.h"

#include <openssl/md5.h>
#include <openssl/sha.h>
#include <string.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct hash_sha256), "the state has room");
_Static_assert(sizeof(MD5_CTX) <= sizeof(struct hash_md5), "the state has room");
_Static_assert(_Alignof(SHA256_CTX) <= 8 && _Alignof(MD5_CTX) <= 8, "the state is aligned");

enum { BLOCK = 64 };

static SHA256_CTX *sha256_of(struct hash_sha256 *s)
{
    return (SHA256_CTX *)(void *)s->state;
}

static MD5_CTX *md5_of(struct hash_md5 *s)
{
    return (MD5_CTX *)(void *)s->state;
}

void hash_sha256_begin(struct hash_sha256 *s)
{
    (void)SHA256_Init(sha256_of(s));
}

void hash_sha256_add(struct hash_sha256 *s, const void *bytes, size_t length)
{
    if (length > 0) {
        (void)SHA256_Update(sha256_of(s), bytes, length);
    }
}

void hash_sha256_end(struct hash_sha256 *s, uint8_t out[static HASH_SHA256_BYTES])
{
    (void)SHA256_Final(out, sha256_of(s));
}

void hash_sha256(const void *bytes, size_t length, uint8_t out[static HASH_SHA256_BYTES])
{
    struct hash_sha256 s;
    hash_sha256_begin(&s);
    hash_sha256_add(&s, bytes, length);
    hash_sha256_end(&s, out);
}

void hash_md5_begin(struct hash_md5 *s)
{
    (void)MD5_Init(md5_of(s));
}

void hash_md5_add(struct hash_md5 *s, const void *bytes, size_t length)
{
    if (length > 0) {
        (void)MD5_Update(md5_of(s), bytes, length);
    }
}

void hash_md5_end(struct hash_md5 *s, uint8_t out[static HASH_MD5_BYTES])
{
    (void)MD5_Final(out, md5_of(s));
}

void hash_hmac(const void *key, size_t key_length, const void *bytes, size_t length,
               uint8_t out[static HASH_SHA256_BYTES])
{
    uint8_t inner[BLOCK] = {0}, outer[BLOCK];
    struct hash_sha256 s;
    if (key_length > BLOCK) {
        hash_sha256(key, key_length, inner);
    } else if (key_length > 0) {
        memcpy(inner, key, key_length);
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    hash_sha256_begin(&s);
    hash_sha256_add(&s, inner, BLOCK);
    hash_sha256_add(&s, bytes, length);
    hash_sha256_end(&s, out);
    hash_sha256_begin(&s);
    hash_sha256_add(&s, outer, BLOCK);
    hash_sha256_add(&s, out, HASH_SHA256_BYTES);
    hash_sha256_end(&s, out);
}

void hash_text(const uint8_t *bytes, size_t length, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * length] = '\0';
}

bool hash_equal(const void *a, const void *b, size_t length)
{
    const volatile uint8_t *x = a, *y = b;
    uint8_t different = 0;
    for (size_t i = 0; i < length; i++) {
        different |= x[i] ^ y[i];
    }
    return different == 0;
}
