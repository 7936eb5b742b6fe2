/* SPDX-License-Identifier: Apache-2.0 */
/* What a server tells of its cache. */
#include "kv_town.h"
#include "services/kvcache/report.h"
#include "suite.h"

#include <string.h>

static struct fake_result r;

static bool is_told(const char *name)
{
    for (unsigned i = 0; i < r.fields; i++) {
        if (strcmp(r.field[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(numbers_come_as_they_went)
{
    struct fake_net *net = kv_town_open(3, 0);
    uint8_t bytes[SURVEY_BYTES];
    ck_assert_int_eq(kv_town_do(net, 1, KV_SET, kv_town_key(net, 1, 0), "value"), KV_OK);
    ck_assert_int_eq(kv_town_do(net, 1, KV_GET, kv_town_key(net, 2, 0), NULL), KV_MISS);
    size_t length = report_stats(kv_town_cache(net, 1), bytes);
    fake_result_init(&r);
    report_fields((cw_request *)&r, bytes, length);
    ck_assert_int_eq(fake_int(&r, 0, "gets"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "misses"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "writes"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "values"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "set_times"), 1);
    ck_assert_int_eq(fake_int(&r, 0, "get_miss_times"), 1);
    ck_assert_int_gt(fake_int(&r, 0, "get_miss_median_ns"), 0);
    ck_assert_int_eq(fake_int(&r, 0, "get_root_times"), 0);
    ck_assert(!is_told("get_root_median_ns") && !is_told("get_root_p99_ns")); /* for there was none */
    fake_result_init(&r);
    report_fields((cw_request *)&r, bytes, length - 8);
    ck_assert_str_eq(fake_text(&r, 0, "state"), "another version");
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(hot_keys_come_as_they_went)
{
    struct fake_net *net = kv_town_open(3, 0);
    uint8_t bytes[SURVEY_BYTES];
    struct report_hot_row row;
    const char *key = kv_town_key(net, 1, 0);
    ck_assert_uint_eq(report_hot(kv_town_cache(net, 1), bytes), 0);
    for (unsigned i = 0; i < 100; i++) {
        kv_town_do(net, 1, KV_GET, key, NULL);
    }
    size_t length = report_hot(kv_town_cache(net, 1), bytes);
    ck_assert_uint_eq(report_hot_next(bytes, length, &row), length);
    ck_assert(row.key_length == strlen(key) && memcmp(row.key, key, strlen(key)) == 0);
    ck_assert(row.root && row.holder_count == 0 && row.rate > 0 && row.job == KVCACHE_JOB);
    for (size_t cut = 0; cut < length; cut++) {
        ck_assert_uint_eq(report_hot_next(bytes, cut, &row), 0);
    }
    bytes[21] = 255; /* more holders than are told */
    ck_assert_uint_eq(report_hot_next(bytes, length, &row), 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(numbers_come_as_they_went),
                                          SUITE_TEST(hot_keys_come_as_they_went)};
SUITE_MAIN("report", tests)
