/* SPDX-License-Identifier: Apache-2.0 */
/* test_asker.c - what the tree does not bring is asked for directly, and no answer is late. */
#include "query_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

static bool missing(const struct fake_result *r, const char *server)
{
    for (unsigned row = 1; row < r->rows; row++) {
        if (strcmp(fake_text(r, row, "what"), "missing") == 0 && strcmp(fake_text(r, row, "server"), server) == 0) {
            return true;
        }
    }
    return false;
}

/* Others are below it in the tree: only the silent one is missing. */
START_TEST(who_is_silent_hides_nobody)
{
    for (cw_server silent = 1; silent < QUERY_TOWN; silent++) {
        net = query_town_open();
        query_town_hush(net, silent);
        cw_time begun = net->now;
        const struct fake_result *r = query_town_ask(net, 0, "query sum t.a within_ms=400");
        ck_assert_int_eq(r->rc, 0);
        ck_assert_int_eq(fake_int(r, 0, "answered"), 8);
        ck_assert_int_eq(fake_int(r, 0, "asked"), 9);
        ck_assert_int_eq(fake_int(r, 0, "value"), 45000 - (silent + 1) * 1000);
        ck_assert_uint_eq(query_town_rows(r, "missing"), 1);
        char name[16];
        snprintf(name, sizeof name, "%u,%u,0", silent / 3, silent % 3);
        ck_assert(missing(r, name));
        ck_assert_int_eq(cw_time_since(net->now, begun).ns, CW_MS(400).ns);
        query_town_close(net);
    }
}
END_TEST

/* Who is out of view is not waited for. */
START_TEST(who_is_dead_costs_no_time)
{
    net = query_town_open();
    query_town_lose(net, 4);
    query_town_lose(net, 1);
    cw_time begun = net->now;
    const struct fake_result *r = query_town_ask(net, 0, "query count t.a");
    ck_assert_int_eq(fake_int(r, 0, "value"), 7);
    ck_assert(missing(r, "1,1,0") && missing(r, "0,1,0"));
    ck_assert_int_lt(cw_time_since(net->now, begun).ns, CW_MS(5).ns);
    r = query_town_ask(net, 0, "query count t.a on=1,1,0");
    ck_assert_int_eq(r->rc, -ETIMEDOUT);
    query_town_close(net);
}
END_TEST

/* A server that dies while it is waited for: the answer comes at once. */
START_TEST(who_dies_meanwhile)
{
    static struct fake_result r;
    net = query_town_open();
    query_town_hush(net, 3);
    fake_command(net->server[0], "query sum t.a within_ms=10000", &r);
    fake_net_run(net, CW_MS(1));
    ck_assert(!r.done);
    query_town_lose(net, 3);
    fake_net_finish(net, &r);
    ck_assert_int_eq(r.rc, 0);
    ck_assert_int_eq(fake_int(&r, 0, "answered"), 8);
    ck_assert_int_lt(fake_int(&r, 0, "took_ns"), CW_MS(5000).ns);
    query_town_close(net);
}
END_TEST

/* Nobody has it: a second question finds the names. */
START_TEST(unknown_sources)
{
    net = query_town_open();
    const struct fake_result *r = query_town_ask(net, 0, "query sum t.tock");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "did you mean t.took?"));
    r = query_town_ask(net, 0, "query top t.took k=3");
    ck_assert_int_eq(r->rc, -EINVAL);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "there is no top of it"));
    query_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(who_is_silent_hides_nobody), SUITE_TEST(who_is_dead_costs_no_time),
                                          SUITE_TEST(who_dies_meanwhile), SUITE_TEST(unknown_sources)};
SUITE_MAIN("asker", tests)
