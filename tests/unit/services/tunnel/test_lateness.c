/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/lateness.h"

#include "suite.h"

static const struct lateness_bounds bounds = {.first = CW_MS(5), .least = CW_US(100), .most = CW_MS(20)};

static cw_time at(int64_t ms)
{
    return (cw_time){CW_MS(ms).ns};
}

static int64_t wait_us(const struct lateness *l)
{
    return cw_span_us(lateness_wait(l, &bounds));
}

START_TEST(grows_and_shrinks)
{
    struct lateness l = {.known = false};
    ck_assert_int_eq(wait_us(&l), 5000);
    lateness_note(&l, CW_US(200), at(1));
    ck_assert_int_eq(wait_us(&l), 300);
    lateness_note(&l, CW_US(2000), at(2));
    ck_assert_int_eq(wait_us(&l), 3000);
    lateness_note(&l, CW_US(10), at(3));
    ck_assert_int_eq(wait_us(&l), 3000);
}
END_TEST

START_TEST(forgets_after_pieces_and_time)
{
    struct lateness l = {.known = false};
    lateness_note(&l, CW_MS(4), at(0));
    for (int i = 1; i < 200; i++) {
        lateness_note(&l, CW_US(100), at(i));
    }
    ck_assert_int_eq(wait_us(&l), 6000); /* not a second yet */
    lateness_note(&l, CW_US(100), at(1000));
    ck_assert_int_eq(wait_us(&l), 6000); /* now in the older bucket */
    for (int i = 0; i < LATENESS_PIECES - 1; i++) {
        lateness_note(&l, CW_US(100), at(3000));
    }
    ck_assert_int_eq(wait_us(&l), 6000); /* a second, and not enough pieces but for the next */
    lateness_note(&l, CW_US(100), at(3001));
    ck_assert_int_eq(wait_us(&l), 150);
}
END_TEST

START_TEST(within_bounds)
{
    struct lateness l = {.known = false};
    lateness_note(&l, CW_NS(10), at(0));
    ck_assert_int_eq(wait_us(&l), 100);
    lateness_note(&l, CW_MS(14), at(0));
    ck_assert_int_eq(wait_us(&l), 20000);
    lateness_note(&l, (cw_span){INT64_MAX}, at(0));
    ck_assert_int_eq(wait_us(&l), 20000);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(grows_and_shrinks), SUITE_TEST(forgets_after_pieces_and_time),
                                          SUITE_TEST(within_bounds)};
SUITE_MAIN("lateness", tests)
