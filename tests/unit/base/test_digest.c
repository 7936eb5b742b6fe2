/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/prng.h"
#include "suite.h"

#include <stdbool.h>

/* SipHash-1-3 with key zero of the bytes 0, 1, 2 ... n-1, from the authors' reference implementation. */
static const uint64_t reference[64] = {
    0xd1fba762150c532c, 0x68a914128e01e473, 0x010bac45c41e3669, 0x4d4c9a4a8ef6e0ad, 0x7cc43f98813e4dbd,
    0x5abe2169dff36275, 0xe3c25f87624f1cdb, 0x2f098ab0c751325a, 0xead411e67ebe2eea, 0x75927f9d95124362,
    0xaf9f77a65ab51a1d, 0xfe64ce8b6617fcff, 0xa6baf4fb0f9fe1c2, 0xa0cf3211850f8e0d, 0x7f86049379fbfe67,
    0xf30eb725bb91c9ea, 0x8972188433a5c5b7, 0x4883c49a2c009c1d, 0xadc2c0b63044067d, 0x091f4a3329f87d19,
    0x639e355ae68c0100, 0xb17bef2cb5213239, 0xf8aeb1066236ccfe, 0x37332b1389daa4ff, 0x31185a47af932f3a,
    0xebf352e82ae23e2f, 0xed36ff242fe478b2, 0x2454d97d299299df, 0x8cd57fe8130d0ac7, 0xbe98eb2faf0a0e85,
    0xd427c34ee09470c6, 0x169739443111d49b, 0x31ef8061c910629b, 0x7fb71d24dfa4c9f6, 0x92771f49e836d389,
    0x3c393cf6f0853bc3, 0xac77921fcc642bd3, 0x422a9751192ff266, 0xc680ae8a8c584ddf, 0x6c76b6d34bb6d26b,
    0x95bc321ab41d8206, 0x908a3a97a6d37669, 0xfcaf3c64874dd0b4, 0xf689479b32b84a44, 0xd857641079efd1fd,
    0x8b581578722633f7, 0x83cb09d35ea7bcd4, 0x8485f7f5ae725a0d, 0xfe1f2445ba50237f, 0x23cece041d7866b0,
    0x416687480b336c09, 0xf15960da7e7f3892, 0xded6177b9826835a, 0xf80dae51668be6be, 0x17ecc6ee6647df18,
    0x5220d642b4a52110, 0xa4f0cf4ba4adc016, 0xe5125bb26d1f2976, 0x851b0e75f580d256, 0x12605250a37e39ac,
    0xd95a713568daebf1, 0xcdcf4a42ec0dd605, 0xa5c708712b617164, 0x385d3e39e5f37359,
};

START_TEST(reference_values)
{
    uint8_t bytes[64];
    for (size_t i = 0; i < 64; i++) {
        bytes[i] = (uint8_t)i;
        ck_assert_uint_eq(digest_of(bytes, i), reference[i]);
    }
}
END_TEST

/* Bytes, words and any cut of them: only the concatenation counts. */
START_TEST(updates_may_be_cut_anywhere)
{
    struct prng p = prng_stream(8, 0, 0);
    uint8_t bytes[64];
    for (size_t i = 0; i < 64; i++) {
        bytes[i] = (uint8_t)i;
    }
    for (int round = 0; round < 20000; round++) {
        size_t size = prng_below(&p, 64);
        struct digest d;
        digest_init(&d);
        for (size_t at = 0; at < size;) {
            size_t part = 1 + prng_below(&p, size - at);
            if (part >= 8 && prng_chance(&p, 1, 2)) {
                part = 8;
                uint64_t word = 0;
                for (size_t i = 8; i-- > 0;) {
                    word = word << 8 | bytes[at + i];
                }
                digest_u64(&d, word);
            } else {
                digest_bytes(&d, bytes + at, part);
            }
            at += part;
            if (prng_chance(&p, 1, 4)) {
                if (digest_value(&d) != reference[at]) { /* a look does not end it */
                    ck_abort_msg("round %d at %zu", round, at);
                }
            }
        }
        if (digest_value(&d) != reference[size]) {
            ck_abort_msg("round %d of %zu bytes", round, size);
        }
    }
}
END_TEST

START_TEST(words_are_their_bytes)
{
    static const uint64_t words[3] = {0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110};
    for (size_t n = 0; n <= 3; n++) {
        ck_assert_uint_eq(digest_of_words(words, n), reference[8 * n]);
    }
}
END_TEST

START_TEST(order_counts)
{
    ck_assert_uint_ne(digest_of_words((uint64_t[]){1, 2}, 2), digest_of_words((uint64_t[]){2, 1}, 2));
    ck_assert_uint_ne(digest_of_words((uint64_t[]){0}, 1), digest_of_words((uint64_t[]){0, 0}, 2));
}
END_TEST

/* Each of the bits of a record, flipped alone, changes about half of the digest's. */
START_TEST(every_bit_counts)
{
    uint64_t record[4] = {1, 2, 3, 4}, before = digest_of_words(record, 4);
    int flips = 0;
    for (int bit = 0; bit < 256; bit++) {
        record[bit / 64] ^= UINT64_C(1) << bit % 64;
        int changed = __builtin_popcountll(digest_of_words(record, 4) ^ before);
        record[bit / 64] ^= UINT64_C(1) << bit % 64;
        ck_assert_int_ge(changed, 12);
        ck_assert_int_le(changed, 52);
        flips += changed;
    }
    ck_assert_int_gt(flips, 256 * 31);
    ck_assert_int_lt(flips, 256 * 33);
}
END_TEST

/* A table kept up to date record by record has the digest of the same table added up afresh, in any order. */
START_TEST(set_follows_a_table)
{
    enum { RECORDS = 50 };
    struct prng p = prng_stream(9, 0, 0);
    uint64_t table[RECORDS][2] = {{0}}; /* second word 0: absent */
    struct digest_set kept = {0};
    for (int step = 0; step < 20000; step++) {
        uint64_t *record = table[prng_below(&p, RECORDS)];
        uint64_t version = prng_below(&p, 4);
        uint64_t old = digest_of_words((uint64_t[]){(uint64_t)(record - table[0]), record[1]}, 2);
        uint64_t new = digest_of_words((uint64_t[]){(uint64_t)(record - table[0]), version}, 2);
        if (record[1] != 0 && version != 0) {
            digest_set_replace(&kept, old, new);
        } else if (record[1] != 0) {
            digest_set_remove(&kept, old);
        } else if (version != 0) {
            digest_set_add(&kept, new);
        }
        record[1] = version;
        struct digest_set afresh = {0};
        for (size_t i = RECORDS; i-- > 0;) {
            if (table[i][1] != 0) {
                digest_set_add(&afresh, digest_of_words((uint64_t[]){2 * i, table[i][1]}, 2));
            }
        }
        if (kept.value != afresh.value) {
            ck_abort_msg("step %d", step);
        }
    }
}
END_TEST

START_TEST(set_counts_doubles)
{
    uint64_t item = digest_of("x", 1);
    struct digest_set one = {0}, two = {0};
    digest_set_add(&one, item);
    digest_set_add(&two, item);
    digest_set_add(&two, item);
    ck_assert(one.value != two.value);
    ck_assert(two.value != 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(reference_values),      SUITE_TEST(updates_may_be_cut_anywhere),
    SUITE_TEST(words_are_their_bytes), SUITE_TEST(order_counts),
    SUITE_TEST(every_bit_counts),      SUITE_TEST(set_follows_a_table),
    SUITE_TEST(set_counts_doubles),
};
SUITE_MAIN("digest", tests)
