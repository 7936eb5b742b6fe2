/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "testbed/cwlab/scale.h"

#include <string.h>
#include <unistd.h>

static struct lab lab_of(cw_dims dims, enum lab_driver driver, bool fast)
{
    struct lab lab = {.driver = driver};
    ck_assert_int_eq(torus_init(&lab.torus, dims), 0);
    lab_set_timers(&lab, fast, 1);
    return lab;
}

static uint64_t needed(cw_dims dims, enum lab_driver driver, bool fast, unsigned processors)
{
    struct lab lab = lab_of(dims, driver, fast);
    return scale_needed(&lab, processors);
}

START_TEST(more_servers_and_fewer_processors_need_more)
{
    ck_assert_uint_eq(needed((cw_dims){3, 3, 3}, LAB_NETNS, false, 1), 1);
    ck_assert_uint_eq(needed((cw_dims){1, 1, 1}, LAB_NETNS, true, 1), 1);
    ck_assert_uint_eq(needed((cw_dims){4, 4, 2}, LAB_NETNS, true, 1), 1);
    uint64_t before = 1;
    for (uint16_t side = 4; side <= 8; side++) {
        cw_dims dims = {side, side, side};
        uint64_t two = needed(dims, LAB_NETNS, false, 2);
        ck_assert_uint_gt(two, before);
        ck_assert_uint_gt(needed(dims, LAB_NETNS, false, 1), two);
        ck_assert_uint_le(needed(dims, LAB_PROCESS, false, 2), two);
        ck_assert_uint_ge(needed(dims, LAB_NETNS, true, 2), two);
        before = two;
    }
    ck_assert(needed((cw_dims){8, 8, 8}, LAB_NETNS, false, 2) >= 48 &&
              needed((cw_dims){8, 8, 8}, LAB_NETNS, false, 2) <= 64);
    ck_assert_uint_eq(needed((cw_dims){8, 8, 8}, LAB_NETNS, false, 512), 1);
}
END_TEST

START_TEST(timers_keep_their_guarantee)
{
    for (int fast = 0; fast < 2; fast++) {
        struct lab lab = lab_of((cw_dims){8, 8, 8}, LAB_NETNS, fast != 0);
        struct ls_timers one = lab.timers;
        lab_set_timers(&lab, fast != 0, 53);
        ck_assert(lab.scale == 53 && lab.fast == (fast != 0));
        ck_assert_int_eq(lab.timers.hello.ns, one.hello.ns * 53);
        ck_assert_int_eq(lab.timers.retry.ns, one.retry.ns * 53);
        ck_assert_int_eq(lab.timers.damp.ns, one.damp.ns);
        ck_assert_int_eq(ls_timers_check(&lab.timers), 0);
    }
}
END_TEST

START_TEST(others_work_on_the_machine)
{
    ck_assert_uint_eq(scale_busy(0, 2), 1);
    ck_assert_uint_eq(scale_busy(1.4, 2), 1);
    ck_assert_uint_eq(scale_busy(1.5, 2), 2);
    ck_assert_uint_eq(scale_busy(2, 2), 3);
    ck_assert_uint_eq(scale_busy(2, 4), 1);
    ck_assert_uint_eq(scale_busy(8, 2), 6);
    ck_assert_uint_eq(scale_busy(100000, 1), SCALE_BUSY_MOST);
    struct lab lab = lab_of((cw_dims){3, 3, 3}, LAB_NETNS, false);
    lab.scale = 7; /* of a lab that is up, whatever it has */
    ck_assert_uint_eq(scale_now(&lab, 8.0 * scale_machine()),
                      scale_busy(scale_sessions() ? 8.0 / SCALE_SESSION : 8, 1));
    lab.hurries = true; /* others wait for its daemons, unless they are very many */
    ck_assert_uint_eq(scale_now(&lab, 2.9 * scale_machine()), 1);
    ck_assert_uint_eq(scale_now(&lab, 3.0 * scale_machine()), 3);
    ck_assert_uint_eq(scale_now(&lab, 100.0 * scale_machine()), 3);
    ck_assert(geteuid() == 0 || !scale_hurries()); /* not so for an ordinary user */
    double wanted = scale_wanted();
    ck_assert(wanted >= 0 && wanted < 1e6);
    ck_assert_uint_ge(scale_machine(), scale_processors() > 0);
}
END_TEST

START_TEST(what_it_says)
{
    char text[SCALE_TEXT];
    struct lab lab = lab_of((cw_dims){8, 8, 8}, LAB_NETNS, false);
    lab_set_timers(&lab, false, 53);
    ck_assert_str_eq(
        scale_describe(&lab, 2, 0.5, text),
        "hello 530ms, dead 2650ms, hold 3180ms: 53 times the default ones, for 512 servers on 2 processors");
    ck_assert_ptr_nonnull(strstr(scale_describe(&lab, 2, 1.2, text), "2 processors, which 1 other process wants now"));
    lab_set_timers(&lab, true, 1);
    ck_assert_str_eq(scale_describe(&lab, 1, 7, text),
                     "hello 5ms, dead 15ms, hold 20ms: the fast ones, for 512 servers "
                     "on 1 processor, which 7 other processes want now");
    struct lab one = lab_of((cw_dims){1, 1, 1}, LAB_NETNS, false);
    lab_set_timers(&one, false, 3);
    ck_assert_ptr_nonnull(strstr(scale_describe(&one, 2, 0, text), "default ones, for 1 server on 2 processors"));
    ck_assert_int_eq(scale_patience(&lab).ns, CW_MS(20000 + 512 * 200).ns);
    ck_assert_uint_ge(scale_processors(), 1);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(more_servers_and_fewer_processors_need_more),
    SUITE_TEST(timers_keep_their_guarantee),
    SUITE_TEST(others_work_on_the_machine),
    SUITE_TEST(what_it_says),
};

SUITE_MAIN("scale", tests)
