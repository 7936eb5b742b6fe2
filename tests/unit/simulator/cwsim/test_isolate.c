/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/cwsim/isolate.h"
#include "suite.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static struct scenario read_text(const char *text)
{
    struct scenario s;
    char error[SCENARIO_ERROR];
    int rc = scenario_read(&s, "t.txt", text, strlen(text), error);
    ck_assert_msg(rc == 0, "%s", error);
    return s;
}

START_TEST(outcomes)
{
    struct isolate_outcome fine, again, bad;
    struct scenario s = read_text("torus 2x2x2\nat 20ms workload keys rate=100 bytes=200\nend 100ms\n");
    ck_assert_int_eq(isolate_run(&s, "t.txt", NULL, 60, &fine), 0);
    ck_assert_int_eq(isolate_run(&s, "t.txt", NULL, 60, &again), 0);
    scenario_free(&s);
    ck_assert(!isolate_failed(&fine) && fine.delivered > 0 && fine.digest != 0 && fine.digest == again.digest);
    ck_assert(!isolate_same_failure(&fine, &again));
    s = read_text("torus 2x2x2\nend 10ms\nexpect delivered > 0\n");
    ck_assert_int_eq(isolate_run(&s, "t.txt", NULL, 60, &bad), 0);
    scenario_free(&s);
    ck_assert(isolate_failed(&bad) && bad.verdict == PLAY_UNEXPECTED && bad.signal == 0);
    ck_assert_ptr_nonnull(strstr(bad.said, "t.txt:3: expected delivered > 0, but it is 0"));
    ck_assert(isolate_same_failure(&bad, &bad) && !isolate_same_failure(&bad, &fine));
}
END_TEST

/* A run that takes too long is ended, and that is its outcome. */
START_TEST(too_long)
{
    struct isolate_outcome o;
    struct scenario s = read_text("torus 8x8x8\nat 50ms workload all load=90%\nend 9000s\n");
    ck_assert_int_eq(isolate_run(&s, "t.txt", NULL, 1, &o), 0);
    ck_assert_int_eq(o.signal, SIGALRM);
    ck_assert(isolate_failed(&o));
    scenario_free(&s);
}
END_TEST

START_TEST(several)
{
    struct isolate *list[3] = {NULL};
    struct isolate_outcome o;
    struct scenario s = read_text("torus 2x2x1\nend 20ms\n");
    unsigned seen = 0;
    ck_assert_int_eq(isolate_wait_any(list, 3), -ECHILD);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(isolate_start(&list[i], &s, "t.txt", NULL, 60), 0);
    }
    for (unsigned i = 0; i < 3; i++) {
        int k = isolate_wait_any(list, 3);
        ck_assert(k >= 0 && list[k] != NULL);
        isolate_finish(list[k], &o);
        list[k] = NULL;
        seen |= 1u << k;
        ck_assert(!isolate_failed(&o));
    }
    ck_assert_uint_eq(seen, 7);
    scenario_free(&s);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(outcomes), SUITE_TEST(too_long), SUITE_TEST(several)};
SUITE_MAIN("isolate", tests)
