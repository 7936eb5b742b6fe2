/* SPDX-License-Identifier: Apache-2.0 */
/* test_orders.c - options, and orders that are not all alike at the same time. */
#include "order_town.h"
#include "services/aggregate/aggregate.h"
#include "services/aggregate/dense/dense.h"
#include "services/aggregate/internal.h"
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

static uint64_t strange(struct fake_net *net, cw_server at)
{
    for (unsigned i = 0; i < net->server[at]->counters; i++) {
        if (strcmp(net->server[at]->counter[i].name, "order_strange") == 0) {
            return net->server[at]->counter[i].value;
        }
    }
    return UINT64_MAX;
}

/* Notes that nobody understands, or that are no request, are refused and counted. */
START_TEST(strangers)
{
    uint8_t bytes[NOTE_BYTES_MOST + 1] = {0};
    struct note n = {.kind = NOTE_LOOK, .source = NOTE_SOURCE_FILE, .from = "v"};
    struct fake_net *net = order_town_open(NULL);
    struct orders *o = ((struct aggregate *)net->server[1]->state)->orders;
    cw_to to = {.kind = CW_TO_SERVER, .job = AGGREGATE_JOB, .port = AGGREGATE_PORT_ORDER, .server = {0, 0, 0}};
    const struct transport_send_options copied = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    const struct transport_data garbage = {.bytes = bytes, .size = 7};
    ck_assert_int_gt(transport_send(o->transport, &to, &garbage, &copied, NULL, NULL), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(strange(net, 0), 1);
    n.spec = (struct spec){CW_NUMBER_UINT64, CW_COMBINE_SUM, 0, 1};
    note_encode(&n, bytes);
    const struct transport_data look = {.bytes = bytes, .size = note_size(&n)};
    ck_assert_int_gt(transport_send(o->transport, &to, &look, &copied, NULL, NULL), 0);
    fake_net_run(net, CW_MS(20));
    ck_assert_uint_eq(strange(net, 0), 2);
    order_town_close(net);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(options), SUITE_TEST(several_at_once), SUITE_TEST(too_many),
                                          SUITE_TEST(strangers)};
SUITE_MAIN("orders", tests)
