/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/congestion.h"
#include "suite.h"

enum { PACKET = 9000, TARGET = 32768, MOST = 4 << 20 };

static struct congestion c;

/*
 * A link of so many bytes per us behind a way of base us, used by others with `others` bytes: one round trip after the
 * other.
 */
static void rounds(unsigned count, double base, double rate, double others)
{
    for (unsigned i = 0; i < count; i++) {
        double all = (double)c.window + others;
        double rtt = all / rate > base ? all / rate : base;
        c.limited = true;
        congestion_acked(&c, c.window, CW_NS(rtt * 1000));
        congestion_round(&c, CW_NS(base * 1000));
    }
}

START_TEST(it_finds_the_rate_and_its_target)
{
    static const double bases[] = {20, 150, 1000}, rates[] = {125, 375, 1250};
    for (unsigned b = 0; b < 3; b++) {
        for (unsigned r = 0; r < 3; r++) {
            congestion_init(&c, PACKET, TARGET, MOST);
            rounds(60, bases[b], rates[r], 0);
            double queue = (double)c.window - bases[b] * rates[r];
            ck_assert_msg(queue > TARGET * 0.9 && queue < TARGET * 1.1, "%.0f us, %.0f B/us: %.0f bytes queue",
                          bases[b], rates[r], queue);
        }
    }
}
END_TEST

START_TEST(a_short_way_starts_fast)
{
    congestion_init(&c, PACKET, TARGET, MOST);
    unsigned n = 0;
    for (; c.slow && n < 20; n++) {
        rounds(1, 1000, 1250, 0);
    }
    ck_assert_uint_le(n, 7); /* 50 KB, doubled until above 1.25 MB */
}
END_TEST

START_TEST(who_sends_little_learns_nothing)
{
    congestion_init(&c, PACKET, TARGET, MOST);
    uint64_t window = c.window;
    for (int i = 0; i < 50; i++) {
        congestion_acked(&c, 100, CW_US(10));
        congestion_round(&c, CW_US(10));
    }
    ck_assert_uint_eq(c.window, window);
}
END_TEST

START_TEST(bounds)
{
    congestion_init(&c, PACKET, TARGET, 100000);
    rounds(50, 1000, 1e6, 0);
    ck_assert_uint_eq(c.window, 100000);
    congestion_silence(&c, (cw_time){5});
    ck_assert_uint_eq(c.window, 2 * PACKET);
    congestion_drain(&c);
    ck_assert_uint_eq(c.window, 2 * PACKET);
    congestion_init(&c, PACKET, 1, 100); /* two packets, whatever the most */
    ck_assert_uint_eq(c.window, 2 * PACKET);
}
END_TEST

START_TEST(losses_count_once_a_round_trip)
{
    congestion_init(&c, 1000, 100000, MOST);
    uint64_t window = c.window;
    congestion_lost(&c, (cw_time){1000}, CW_NS(500));
    ck_assert_uint_lt(c.window, window);
    window = c.window;
    congestion_lost(&c, (cw_time){1400}, CW_NS(500));
    ck_assert_uint_eq(c.window, window);
    congestion_lost(&c, (cw_time){1501}, CW_NS(500));
    ck_assert_uint_lt(c.window, window);
    ck_assert(!c.slow);
}
END_TEST

START_TEST(nothing_measured)
{
    congestion_init(&c, PACKET, TARGET, MOST);
    uint64_t window = c.window;
    c.limited = true;
    congestion_round(&c, CW_NS(0));
    congestion_round(&c, CW_US(10));
    ck_assert_uint_eq(c.window, window);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(it_finds_the_rate_and_its_target), SUITE_TEST(a_short_way_starts_fast),
    SUITE_TEST(who_sends_little_learns_nothing),  SUITE_TEST(bounds),
    SUITE_TEST(losses_count_once_a_round_trip),   SUITE_TEST(nothing_measured),
};
SUITE_MAIN("services.transport.congestion", tests)
