/* SPDX-License-Identifier: Apache-2.0 */
/* What operators say to bench and what it answers; what it does is test_engine.c's. */
#include "services/bench/bench.h"

#include "fake_net.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_result r;

static void run(struct fake_net *net, cw_server id, const char *command)
{
    fake_command(net->server[id], command, &r);
    ck_assert_msg(r.done && r.rc == 0, "'%s' gave %d", command, r.rc);
}

START_TEST(start_stop_stats_reset)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){3, 1, 1});
    run(net, 0, "start mode=all rate=80M size=1000 run=7 track=1");
    fake_net_run(net, CW_MS(10));
    run(net, 0, "stop");
    fake_net_run(net, CW_MS(10));
    run(net, 0, "stats");
    ck_assert_uint_eq(r.rows, 1);
    ck_assert_int_eq(fake_int(&r, 0, "sent"), 100);
    ck_assert_int_eq(fake_int(&r, 0, "received"), 0);
    ck_assert_int_eq(fake_int(&r, 0, "refused"), 0);
    ck_assert(!fake_has(&r, 0, "latency_min_ns"));
    run(net, 1, "stats");
    int64_t received = fake_int(&r, 0, "received");
    ck_assert_int_gt(received, 20);
    ck_assert_int_eq(fake_int(&r, 0, "bytes"), 1000 * received);
    ck_assert_int_eq(fake_int(&r, 0, "hops_sum"), received);
    ck_assert_int_eq(fake_int(&r, 0, "latency_mean_ns"), 1000);
    ck_assert_int_eq(fake_int(&r, 0, "latency_max_ns"), 1000);
    ck_assert_int_eq(fake_int(&r, 0, "duplicated"), 0);
    run(net, 2, "stats");
    ck_assert_int_eq(fake_int(&r, 0, "received"), 100 - received);
    run(net, 1, "reset");
    run(net, 1, "stats");
    ck_assert_int_eq(fake_int(&r, 0, "received"), 0);
    run(net, 0, "start mode=keys rate=1k");
    fake_net_run(net, CW_MS(100));
    run(net, 0, "stats");
    ck_assert_int_eq(fake_int(&r, 0, "sent"), 200);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_row_for_each_link)
{
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){3, 1, 3});
    net->server[0]->room = 30;
    run(net, 0, "start mode=links count=3 size=8k");
    fake_net_run(net, CW_MS(1));
    run(net, 0, "stats links");
    ck_assert_uint_eq(r.rows, 4);
    static const char *const names[] = {"+x", "-x", "+z", "-z"};
    for (unsigned row = 0; row < 4; row++) {
        ck_assert_str_eq(fake_text(&r, row, "link"), names[row]);
        ck_assert_int_eq(fake_int(&r, row, "sent"), row < 3 ? 10 : 0);
    }
    run(net, torus_neighbour(&net->torus, 0, CW_LINK_XP), "stats links");
    ck_assert_int_eq(fake_int(&r, 1, "received"), 10);
    ck_assert_int_eq(fake_int(&r, 1, "bytes"), 80000);
    ck_assert_int_eq(fake_int(&r, 1, "reordered"), 0);
    ck_assert_int_eq(fake_int(&r, 0, "received"), 0);
    run(net, 0, "start mode=links own=1");
    ck_assert_uint_eq(net->server[0]->polled, torus_links(&net->torus));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(commands_that_are_none)
{
    static const char *const bad[] = {
        "",
        "go",
        "start",
        "start rate=5",
        "start mode=some rate=5",
        "start mode=all",
        "start mode=all rate=0",
        "start mode=all rate=5 size=31",
        "start mode=all rate=5 size=9000",
        "start mode=all rate=5 count=2",
        "start mode=keys rate=5 own=1",
        "start mode=links rate=5",
        "start mode=links count=7",
        "start mode=links count=0",
        "start mode=all rate=5 run=0",
        "stats all",
        "stop now",
        "reset links",
    };
    struct fake_net *net = fake_net_open(&bench_service, (cw_dims){2, 1, 1});
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_command(net->server[0], bad[i], &r);
        ck_assert_msg(r.done && r.rc == -EINVAL && strlen(fake_text(&r, 0, "error")) > 10, "'%s'", bad[i]);
    }
    fake_net_run(net, CW_SEC(1));
    ck_assert_uint_eq(net->crossed, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(start_stop_stats_reset),
    SUITE_TEST(a_row_for_each_link),
    SUITE_TEST(commands_that_are_none),
};
SUITE_MAIN("bench", tests)
