/* SPDX-License-Identifier: Apache-2.0 */
/* test_query.c - questions by the words of operators, from the command to the rows; feeds; what is left. */
#include "query_town.h"
#include "services/aggregate/aggregate.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

static int64_t value(cw_server s, const char *line)
{
    const struct fake_result *r = query_town_ask(net, s, line);
    ck_assert_msg(r->rc == 0, "%s: %d", line, r->rc);
    ck_assert_int_eq(fake_int(r, 0, "answered"), fake_int(r, 0, "asked"));
    return fake_int(r, 0, "value");
}

START_TEST(counters_and_feeds)
{
    net = query_town_open();
    ck_assert_int_eq(value(0, "query sum t.a"), 45000);
    ck_assert_int_eq(value(4, "query max t.a"), 9000);
    ck_assert_int_eq(value(8, "query count t.a"), 9);
    ck_assert_int_eq(value(3, "query mean t.a"), 5000);
    ck_assert_int_eq(value(3, "query sum t.a on=0,0,0 on=2,2,0"), 10000);
    ck_assert_int_eq(value(0, "query sum t.odd"), 1 + 3 + 5 + 7);
    query_town_feed(net, 2, "names", "ann\nbob\nann\n");
    query_town_feed(net, 7, "names", "ann\ncarl\n");
    ck_assert_int_eq(value(0, "query count names"), 5);
    ck_assert_int_eq(value(5, "query distinct names"), 3);
    fake_net_run(net, CW_SEC(101));
    ck_assert_int_eq(query_town_ask(net, 0, "query count names")->rc, -EINVAL);
    query_town_close(net);
}
END_TEST

START_TEST(feeds_are_checked)
{
    net = query_town_open();
    ck_assert_int_eq(query_town_ask(net, 0, "query feed a.b keep_ms=1000 data=")->rc, -EINVAL);
    ck_assert_int_eq(query_town_ask(net, 0, "query feed a keep_ms=1 data=")->rc, -EINVAL);
    ck_assert_int_eq(query_town_ask(net, 0, "query feed a keep_ms=1000 data=?")->rc, -EINVAL);
    ck_assert_int_eq(query_town_ask(net, 0, "query feed a keep_ms=1000")->rc, -EINVAL);
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        char line[64];
        snprintf(line, sizeof line, "query feed f%u keep_ms=1000 data=", i);
        ck_assert_int_eq(query_town_ask(net, 0, line)->rc, 0);
    }
    ck_assert_int_eq(query_town_ask(net, 0, "query feed more keep_ms=1000 data=")->rc, -ENOSPC);
    query_town_close(net);
}
END_TEST

START_TEST(losses_are_mended)
{
    net = query_town_open();
    net->lose = 5;
    for (unsigned i = 0; i < 20; i++) {
        ck_assert_int_eq(value(i % QUERY_TOWN, "query sum t.a"), 45000);
    }
    query_town_close(net);
}
END_TEST

/* More than a server keeps are refused, and the others end. */
START_TEST(too_many)
{
    static struct fake_result r[QUERY_POSTS + 1];
    net = query_town_open();
    query_town_hush(net, 1); /* so that they last */
    for (unsigned i = 0; i <= QUERY_POSTS; i++) {
        fake_command(net->server[0], "query sum t.a", &r[i]);
    }
    ck_assert_int_eq(r[QUERY_POSTS].rc, -EBUSY);
    ck_assert_uint_eq(query_under_way(query_town_of(net, 0)), QUERY_POSTS);
    for (unsigned i = 0; i < QUERY_POSTS; i++) {
        fake_net_finish(net, &r[i]);
        ck_assert_int_eq(r[i].rc, 0);
        ck_assert_int_eq(fake_int(&r[i], 0, "answered"), 8);
    }
    fake_net_run(net, CW_SEC(3));
    for (cw_server s = 0; s < QUERY_TOWN; s++) {
        ck_assert_uint_eq(query_under_way(query_town_of(net, s)), 0);
    }
    query_town_close(net);
}
END_TEST

/* A server whose service closes while questions are under way. */
START_TEST(closing_in_the_middle)
{
    static struct fake_result r;
    net = query_town_open();
    query_town_hush(net, 1);
    fake_command(net->server[0], "query sum t.a", &r);
    fake_net_run(net, CW_US(50));
    ck_assert(!r.done);
    query_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(counters_and_feeds), SUITE_TEST(feeds_are_checked),
                                          SUITE_TEST(losses_are_mended), SUITE_TEST(too_many),
                                          SUITE_TEST(closing_in_the_middle)};
SUITE_MAIN("query", tests)
