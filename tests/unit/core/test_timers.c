/* SPDX-License-Identifier: Apache-2.0 */
#include "core/timers.h"
#include "rng.h"
#include "suite.h"

static void nothing(cw_svc *s, void *state, void *arg)
{
    (void)s, (void)state, (void)arg;
}

static int marks[100];

/* Runs one round and returns how many fired; the last argument in *last. */
static unsigned run(struct timers *t, int64_t now, int **last)
{
    struct timers_fired fired;
    unsigned count = 0;
    timers_begin(t);
    while (timers_next(t, (cw_time){now}, &fired)) {
        *last = fired.arg;
        count++;
    }
    return count;
}

START_TEST(fire_in_order_once)
{
    struct timers t;
    int *last = NULL;
    ck_assert_int_eq(timers_open(&t, 16, 1), 0);
    ck_assert_ptr_nonnull(timers_start(&t, 0, (cw_time){5}, nothing, &marks[1]));
    ck_assert_ptr_nonnull(timers_start(&t, 1, (cw_time){3}, nothing, &marks[0]));
    ck_assert_ptr_nonnull(timers_start(&t, 2, (cw_time){5}, nothing, &marks[2]));
    ck_assert_int_eq(timers_wake(&t).ns, 3);
    ck_assert_uint_eq(run(&t, 2, &last), 0);
    ck_assert_uint_eq(run(&t, 3, &last), 1);
    ck_assert_ptr_eq(last, &marks[0]);
    ck_assert_uint_eq(run(&t, 9, &last), 2);
    ck_assert_ptr_eq(last, &marks[2]);
    ck_assert_int_eq(timers_wake(&t).ns, CW_NEVER.ns);
    timers_close(&t);
}
END_TEST

START_TEST(stopping_is_safe_however_often)
{
    struct timers t;
    int *last = NULL;
    ck_assert_int_eq(timers_open(&t, 16, 1), 0);
    cw_timer *a = timers_start(&t, 0, (cw_time){5}, nothing, &marks[0]);
    ck_assert(!timers_stop(&t, 1, a)); /* another's */
    ck_assert(timers_stop(&t, 0, a));
    ck_assert(!timers_stop(&t, 0, a));
    cw_timer *b = timers_start(&t, 0, (cw_time){5}, nothing, &marks[1]);
    ck_assert(!timers_stop(&t, 0, a));
    ck_assert_uint_eq(run(&t, 5, &last), 1);
    ck_assert(!timers_stop(&t, 0, b));
    ck_assert(!timers_stop(&t, 0, NULL));
    ck_assert(timers_valid(&t));
    ck_assert(!timers_stop(&t, 0, (cw_timer *)&t));
    timers_close(&t);
}
END_TEST

/* What is set during a round runs in the next, so that a timer of no time is no endless loop. */
START_TEST(rounds_end)
{
    struct timers t;
    struct timers_fired fired;
    ck_assert_int_eq(timers_open(&t, 16, 1), 0);
    ck_assert_ptr_nonnull(timers_start(&t, 0, (cw_time){1}, nothing, &marks[0]));
    ck_assert_ptr_nonnull(timers_start(&t, 0, (cw_time){1}, nothing, &marks[1]));
    for (unsigned round = 0; round < 10; round++) {
        unsigned count = 0;
        timers_begin(&t);
        while (timers_next(&t, (cw_time){1}, &fired)) {
            ck_assert_ptr_eq(fired.arg, &marks[count++]);
            ck_assert_ptr_nonnull(timers_start(&t, 0, (cw_time){1}, nothing, fired.arg));
        }
        ck_assert_uint_eq(count, 2);
    }
    timers_close(&t);
}
END_TEST

START_TEST(one_service_cannot_have_them_all)
{
    struct timers t;
    ck_assert_int_eq(timers_open(&t, 90, 1), 0);
    unsigned greedy = 0, modest = 0;
    while (timers_start(&t, 0, CW_NEVER, nothing, NULL) != NULL) {
        greedy++;
    }
    ck_assert_uint_eq(greedy, 60); /* twice what is free */
    while (timers_start(&t, 1, CW_NEVER, nothing, NULL) != NULL) {
        modest++;
    }
    ck_assert_uint_eq(modest, 20);
    ck_assert_ptr_nonnull(timers_start(&t, 2, CW_NEVER, nothing, NULL));
    timers_stop_all(&t, 0);
    ck_assert_uint_eq(expiry_count(&t.table), 21);
    ck_assert_uint_eq(t.of[0], 0);
    ck_assert_ptr_nonnull(timers_start(&t, 0, CW_NEVER, nothing, NULL));
    timers_close(&t);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(fire_in_order_once),
    SUITE_TEST(stopping_is_safe_however_often),
    SUITE_TEST(rounds_end),
    SUITE_TEST(one_service_cannot_have_them_all),
};
SUITE_MAIN("timers", tests)
