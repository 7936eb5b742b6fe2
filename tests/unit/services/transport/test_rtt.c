/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/rtt.h"
#include "suite.h"

static struct rtt r;

static cw_time at(int64_t us)
{
    return (cw_time){us * 1000};
}

static void setup(void)
{
    rtt_init(&r, at(0));
}

START_TEST(nothing_known)
{
    setup();
    ck_assert(!rtt_known(&r));
    ck_assert_int_eq(rtt_least(&r).ns, 0);
    ck_assert_int_eq(rtt_timeout(&r, CW_US(500), CW_MS(200)).ns, 2000000);
    ck_assert_int_eq(rtt_timeout(&r, CW_US(500), CW_MS(1)).ns, 1000000);
}
END_TEST

START_TEST(the_first_sample)
{
    setup();
    ck_assert(!rtt_sample(&r, CW_US(40), true, at(1)));
    ck_assert(rtt_known(&r));
    ck_assert_int_eq(rtt_smooth(&r).ns, 40000);
    ck_assert_int_eq(rtt_spread(&r).ns, 20000);
    ck_assert_int_eq(rtt_least(&r).ns, 40000);
    ck_assert_int_eq(rtt_timeout(&r, CW_US(1), CW_SEC(1)).ns, 120000);
    ck_assert_int_eq(rtt_timeout(&r, CW_US(500), CW_SEC(1)).ns, 500000);
}
END_TEST

/* A steady way is known to within a tenth, and its spread goes to nothing. */
START_TEST(it_settles)
{
    setup();
    for (int i = 0; i < 100; i++) {
        rtt_sample(&r, CW_US(i % 2 ? 101 : 99), true, at(i * 100));
    }
    ck_assert_int_ge(rtt_smooth(&r).ns, 98000);
    ck_assert_int_le(rtt_smooth(&r).ns, 102000);
    ck_assert_int_lt(rtt_spread(&r).ns, 3000);
    ck_assert_int_eq(rtt_least(&r).ns, 99000);
    for (int i = 0; i < 60; i++) {
        rtt_sample(&r, CW_US(400), true, at(20000 + i * 400));
    }
    ck_assert_int_ge(rtt_smooth(&r).ns, 390000);
    ck_assert_int_eq(rtt_least(&r).ns, 99000);
}
END_TEST

/* The least is of two epochs: the old one is gone after them, not before. */
START_TEST(epochs)
{
    setup();
    const int64_t epoch = RTT_EPOCH.ns / 1000;
    rtt_sample(&r, CW_US(10), true, at(1));
    ck_assert(rtt_sample(&r, CW_US(50), true, at(epoch)));
    ck_assert_int_eq(rtt_least(&r).ns, 10000);
    ck_assert(!rtt_sample(&r, CW_US(60), true, at(epoch + 1)));
    ck_assert(rtt_sample(&r, CW_US(70), true, at(2 * epoch)));
    ck_assert_int_eq(rtt_least(&r).ns, 50000);
    rtt_new_way(&r, at(2 * epoch));
    ck_assert_int_eq(rtt_least(&r).ns, 0);
    ck_assert(rtt_known(&r));
    rtt_sample(&r, CW_US(90), true, at(2 * epoch + 1));
    ck_assert_int_eq(rtt_least(&r).ns, 90000);
}
END_TEST

START_TEST(small_packets_are_no_measure)
{
    setup();
    rtt_sample(&r, CW_US(5), false, at(1));
    ck_assert_int_eq(rtt_least(&r).ns, 0);
    ck_assert_int_eq(rtt_smooth(&r).ns, 5000);
    rtt_sample(&r, CW_US(80), true, at(2));
    rtt_sample(&r, CW_US(6), false, at(3));
    ck_assert_int_eq(rtt_least(&r).ns, 80000);
}
END_TEST

START_TEST(impossible_samples)
{
    setup();
    rtt_sample(&r, CW_NS(-5), true, at(1));
    ck_assert_int_eq(rtt_least(&r).ns, 1);
    for (int i = 0; i < 200; i++) {
        rtt_sample(&r, CW_NS(INT64_MAX), true, at(i));
    }
    ck_assert_int_le(rtt_smooth(&r).ns, CW_SEC(61).ns);
    for (int i = 0; i < 2000; i++) {
        rtt_sample(&r, CW_NS(0), true, at(i));
    }
    ck_assert(rtt_known(&r));
    ck_assert_int_gt(rtt_timeout(&r, CW_NS(1), CW_SEC(1)).ns, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(nothing_known), SUITE_TEST(the_first_sample),   SUITE_TEST(it_settles),
    SUITE_TEST(epochs),        SUITE_TEST(impossible_samples), SUITE_TEST(small_packets_are_no_measure),
};
SUITE_MAIN("services.transport.rtt", tests)
