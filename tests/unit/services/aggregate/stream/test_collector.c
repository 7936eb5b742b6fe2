/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { LINES = 4000, ALL = 0x1ff };

/* Loses a server at that instant of a run of all; the answer. */
static struct fake_result *lose_at(struct fake_net **net, cw_server gone, int us, const char *more, const char *of)
{
    static struct fake_result r;
    char line[200];
    *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    snprintf(line, sizeof line, "run map=kv from=in to=0,0,0:out partitions=30 %s %s", more, of);
    stream_town_begin(*net, 1, line, &r);
    fake_net_run(*net, CW_US(us));
    if (gone < STREAM_TOWN) {
        stream_town_lose(*net, gone);
    }
    fake_net_finish(*net, &r);
    return &r;
}

START_TEST(without_a_contributor)
{
    bool again = false;
    for (int us = 100; us < 1500; us += 60) {
        struct fake_net *net;
        const struct fake_result *r = lose_at(&net, 8, us, "without=1", "");
        ck_assert_int_eq(r->rc, 0);
        uint32_t counted = fake_int(r, 0, "counted") == 9 ? ALL : ALL & ~(1u << 8);
        ck_assert(stream_town_right(0, LINES, counted));
        ck_assert(counted == ALL || strcmp(fake_text(r, 1, "server"), "2,2,0") == 0);
        again = again || fake_int(r, 0, "attempts") > 1;
        stream_town_close(net);
    }
    ck_assert(again);
}
END_TEST

START_TEST(a_contributor_dies)
{
    unsigned failed = 0;
    for (int us = 100; us < 1500; us += 60) {
        struct fake_net *net;
        const struct fake_result *r = lose_at(&net, 8, us, "", "");
        ck_assert(r->rc == 0 || r->rc == -ECONNRESET || r->rc == -ENETUNREACH);
        if (r->rc == 0) {
            ck_assert(stream_town_right(0, LINES, ALL)); /* it was not needed any more */
        } else {
            failed++;
            ck_assert_msg(strstr(fake_text(r, 0, "error"), "2,2,0") != NULL, "%s", fake_text(r, 0, "error"));
            ck_assert_str_eq(stream_town_result(0), "-");
        }
        stream_town_close(net);
    }
    ck_assert_uint_ge(failed, 8);
}
END_TEST

START_TEST(one_on_the_way_dies)
{
    bool again = false;
    for (int us = 100; us < 1500; us += 60) {
        struct fake_net *net;
        cw_server gone = us / 60 % 2 == 0 ? 2 : 5; /* 0,2,0 and 1,2,0: neighbours of 2,2,0 */
        const struct fake_result *r = lose_at(&net, gone, us, "", "of=2,2,0 of=1,1,0");
        ck_assert_int_eq(r->rc, 0);
        ck_assert_int_eq(fake_int(r, 0, "counted"), 2);
        ck_assert(stream_town_right(0, LINES, 1u << 8 | 1u << 4));
        again = again || fake_int(r, 0, "attempts") > 1;
        stream_town_close(net);
    }
    ck_assert(again);
}
END_TEST

START_TEST(the_root_or_the_desk_dies)
{
    struct fake_net *net;
    struct fake_result *r = lose_at(&net, 0, 700, "without=1", "");
    ck_assert(r->rc == -ECONNRESET || r->rc == -ENETUNREACH);
    ck_assert(strstr(fake_text(r, 0, "error"), "server 0,0,0, which is to write the result") != NULL);
    fake_net_run(net, CW_SEC(2));
    ck_assert_uint_eq(stream_town_at(net, 5)->task_count, 0);
    stream_town_close(net);
    static struct fake_result desk;
    net = stream_town_open(NULL);
    stream_town_fill(LINES);
    stream_town_begin(net, 1, "run map=kv from=in to=0,0,0:out", &desk);
    fake_net_run(net, CW_US(700));
    stream_town_lose(net, 1);
    fake_net_run(net, CW_SEC(2));
    ck_assert_str_eq(stream_town_result(0), "-");
    for (cw_server s = 0; s < STREAM_TOWN; s++) {
        ck_assert(s == 1 || stream_town_at(net, s)->task_count == 0);
    }
    stream_town_close(net);
}
END_TEST

START_TEST(loses_packets)
{
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    net->lose = 50;
    const struct fake_result *r = stream_town_ask(net, 1, "run map=kv from=in to=0,0,0:out");
    ck_assert_int_eq(r->rc, 0);
    ck_assert(stream_town_right(0, LINES, ALL));
    net->lose = 0;
    fake_net_run(net, CW_SEC(3));
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(without_a_contributor), SUITE_TEST(a_contributor_dies),
                                          SUITE_TEST(one_on_the_way_dies), SUITE_TEST(the_root_or_the_desk_dies),
                                          SUITE_TEST(loses_packets)};
SUITE_MAIN("collector", tests)
