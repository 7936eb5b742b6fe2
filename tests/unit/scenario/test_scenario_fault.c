/* SPDX-License-Identifier: Apache-2.0 */
/* Every word for what goes wrong, what "from .. to" makes of it, and what it refuses. */
#include "scenario/scenario.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static char error[LINES_ERROR];
static struct fault_plan plan;

/* One fault, in a torus of 3x4x5, from 1 s on; to 0: without an end. */
static int reads(const char *text, int64_t to)
{
    struct torus torus;
    struct lines w;
    fault_plan_free(&plan);
    plan = (struct fault_plan){0};
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 4, 5}), 0);
    lines_open(&w, "shop.txt", text, strlen(text), error);
    ck_assert_int_eq(lines_line(&w), 1);
    return scenario_fault_read(&w, &torus, (cw_time){1000000000}, to == 0 ? CW_NEVER : (cw_time){to}, &plan);
}

START_TEST(every_word_is_read)
{
    static const struct {
        const char *text;
        enum fault_kind kind, ends; /* FAULT_KINDS: happens at one instant */
    } known[] = {
        {"kill 1,0,2", FAULT_KILL, FAULT_START},           {"power-off 1,0,2", FAULT_POWER, FAULT_START},
        {"start 1,0,2", FAULT_START, FAULT_KINDS},         {"restart 1,0,2", FAULT_START, FAULT_KINDS},
        {"leave 1,0,2", FAULT_LEAVE, FAULT_START},         {"pause 1,0,2 80ms", FAULT_PAUSE, FAULT_KINDS},
        {"cut 1,0,2 -y", FAULT_CUT, FAULT_MEND},           {"cut 1,0,2 -y oneway", FAULT_CUT_OUT, FAULT_MEND},
        {"cut-out 1,0,2 -y", FAULT_CUT_OUT, FAULT_MEND},   {"mend 1,0,2 -y", FAULT_MEND, FAULT_KINDS},
        {"harm 1,0,2 -y loss=5%", FAULT_HARM, FAULT_HARM}, {"loss 5%", FAULT_HARM, FAULT_HARM},
        {"duplicate 5%", FAULT_HARM, FAULT_HARM},          {"corrupt 5%", FAULT_HARM, FAULT_HARM},
        {"clock 1,0,2 300ppm", FAULT_CLOCK, FAULT_CLOCK},  {"kill-plane z 4", FAULT_KILL_SLAB, FAULT_KINDS},
        {"kill-row 1,0,2 y", FAULT_KILL_ROW, FAULT_KINDS}, {"partition z 4", FAULT_PARTITION, FAULT_REJOIN},
        {"rejoin z 4", FAULT_REJOIN, FAULT_KINDS},         {"heal", FAULT_HEAL, FAULT_KINDS},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_msg(reads(known[i].text, 0) == 0, "%s", error);
        ck_assert_uint_eq(plan.count, 1);
        ck_assert(plan.fault[0].kind == known[i].kind && plan.fault[0].at.ns == 1000000000);
        int rc = reads(known[i].text, 2000000000);
        if (known[i].ends == FAULT_KINDS) {
            ck_assert_int_eq(rc, -EINVAL);
            ck_assert_ptr_nonnull(strstr(error, "shop.txt:1: "));
            ck_assert_ptr_nonnull(strstr(error, "happens at one instant"));
            continue;
        }
        ck_assert_msg(rc == 0, "%s", error);
        ck_assert_uint_eq(plan.count, 2);
        const struct fault *f = plan.fault, *end = plan.fault + 1;
        ck_assert(end->kind == known[i].ends && end->at.ns == 2000000000);
        ck_assert(end->server == f->server && end->link == f->link && end->axis == f->axis);
        ck_assert(known[i].ends != FAULT_HARM || wire_harm_none(&end->harm));
        ck_assert(known[i].ends != FAULT_CLOCK || end->number == 0);
    }
}
END_TEST

START_TEST(arguments_are_where_they_belong)
{
    ck_assert_int_eq(reads("cut 2,3,4 -z", 0), 0);
    ck_assert(plan.fault->server == 3 * 4 * 5 - 1 && plan.fault->link == CW_LINK_ZM);
    ck_assert_int_eq(reads("clock 0,0,0 -300ppm", 0), 0);
    ck_assert_int_eq(plan.fault->number, -300);
    ck_assert_int_eq(reads("clock 0,0,0 +1%", 0), 0);
    ck_assert_int_eq(plan.fault->number, 10000);
    ck_assert_int_eq(reads("partition y 3", 0), 0);
    ck_assert(plan.fault->axis == 1 && plan.fault->number == 3);
    ck_assert_int_eq(reads("pause 0,0,0 80ms", 0), 0);
    ck_assert_int_eq(plan.fault->span.ns, 80000000);
    ck_assert_int_eq(reads("corrupt 0.3%", 0), 0);
    ck_assert(plan.fault->harm.corrupt == 3000 && plan.fault->harm.loss == 0);
    ck_assert(plan.fault->server == CW_SERVER_NONE && plan.fault->link == CW_LINK_SELF);
}
END_TEST

START_TEST(harm_is_to_some_or_to_all)
{
    ck_assert_int_eq(reads("harm all +x loss=1ppm duplicate=2ppm corrupt=3ppm delayed=4ppm delay=5ms", 0), 0);
    const struct wire_harm *h = &plan.fault->harm;
    ck_assert(h->loss == 1 && h->duplicate == 2 && h->corrupt == 3 && h->delayed == 4 && h->delay_most.ns == 5000000);
    ck_assert(plan.fault->server == CW_SERVER_NONE && plan.fault->link == CW_LINK_XP);
    ck_assert_int_eq(reads("harm 1,0,0 all delay=2ms", 0), 0);
    ck_assert(plan.fault->link == CW_LINK_SELF);
    ck_assert_uint_eq(plan.fault->harm.delayed, WIRE_MILLION); /* all frames, when no share is said */
    ck_assert_int_eq(reads("harm 1,0,0 +x none", 0), 0);
    ck_assert(wire_harm_none(&plan.fault->harm));
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    static const struct {
        const char *text, *says;
    } known[] = {
        {"kill", "found the end of the line, expected a server x,y,z inside 3x4x5"},
        {"kill 3,0,0", "found '3,0,0', expected a server x,y,z inside 3x4x5"},
        {"kill 0,0,0 1,1,1", "found '1,1,1', expected the end of the line"},
        {"cut 0,0,0 x", "found 'x', expected a link: +x"},
        {"cut 0,0,0 +x both", "found 'both', expected the end of the line"},
        {"pause 0,0,0", "expected a time with its unit"},
        {"loss 100.0001%", "found '100.0001%', expected a share from 0 to 100%"},
        {"kill-plane z 5", "found '5', expected a whole number from 0 to 4"},
        {"kill-row 0,0,0 w", "found 'w', expected an axis: x, y or z"},
        {"partition x 0", "found '0', expected a plane from 1 on"},
        {"harm 0,0,0 +x", "found the end of the line, expected loss="},
        {"harm 0,0,0 +x lost=5%", "found 'lost=5%', expected loss="},
        {"clock 0,0,0 11%", "found '11%', expected a share from 0 to 10%"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_int_eq(reads(known[i].text, 0), -EINVAL);
        ck_assert_msg(strstr(error, known[i].says) != NULL, "'%s' is not in: %s", known[i].says, error);
        ck_assert_uint_eq(plan.count, 0);
    }
}
END_TEST

START_TEST(words_are_known)
{
    for (size_t i = 0; i < scenario_fault_count(); i++) {
        const char *text = scenario_fault_nth(NULL, i);
        ck_assert(scenario_fault_word(&(struct word){text, strlen(text)}));
    }
    ck_assert(!scenario_fault_word(&(struct word){"workload", 8}));
    ck_assert(!scenario_fault_word(&(struct word){"kill", 3}));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_word_is_read),        SUITE_TEST(arguments_are_where_they_belong),
    SUITE_TEST(harm_is_to_some_or_to_all), SUITE_TEST(what_cannot_be_is_refused),
    SUITE_TEST(words_are_known),
};
SUITE_MAIN("simulator/scenario_fault", tests)
