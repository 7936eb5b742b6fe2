/* SPDX-License-Identifier: Apache-2.0 */
/* Does a lab need longer timers, and may it have them without an order? */
#include "suite.h"
#include "testbed/cwlab/needed.h"

#include <string.h>

static const struct converge_view fine = {.reachable = 27};

static struct lab lab_of(uint64_t scale)
{
    struct lab lab = {.driver = LAB_NETNS};
    ck_assert_int_eq(torus_init(&lab.torus, (cw_dims){3, 3, 3}), 0);
    lab_set_timers(&lab, false, scale);
    return lab;
}

static struct converge_view waited(cw_span longest, cw_span ago)
{
    struct converge_view view = fine;
    view.stalls = 1;
    view.stall_longest = longest;
    view.stall_ago = ago;
    return view;
}

static unsigned late(const struct lab *lab, const struct converge_view *view, bool paused)
{
    struct needed n = {0};
    needed_note(&n, lab, "0,2,0", view, paused);
    ck_assert_uint_eq(n.asked, 1);
    return n.late;
}

/* Default timers: who is silent for 50 ms is counted out, and 10 ms may have gone by when the daemon was due. */
START_TEST(who_was_late)
{
    struct lab lab = lab_of(1), longer = lab_of(3);
    struct converge_view view = waited(CW_MS(40), CW_SEC(5));
    ck_assert_uint_eq(late(&lab, &fine, false), 0);
    ck_assert_uint_eq(late(&lab, &view, false), 1);
    ck_assert_uint_eq(late(&longer, &view, false), 0);
    ck_assert_uint_eq(late(&lab, &view, true), 0); /* cwlab pause did that */
    view.hold_longest = CW_MS(38);                 /* and here a service */
    ck_assert_uint_eq(late(&lab, &view, false), 0);
    view = waited(CW_MS(39), CW_SEC(5));
    ck_assert_uint_eq(late(&lab, &view, false), 0);
    view = waited(CW_MS(400), CW_SEC(31));
    ck_assert_uint_eq(late(&lab, &view, false), 0);
}
END_TEST

START_TEST(what_is_done)
{
    struct lab lab = lab_of(2);
    struct needed n = {.asked = 27, .late = 1};
    ck_assert_int_eq(needed_judge(&n, &lab, 4), NEEDED_NOW);
    ck_assert_int_eq(needed_judge(&n, &lab, 3), NEEDED_NOT); /* less than twice is no change */
    n.late = 0;
    ck_assert_int_eq(needed_judge(&n, &lab, 40), NEEDED_NOT);
    n = (struct needed){.asked = 27, .late = 1, .faulty = 1}; /* somebody tries faults */
    ck_assert_int_eq(needed_judge(&n, &lab, 4), NEEDED_NOT);
    const struct needed held[] = {{.streams = 1}, {.values = 1}, {.files = 1},      {.modules = 1},  {.stores = 1},
                                  {.groups = 1},  {.calls = 1},  {.unanswered = 1}, {.asked_for = 1}};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        n = held[i];
        n.late = 1;
        ck_assert_int_eq(needed_judge(&n, &lab, 4), NEEDED_HELD);
        ck_assert_int_eq(needed_judge(&n, &lab, 3), NEEDED_NOT);
    }
}
END_TEST

START_TEST(what_it_says)
{
    struct lab lab = lab_of(1);
    struct needed n = {0};
    char text[LAB_REASON];
    struct converge_view a = waited(CW_MS(41), CW_SEC(1)), b = waited(CW_MS(63), CW_SEC(2));
    needed_note(&n, &lab, "0,0,0", &a, false);
    needed_note(&n, &lab, "0,2,0", &b, false);
    needed_note(&n, &lab, "1,0,0", &fine, false);
    ck_assert_str_eq(needed_why(&n, text), "2 of 3 daemons did not run when due, for up to 63 ms (0,2,0)");
    ck_assert_str_eq(needed_kept(&n, text), "");
    n.values = 12;
    n.files = 1;
    n.modules = n.stores = 27;
    ck_assert_str_eq(needed_kept(&n, text),
                     "12 cached values, a file under way, what loaded services hold, what the store holds");
}
END_TEST

static void add_row(struct needed *n, const struct lab *lab, const char *service, int64_t timers, int64_t calls)
{
    struct message *row = message_open();
    message_text(row, "service", service);
    message_integer(row, "timers", timers);
    message_integer(row, "calls", calls);
    needed_service(n, lab, row);
    message_close(row);
}

START_TEST(what_services_do)
{
    struct lab lab = lab_of(1);
    struct needed n = {0};
    add_row(&n, &lab, "kvcache", 2, 0);
    add_row(&n, &lab, "bench", 0, 0);
    ck_assert_uint_eq(n.calls + n.streams + n.modules + n.stores, 0);
    add_row(&n, &lab, "bench", 1, 0);
    add_row(&n, &lab, "aggregate", 1, 0);
    add_row(&n, &lab, "kvcache", 1, 1);
    add_row(&n, &lab, "store", 0, 0);
    ck_assert_uint_eq(n.streams, 1);
    ck_assert_uint_eq(n.calls, 2);
    ck_assert_uint_eq(n.stores, 1);
}
END_TEST

/* Nobody answers: there is no keeper, and no daemon either. */
START_TEST(nobody_answers)
{
    struct lab lab = lab_of(1);
    struct needed n = {0};
    snprintf(lab.folder, sizeof lab.folder, "/nonexistent");
    ck_assert(!needed_look(&n, &lab));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_was_late),     SUITE_TEST(what_is_done),   SUITE_TEST(what_it_says),
    SUITE_TEST(what_services_do), SUITE_TEST(nobody_answers),
};

SUITE_MAIN("needed", tests)
