/* SPDX-License-Identifier: Apache-2.0 */
/* A way in from end to end: when ends are told, and when the timer rings. */
#include "messenger.h"
#include "services/transport/internal.h"
#include "suite.h"

#include <errno.h>

static struct fake_net *net;

static void setup(void)
{
    messenger_config = (struct transport_config){.size = 0};
    net = fake_net_open(&messenger_service, (cw_dims){3, 1, 1});
}

START_TEST(ends_are_told_by_an_upcall_only)
{
    setup();
    struct messenger *k = messenger_of(net, 0);
    net->server[0]->refuse = -EACCES; /* the first packet that is sent ends the message */
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    ck_assert_uint_eq(k->ended, 0);
    ck_assert(!list_is_empty(&k->t->finished));
    fake_net_run(net, CW_US(1)); /* the timer, set for now */
    ck_assert_uint_eq(k->ended, 1);
    ck_assert_int_eq(k->status, -EACCES);
    ck_assert(list_is_empty(&k->t->finished));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(only_the_outermost_leaves)
{
    setup();
    struct transport *t = messenger_of(net, 0)->t;
    transport_enter(t);
    transport_enter(t);
    ck_assert_uint_eq(t->depth, 2);
    transport_leave(t, true);
    ck_assert_uint_eq(t->depth, 1);
    transport_leave(t, true);
    ck_assert_uint_eq(t->depth, 0);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(counters_follow_the_stats)
{
    setup();
    struct transport *t = messenger_of(net, 0)->t;
    cw_counter *each = cw_counter_new(net->server[0], "any", "Any.");
    t->config.counters = true;
    for (unsigned i = 0; i < TRANSPORT_COUNTERS; i++) {
        t->counter[i] = each;
    }
    t->stats.packets += 7;
    t->stats.strange += 2;
    transport_count(t);
    transport_count(t); /* nothing is new */
    ck_assert_uint_eq(each->value, 9);
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

START_TEST(a_timer_that_cannot_be_started_is_started_by_the_next_turn)
{
    setup();
    struct transport *t = messenger_of(net, 0)->t;
    net->server[0]->timers_max = 0;
    ck_assert_int_gt(messenger_send(net, 0, 1, 10, NULL), 0);
    ck_assert_ptr_null(t->timer);
    ck_assert(t->timer_failed);
    ck_assert(transport_valid(t));
    net->server[0]->timers_max = SIZE_MAX;
    transport_enter(t);
    transport_leave(t, true);
    ck_assert_ptr_nonnull(t->timer);
    ck_assert(!t->timer_failed);
    fake_net_run(net, CW_MS(10));
    ck_assert_uint_eq(fake_net_close(net), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(ends_are_told_by_an_upcall_only),
    SUITE_TEST(only_the_outermost_leaves),
    SUITE_TEST(counters_follow_the_stats),
    SUITE_TEST(a_timer_that_cannot_be_started_is_started_by_the_next_turn),
};
SUITE_MAIN("turn", tests)
