/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { LINES = 4000, ALL = 0x1ff };

/* Loses a server at that instant of a run of two others; the answer. */
static struct fake_result *lose_at(struct fake_net **net, cw_server gone, int us)
{
    static struct fake_result r;
    *net = stream_town_open(NULL);
    stream_town_fill(LINES);
    stream_town_begin(*net, 1, "run map=kv from=in to=0,0,0:out partitions=30 of=2,2,0 of=1,1,0", &r);
    fake_net_run(*net, CW_US(us));
    stream_town_lose(*net, gone);
    fake_net_finish(*net, &r);
    return &r;
}

START_TEST(one_on_the_way_dies)
{
    bool again = false;
    for (int us = 100; us < 1500; us += 60) {
        struct fake_net *net;
        cw_server gone = us / 60 % 2 == 0 ? 2 : 5; /* 0,2,0 and 1,2,0: neighbours of 2,2,0 */
        const struct fake_result *r = lose_at(&net, gone, us);
        ck_assert_int_eq(r->rc, 0);
        ck_assert_int_eq(fake_int(r, 0, "counted"), 2);
        ck_assert(stream_town_right(0, LINES, 1u << 8 | 1u << 4));
        again = again || fake_int(r, 0, "attempts") > 1;
        stream_town_close(net);
    }
    ck_assert(again);
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

/* Does the root, server 0, wait for server 4 alone, as its status says? */
static bool is_named(struct fake_net *net)
{
    const struct fake_result *look = stream_town_ask(net, 0, "status");
    for (unsigned row = 0; row < look->rows && look->fields > 0; row++) {
        if (strcmp(fake_text(look, row, "role"), "root") == 0) {
            return strcmp(fake_text(look, row, "waits_for"), "1,1,0") == 0;
        }
    }
    return false;
}

/* A server that hangs while the root collects is named within 0.9 s, and in the result. */
START_TEST(one_hangs)
{
    static struct fake_result r;
    struct fake_net *net = stream_town_open(NULL);
    stream_town_fill(20000);
    stream_town_begin(net, 1, "run map=kv from=in to=0,0,0:out limit_ms=3000", &r);
    for (unsigned us = 0; list_is_empty(&stream_town_at(net, 4)->junctions); us += 50) {
        ck_assert_uint_lt(us, 1000000);
        fake_net_run(net, CW_US(50));
    }
    net->dead[4] = true; /* nobody is told: nothing comes from it, and nothing arrives */
    unsigned ms = 0;
    while (!is_named(net) && ms < 2000) {
        fake_net_run(net, CW_MS(50));
        ms += 50;
    }
    ck_assert_uint_le(ms, 900);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, -ETIMEDOUT);
    ck_assert_ptr_nonnull(strstr(fake_text(&r, 0, "error"), "1,1,0"));
    net->dead[4] = false;
    fake_net_run(net, CW_SEC(5));
    stream_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(one_on_the_way_dies), SUITE_TEST(loses_packets),
                                          SUITE_TEST(one_hangs)};
SUITE_MAIN("attempt", tests)
