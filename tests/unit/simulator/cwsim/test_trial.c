/* SPDX-License-Identifier: Apache-2.0 */
/* A world run in steps: boots, agrees, answers commands, and says what is wrong. */
#include "simulator/cwsim/trial.h"

#include "simulator/check.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

struct paper {
    char *text;
    size_t length;
    FILE *file;
};

static void open_paper(struct paper *p)
{
    p->file = open_memstream(&p->text, &p->length);
    ck_assert_ptr_nonnull(p->file);
}

static const char *read_paper(struct paper *p)
{
    fflush(p->file);
    return p->text;
}

static void close_paper(struct paper *p)
{
    fclose(p->file);
    free(p->text);
}

static struct world_config config_of(cw_dims dims)
{
    struct world_config config = world_config_default();
    config.dims = dims;
    config.node.timers = ls_timers_fast();
    return config;
}

START_TEST(boots_and_counts_what_bench_did)
{
    struct paper p;
    struct trial t;
    struct world_config config = config_of((cw_dims){3, 3, 3});
    struct trial_stats stats;
    open_paper(&p);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, p.file), 0);
    ck_assert_int_eq(trial_boot(&t, CW_MS(5), CW_SEC(2)), 0);
    ck_assert_uint_eq(world_agreeing(t.world), 27);
    struct workload load = {.kind = WORKLOAD_KEYS, .rate = 1000, .bytes = 500};
    ck_assert_int_eq(workload_start(t.world, &load), 0);
    ck_assert_int_eq(trial_run_for(&t, CW_MS(100)), 0);
    workload_stop(t.world);
    ck_assert_int_eq(trial_run_for(&t, CW_MS(50)), 0);
    ck_assert_int_eq(trial_bench_stats(&t, &stats), 0);
    ck_assert_uint_eq(stats.servers, 27);
    ck_assert_int_gt(stats.sent, 27 * 98);
    ck_assert_int_eq(stats.received, stats.sent);
    ck_assert_int_le(stats.bytes_least, stats.bytes_median);
    ck_assert_int_le(stats.bytes_median, stats.bytes_most);
    ck_assert_int_le(stats.latency_min_ns, stats.latency_max_ns);
    ck_assert_str_eq(read_paper(&p), "");
    trial_close(&t);
    trial_close(&t);
    close_paper(&p);
}
END_TEST

START_TEST(commands_answer_in_numbers_or_an_error)
{
    struct paper p;
    struct trial t;
    struct trial_answer a;
    struct world_config config = config_of((cw_dims){2, 2, 2});
    open_paper(&p);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, p.file), 0);
    ck_assert_int_eq(trial_boot(&t, CW_MS(5), CW_SEC(2)), 0);
    ck_assert_int_eq(trial_command(&t, 3, "bench", 1, (const char *[]){"stats"}, CW_MS(1), &a), 0);
    ck_assert(a.done);
    ck_assert_int_eq(trial_number(&a, "sent"), 0);
    ck_assert_int_eq(trial_number(&a, "no such number"), 0);
    ck_assert_int_lt(trial_command(&t, 3, "bench", 1, (const char *[]){"nonsense"}, CW_MS(1), &a), 0);
    world_kill(t.world, 3, false);
    ck_assert_int_eq(trial_command(&t, 3, "bench", 1, (const char *[]){"stats"}, CW_MS(1), &a), -ENOENT);
    trial_close(&t);
    close_paper(&p);
}
END_TEST

START_TEST(who_cannot_agree_is_told)
{
    struct paper p;
    struct trial t;
    struct world_config config = config_of((cw_dims){2, 2, 2});
    open_paper(&p);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, p.file), 0);
    ck_assert_int_eq(world_start(t.world, 0), 0); /* alone it is never sure */
    ck_assert_int_eq(trial_agree(&t, CW_MS(50)), -ETIMEDOUT);
    ck_assert_ptr_nonnull(strstr(read_paper(&p), "0 of 1 servers agree"));
    trial_close(&t);
    close_paper(&p);
}
END_TEST

START_TEST(an_impossible_cluster_is_told)
{
    struct paper p;
    struct trial t;
    struct world_config config = config_of((cw_dims){2, 2, 200});
    open_paper(&p);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, p.file), -ERANGE);
    ck_assert_ptr_nonnull(strstr(read_paper(&p), "hop budget"));
    ck_assert_ptr_null(t.world);
    trial_close(&t);
    close_paper(&p);
}
END_TEST

START_TEST(a_broken_invariant_is_told)
{
    struct paper p;
    struct trial t;
    struct world_config config = config_of((cw_dims){2, 2, 2});
    open_paper(&p);
    ck_assert_int_eq(trial_open(&t, &config, "test", true, p.file), 0);
    ck_assert_int_eq(trial_boot(&t, CW_MS(5), CW_SEC(2)), 0);
    check_violated(t.world, 7, 0, NULL, "planted");
    ck_assert_int_eq(trial_run_for(&t, CW_MS(1)), TRIAL_BROKEN);
    ck_assert_uint_eq(trial_violation(&t)->invariant, 7);
    ck_assert_ptr_nonnull(strstr(read_paper(&p), "planted"));
    trial_close(&t);
    close_paper(&p);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(boots_and_counts_what_bench_did), SUITE_TEST(commands_answer_in_numbers_or_an_error),
    SUITE_TEST(who_cannot_agree_is_told),        SUITE_TEST(an_impossible_cluster_is_told),
    SUITE_TEST(a_broken_invariant_is_told),
};
SUITE_MAIN("simulator/trial", tests)
