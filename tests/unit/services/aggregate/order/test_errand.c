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

/* The room for a result is taken at LOOK: the second order is refused before anything is sent. */
START_TEST(no_room)
{
    static const char *const small[] = {"data=/d", "memory=1048576", NULL};
    struct fake_result a, b;
    net = order_town_open(small);
    fake_command(net->server[0], "check bytes=800000 to=1,1,0", &a);
    fake_command(net->server[0], "check bytes=800000 to=1,1,0", &b);
    fake_net_finish(net, &a);
    fake_net_finish(net, &b);
    ck_assert_int_eq(a.rc, 0);
    ck_assert_int_eq(b.rc, -ENOBUFS);
    ck_assert_ptr_nonnull(strstr(fake_text(&b, 0, "error"), "server 1,1,0: it has no room"));
    order_town_close(net);
}
END_TEST

/* A root that is no member learns with GO how long the result is. When it has no room, all are told at once. */
START_TEST(no_room_at_go)
{
    static const char *const small[] = {"data=/d", "memory=1048576", NULL};
    struct fake_result a, b;
    net = order_town_open(small);
    order_town_fill(1, 900);
    fake_command(net->server[0], "check bytes=1048000 to=1,1,0", &a);
    fake_command(net->server[0], "reduce sum uint64 from=v to=1,1,0:o of=0,1,0", &b);
    cw_time began = net->server[0]->now;
    fake_net_finish(net, &b);
    ck_assert_int_lt(cw_time_since(net->server[0]->now, began).ns, CW_NS_PER_SEC);
    ck_assert_int_eq(b.rc, -ENOBUFS);
    ck_assert_str_eq(fake_text(&b, 0, "error"), "the reduction failed: a server has no room for it (server 1,1,0)");
    fake_net_finish(net, &a);
    ck_assert_int_eq(a.rc, 0);
    fake_net_run(net, CW_SEC(2));
    ck_assert_int_eq(fake_int(order_town_ask(net, 1, "totals"), 0, "members"), 0);
    order_town_close(net);
}
END_TEST

/* An order that is cancelled while its members look leaves nothing in their memory. */
START_TEST(cancelled_early)
{
    static const char *const small[] = {"data=/d", "memory=1048576", NULL};
    struct fake_result a, stop;
    net = order_town_open(small);
    fake_command(net->server[0], "check bytes=1048576 to=1,1,0", &a);
    fake_command(net->server[0], "cancel 1", &stop);
    fake_net_finish(net, &a);
    ck_assert_int_eq(a.rc, -ECANCELED);
    fake_net_run(net, CW_MS(50));
    ck_assert_int_eq(order_town_ask(net, 0, "check bytes=1048576 to=1,1,0")->rc, 0);
    order_town_close(net);
}
END_TEST

/* DROP has overtaken its LOOK: the file is not read. It is remembered for a minute, and for this order alone. */
START_TEST(drop_overtakes)
{
    const struct transport_reply_to reply = {0};
    struct note n = {.kind = NOTE_LOOK, .number = 4, .life = 9, .root = 0, .sink = NOTE_SINK_FILE};
    n.spec = (struct spec){CW_NUMBER_UINT64, CW_COMBINE_SUM, 0, 1};
    static struct orders o;
    o = (struct orders){.memory_most = ORDERS_MEMORY};
    net = order_town_open(NULL);
    o.s = net->server[0];
    list_init(&o.errands);
    ck_assert_int_eq(torus_init(&o.torus, (cw_dims){3, 3, 1}), 0);
    errand_drop(&o, &n, 5);
    ck_assert_int_eq(errand_look(&o, &n, 5, &reply), -ECANCELED);
    ck_assert_int_eq(errand_look(&o, &n, 6, &reply), -EOPNOTSUPP); /* looked at: there is no folder */
    n.number = 5;
    ck_assert_int_eq(errand_look(&o, &n, 5, &reply), -EOPNOTSUPP);
    n.number = 4;
    fake_net_run(net, CW_SEC(61));
    ck_assert_int_eq(errand_look(&o, &n, 5, &reply), -EOPNOTSUPP);
    order_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(no_room),           SUITE_TEST(no_room_at_go), SUITE_TEST(cancelled_early),
    SUITE_TEST(drop_overtakes),    SUITE_TEST(memory),        SUITE_TEST(no_folder),
    SUITE_TEST(result_not_stored), SUITE_TEST(desk_dies),     SUITE_TEST(one_name)};
SUITE_MAIN("errand", tests)
