/* SPDX-License-Identifier: Apache-2.0 */
/* test_holds.c - a service that held the thread is told from a machine that gave the thread no processor. */
#include "suite.h"

#include "daemon/host/holds.h"

static cw_time at(int64_t ms)
{
    return (cw_time){CW_MS(ms).ns};
}

static bool note(struct host_holds *h, int64_t ended_ms, int64_t lasted_ms, int64_t waited_ms)
{
    struct host_hold hold = {at(ended_ms), CW_MS(lasted_ms), 3, "bug", "on_packet"};
    return holds_note(h, &hold, CW_MS(50), CW_MS(waited_ms).ns);
}

START_TEST(the_machine_is_no_service)
{
    static struct host_holds h;
    h = (struct host_holds){.count = 0};
    holds_look(&h, at(1000), CW_MS(700).ns);
    ck_assert(!holds_is_due(&h, at(1049)) && holds_is_due(&h, at(1050)));
    ck_assert(!note(&h, 1500, 100, 751));
    ck_assert_uint_eq(h.count, 0);
    ck_assert(note(&h, 1600, 100, 749));
    ck_assert(note(&h, 1700, 80, 700));
    ck_assert_uint_eq(h.count, 2);
    ck_assert_int_eq(h.longest.lasted.ns, CW_MS(100).ns);
    ck_assert_int_ge(holds_waited_ns(), 0);
}
END_TEST

/* 400 ms, for 300 of which the thread waited: what remains is more than a neighbour bears. */
START_TEST(a_busy_machine_does_not_excuse_all)
{
    static struct host_holds h;
    h = (struct host_holds){.count = 0};
    ck_assert(!note(&h, 1000, 400, 351));
    ck_assert(holds_last(&h, 3, CW_MS(50)) == NULL);
    ck_assert(note(&h, 2000, 400, 350));
    ck_assert(note(&h, 3000, 40, 0));
    ck_assert_int_eq(holds_last(&h, 3, CW_MS(50))->ended.ns, CW_MS(2000).ns);
    ck_assert_int_eq(holds_last(&h, 3, CW_MS(40))->ended.ns, CW_MS(3000).ns);
    ck_assert(holds_last(&h, 2, CW_MS(40)) == NULL);
}
END_TEST

START_TEST(by_when_they_ended)
{
    static struct host_holds h;
    h = (struct host_holds){.count = 0};
    ck_assert(holds_between(&h, at(0), at(9999)) == NULL);
    for (int64_t i = 1; i <= HOST_HOLDS_KEPT + 2; i++) {
        ck_assert(note(&h, 100 * i, i, 0));
    }
    ck_assert(holds_between(&h, at(0), at(299)) == NULL); /* the ring has lost these */
    ck_assert_int_eq(holds_between(&h, at(0), at(300))->lasted.ns, CW_MS(3).ns);
    ck_assert_int_eq(holds_between(&h, at(300), at(599))->lasted.ns, CW_MS(5).ns);
    ck_assert(holds_between(&h, at(1001), at(9999)) == NULL);
    ck_assert_int_eq(holds_since(&h, at(800)).ns, CW_MS(19).ns);
    ck_assert_int_eq(holds_since(&h, at(1000)).ns, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_machine_is_no_service),
    SUITE_TEST(a_busy_machine_does_not_excuse_all),
    SUITE_TEST(by_when_they_ended),
};
SUITE_MAIN("holds", tests)
