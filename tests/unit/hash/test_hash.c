/* SPDX-License-Identifier: Apache-2.0 */
/* The known answers of the standards, whole and in parts of every length. */
#include "hash/hash.h"

#include "suite.h"

#include <string.h>

static const char *sha256_text(const void *bytes, size_t length)
{
    static char text[HASH_SHA256_TEXT];
    uint8_t out[HASH_SHA256_BYTES];
    hash_sha256(bytes, length, out);
    hash_text(out, sizeof out, text);
    return text;
}

static const char *md5_text(const char *bytes)
{
    static char text[HASH_MD5_TEXT];
    struct hash_md5 s;
    uint8_t out[HASH_MD5_BYTES];
    hash_md5_begin(&s);
    hash_md5_add(&s, bytes, strlen(bytes));
    hash_md5_end(&s, out);
    hash_text(out, sizeof out, text);
    return text;
}

static const char *hmac_text(const void *key, size_t key_length, const void *bytes, size_t length)
{
    static char text[HASH_SHA256_TEXT];
    uint8_t out[HASH_SHA256_BYTES];
    hash_hmac(key, key_length, bytes, length, out);
    hash_text(out, sizeof out, text);
    return text;
}

START_TEST(sha256_of_the_standard)
{
    ck_assert_str_eq(sha256_text(NULL, 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ck_assert_str_eq(sha256_text("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_str_eq(sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
                     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}
END_TEST

START_TEST(md5_of_the_standard)
{
    ck_assert_str_eq(md5_text(""), "d41d8cd98f00b204e9800998ecf8427e");
    ck_assert_str_eq(md5_text("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
    ck_assert_str_eq(md5_text("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
                     "57edf4a22be3c955ac49da2e2107b67a");
}
END_TEST

START_TEST(hmac_of_rfc_4231)
{
    uint8_t key[131];
    memset(key, 0x0b, 20);
    ck_assert_str_eq(hmac_text(key, 20, "Hi There", 8),
                     "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    ck_assert_str_eq(hmac_text("Jefe", 4, "what do ya want for nothing?", 28),
                     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key); /* longer than a block */
    ck_assert_str_eq(hmac_text(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First", 54),
                     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    uint8_t self[HASH_SHA256_BYTES] = "Jefe";
    hash_hmac(self, 4, "what do ya want for nothing?", 28, self);
    char text[HASH_SHA256_TEXT];
    hash_text(self, sizeof self, text);
    ck_assert_str_eq(text, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}
END_TEST

START_TEST(parts_and_copies_are_the_whole)
{
    uint8_t bytes[300], whole[HASH_SHA256_BYTES], parts[HASH_SHA256_BYTES];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7);
    }
    hash_sha256(bytes, sizeof bytes, whole);
    for (size_t cut = 0; cut <= sizeof bytes; cut++) {
        struct hash_sha256 one, other;
        hash_sha256_begin(&one);
        hash_sha256_add(&one, bytes, cut);
        other = one;
        hash_sha256_add(&one, "else", 4);
        hash_sha256_add(&other, bytes + cut, sizeof bytes - cut);
        hash_sha256_end(&other, parts);
        ck_assert(hash_equal(whole, parts, sizeof whole));
    }
}
END_TEST

START_TEST(what_differs_is_not_equal)
{
    ck_assert(hash_equal("", "", 0));
    ck_assert(hash_equal("abc", "abd", 2));
    ck_assert(!hash_equal("abc", "abd", 3));
    ck_assert(!hash_equal("xbc", "abc", 3));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(sha256_of_the_standard),         SUITE_TEST(md5_of_the_standard),       SUITE_TEST(hmac_of_rfc_4231),
    SUITE_TEST(parts_and_copies_are_the_whole), SUITE_TEST(what_differs_is_not_equal),
};
SUITE_MAIN("hash", tests)
