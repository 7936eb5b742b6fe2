/* SPDX-License-Identifier: Apache-2.0 */
/* test_crew.c - two at a time, in their order, none lost. */
#include "file_kit.h"
#include "services/multicast/file/crew.h"
#include "suite.h"

static unsigned worked[10], ended[10], count_worked, count_ended;

struct job {
    struct file_work work;
    unsigned number;
};

static void work(struct file_work *w)
{
    worked[count_worked++] = ((struct job *)(void *)w)->number;
}

static void done(struct file_work *w)
{
    ended[count_ended++] = ((struct job *)(void *)w)->number;
}

START_TEST(two_at_a_time)
{
    struct job job[5];
    file_kit_begin();
    for (unsigned i = 0; i < 5; i++) {
        job[i] = (struct job){{.work = work, .done = done, .cost = CW_MS(1)}, i};
        file_crew_give(&kit.env.crew, &job[i].work);
        ck_assert_uint_eq(count_worked, i < 2 ? i + 1 : 2);
    }
    fake_run(kit.s, CW_MS(1));
    ck_assert_uint_eq(count_worked, 4);
    ck_assert_uint_eq(count_ended, 2);
    fake_run(kit.s, CW_MS(5));
    for (unsigned i = 0; i < 5; i++) {
        ck_assert_uint_eq(worked[i], i);
        ck_assert_uint_eq(ended[i], i);
    }
    ck_assert_uint_eq(kit.env.crew.running, 0);
    ck_assert_uint_eq(file_kit_end(), 0);
}
END_TEST

/* The host has no room: what waits is begun when somebody pushes. */
START_TEST(no_room)
{
    struct job job[2];
    file_kit_begin();
    count_worked = count_ended = 0;
    for (unsigned i = 0; i < 2; i++) {
        job[i] = (struct job){{.work = work, .done = done, .cost = CW_MS(1)}, i};
        kit.s->timers_max = 0;
        file_crew_give(&kit.env.crew, &job[i].work);
    }
    kit.s->timers_max = SIZE_MAX;
    fake_run(kit.s, CW_MS(5));
    ck_assert_uint_eq(count_ended, 0);
    file_crew_push(&kit.env.crew);
    fake_run(kit.s, CW_MS(5));
    ck_assert_uint_eq(count_ended, 2);
    ck_assert_uint_eq(file_kit_end(), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(two_at_a_time), SUITE_TEST(no_room)};
SUITE_MAIN("file_crew", tests)
