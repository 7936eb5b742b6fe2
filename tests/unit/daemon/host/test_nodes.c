/* SPDX-License-Identifier: Apache-2.0 */
/* test_nodes.c - nodes that begin, fail and come back; a ping from each server to all others, by their commands. */
#include "daemon_town.h"
#include "suite.h"

#include <errno.h>

struct answer {
    bool done;
    int rc;
    int64_t received, lost, miscounted;
};

static void on_row(void *context)
{
    (void)context;
}

static void on_integer(void *context, const char *name, int64_t value)
{
    struct answer *a = context;
    a->received = strcmp(name, "received") == 0 ? value : a->received;
    a->lost = strcmp(name, "lost") == 0 ? value : a->lost;
    a->miscounted = strcmp(name, "miscounted") == 0 ? value : a->miscounted;
}

static void on_text(void *context, const char *name, const char *value)
{
    (void)context;
    (void)name;
    (void)value;
}

static void on_done(void *context, int rc)
{
    struct answer *a = context;
    a->done = true;
    a->rc = rc;
}

START_TEST(a_ping_to_everybody)
{
    struct host *h = town_open("torus { dims = 3x3x3; coordinate = all }");
    town_settle(h, 27);
    for (unsigned from = 0; from < 27; from++) {
        struct host_server *s = host_server(h, from);
        struct answer a = {.done = false};
        struct node_request_sink sink = {&a, on_row, on_integer, on_text, on_done};
        const char *words[] = {"all"};
        host_after(s, node_command(s->node, "ping", 1, words, &sink, host_now(h)));
        cw_time end = cw_time_add(clock_now(), CW_SEC(10));
        while (!a.done) {
            ck_assert_msg(cw_time_before(clock_now(), end), "no answer to %u", from);
            host_turn(h, CW_MS(1));
        }
        ck_assert_int_eq(a.rc, 0);
        ck_assert_int_ge(a.received, 26);
        ck_assert_int_eq(a.lost + a.miscounted, 0);
    }
    host_close(h);
}
END_TEST

START_TEST(a_server_fails_and_comes_back)
{
    struct host *h = town_open("torus { dims = 3x1x1; coordinate = all }");
    town_settle(h, 3);
    struct host_server *s = host_server(h, 1);
    ck_assert_int_eq(host_restore(s), -EALREADY);
    ck_assert_int_eq(host_fail(s), 0);
    ck_assert_ptr_null(s->node);
    ck_assert_int_eq(host_fail(s), -EALREADY);
    town_settle(h, 2);
    ck_assert_int_eq(host_restore(s), 0);
    ck_assert_ptr_nonnull(s->node);
    town_settle(h, 3);
    host_close(h);
}
END_TEST

START_TEST(a_cable_is_cut_and_mended)
{
    struct host *h = town_open("torus { dims = 3x1x1; coordinate = all }");
    town_settle(h, 3);
    struct host_server *s = host_server(h, 0);
    ck_assert_int_eq(host_cut(s, CW_LINK_YP, true), -ENODEV);
    ck_assert_int_eq(host_cut(s, CW_LINK_XP, true), 0);
    ck_assert_int_eq(host_cut(host_server(h, 1), CW_LINK_XM, true), -EALREADY); /* its other end */
    town_run(h, CW_MS(50));
    ck_assert(!s->link[CW_LINK_XP].carrier);
    ck_assert(!host_server(h, 1)->link[CW_LINK_XM].carrier);
    ck_assert_int_eq(host_cut(s, CW_LINK_XP, false), 0);
    town_run(h, CW_MS(50));
    ck_assert(s->link[CW_LINK_XP].carrier);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_ping_to_everybody), SUITE_TEST(a_server_fails_and_comes_back),
                                          SUITE_TEST(a_cable_is_cut_and_mended)};
SUITE_MAIN("nodes", tests)
