/* SPDX-License-Identifier: Apache-2.0 */
#include "query_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static uint8_t bytes[PART_BYTES_MOST];
static union part_summary s;
static struct fake_net *net;

static int64_t made(cw_server server, enum summary_kind kind, const char *name)
{
    const struct sources sources = query_sources(query_town_of(net, server));
    int64_t n = source_summary(&sources, kind, name, strlen(name), bytes, sizeof bytes);
    if (n > 0) {
        ck_assert_int_eq(part_decode(kind, bytes, (size_t)n, &s), 0);
    }
    return n;
}

START_TEST(counters)
{
    net = query_town_open();
    ck_assert_int_gt(made(4, SUMMARY_NUMBER, "t.a"), 0);
    ck_assert(s.number.sum == 5000 && s.number.count == 1 && s.number.greatest_at == 4);
    ck_assert_int_eq(s.number.of, SUMMARY_OF_COUNTER);
    ck_assert_int_gt(made(4, SUMMARY_TOP, "t.a"), 0);
    ck_assert_uint_eq(s.top.used, 1);
    ck_assert_uint_eq(s.top.item[0].count, 5000);
    ck_assert_mem_eq(s.top.item[0].text, "1,1,0", 5);
    ck_assert_int_gt(made(4, SUMMARY_HISTOGRAM, "t.a"), 0);
    ck_assert_uint_eq(s.histogram.count, 1);
    ck_assert_int_eq(made(4, SUMMARY_DISTINCT, "t.a"), -EOPNOTSUPP);
    ck_assert_int_eq(made(4, SUMMARY_NUMBER, "t.odd"), -ENOENT);
    ck_assert_int_eq(made(4, SUMMARY_NUMBER, "t"), -ENOENT);
    ck_assert_int_eq(made(4, SUMMARY_NUMBER, "t.ab"), -ENOENT);
    query_town_close(net);
}
END_TEST

START_TEST(times_and_feeds)
{
    net = query_town_open();
    ck_assert_int_gt(made(2, SUMMARY_NUMBER, "t.took"), 0);
    ck_assert(s.number.count == 10 && s.number.sum == 65 * (summary_value)1000000);
    ck_assert(s.number.least >= 2000000 && s.number.least <= 2500000);
    ck_assert_int_gt(made(2, SUMMARY_HISTOGRAM, "t.took"), 0);
    summary_value median = summary_histogram_quantile(&s.histogram, 500000);
    ck_assert(median >= 5250000 && median <= 7875000);
    ck_assert_int_eq(made(2, SUMMARY_TOP, "t.took"), -EOPNOTSUPP);
    query_town_feed(net, 2, "x", "5\n7\nseven\n5\n");
    ck_assert_int_gt(made(2, SUMMARY_NUMBER, "x"), 0);
    ck_assert(s.number.count == 4 && s.number.sum == 17000000);
    ck_assert_int_gt(made(2, SUMMARY_TOP, "x"), 0);
    ck_assert_mem_eq(s.top.item[0].text, "5", 1);
    ck_assert_int_gt(made(2, SUMMARY_DISTINCT, "x"), 0);
    ck_assert_uint_eq(summary_distinct_count(&s.distinct), 3);
    ck_assert_int_gt(made(2, SUMMARY_HISTOGRAM, "x"), 0);
    ck_assert_int_eq(made(3, SUMMARY_NUMBER, "x"), -ENOENT);
    query_town_close(net);
}
END_TEST

START_TEST(names)
{
    net = query_town_open();
    query_town_feed(net, 1, "x", "5\n");
    const struct sources sources = query_sources(query_town_of(net, 1));
    int64_t n = source_names(&sources, bytes, sizeof bytes);
    ck_assert_int_eq(summary_names_check(bytes, (size_t)n), 0);
    struct summary_name name;
    unsigned count = 0;
    for (size_t at = 0; summary_name_next(bytes, (size_t)n, &at, &name) == 1; count++) {
        ck_assert_uint_eq(name.servers, 1);
    }
    ck_assert_uint_eq(count, 4);
    ck_assert_int_eq(source_names(&sources, bytes, 10), -EMSGSIZE);
    query_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(counters), SUITE_TEST(times_and_feeds), SUITE_TEST(names)};
SUITE_MAIN("source", tests)
