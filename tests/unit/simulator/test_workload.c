/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic of the bench service: as much as was asked for, on all who run, and counted. */
#include "simulator/workload.h"

#include "services/bench/bench.h"
#include "town.h"

static struct world *up(cw_dims dims)
{
    static const struct world_service bench[] = {{.table = &bench_service}};
    struct world_config config = town_config(dims, 1);
    static const struct book_grant own = {.from = BENCH_JOB, .to = BENCH_JOB, .port = 0, .all_processes = true};
    config.services = bench;
    config.grants = &own;
    config.grant_count = 1;
    config.service_count = 1;
    struct world *w = town_open(&config);
    town_boot(w);
    town_run(w, CW_MS(100));
    return w;
}

/* 6L(N-1)/(3hN) in a cube, h the mean distance on an axis; on a ring of 4, h is 1. */
START_TEST(the_bound_is_that_of_the_paper)
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){4, 4, 4}), 0);
    ck_assert_uint_eq(workload_bound(&torus, 1000000000), UINT64_C(2000000000) * 63 / 64);
    ck_assert_int_eq(torus_init(&torus, (cw_dims){8, 8, 8}), 0);
    ck_assert_uint_eq(workload_bound(&torus, 1000000000), UINT64_C(1000000000) * 511 / 512);
    ck_assert_int_eq(torus_init(&torus, (cw_dims){2, 2, 8}), 0); /* the longest axis decides */
    ck_assert_uint_eq(workload_bound(&torus, 1000000000), UINT64_C(1000000000) * 31 / 32);
    ck_assert_int_eq(torus_init(&torus, (cw_dims){1, 1, 1}), 0);
    ck_assert_uint_eq(workload_bound(&torus, 1000000000), 0);
}
END_TEST

START_TEST(keys_come_at_their_rate)
{
    struct world *w = up((cw_dims){3, 3, 3});
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_KEYS, .rate = 1000, .bytes = 500}), 0);
    town_run(w, CW_MS(500));
    workload_stop(w);
    town_run(w, CW_MS(20));
    struct workload_result r;
    workload_collect(w, &r);
    ck_assert_uint_ge(r.sent, 27 * 499);
    ck_assert_uint_le(r.sent, 27 * 501);
    ck_assert_uint_eq(r.received, r.sent);
    ck_assert_uint_eq(r.duplicated, 0);
    ck_assert_uint_eq(town_totals(w).delivered_keys, r.received);
    ck_assert_uint_eq(town_totals(w).hops, r.hops_sum);
    ck_assert_int_eq(check_quiet(w), 0);
    workload_reset(w);
    workload_collect(w, &r);
    ck_assert_uint_eq(r.sent, 0);
    world_close(w);
}
END_TEST

/* At 98 % of what the torus carries nearly all of it arrives. */
START_TEST(all_to_all_achieves_what_is_offered)
{
    struct world *w = up((cw_dims){3, 3, 3});
    uint64_t rate = workload_rate(w, 980000, 9000);
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_ALL_TO_ALL, .load_ppm = 980000}), 0);
    town_run(w, CW_MS(100));
    workload_reset(w);
    town_run(w, CW_MS(200));
    struct workload_result r;
    workload_collect(w, &r);
    double offered = (double)rate * 27 / 8 / 5;
    ck_assert_msg((double)r.bytes > 0.96 * offered && (double)r.bytes < 1.01 * offered, "%f of what was offered",
                  (double)r.bytes / offered);
    ck_assert_uint_eq(town_totals(w).misdelivered, 0);
    ck_assert_uint_le(r.bytes_least, r.bytes_most);
    world_close(w);
}
END_TEST

START_TEST(neighbours_fill_their_links)
{
    struct world *w = up((cw_dims){3, 3, 3});
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_NEIGHBOURS, .links = 2}), 0);
    uint64_t before[3];
    for (cw_link link = 0; link < 3; link++) {
        before[link] = world_wire(w, 5, link)->bytes;
    }
    town_run(w, CW_MS(100));
    for (cw_link link = 0; link < 3; link++) {
        uint64_t bytes = world_wire(w, 5, link)->bytes - before[link];
        ck_assert_msg((bytes > 12450000) == (link < 2), "link %u: %llu bytes", link, (unsigned long long)bytes);
    }
    world_close(w);
}
END_TEST

START_TEST(who_starts_later_joins_in)
{
    struct world *w = up((cw_dims){3, 3, 3});
    world_kill(w, 4, false);
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_KEYS, .rate = 1000, .bytes = 500}), 0);
    town_run(w, CW_MS(100));
    ck_assert_int_eq(world_start(w, 4), 0);
    town_run(w, CW_MS(500));
    uint64_t made = node_tally(world_node(w, 4)).made;
    ck_assert_uint_gt(made, 300);
    world_close(w); /* a workload that was not stopped is given back all the same */
}
END_TEST

START_TEST(impossible_workloads_are_refused)
{
    struct world *w = up((cw_dims){2, 2, 2});
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_KEYS, .rate = 1, .bytes = 20}), -EINVAL);
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_KEYS, .rate = 1, .bytes = 9001}), -EINVAL);
    ck_assert_int_eq(workload_start(w, &(struct workload){.kind = WORKLOAD_NEIGHBOURS, .links = 7}), -EINVAL);
    workload_stop(w); /* of nothing */
    world_close(w);
    w = town_up((cw_dims){2, 2, 2}, 1); /* without the service */
    ck_assert_int_lt(workload_start(w, &(struct workload){.kind = WORKLOAD_KEYS, .rate = 1}), 0);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_bound_is_that_of_the_paper),      SUITE_TEST(keys_come_at_their_rate),
    SUITE_TEST(all_to_all_achieves_what_is_offered), SUITE_TEST(neighbours_fill_their_links),
    SUITE_TEST(who_starts_later_joins_in),           SUITE_TEST(impossible_workloads_are_refused),
};
SUITE_MAIN("simulator/workload", tests)
