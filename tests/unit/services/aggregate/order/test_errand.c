/* SPDX-License-Identifier: Apache-2.0 */
/* test_errand.c - a server's part in an order: its file, its memory, and the end of its desk. */
#include "order_town.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static struct fake_net *net;

START_TEST(memory)
{
    static const char *const small[] = {"data=/d", "memory=1048576", NULL};
    net = order_town_open(small);
    const struct fake_result *r = order_town_ask(net, 0, "check bytes=1048576");
    ck_assert_int_eq(r->rc, 0);
    r = order_town_ask(net, 0, "check bytes=1048584");
    ck_assert_int_eq(r->rc, -EINVAL);
    order_town_close(net);
}
END_TEST

START_TEST(no_folder)
{
    static const char *const none[] = {"memory=8M", NULL};
    net = order_town_open(none);
    const struct fake_result *r = order_town_ask(net, 0, "reduce sum uint64 from=v to=0,0,0:o");
    ck_assert_int_eq(r->rc, -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(fake_text(r, 0, "error"), "no data folder is set"));
    ck_assert_int_eq(order_town_ask(net, 0, "check bytes=800")->rc, 0); /* which needs none */
    order_town_close(net);
}
END_TEST

START_TEST(result_not_stored)
{
    net = order_town_open(NULL);
    order_town_fill(1, 10);
    order_files[0].error = -ENOSPC; /* of the root, which is no member and reads nothing */
    const struct fake_result *r = order_town_ask(net, 0, "reduce sum uint64 from=v to=0,0,0:o of=0,1,0");
    ck_assert_int_eq(r->rc, -ENOSPC);
    order_town_close(net);
}
END_TEST

/* What a desk has begun ends with it. */
START_TEST(desk_dies)
{
    struct fake_result r;
    net = order_town_open(NULL);
    fake_command(net->server[3], "check bytes=80000000", &r);
    fake_net_run(net, CW_MS(1));
    ck_assert_int_gt(fake_int(order_town_ask(net, 8, "totals"), 0, "members"), 0);
    order_town_lose(net, 3);
    fake_net_run(net, CW_SEC(2));
    ck_assert_int_eq(fake_int(order_town_ask(net, 8, "totals"), 0, "members"), 0);
    order_town_close(net);
}
END_TEST

/* Two orders whose results would go to one name at one server: the one that comes second is refused. */
START_TEST(one_name)
{
    struct fake_result a, b, c;
    net = order_town_open(NULL);
    for (cw_server s = 0; s < ORDER_TOWN; s++) {
        order_town_fill(s, 10);
    }
    fake_command(net->server[0], "reduce sum uint64 from=v to=1,1,0:o", &a);
    fake_command(net->server[5], "reduce max uint64 from=v to=1,1,0:o", &b);
    fake_command(net->server[5], "reduce max uint64 from=v to=1,2,0:o", &c); /* the name, at another server */
    fake_net_finish(net, &a);
    fake_net_finish(net, &b);
    fake_net_finish(net, &c);
    const struct fake_result *second = a.rc < 0 ? &a : &b;
    ck_assert_int_eq(a.rc < 0 ? b.rc : a.rc, 0);
    ck_assert_int_eq(second->rc, -EBUSY);
    ck_assert_ptr_nonnull(strstr(fake_text(second, 0, "error"), "server 1,1,0: another reduction is about to write"));
    ck_assert_int_eq(c.rc, 0);
    ck_assert_int_eq(order_town_ask(net, 5, "reduce max uint64 from=v to=1,1,0:o")->rc, 0);
    order_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(memory), SUITE_TEST(no_folder), SUITE_TEST(result_not_stored),
                                          SUITE_TEST(desk_dies), SUITE_TEST(one_name)};
SUITE_MAIN("errand", tests)
