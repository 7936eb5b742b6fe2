/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/trial.h"
#include "suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void open_small(struct trial *t)
{
    struct world_config config = world_config_default();
    config.dims = (cw_dims){2, 2, 1};
    config.node.timers = ls_timers_fast();
    ck_assert_int_eq(trial_open(t, &config, "test", true, stderr), 0);
}

START_TEST(boots_and_measures)
{
    struct trial t;
    struct report_span span;
    struct trial_stats stats;
    open_small(&t);
    ck_assert_int_eq(trial_boot(&t, CW_MS(5), CW_SEC(5)), 0);
    ck_assert_uint_eq(world_agreeing(t.world), 4);
    ck_assert_int_eq(workload_start(t.world, &(struct workload){.kind = WORKLOAD_ALL_TO_ALL, .load_ppm = 200000}), 0);
    ck_assert_int_eq(trial_run_for(&t, CW_MS(10)), 0);
    workload_reset(t.world);
    trial_span_begin(&t, &span);
    ck_assert_int_eq(trial_run_for(&t, CW_MS(20)), 0);
    trial_span_end(&t, &span);
    ck_assert_int_eq(span.to.now.ns - span.from.now.ns, 20000000);
    ck_assert_int_eq(trial_bench_stats(&t, &stats), 0);
    ck_assert_uint_eq(stats.servers, 4);
    ck_assert_int_eq(stats.received, (int64_t)(span.to.delivered - span.from.delivered));
    ck_assert(stats.bytes_least <= stats.bytes_median && stats.bytes_median <= stats.bytes_most);
    ck_assert(stats.latency_min_ns >= 73000 && stats.latency_max_ns >= stats.latency_min_ns);
    ck_assert_ptr_null(trial_violation(&t));
    trial_close(&t);
}
END_TEST

START_TEST(commands)
{
    static const char *const ping[] = {"to", "1,1,0", "count=3"}, *const bad[] = {"to", "7"};
    struct trial t;
    struct trial_answer answer;
    open_small(&t);
    ck_assert_int_eq(trial_boot(&t, CW_MS(0), CW_SEC(5)), 0);
    ck_assert_int_eq(trial_command(&t, 0, "ping", 3, ping, CW_SEC(1), &answer), 0);
    ck_assert_int_eq(trial_number(&answer, "received"), 3);
    ck_assert_int_eq(trial_number(&answer, "hops_there_max"), 2);
    ck_assert_int_eq(trial_number(&answer, "no such number"), 0);
    ck_assert_int_eq(trial_command(&t, 0, "ping", 2, bad, CW_SEC(1), &answer), -EINVAL);
    ck_assert(answer.error[0] != '\0');
    ck_assert_int_eq(trial_command(&t, 0, "nobody", 2, bad, CW_SEC(1), &answer), -ENOENT);
    trial_close(&t);
}
END_TEST

/* What cannot be built is said in words. */
START_TEST(impossible)
{
    struct world_config config = world_config_default();
    struct trial t;
    char *said = NULL;
    size_t length;
    config.node.timers.hold = CW_NS(1);
    FILE *errors = open_memstream(&said, &length);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, errors), -EINVAL);
    trial_close(&t);
    config = world_config_default();
    config.dims = (cw_dims){256, 256, 1};
    ck_assert_int_eq(trial_open(&t, &config, "test", true, errors), -ERANGE);
    trial_close(&t);
    fclose(errors);
    ck_assert_ptr_nonnull(strstr(said, "cannot be built: its limits or timers are not possible together\n"));
    ck_assert_ptr_nonnull(strstr(said, "cannot be built: a path may have more links than the hop budget\n"));
    free(said);
}
END_TEST

/* Two servers whose cables are cut agree each with itself; one that is paused does not agree in time. */
START_TEST(disagreement)
{
    struct trial t;
    char *said = NULL;
    size_t length;
    open_small(&t);
    t.errors = open_memstream(&said, &length);
    ck_assert_int_eq(trial_boot(&t, CW_MS(0), CW_SEC(5)), 0);
    world_kill(t.world, 3, false);
    ck_assert_int_eq(trial_agree(&t, CW_MS(1)), -ETIMEDOUT);
    ck_assert_int_eq(trial_agree(&t, CW_SEC(1)), 0);
    fclose(t.errors);
    ck_assert_ptr_nonnull(strstr(said, "servers agree with the truth on who is there"));
    free(said);
    trial_close(&t);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(boots_and_measures), SUITE_TEST(commands), SUITE_TEST(impossible),
                                          SUITE_TEST(disagreement)};
SUITE_MAIN("trial", tests)
