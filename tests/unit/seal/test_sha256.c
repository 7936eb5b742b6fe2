/* SPDX-License-Identifier: Apache-2.0 */
/* test_sha256.c - the standard's examples, whole and in parts. */
#include "seal/sha256.h"
#include "suite.h"

#include <string.h>

static void check(const char *text, size_t part, const char *hex)
{
    struct sha256 *s;
    uint8_t out[SHA256_BYTES];
    char got[2 * SHA256_BYTES + 1];
    ck_assert_int_eq(sha256_open(&s), 0);
    for (size_t at = 0; at < strlen(text); at += part) {
        size_t left = strlen(text) - at;
        ck_assert_int_eq(sha256_add(s, text + at, left < part ? left : part), 0);
    }
    ck_assert_int_eq(sha256_end(s, out), 0);
    sha256_close(s);
    for (size_t i = 0; i < sizeof out; i++) {
        snprintf(got + 2 * i, 3, "%02x", out[i]);
    }
    ck_assert_str_eq(got, hex);
}

START_TEST(examples_of_the_standard)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    check("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (size_t part = 1; part < 60; part++) {
        check("abc", part, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check(two_blocks, part, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(examples_of_the_standard)};
SUITE_MAIN("sha256", tests)
