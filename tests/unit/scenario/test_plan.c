/* SPDX-License-Identifier: Apache-2.0 */
/* A plan keeps its order, and its faults are said in the words of scenario files. */
#include "scenario/plan.h"

#include "base/prng.h"
#include "suite.h"

#include <string.h>

START_TEST(a_plan_is_sorted_by_time_and_keeps_the_order_of_equals)
{
    struct fault_plan plan = {.count = 0};
    struct prng p = prng_stream(1, 0, 1);
    enum { COUNT = 1000 };
    for (int32_t i = 0; i < COUNT; i++) {
        struct fault f = {.at = {(int64_t)prng_below(&p, 50)}, .number = i};
        ck_assert_int_eq(fault_plan_add(&plan, &f), 0);
    }
    fault_plan_sort(&plan);
    ck_assert_uint_eq(plan.count, COUNT);
    for (uint32_t i = 1; i < COUNT; i++) {
        const struct fault *a = &plan.fault[i - 1], *b = &plan.fault[i];
        if (a->at.ns > b->at.ns || (a->at.ns == b->at.ns && a->number > b->number)) {
            ck_abort_msg("fault %u is out of order", i);
        }
    }
    fault_plan_free(&plan);
    ck_assert_uint_eq(plan.count, 0);
    fault_plan_sort(&plan);
    fault_plan_free(&plan);
}
END_TEST

START_TEST(faults_in_words)
{
    static const struct {
        struct fault fault;
        const char *text;
    } cases[] = {
        {{.kind = FAULT_KILL, .server = 11}, "kill 1,0,2"},
        {{.kind = FAULT_POWER, .server = 0}, "power-off 0,0,0"},
        {{.kind = FAULT_PAUSE, .server = 26, .span = {80}}, "pause 2,2,2 80ns"},
        {{.kind = FAULT_CUT, .server = 0, .link = CW_LINK_XP}, "cut 0,0,0 +x"},
        {{.kind = FAULT_CUT_OUT, .server = 0, .link = CW_LINK_ZM}, "cut-out 0,0,0 -z"},
        {{.kind = FAULT_CLOCK, .server = 0, .number = -300}, "clock 0,0,0 -300ppm"},
        {{.kind = FAULT_KILL_SLAB, .axis = 1, .number = 2}, "kill-plane y 2"},
        {{.kind = FAULT_KILL_ROW, .server = 0, .axis = 2}, "kill-row 0,0,0 z"},
        {{.kind = FAULT_PARTITION, .axis = 0, .number = 1}, "partition x 1"},
        {{.kind = FAULT_HEAL}, "heal"},
    };
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 3, 3}), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[160], little[6];
        int length = fault_format(&cases[i].fault, &torus, text, sizeof text);
        ck_assert_str_eq(text, cases[i].text);
        ck_assert_int_eq(length, (int)strlen(text));
        ck_assert_int_eq(fault_format(&cases[i].fault, &torus, little, sizeof little), length);
    }
    for (unsigned kind = 0; kind < FAULT_KINDS; kind++) {
        ck_assert_str_ne(fault_name(kind), "?");
    }
    ck_assert_str_eq(fault_name(FAULT_KINDS), "?");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_plan_is_sorted_by_time_and_keeps_the_order_of_equals),
                                          SUITE_TEST(faults_in_words)};
SUITE_MAIN("plan", tests)
