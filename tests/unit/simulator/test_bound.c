/* SPDX-License-Identifier: Apache-2.0 */
/* The bounds of facts 7, as fractions, and against sums over all servers. */
#include "simulator/bound.h"

#include "suite.h"

static struct torus torus_of(unsigned x, unsigned y, unsigned z)
{
    struct torus t;
    ck_assert_int_eq(torus_init(&t, (cw_dims){(uint16_t)x, (uint16_t)y, (uint16_t)z}), 0);
    return t;
}

START_TEST(the_bounds_are_exact)
{
    static const struct {
        unsigned x, y, z;
        uint64_t numerator, denominator;
        double printed; /* as the page of facts has it */
    } known[] = {
        {3, 3, 3, 26, 9, 2.889},
        {4, 4, 4, 63, 32, 1.969},
        {5, 5, 5, 124, 75, 1.653},
        {8, 8, 8, 511, 512, 0.998},
        {10, 10, 10, 999, 1250, 0.799},
        {16, 16, 16, 4095, 8192, 0.4999},
        {3, 4, 5, 59, 36, 1.639},
        {5, 4, 3, 59, 36, 1.639},
        {2, 1, 1, 2, 1, 2},
        {1, 2, 2, 3, 1, 3},
        {1, 1, 1, 0, 1, 0},
        {1, 1, 3, 2, 1, 2},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct torus t = torus_of(known[i].x, known[i].y, known[i].z);
        struct bound b = bound_all_to_all(&t);
        ck_assert_uint_eq(b.numerator, known[i].numerator);
        ck_assert_uint_eq(b.denominator, known[i].denominator);
        ck_assert_double_eq_tol(bound_value(b), known[i].printed, 6e-4);
    }
}
END_TEST

START_TEST(mean_hops_are_those_of_the_page)
{
    struct torus t = torus_of(3, 3, 3);
    ck_assert_double_eq_tol(bound_value(bound_mean_hops(&t)), 2.0769, 5e-5);
    t = torus_of(8, 8, 8);
    ck_assert_double_eq_tol(bound_value(bound_mean_hops(&t)), 6.0117, 5e-5);
    t = torus_of(16, 16, 16);
    ck_assert_double_eq_tol(bound_value(bound_mean_hops(&t)), 12.0029, 5e-5);
    t = torus_of(3, 4, 5);
    ck_assert_double_eq_tol(bound_value(bound_mean_hops(&t)), 2.9153, 5e-5);
    t = torus_of(1, 1, 1);
    ck_assert_uint_eq(bound_mean_hops(&t).numerator, 0);
    ck_assert_uint_eq(bound_mean_hops(&t).denominator, 1);
}
END_TEST

static unsigned ring_distance(unsigned d, unsigned a)
{
    return d < a - d ? d : a - d;
}

/*
 * Every server sends one packet to every other: an axis of a takes so many hops over its 2 N directions of links, so that N - 1
 * packets of each need (hops / 2 N) packet times of the most loaded axis.
 */
START_TEST(small_toruses_agree_with_counting)
{
    for (unsigned n = 0; n < 7 * 7 * 7; n++) {
        unsigned dim[3] = {1 + n % 7, 1 + n / 7 % 7, 1 + n / 49};
        struct torus t = torus_of(dim[0], dim[1], dim[2]);
        uint64_t hops[3] = {0}, sum = 0, most = 0, servers = t.servers;
        for (cw_server s = 1; s < servers; s++) {
            cw_coord c = torus_coord(&t, s);
            unsigned at[3] = {c.x, c.y, c.z};
            for (unsigned axis = 0; axis < 3; axis++) {
                hops[axis] += ring_distance(at[axis], dim[axis]);
            }
            sum += torus_distance(&t, 0, s);
        }
        for (unsigned axis = 0; axis < 3; axis++) {
            most = hops[axis] > most ? hops[axis] : most;
        }
        struct bound theta = bound_all_to_all(&t), mean = bound_mean_hops(&t);
        if (servers > 1) {
            ck_assert_uint_eq(theta.numerator * most, theta.denominator * 2 * (servers - 1));
            ck_assert_uint_eq(mean.numerator * (servers - 1), mean.denominator * sum);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_bounds_are_exact),
    SUITE_TEST(mean_hops_are_those_of_the_page),
    SUITE_TEST(small_toruses_agree_with_counting),
};
SUITE_MAIN("simulator/bound", tests)
