/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c - keys. This file uses OpenSSL's three low-level SHA-1 calls although OpenSSL 3 advises EVP: they keep their
 * state on the stack, allocate nothing, take no lock and cannot fail, whereas SHA1() and EVP_Digest() look the
 * algorithm up by name on every call and cost six times as much for a 32-byte name (bench_keyspace prints both). An EVP
 * context that is prepared once would need an owner in every caller.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "keyspace/key.h"

#include <assert.h>
#include <errno.h>
#include <openssl/sha.h>
#include <string.h>

_Static_assert(CW_KEY_BYTES == SHA_DIGEST_LENGTH, "a key is a SHA-1 digest");

/*
 * ceil(n * 2^64 / N) without a 128-bit division: with 2^64 = q * N + r and 0 < r <= N it is n * q + ceil(n * r / N),
 * where n and r are at most 2^24. (Allowing r = N instead of r = 0 keeps q below 2^64 when N is 1.)
 */
static uint64_t range_start(const struct torus *t, uint64_t n)
{
    uint64_t q = t->inverse_n;
    uint64_t r = UINT64_MAX - q * t->servers + 1;
    return n * q + (n * r + t->servers - 1) / t->servers;
}

uint64_t key_first(const struct torus *t, cw_server home)
{
    assert(home < t->servers);
    return range_start(t, home);
}

uint64_t key_last(const struct torus *t, cw_server home)
{
    assert(home < t->servers);
    return range_start(t, (uint64_t)home + 1) - 1; /* behind the last home the next start wraps to 0: 2^64 - 1 */
}

static void put_be(uint8_t *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0; value >>= 8) {
        out[i] = (uint8_t)value;
    }
}

int key_at(const struct torus *t, cw_server home, uint64_t w, cw_key *out)
{
    uint64_t first = key_first(t, home);
    if (w > key_last(t, home) - first) {
        return -ERANGE;
    }
    cw_key key = {{0}};
    put_be(key.b + CW_KEY_BYTES - 8, first + w, 8);
    *out = key;
    return 0;
}

int key_compare(const cw_key *a, const cw_key *b)
{
    return memcmp(a->b, b->b, CW_KEY_BYTES);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

int key_parse(const char *text, size_t length, cw_key *out)
{
    if (length != 2 * CW_KEY_BYTES) {
        return -EMSGSIZE;
    }
    cw_key key;
    for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
        int high = hex_digit(text[2 * i]);
        int low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return -EINVAL;
        }
        key.b[i] = (uint8_t)(16 * high + low);
    }
    *out = key;
    return 0;
}

void key_format(const cw_key *key, char out[static KEY_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
        out[2 * i] = digits[key->b[i] >> 4];
        out[2 * i + 1] = digits[key->b[i] & 15];
    }
    out[KEY_TEXT - 1] = '\0';
}

/* SHA-1(head || tail); either may be empty. The calls return 1 whatever their input. */
static cw_key sha1_of(const void *head, size_t head_length, const void *tail, size_t tail_length)
{
    cw_key key;
    SHA_CTX state;
    SHA1_Init(&state);
    SHA1_Update(&state, head, head_length);
    SHA1_Update(&state, tail, tail_length);
    SHA1_Final(key.b, &state);
    return key;
}

cw_key key_sha1(const void *bytes, size_t length)
{
    return sha1_of(NULL, 0, bytes, length);
}

cw_key key_of_name(cw_job job, const void *name, size_t length)
{
    uint8_t space[4];
    put_be(space, job, sizeof space);
    return sha1_of(space, sizeof space, name, length);
}

cw_key key_extra(const cw_key *key, uint32_t j)
{
    uint8_t number[4];
    put_be(number, j, sizeof number);
    return sha1_of(key->b, CW_KEY_BYTES, number, sizeof number);
}
