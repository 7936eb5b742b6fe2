/* SPDX-License-Identifier: Apache-2.0 */
/* The keys that are asked for most. */
#include "services/kvcache/data/hot.h"

#include "suite.h"

#include <string.h>

static struct hot hot;
static cw_time now;

static void note(unsigned key)
{
    char text[24];
    struct item_name name = {.job = 6, .key = (const uint8_t *)text};
    name.key_length = (uint8_t)snprintf(text, sizeof text, "key-%u", key);
    memcpy(name.id.b, &(uint64_t){(key + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15)}, 8);
    hot_sample(&hot, &name, now);
}

static bool is_key(const struct hot_row *row, unsigned key)
{
    char text[24];
    int length = snprintf(text, sizeof text, "key-%u", key);
    return row->key->length == length && memcmp(row->key->key, text, (size_t)length) == 0;
}

static void setup(void)
{
    now = (cw_time){CW_SEC(100).ns};
    hot_open(&hot, 12345, now);
}

START_TEST(the_hottest_come_first_with_their_rates)
{
    struct hot_row top[5];
    setup();
    ck_assert_uint_eq(hot_top(&hot, now, top, 5), 0);
    /* For 40 s: key 0 is asked for 4,000 times a second, key 1 2,000 times, and 10,000 others now and then. */
    for (unsigned ms = 0; ms < 40000; ms++) {
        now.ns += CW_MS(1).ns;
        for (unsigned i = 0; i < 4; i++) {
            note(0);
        }
        note(1);
        note(1);
        note(2 + ms * 7919 % 10000);
    }
    ck_assert_uint_eq(hot_top(&hot, now, top, 5), 5);
    ck_assert(is_key(&top[0], 0) && is_key(&top[1], 1));
    ck_assert(top[0].rate > 3700 * 1000 && top[0].rate < 4300 * 1000);
    ck_assert(top[1].rate > 1800 * 1000 && top[1].rate < 2200 * 1000);
    ck_assert(top[0].rate - top[0].error <= top[0].rate);
    ck_assert(top[2].rate < 200 * 1000); /* they share 1,000 a second, 62 places */
}
END_TEST

START_TEST(what_is_asked_for_no_more_cools)
{
    struct hot_row top[5];
    setup();
    for (unsigned i = 0; i < 40000; i++) {
        note(0);
    }
    hot_top(&hot, now, top, 1);
    uint64_t before = top[0].rate;
    now.ns += CW_SEC(25).ns;
    ck_assert_uint_eq(hot_top(&hot, now, top, 5), 1);
    ck_assert(top[0].rate < before / 4);
    now.ns += CW_SEC(1000).ns;
    ck_assert_uint_eq(hot_top(&hot, now, top, 5), 0);
    note(3);
    for (unsigned i = 0; i < 100; i++) {
        note(3);
    }
    ck_assert_uint_eq(hot_top(&hot, now, top, 5), 1);
    ck_assert(is_key(&top[0], 3));
}
END_TEST

/*
 * Space-Saving's promise: a key with more than a part in HOT_KEYS of all is there, and its count is not below the
 * truth.
 */
START_TEST(none_that_is_hot_is_missed)
{
    struct hot_row top[HOT_KEYS];
    setup();
    unsigned noted = 0;
    for (unsigned i = 0; i < 400000; i++) {
        unsigned key = i % 25 == 0 ? 7 : 100 + i * 31 % 5000;
        note(key);
        noted += key == 7;
    }
    unsigned n = hot_top(&hot, now, top, HOT_KEYS);
    ck_assert_uint_eq(n, HOT_KEYS);
    bool there = false;
    for (unsigned i = 0; i < n; i++) {
        there |= is_key(&top[i], 7) && top[i].rate >= (uint64_t)noted * 1000 * 9 / 10;
        ck_assert_uint_le(top[i].error, top[i].rate);
    }
    ck_assert(there);
}
END_TEST

/* Those before it have cooled and gone, it has moved: it is found where it is, not where it was. */
START_TEST(each_is_there_once)
{
    struct hot_row top[HOT_KEYS];
    setup();
    for (unsigned cold = 0; cold < 5; cold++) {
        for (unsigned before = hot.used; hot.used == before;) {
            note(cold);
        }
    }
    for (unsigned i = 0; i < 1000; i++) {
        note(5);
    }
    ck_assert_uint_eq(hot.used, 6);
    now.ns += CW_SEC(HOT_HALF_S).ns;
    for (unsigned i = 0; i < 1000; i++) {
        note(5);
    }
    ck_assert_uint_eq(hot_top(&hot, now, top, HOT_KEYS), 1);
    ck_assert(is_key(&top[0], 5));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_hottest_come_first_with_their_rates),
                                          SUITE_TEST(what_is_asked_for_no_more_cools),
                                          SUITE_TEST(none_that_is_hot_is_missed), SUITE_TEST(each_is_there_once)};
SUITE_MAIN("hot", tests)
