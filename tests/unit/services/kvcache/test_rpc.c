/* SPDX-License-Identifier: Apache-2.0 */
#include "kv_town.h"
#include "suite.h"

#include <string.h>

static char large[50001];

START_TEST(large_values_go_there_and_back)
{
    struct fake_net *net = kv_town_open(3, 0);
    memset(large, 'x', sizeof large - 1);
    const char *key = kv_town_key(net, 1, 0);
    ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, large), KV_OK);
    ck_assert_int_eq(kv_town_do(net, 2, KV_GET, key, NULL), KV_OK);
    ck_assert_str_eq(kv_town_answer.value, large);
    ck_assert_int_eq(kv_town_do(net, 2, KV_GAT, key, NULL), KV_OK);
    ck_assert_uint_eq(kv_town_answer.length, sizeof large - 1);
    ck_assert_uint_ge(kv_town_cache(net, 2)->count[KV_COUNT_BULK], 2);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(what_just_fits_a_packet_does)
{
    struct fake_net *net = kv_town_open(3, 0);
    const char *key = kv_town_key(net, 1, 0);
    for (size_t size = FAKE_MTU - 400; size < FAKE_MTU + 40; size += 7) {
        memset(large, 'y', size);
        large[size] = '\0';
        ck_assert_int_eq(kv_town_do(net, 0, KV_SET, key, large), KV_OK);
        ck_assert_int_eq(kv_town_do(net, 2, KV_GET, key, NULL), KV_OK);
        ck_assert_uint_eq(kv_town_answer.length, size);
    }
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(large_values_go_there_and_back),
                                          SUITE_TEST(what_just_fits_a_packet_does)};
SUITE_MAIN("rpc", tests)
