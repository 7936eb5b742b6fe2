/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/object/sweep.h"

#include "s3_bench.h"

static bool over;

static void swept(void *arg)
{
    (void)arg;
    over = true;
}

static void sweep(void)
{
    over = false;
    ck_assert_int_eq(s3_sweep(bench.desk, BENCH_JOB, swept, NULL), S3_OK);
    ck_assert(!over);
    bench_run();
    ck_assert(over);
    ck_assert_uint_eq(bench.desk->lists, 0);
}

/* A put of 20 bytes that dies with its server, after so many answers. */
static void die_after(unsigned turns)
{
    const struct s3_put_order order = bench_order("k", 20);
    struct s3_desk_config config = bench.desk->config;
    struct s3_put *put = bench_begin(&order);
    size_t fed = 0;
    for (unsigned i = 0; i < turns; i++) {
        fed += s3_put_feed(put, "abcd", fed < 20 ? 4 - fed % 4 : 0);
        (void)standin_turn(&bench.store);
    }
    s3_put_cancel(put);
    s3_desk_close(bench.desk);
    standin_forget(&bench.store);
    while (bench.store.late != NULL) {
        (void)standin_turn(&bench.store);
    }
    bench.desk = s3_desk_open(&config);
}

START_TEST(what_a_dead_server_left_goes_after_a_day)
{
    bench_open(3, 100);
    ck_assert_int_eq(bench_put("other", "0123456789"), S3_OK);
    for (unsigned turns = 1; turns < 8; turns++) {
        die_after(turns);
    }
    unsigned there = bench_lots();
    ck_assert_uint_gt(there, 4 + 7);
    sweep();
    ck_assert_uint_eq(bench_lots(), there); /* it may still be on its way */
    bench.now_s += 2 * S3_PUT_MOST_S;
    sweep();
    ck_assert_uint_eq(bench_lots(), there);
    bench.now_s++;
    sweep();
    bench_pass(1);
    ck_assert_uint_eq(bench_lots(), 4);
    ck_assert_str_eq(bench_get("other"), "0123456789");
    bench_close();
}
END_TEST

START_TEST(more_than_a_page)
{
    char key[8];
    bench_open(3, 100);
    for (unsigned i = 0; i < 130; i++) {
        snprintf(key, sizeof key, "%u", i);
        ck_assert_int_eq(bench_put(key, "abc"), S3_OK);
    }
    die_after(4);
    bench.now_s += 2 * S3_PUT_MOST_S + 1;
    sweep();
    bench_pass(1);
    ck_assert_uint_eq(bench_lots(), 260);
    bench_close();
}
END_TEST

START_TEST(where_the_store_is_silent_all_stays)
{
    bench_open(3, 100);
    die_after(4);
    unsigned there = bench_lots();
    bench.now_s += 2 * S3_PUT_MOST_S + 1;
    bench.store.failing = 1000;
    sweep();
    ck_assert_uint_eq(bench_lots(), there);
    bench.store.refused = 1000;
    ck_assert_int_eq(s3_sweep(bench.desk, BENCH_JOB, swept, NULL), S3_SLOW_DOWN);
    bench_close();
}
END_TEST

/* A drop that runs ahead of itself would leave a chunk behind more holes than are looked across. */
START_TEST(a_drop_that_was_broken_off_is_finished)
{
    static char bytes[161];
    memset(bytes, 'x', sizeof bytes - 1);
    for (unsigned round = 0; round < 600; round++) {
        unsigned turns = round % 45;
        bench_open(4, 100);
        bench.store.prng = prng_stream(round, 0, 1);
        ck_assert_int_eq(bench_put("k", bytes), S3_OK);
        ck_assert_int_eq(bench_remove("k"), S3_OK);
        bench.now_s += S3_GRACE_S;
        s3_desk_tick(bench.desk);
        for (unsigned i = 0; i < turns; i++) {
            (void)standin_turn(&bench.store);
        }
        die_after(0);
        bench.now_s += 2 * S3_PUT_MOST_S + 1;
        sweep();
        bench_pass(1);
        SUITE_HOLDS(bench_lots() == 0, "%u turns: %u are left", turns, bench_lots());
        bench_close();
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_a_dead_server_left_goes_after_a_day), SUITE_TEST(more_than_a_page),
    SUITE_TEST(a_drop_that_was_broken_off_is_finished), SUITE_TEST(where_the_store_is_silent_all_stays)};
SUITE_MAIN("sweep", tests)
