/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn plans and worlds: possible ones, of all kinds, and the same for the same seed. */
#include "simulator/faults.h"

#include "suite.h"

#include <string.h>

enum { SEEDS = 500 };

static struct torus torus_of(cw_dims dims)
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, dims), 0);
    return torus;
}

static bool same(const struct fault *a, const struct fault *b)
{
    return a->at.ns == b->at.ns && a->kind == b->kind && a->server == b->server && a->link == b->link &&
           a->axis == b->axis && a->number == b->number && a->span.ns == b->span.ns && a->harm.loss == b->harm.loss &&
           a->harm.duplicate == b->harm.duplicate && a->harm.corrupt == b->harm.corrupt &&
           a->harm.delayed == b->harm.delayed && a->harm.delay_most.ns == b->harm.delay_most.ns;
}

static bool possible(const struct fault *f, const struct torus *torus, cw_time from, cw_time to)
{
    bool all = f->kind == FAULT_HEAL || f->kind == FAULT_HARM;
    bool server = f->server < torus->servers || (all && f->server == CW_SERVER_NONE);
    bool time = !cw_time_before(f->at, from) && !cw_time_before(to, f->at);
    return time && server && f->kind < FAULT_KINDS && f->link <= CW_LINK_SELF && f->axis < CW_AXES && f->span.ns >= 0;
}

START_TEST(plans_are_possible_sorted_and_end_healed)
{
    struct torus torus = torus_of((cw_dims){2, 3, 4});
    struct ls_timers timers = ls_timers_default();
    cw_time from = {1000 * 1000}, to = {INT64_C(5) * 1000 * 1000 * 1000};
    unsigned kinds[FAULT_KINDS] = {0}, without[FAULT_KINDS] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct fault_plan plan = {.count = 0}, again = {.count = 0};
        bool has[FAULT_KINDS] = {false};
        ck_assert_int_eq(fault_plan_draw(&plan, &torus, &timers, seed, from, to), 0);
        ck_assert_int_eq(fault_plan_draw(&again, &torus, &timers, seed, from, to), 0);
        ck_assert_uint_eq(plan.count, again.count);
        for (uint32_t i = 0; i < plan.count; i++) {
            const struct fault *f = &plan.fault[i];
            if (!same(f, &again.fault[i]) || !possible(f, &torus, from, to) ||
                (i > 0 && cw_time_before(f->at, plan.fault[i - 1].at))) {
                ck_abort_msg("seed %llu, fault %u (%s)", (unsigned long long)seed, i, fault_name(f->kind));
            }
            has[f->kind] = true;
        }
        ck_assert_int_eq(plan.fault[plan.count - 1].kind, FAULT_HEAL);
        for (unsigned k = 0; k < FAULT_KINDS; k++) {
            kinds[k] += has[k];
            without[k] += !has[k];
        }
        fault_plan_free(&plan);
        fault_plan_free(&again);
    }
    for (unsigned k = 0; k < FAULT_HEAL; k++) {
        bool drawn = k != FAULT_MEND && k != FAULT_START && k != FAULT_REJOIN; /* these follow others */
        ck_assert_msg(kinds[k] > SEEDS / 3, "%s", fault_name(k));
        ck_assert_msg(!drawn || without[k] > SEEDS / 3, "%s", fault_name(k));
    }
}
END_TEST

START_TEST(drawn_worlds_open)
{
    unsigned ones = 0, sizes[65] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct world_config c = world_config_default(), again = world_config_default();
        world_config_draw(&c, seed, 64);
        world_config_draw(&again, seed, 64);
        ck_assert_uint_eq(c.seed, seed);
        ck_assert_int_eq(ls_timers_check(&c.node.timers), 0);
        ck_assert_int_eq(c.node.timers.hold.ns, again.node.timers.hold.ns);
        ck_assert_uint_eq(c.wire.bits_per_second, again.wire.bits_per_second);
        uint32_t servers = (uint32_t)c.dims.x * c.dims.y * c.dims.z;
        ck_assert_uint_ge(servers, 2);
        ck_assert_uint_le(servers, 64);
        sizes[servers]++;
        ones += c.node.queue_packets == 1;
        struct world *w = NULL;
        ck_assert_msg(world_open(&w, &c) == 0, "seed %llu", (unsigned long long)seed);
        if (seed % 10 == 0) { /* and a server of it starts */
            ck_assert_int_eq(world_start(w, servers - 1), 0);
        }
        world_close(w);
    }
    ck_assert_uint_gt(ones, SEEDS / 8);
    ck_assert_uint_gt(sizes[27], 0);
    ck_assert_uint_gt(sizes[2], 0);
}
END_TEST

/* ---- Churn ------------------------------------------------------------------------------------------------------- */

struct tally {
    uint64_t failures;
    int64_t down_ns; /* servers x time */
    uint32_t down, down_most;
};

/* Walks the plan, which must be one that can happen: only who runs dies, only who is dead starts. */
static struct tally walk(const struct fault_plan *plan, uint32_t servers, cw_time from, cw_time to)
{
    struct tally t = {.failures = 0};
    static bool dead[512];
    cw_time last = from;
    memset(dead, 0, sizeof dead);
    ck_assert_uint_le(servers, 512);
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct fault *f = &plan->fault[i];
        bool start = f->kind == FAULT_START;
        if (cw_time_before(f->at, last) || !cw_time_before(f->at, to) || dead[f->server] != start) {
            ck_abort_msg("fault %u (%s %u)", i, fault_name(f->kind), f->server);
        }
        t.down_ns += t.down * cw_time_since(f->at, last).ns;
        last = f->at;
        dead[f->server] = !start;
        t.down = start ? t.down - 1 : t.down + 1;
        t.down_most = t.down > t.down_most ? t.down : t.down_most;
        t.failures += !start;
    }
    t.down_ns += t.down * cw_time_since(to, last).ns;
    return t;
}

START_TEST(churn_is_as_fast_and_as_deep_as_asked_for)
{
    struct torus torus = torus_of((cw_dims){8, 8, 8});
    struct fault_churn churn = {
        .seed = 3,
        .failures = 50,
        .per = CW_SEC(1),
        .down_ppm = 100000,
        .start_down = true,
        .from = {INT64_C(1000) * 1000 * 1000},
        .to = {INT64_C(101000) * 1000 * 1000},
    };
    struct fault_plan plan = {.count = 0};
    ck_assert_int_eq(fault_plan_churn(&plan, &torus, &churn), 0);
    struct tally t = walk(&plan, 512, churn.from, churn.to);
    double mean = (double)t.down_ns / (double)cw_time_since(churn.to, churn.from).ns;
    ck_assert_msg(t.failures > 4700 && t.failures < 5300, "%llu failures", (unsigned long long)t.failures);
    ck_assert_msg(mean > 45 && mean < 57, "%f servers are down", mean); /* 51.2 */
    fault_plan_free(&plan);
    churn.power = true;
    churn.start_down = false;
    ck_assert_int_eq(fault_plan_churn(&plan, &torus, &churn), 0);
    ck_assert_int_eq(plan.fault[0].kind, FAULT_POWER);
    ck_assert(cw_time_before(churn.from, plan.fault[0].at));
    fault_plan_free(&plan);
}
END_TEST

START_TEST(churn_leaves_one)
{
    struct torus torus = torus_of((cw_dims){1, 1, 3});
    struct fault_churn churn = {
        .seed = 4, .failures = 1000, .per = CW_MS(1), .down_ppm = 999999, .to = {10 * 1000 * 1000}};
    struct fault_plan plan = {.count = 0};
    ck_assert_int_eq(fault_plan_churn(&plan, &torus, &churn), 0);
    struct tally t = walk(&plan, 3, churn.from, churn.to);
    ck_assert_uint_eq(t.down_most, 2);
    fault_plan_free(&plan);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(plans_are_possible_sorted_and_end_healed),
    SUITE_TEST(drawn_worlds_open),
    SUITE_TEST(churn_is_as_fast_and_as_deep_as_asked_for),
    SUITE_TEST(churn_leaves_one),
};
SUITE_MAIN("simulator/faults_draw", tests)
