/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/codel.h"

#include "suite.h"

static const struct codel_limits limits = {.target = CW_MS(1), .interval = CW_MS(20)};
static struct codel c;

static cw_time at_us(int64_t us)
{
    return (cw_time){CW_US(1000000 + us).ns};
}

static bool leaves(int64_t at, int64_t waited_us)
{
    return codel_leaves(&c, &limits, CW_US(waited_us), false, at_us(at));
}

START_TEST(short_waits_are_no_signal)
{
    for (int64_t t = 0; t < 1000000; t += 1000) {
        SUITE_HOLDS(!leaves(t, 999));
    }
}
END_TEST

START_TEST(bursts_are_no_signal)
{
    for (int64_t t = 0; t < 1000000; t += 1000) {
        SUITE_HOLDS(!leaves(t, t % 19000 == 0 ? 500 : 8000)); /* it empties within each interval */
    }
}
END_TEST

/* After an interval, and then after 20 ms / sqrt(1), 20 ms / sqrt(2) and so on: RFC 8289, 5.5. */
START_TEST(a_standing_queue_is_told)
{
    static const int64_t times[] = {20000, 40000, 54142, 65689, 75689, 84633};
    unsigned n = 0;
    for (int64_t t = 0; t < 85000; t++) {
        if (leaves(t, 5000)) {
            SUITE_HOLDS(n < 6 && t >= times[n] - 3 && t <= times[n] + 3, "signal %u at %ld us", n, (long)t);
            n++;
        }
    }
    ck_assert_uint_eq(n, 6);
}
END_TEST

START_TEST(gaps_shrink)
{
    int64_t last = 0, gap = 1 << 30;
    for (int64_t t = 0; t < 2000000; t += 10) {
        if (leaves(t, 5000)) {
            SUITE_HOLDS(last == 0 || t - last <= gap + 10, "at %ld", (long)t);
            gap = last == 0 ? gap : t - last;
            last = t;
        }
    }
    ck_assert_int_lt(gap, 3000);
    ck_assert(!leaves(2000000, 10));
    ck_assert(!leaves(2000010, 5000));
}
END_TEST

START_TEST(the_only_packet)
{
    for (int64_t t = 0; t < 100000; t += 1000) {
        SUITE_HOLDS(!codel_leaves(&c, &limits, CW_MS(50), true, at_us(t)));
    }
}
END_TEST

/* A queue that stands again soon is told at the pace that it had. */
START_TEST(remembers_its_pace)
{
    for (int64_t t = 0; t < 300000; t += 10) {
        (void)leaves(t, 5000);
    }
    uint32_t count = c.count;
    ck_assert_uint_gt(count, 20);
    ck_assert(!leaves(300000, 10));
    unsigned told = 0;
    for (int64_t t = 300010; t < 340010; t += 10) {
        told += leaves(t, 5000);
    }
    ck_assert_uint_gt(told, 4);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(short_waits_are_no_signal), SUITE_TEST(bursts_are_no_signal),
    SUITE_TEST(a_standing_queue_is_told),  SUITE_TEST(gaps_shrink),
    SUITE_TEST(the_only_packet),           SUITE_TEST(remembers_its_pace),
};
SUITE_MAIN("codel", tests)
