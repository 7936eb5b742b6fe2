/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/key.h"
#include "naive.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct torus torus_of(cw_dims d)
{
    struct torus t;
    ck_assert_int_eq(torus_init(&t, d), 0);
    return t;
}

/* The first route of home n by long division; 2^64, which is 0 here, for n = N. */
static uint64_t naive_first_route(const struct torus *t, uint32_t n)
{
    return (uint64_t)((((unsigned __int128)n << 64) + t->servers - 1) / t->servers);
}

/* The split and its inverse at one route, whose home is known. */
static void check_route(const struct torus *t, uint64_t route, cw_server home)
{
    uint64_t w = route - naive_first_route(t, home);
    cw_key key;
    if (key_home(t, route) != home || key_offset(t, route) != w || key_at(t, home, w, &key) != 0 ||
        key_route64(&key) != route) {
        ck_abort_msg("%ux%ux%u: route %016llx of home %u", t->dim[0], t->dim[1], t->dim[2], (unsigned long long)route,
                     home);
    }
}

static void check_home(const struct torus *t, cw_server home, struct rng *rng)
{
    uint64_t first = naive_first_route(t, home);
    uint64_t last = naive_first_route(t, home + 1) - 1;
    if (key_first(t, home) != first || key_last(t, home) != last) {
        ck_abort_msg("%ux%ux%u: range of home %u", t->dim[0], t->dim[1], t->dim[2], home);
    }
    check_route(t, first, home);
    check_route(t, first + 1, home);
    check_route(t, last - 1, home);
    check_route(t, last, home);
    if (last - first != UINT64_MAX) {
        check_route(t, first + rng_below(rng, last - first), home);
        cw_key key;
        ck_assert_int_eq(key_at(t, home, last - first + 1, &key), -ERANGE);
        ck_assert_int_eq(key_at(t, home, UINT64_MAX, &key), -ERANGE);
    }
    if (home > 0 && (key_home(t, first - 1) != home - 1 || key_offset(t, first - 1) == 0)) {
        ck_abort_msg("%ux%ux%u: below home %u", t->dim[0], t->dim[1], t->dim[2], home);
    }
    /* No two ranges differ by more than one route. */
    uint64_t fair = (UINT64_MAX / t->servers) + (UINT64_MAX % t->servers + 1 == t->servers);
    uint64_t size = last - first + 1;
    ck_assert(size == fair || size == fair + 1);
}

static void check_shape(cw_dims d, uint32_t stride)
{
    struct torus t = torus_of(d);
    struct rng rng = {t.servers};
    for (cw_server home = 0; home < t.servers; home += stride) {
        check_home(&t, home, &rng);
    }
    check_home(&t, t.servers - 1, &rng);
    check_route(&t, 0, 0);
    check_route(&t, UINT64_MAX, t.servers - 1);
}

START_TEST(split_and_inverse_are_exact)
{
    for (unsigned i = 0; i < SMALL_SHAPES; i++) {
        check_shape(small_shape(i), 1);
    }
    for (unsigned i = 0; i < LARGE_SHAPES; i++) {
        check_shape(large_shape(i), 1);
    }
    check_shape((cw_dims){256, 256, 256}, 1009);
    check_shape((cw_dims){255, 251, 256}, 1013);
    check_shape((cw_dims){253, 255, 241}, 997);
}
END_TEST

/* One server owns everything, and w is the route. */
START_TEST(a_torus_of_one)
{
    struct torus t = torus_of((cw_dims){1, 1, 1});
    ck_assert_uint_eq(key_first(&t, 0), 0);
    ck_assert_uint_eq(key_last(&t, 0), UINT64_MAX);
    ck_assert_uint_eq(key_offset(&t, UINT64_MAX), UINT64_MAX);
    cw_key key;
    ck_assert_int_eq(key_at(&t, 0, UINT64_MAX, &key), 0);
    ck_assert_uint_eq(key_route64(&key), UINT64_MAX);
}
END_TEST

/*
 * 16x16x16: x, y, z are the top nibbles and w the low 52 bits; 256x256x256: 8 bits each, 40 for w (CamCubeOS 3.2,
 * note 1).
 */
START_TEST(powers_of_two_are_the_papers_layout)
{
    static const struct {
        uint16_t side;
        unsigned bits;
    } layout[] = {{16, 4}, {256, 8}, {2, 1}, {8, 3}};
    struct rng rng = {3};
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        unsigned bits = layout[i].bits;
        struct torus t = torus_of((cw_dims){layout[i].side, layout[i].side, layout[i].side});
        for (unsigned round = 0; round < 10000; round++) {
            uint64_t route = rng_next(&rng);
            cw_coord c = torus_coord(&t, key_home(&t, route));
            if (c.x != route >> (64 - bits) || c.y != (route << bits) >> (64 - bits) ||
                c.z != (route << 2 * bits) >> (64 - bits) || key_offset(&t, route) != route << 3 * bits >> 3 * bits) {
                ck_abort_msg("side %u, route %016llx", layout[i].side, (unsigned long long)route);
            }
        }
    }
}
END_TEST

/* Keys built with a small counter in w spread evenly over w mod 48, wherever their home's range begins. */
START_TEST(counters_in_w_spread)
{
    struct torus t = torus_of((cw_dims){3, 3, 3});
    for (cw_server home = 0; home < t.servers; home++) {
        unsigned count[48] = {0};
        for (uint64_t w = 0; w < 10000; w++) {
            cw_key key;
            ck_assert(key_at(&t, home, w, &key) == 0);
            count[key_offset(&t, key_route64(&key)) % 48]++;
        }
        for (unsigned i = 0; i < 48; i++) {
            ck_assert(count[i] == 208 || count[i] == 209);
        }
    }
}
END_TEST

START_TEST(only_the_last_64_bits_route)
{
    cw_key key;
    for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
        key.b[i] = (uint8_t)(0xc1 + i);
    }
    ck_assert_uint_eq(key_route64(&key), UINT64_C(0xcdcecfd0d1d2d3d4));
    key.b[11] = 0;
    ck_assert_uint_eq(key_route64(&key), UINT64_C(0xcdcecfd0d1d2d3d4));
    struct torus t = torus_of((cw_dims){3, 3, 3});
    ck_assert_int_eq(key_at(&t, 13, 5, &key), 0);
    for (unsigned i = 0; i < CW_KEY_BYTES - 8; i++) {
        ck_assert_uint_eq(key.b[i], 0);
    }
}
END_TEST

START_TEST(order_is_numeric)
{
    cw_key low = {{0}}, high = {{0}};
    ck_assert_int_eq(key_compare(&low, &high), 0);
    low.b[19] = 0xff;
    high.b[18] = 1;
    ck_assert_int_lt(key_compare(&low, &high), 0);
    ck_assert_int_gt(key_compare(&high, &low), 0);
    low.b[0] = 0x80;
    ck_assert_int_gt(key_compare(&low, &high), 0);
}
END_TEST

START_TEST(text_goes_both_ways)
{
    struct rng rng = {4};
    for (unsigned round = 0; round < 1000; round++) {
        cw_key key, back;
        for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
            key.b[i] = (uint8_t)rng_next(&rng);
        }
        char text[KEY_TEXT];
        key_format(&key, text);
        ck_assert_uint_eq(strlen(text), 40);
        ck_assert_int_eq(key_parse(text, 40, &back), 0);
        ck_assert_int_eq(key_compare(&key, &back), 0);
    }
    cw_key key;
    char text[KEY_TEXT];
    ck_assert_int_eq(key_parse("0123456789abcdefABCDEF00ffFFaA9900000001 and more", 40, &key), 0);
    key_format(&key, text);
    ck_assert_str_eq(text, "0123456789abcdefabcdef00ffffaa9900000001");
}
END_TEST

START_TEST(text_that_is_refused)
{
    static const char good[] = "0123456789abcdef0123456789abcdef01234567";
    cw_key key = {{7}};
    for (size_t length = 0; length < 60; length++) {
        char text[60];
        memset(text, '0', sizeof text);
        if (length != 40) {
            ck_assert_int_eq(key_parse(text, length, &key), -EMSGSIZE);
        }
    }
    for (unsigned at = 0; at < 40; at++) {
        for (unsigned c = 0; c < 256; c++) {
            char text[sizeof good];
            memcpy(text, good, sizeof good);
            text[at] = (char)c;
            bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
            cw_key got = {{7}};
            int rc = key_parse(text, 40, &got);
            if (rc != (hex ? 0 : -EINVAL) || (!hex && key_compare(&got, &key) != 0)) {
                ck_abort_msg("character %u at %u: %d", c, at, rc);
            }
        }
    }
}
END_TEST

static void check_text(cw_key key, const char *want)
{
    char got[KEY_TEXT];
    key_format(&key, got);
    ck_assert_str_eq(got, want);
}

/* The published examples of FIPS 180 and RFC 3174. */
START_TEST(published_sha1_vectors)
{
    static const struct {
        const char *text, *digest;
    } vector[] = {
        {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
        {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqr"
         "stu",
         "a49b2446a02c645bf419f995b67091253a04a259"},
    };
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        check_text(key_sha1(vector[i].text, strlen(vector[i].text)), vector[i].digest);
    }
    check_text(key_sha1(NULL, 0), vector[0].digest);
    enum { MILLION = 1000000 };
    char *many = malloc(MILLION);
    memset(many, 'a', MILLION);
    check_text(key_sha1(many, MILLION), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    free(many);
}
END_TEST

/* What exactly is hashed, byte for byte. */
START_TEST(names_hash_with_their_job)
{
    static const uint8_t bytes[] = {0x01, 0x02, 0x03, 0xfe, 'u', 's', 'e', 'r', ':', '7'};
    cw_key want = key_sha1(bytes, sizeof bytes);
    cw_key got = key_of_name(0x010203fe, "user:7", 6);
    ck_assert_int_eq(key_compare(&want, &got), 0);
    check_text(got, "3e70200bcd732d44bfecfb139f76b4d2f60dc56b");
    cw_key other = key_of_name(0x010203ff, "user:7", 6);
    ck_assert_int_ne(key_compare(&other, &got), 0);
    want = key_sha1(bytes, 4);
    got = key_of_name(0x010203fe, NULL, 0);
    ck_assert_int_eq(key_compare(&want, &got), 0);
}
END_TEST

START_TEST(extra_keys)
{
    cw_key key = key_sha1("abc", 3);
    uint8_t bytes[CW_KEY_BYTES + 4] = {0};
    memcpy(bytes, key.b, CW_KEY_BYTES);
    bytes[CW_KEY_BYTES + 2] = 1;
    bytes[CW_KEY_BYTES + 3] = 2;
    cw_key want = key_sha1(bytes, sizeof bytes);
    cw_key got = key_extra(&key, 0x0102);
    ck_assert_int_eq(key_compare(&want, &got), 0);
    /* Spread: 27,000 of them over 27 homes, 1,000 each give or take five standard deviations. */
    struct torus t = torus_of((cw_dims){3, 3, 3});
    unsigned count[27] = {0};
    for (uint32_t j = 0; j < 27000; j++) {
        cw_key extra = key_extra(&key, j);
        count[key_home(&t, key_route64(&extra))]++;
    }
    for (unsigned s = 0; s < 27; s++) {
        ck_assert_uint_ge(count[s], 845);
        ck_assert_uint_le(count[s], 1155);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(split_and_inverse_are_exact),
    SUITE_TEST(a_torus_of_one),
    SUITE_TEST(powers_of_two_are_the_papers_layout),
    SUITE_TEST(counters_in_w_spread),
    SUITE_TEST(only_the_last_64_bits_route),
    SUITE_TEST(order_is_numeric),
    SUITE_TEST(text_goes_both_ways),
    SUITE_TEST(text_that_is_refused),
    SUITE_TEST(published_sha1_vectors),
    SUITE_TEST(names_hash_with_their_job),
    SUITE_TEST(extra_keys),
};
SUITE_MAIN("key", tests)
