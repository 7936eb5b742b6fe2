/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound.c - the bound against loads that are added up link by link, and against values worked out by hand. */
#include "simulator/cwsim/bound.h"
#include "simulator/workload.h"
#include "suite.h"

#include <math.h>
#include <stdlib.h>

START_TEST(table)
{
    static const struct {
        cw_dims dims;
        double theta, hops;
    } rows[] = {
        {{3, 3, 3}, 2.889, 2.0769}, {{4, 4, 4}, 1.969, 3.0476},    {{5, 5, 5}, 1.653, 3.6290},
        {{8, 8, 8}, 0.998, 6.0117}, {{10, 10, 10}, 0.799, 7.5075}, {{16, 16, 16}, 0.4999, 12.0029},
        {{3, 4, 5}, 1.639, 2.9153},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct torus t;
        ck_assert_int_eq(torus_init(&t, rows[i].dims), 0);
        ck_assert_double_eq_tol(bound_value(bound_all_to_all(&t)), rows[i].theta, 0.0006);
        ck_assert_double_eq_tol(bound_value(bound_mean_hops(&t)), rows[i].hops, 0.00006);
    }
}
END_TEST

/*
 * How much each link of an axis carries, in parts of a packet, when server 0 sends a packet to each server: at half way
 * round a ring both directions get half of it. By symmetry every link of a direction carries the same.
 */
static double naive_bound(const struct torus *t)
{
    double worst = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        double plus = 0, minus = 0;
        for (cw_server s = 1; s < t->servers; s++) {
            cw_coord c = torus_coord(t, s);
            unsigned a = t->dim[axis], at = axis == 0 ? c.x : axis == 1 ? c.y : c.z, back = (a - at) % a;
            if (at == back && at != 0) {
                plus += at / 2.0;
                minus += back / 2.0;
            } else if (at < back || at == 0) {
                plus += at;
            } else {
                minus += back;
            }
        }
        worst = fmax(worst, fmax(plus, minus));
    }
    return (t->servers - 1) / worst; /* packets to N - 1 others, in units of what a link carries */
}

START_TEST(naive)
{
    for (uint16_t x = 1; x <= 9; x++) {
        for (uint16_t y = 1; y <= 9; y++) {
            for (uint16_t z = 1; z <= 9; z++) {
                struct torus t;
                ck_assert_int_eq(torus_init(&t, (cw_dims){x, y, z}), 0);
                struct bound b = bound_all_to_all(&t);
                if (t.servers == 1) {
                    ck_assert(b.numerator == 0 && bound_mean_hops(&t).numerator == 0);
                    continue;
                }
                if (fabs(bound_value(b) - naive_bound(&t)) > 1e-9) {
                    ck_abort_msg("%ux%ux%u: %g, not %g", x, y, z, bound_value(b), naive_bound(&t));
                }
                double sum = 0;
                for (cw_server s = 1; s < t.servers; s++) {
                    sum += torus_distance(&t, 0, s);
                }
                if (fabs(bound_value(bound_mean_hops(&t)) - sum / (t.servers - 1)) > 1e-9) {
                    ck_abort_msg("%ux%ux%u hops", x, y, z);
                }
            }
        }
    }
}
END_TEST

/* The engine's own bound, in whole bits, is this one rounded down. */
START_TEST(engine_agrees)
{
    for (uint16_t x = 1; x <= 16; x++) {
        for (uint16_t y = 1; y <= 5; y++) {
            struct torus t;
            ck_assert_int_eq(torus_init(&t, (cw_dims){x, y, 3}), 0);
            struct bound b = bound_all_to_all(&t);
            uint64_t bits = workload_bound(&t, 1000000000);
            unsigned __int128 exact = (unsigned __int128)1000000000 * b.numerator / b.denominator;
            ck_assert_msg(bits == (uint64_t)exact, "%ux%ux3: %llu", x, y, (unsigned long long)bits);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(table), SUITE_TEST(naive), SUITE_TEST(engine_agrees)};
SUITE_MAIN("bound", tests)
