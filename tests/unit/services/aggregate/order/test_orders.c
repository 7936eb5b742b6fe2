/* SPDX-License-Identifier: Apache-2.0 */
/* test_orders.c - options, and orders that are not all alike at the same time. */
#include "order_town.h"
#include "services/aggregate/aggregate.h"
#include "suite.h"

#include <errno.h>

static int opened(const char *option)
{
    const char *const options[] = {option, NULL};
    int rc;
    cw_svc *s = fake_open_with(&aggregate_service, (cw_dims){1, 1, 1}, (cw_coord){0, 0, 0}, options, &rc);
    if (s != NULL) {
        (void)fake_close(s);
    }
    return rc;
}

START_TEST(options)
{
    ck_assert_int_eq(opened("data=/some/where"), 0);
    ck_assert_int_eq(opened("data="), 0);
    ck_assert_int_eq(opened("data=some"), -EINVAL);
    ck_assert_int_eq(opened("memory=64M"), 0);
    ck_assert_int_eq(opened("memory=64"), -EINVAL);
    ck_assert_int_eq(opened("memory=much"), -EINVAL);
    ck_assert_int_eq(opened("date=/some"), -EINVAL);
}
END_TEST

START_TEST(several_at_once)
{
    struct fake_result a, b;
    struct fake_net *net = order_town_open(NULL);
    fake_command(net->server[0], "check bytes=100000", &a);
    fake_command(net->server[5], "check bytes=50000 to=2,2,0", &b);
    fake_net_finish(net, &a);
    fake_net_finish(net, &b);
    ck_assert_int_eq(a.rc, 0);
    ck_assert_int_eq(b.rc, 0);
    ck_assert_int_eq(fake_int(&b, 0, "elements"), 6250);
    ck_assert_str_eq(fake_text(&b, 0, "root"), "2,2,0");
    order_town_close(net);
}
END_TEST

/* More than a desk takes are refused, and the others end. */
START_TEST(too_many)
{
    struct fake_result r[ORDERS_DESK + 1];
    struct fake_net *net = order_town_open(NULL);
    for (unsigned i = 0; i <= ORDERS_DESK; i++) {
        fake_command(net->server[0], "check bytes=800", &r[i]);
    }
    ck_assert_int_eq(r[ORDERS_DESK].rc, -EBUSY);
    for (unsigned i = 0; i < ORDERS_DESK; i++) {
        fake_net_finish(net, &r[i]);
        ck_assert_int_eq(r[i].rc, 0);
    }
    order_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(options), SUITE_TEST(several_at_once), SUITE_TEST(too_many)};
SUITE_MAIN("orders", tests)
