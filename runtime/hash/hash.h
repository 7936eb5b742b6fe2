/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - SHA-256 (FIPS 180-4), HMAC with it (RFC 2104), and MD5 (RFC 1321), of bytes that come in parts. By OpenSSL,
 * which is met for these in hash.c alone. Keys of names are SHA-1, and keyspace/key.h's.
 *
 * A state is a plain value of its caller's: nothing is allocated, nothing can fail, and a copy of one goes on by
 * itself. Pure. MD5 protects nothing; it is what clients of S3 compare.
 */
#ifndef HASH_HASH_H
#define HASH_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HASH_SHA256_BYTES = 32,
    HASH_MD5_BYTES = 16,
    HASH_SHA256_TEXT = 2 * HASH_SHA256_BYTES + 1, /* as hex digits, with a NUL */
    HASH_MD5_TEXT = 2 * HASH_MD5_BYTES + 1,
};

struct hash_sha256 {
    _Alignas(8) uint8_t state[112];
};

void hash_sha256_begin(struct hash_sha256 *s);
/* bytes may be NULL when length is 0. */
void hash_sha256_add(struct hash_sha256 *s, const void *bytes, size_t length);
/* Gives the digest of all that was added. The state has to begin anew. */
void hash_sha256_end(struct hash_sha256 *s, uint8_t out[static HASH_SHA256_BYTES]);
/* All of it at once. */
void hash_sha256(const void *bytes, size_t length, uint8_t out[static HASH_SHA256_BYTES]);

struct hash_md5 {
    _Alignas(8) uint8_t state[96];
};

void hash_md5_begin(struct hash_md5 *s);
void hash_md5_add(struct hash_md5 *s, const void *bytes, size_t length);
void hash_md5_end(struct hash_md5 *s, uint8_t out[static HASH_MD5_BYTES]);

/* HMAC-SHA256 with a key of any length. out may be the key. */
void hash_hmac(const void *key, size_t key_length, const void *bytes, size_t length,
               uint8_t out[static HASH_SHA256_BYTES]);

/* Writes 2 * length small hex digits and a NUL. */
void hash_text(const uint8_t *bytes, size_t length, char *out);
/* Are they the same? Takes the same time wherever they differ: for what an attacker must not find out bit by bit. */
bool hash_equal(const void *a, const void *b, size_t length);

#endif
