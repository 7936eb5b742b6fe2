/* SPDX-License-Identifier: Apache-2.0 */
/* What can be carried out on real daemons; tests/net/lab/test_cmd_run.py carries it out. */
#include "suite.h"
#include "testbed/cwlab/play.h"

#include <errno.h>
#include <string.h>

static int possible(const char *lines, enum lab_driver driver)
{
    char text[400], error[SCENARIO_ERROR], why[PLAY_WHY] = "";
    struct scenario s;
    struct lab lab = {.driver = driver};
    snprintf(text, sizeof text, "torus 3x3x3\n%s\nend 2s\n", lines);
    int rc = scenario_read(&s, "test", text, strlen(text), error);
    ck_assert_msg(rc == 0, "%s", error);
    ck_assert_int_eq(torus_init(&lab.torus, s.config.dims), 0);
    rc = play_possible(&s, &lab, why);
    ck_assert(rc == 0 || (rc == -EOPNOTSUPP && why[0] != '\0'));
    scenario_free(&s);
    return rc;
}

START_TEST(what_is_possible)
{
    static const char *const good[] = {
        "at 1s kill 0,0,0",           "at 1s pause 0,0,0 80ms", "at 1s cut 0,0,0 +x oneway", "from 0s to 1s loss 5%",
        "at 1s workload keys rate=5", "at 1s kill-plane x 1",   "at 1s partition x 1",       "at 1s heal",
        "at 1s workload neighbours"};
    static const char *const bad[] = {"at 1s clock 0,0,0 100ppm",
                                      "clocks 1%",
                                      "corrupted pass",
                                      "at 1s duplicate 1%",
                                      "at 1s harm all all delay=2ms",
                                      "at 1s workload all load=50%"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(possible(good[i], LAB_NETNS) == 0, "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(possible(bad[i], LAB_NETNS) < 0, "%s", bad[i]);
    }
    ck_assert_int_lt(possible(good[0], LAB_PROCESS), 0);
    ck_assert_int_eq(possible(good[4], LAB_PROCESS), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_possible)};
SUITE_MAIN("play", tests)
