/* SPDX-License-Identifier: Apache-2.0 */
/* test_seal.c - the vectors of RFC 8032, what is refused, and keys as text and back. */
#include "seal/seal.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

#define PEM(body) "-----BEGIN PRIVATE KEY-----\n" body "\n-----END PRIVATE KEY-----\n"

/* RFC 8032, section 7.1, tests 1 and 2: their secret keys in the form of PKCS#8. */
static const struct {
    const char *pem, *public, *message, *signature;
} vectors[] = {
    {PEM("MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"),
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24"
     "655141438e7a100b"},
    {PEM("MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7"),
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aee"
     "b00d291612bb0c00"},
};

static struct seal_key *key_of(const char *pem)
{
    char why[SEAL_WHY];
    struct seal_key *key = NULL;
    ck_assert_msg(seal_key_read(&key, pem, strlen(pem), why) == 0, "%s", why);
    return key;
}

static void to_hex(const uint8_t *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

START_TEST(vectors_of_the_standard)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct seal_key *key = key_of(vectors[i].pem);
        struct seal_public *half;
        uint8_t raw[SEAL_PUBLIC_BYTES], signature[SEAL_SIGNATURE_BYTES];
        char text[2 * SEAL_SIGNATURE_BYTES + 1], pem[SEAL_PEM];
        seal_key_public(key, raw);
        seal_public_hex(raw, text);
        ck_assert_str_eq(text, vectors[i].public);
        ck_assert_int_eq(seal_sign(key, vectors[i].message, strlen(vectors[i].message), signature), 0);
        to_hex(signature, sizeof signature, text);
        ck_assert_str_eq(text, vectors[i].signature);
        ck_assert_int_eq(seal_public_open(&half, raw), 0);
        ck_assert(seal_verify(half, vectors[i].message, strlen(vectors[i].message), signature));
        ck_assert_uint_gt(seal_key_write(key, pem), 0);
        ck_assert_str_eq(pem, vectors[i].pem);
        seal_public_close(half);
        seal_key_close(key);
    }
}
END_TEST

START_TEST(every_bit_counts)
{
    uint8_t message[40], raw[SEAL_PUBLIC_BYTES], signature[SEAL_SIGNATURE_BYTES];
    struct seal_key *key;
    struct seal_public *half;
    memset(message, 7, sizeof message);
    ck_assert_int_eq(seal_key_make(&key), 0);
    seal_key_public(key, raw);
    ck_assert_int_eq(seal_sign(key, message, sizeof message, signature), 0);
    ck_assert_int_eq(seal_public_open(&half, raw), 0);
    ck_assert(seal_verify(half, message, sizeof message, signature));
    ck_assert(!seal_verify(half, message, sizeof message - 1, signature));
    for (unsigned bit = 0; bit < 8 * sizeof message; bit++) {
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert(!seal_verify(half, message, sizeof message, signature));
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (unsigned bit = 0; bit < 8 * sizeof signature; bit++) {
        signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert(!seal_verify(half, message, sizeof message, signature));
        signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (unsigned bit = 0; bit < 8 * sizeof raw; bit++) {
        struct seal_public *other;
        raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(seal_public_open(&other, raw), 0);
        ck_assert(!seal_verify(other, message, sizeof message, signature));
        seal_public_close(other);
        raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert(seal_verify(half, message, sizeof message, signature));
    seal_public_close(half);
    seal_key_close(key);
}
END_TEST

START_TEST(two_keys_are_two)
{
    struct seal_key *a, *b;
    uint8_t one[SEAL_PUBLIC_BYTES], other[SEAL_PUBLIC_BYTES];
    ck_assert_int_eq(seal_key_make(&a), 0);
    ck_assert_int_eq(seal_key_make(&b), 0);
    seal_key_public(a, one);
    seal_key_public(b, other);
    ck_assert_int_ne(memcmp(one, other, sizeof one), 0);
    seal_key_close(a);
    seal_key_close(b);
}
END_TEST

START_TEST(what_is_no_key_is_refused)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "no private key"},
        {"hello", "no private key"},
        {"-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n", "no private key"},
        {PEM("MC4CAQAwBQYDK2VuBCIEIIi7ThhrfEjnYHgzuQLdRizNwolaIsS6Z3SI8FW83Bd9"), "another kind of key"},
        {"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
         "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg5OGMhOJflQwICCAAw\n"
         "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHjQvw9+ggXVRzRLTCLp3CkEQJ/m\n"
         "foFpU1UGHx/Jo1LVsm1EYgqXELBYDAYB5bv3hkSj4ObQpvnwqq9q7TiMPFh6rYm2\n"
         "VU/mVoLDmzdtyCnRHUc=\n"
         "-----END ENCRYPTED PRIVATE KEY-----\n",
         "encrypted"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[SEAL_WHY];
        struct seal_key *key = NULL;
        ck_assert_int_eq(seal_key_read(&key, rows[i].text, strlen(rows[i].text), why), -EBADMSG);
        ck_assert_msg(strstr(why, rows[i].why) != NULL, "%zu: %s", i, why);
        ck_assert_ptr_null(key);
    }
}
END_TEST

START_TEST(public_halves_as_text)
{
    char why[SEAL_WHY], hex[SEAL_HEX], pem[SEAL_PEM], padded[SEAL_HEX + 8];
    struct seal_key *key = key_of(vectors[0].pem);
    uint8_t raw[SEAL_PUBLIC_BYTES], read[SEAL_PUBLIC_BYTES];
    seal_key_public(key, raw);
    seal_key_close(key);
    seal_public_hex(raw, hex);
    snprintf(padded, sizeof padded, " \t%s\r\n", hex);
    const char *good[] = {hex, padded, "D75A980182B10AB7D54BFED3C964073A0EE172F3DAA62325AF021A68F707511A", pem};
    ck_assert_uint_gt(seal_public_write(raw, pem), 0);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        memset(read, 0, sizeof read);
        ck_assert_int_eq(seal_public_read(good[i], strlen(good[i]), read, why), 0);
        ck_assert_int_eq(memcmp(read, raw, sizeof raw), 0);
    }
    const char *bad[] = {"",
                         "  ",
                         "d75a",
                         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511g",
                         vectors[0].pem,
                         "-----BEGIN PUBLIC KEY-----\nMC\n-----END PUBLIC KEY-----\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(seal_public_read(bad[i], strlen(bad[i]), read, why), -EBADMSG);
        ck_assert_ptr_nonnull(strstr(why, "64 hex digits"));
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(vectors_of_the_standard),   SUITE_TEST(every_bit_counts),      SUITE_TEST(two_keys_are_two),
    SUITE_TEST(what_is_no_key_is_refused), SUITE_TEST(public_halves_as_text),
};
SUITE_MAIN("seal", tests)
