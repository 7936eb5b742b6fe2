/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/dedup.h"
#include "suite.h"

static struct dedup d;
static struct dedup_write *w;

static enum dedup_known meet(cw_server s, uint64_t instance, uint64_t number, uint64_t floor, int64_t second)
{
    return dedup_meet(&d, s, instance, number, floor, (cw_time){CW_SEC(second).ns}, &w);
}

START_TEST(once_and_never_again)
{
    ck_assert_int_eq(dedup_open(&d, 3, 100, CW_SEC(10)), 0);
    ck_assert_int_eq(meet(1, 7, 5, 5, 0), DEDUP_NEW);
    w->cas = 42;
    ck_assert_int_eq(meet(1, 7, 5, 5, 1), DEDUP_KNOWN);
    ck_assert_uint_eq(w->cas, 42);
    ck_assert_int_eq(meet(1, 8, 5, 5, 1), DEDUP_NEW); /* another life */
    ck_assert_int_eq(meet(2, 7, 5, 5, 1), DEDUP_NEW); /* another server */
    ck_assert_int_eq(meet(1, 7, 6, 6, 1), DEDUP_NEW);
    ck_assert_int_eq(meet(1, 7, 5, 5, 1), DEDUP_OVER);
    ck_assert_int_eq(meet(3, 7, 5, 5, 1), DEDUP_NO_MEMORY); /* no such server */
    dedup_close(&d);
}
END_TEST

START_TEST(forgotten_is_refused)
{
    ck_assert_int_eq(dedup_open(&d, 1, 2, CW_SEC(10)), 0);
    ck_assert_int_eq(meet(0, 7, 1, 1, 0), DEDUP_NEW);
    w->under_way = &d; /* somebody's: it stays */
    ck_assert_int_eq(meet(0, 7, 2, 1, 0), DEDUP_NEW);
    ck_assert_int_eq(meet(0, 7, 3, 1, 0), DEDUP_NEW);
    ck_assert_int_eq(meet(0, 7, 4, 1, 0), DEDUP_NEW); /* more than two: 2 goes */
    ck_assert_int_eq(meet(0, 7, 2, 1, 0), DEDUP_OVER);
    ck_assert_int_eq(meet(0, 7, 4, 1, 0), DEDUP_KNOWN);
    ck_assert_int_eq(meet(0, 7, 9, 1, 20), DEDUP_NEW); /* all old ones go */
    ck_assert_int_eq(meet(0, 7, 4, 1, 20), DEDUP_OVER);
    ck_assert_uint_eq(d.count, 2);
    dedup_close(&d);
}
END_TEST

START_TEST(what_was_not_done_may_come_again)
{
    ck_assert_int_eq(dedup_open(&d, 1, 9, CW_SEC(10)), 0);
    ck_assert_int_eq(meet(0, 7, 1, 1, 0), DEDUP_NEW);
    dedup_forget(&d, w);
    ck_assert_int_eq(meet(0, 7, 1, 1, 0), DEDUP_NEW);
    for (uint64_t life = 8; life < 8 + DEDUP_LIVES; life++) {
        ck_assert_int_eq(meet(0, life, 1, 1, 0), DEDUP_NEW);
    }
    ck_assert_uint_eq(d.count, DEDUP_LIVES); /* of the last lives */
    dedup_close(&d);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(once_and_never_again), SUITE_TEST(forgotten_is_refused),
                                          SUITE_TEST(what_was_not_done_may_come_again)};
SUITE_MAIN("dedup", tests)
