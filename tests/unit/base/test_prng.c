/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "suite.h"

#include <math.h>
#include <string.h>

START_TEST(published_values)
{
    /* xoshiro256** from the state {1, 2, 3, 4}: the known answers that implementations share */
    static const uint64_t known[] = {11520,
                                     0,
                                     1509978240,
                                     1215971899390074240,
                                     1216172134540287360,
                                     607988272756665600,
                                     16172922978634559625u,
                                     8476171486693032832,
                                     10595114339597558777u,
                                     2904607092377533576};
    struct prng p = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_uint_eq(prng_next(&p), known[i]);
    }
}
END_TEST

/* A stream is a promise: replaying an old seed must never give another run. Computed apart from this code. */
START_TEST(streams_never_change)
{
    struct prng p = prng_stream(1, 2, 3);
    ck_assert_uint_eq(prng_next(&p), 0xba2aa1e28b708031);
    ck_assert_uint_eq(prng_next(&p), 0x3681b34b9272ab2d);
    ck_assert_uint_eq(prng_next(&p), 0x7cc3e744ff85fb22);
    ck_assert_uint_eq(prng_next(&p), 0xa807029784f2615d);
}
END_TEST

/* Nor must the worlds that are drawn from a seed. */
START_TEST(mixes_never_change)
{
    ck_assert_uint_eq(prng_mix(0, 0), 0);
    ck_assert_uint_eq(prng_mix(1, 0), 0xe220a8397b1dcdaf);
    ck_assert_uint_eq(prng_mix(1, 2), 0x057291b366a5f0bc);
    ck_assert_uint_eq(prng_mix(2, 1), 0x3f4aa7cabeb88997);
}
END_TEST

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* The nearest triples there are, at a simulator's scale: no first draw occurs twice. */
START_TEST(neighbouring_streams_differ)
{
    enum { SEEDS = 4, NODES = 4096, PURPOSES = 16, ALL = SEEDS * NODES * PURPOSES };
    uint64_t *first = malloc(ALL * sizeof *first);
    size_t n = 0;
    for (uint64_t i = 0; i < ALL; i++) {
        struct prng p = prng_stream(i % SEEDS, i / SEEDS % NODES, i / SEEDS / NODES);
        first[n++] = prng_next(&p);
    }
    qsort(first, n, sizeof *first, compare);
    for (size_t i = 1; i < n; i++) {
        if (first[i] == first[i - 1]) {
            ck_abort_msg("two of %zu streams begin alike", n);
        }
    }
    free(first);
}
END_TEST

/*
 * Streams do not couple: bit by bit, draw i of one agrees with draw i of its neighbour in half of all cases. 64 *
 * DRAWS bits a pair, so one standard deviation is 4 * sqrt(DRAWS) bits; the bound is six of them.
 */
START_TEST(streams_do_not_couple)
{
    enum { DRAWS = 4096 };
    static const uint64_t near[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},         {0, 0, 1},
                                       {1, 1, 0}, {1, 1, 1}, {UINT64_MAX, 0, 0}};
    enum { COUNT = sizeof near / sizeof *near };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < i; j++) {
            struct prng a = prng_stream(near[i][0], near[i][1], near[i][2]);
            struct prng b = prng_stream(near[j][0], near[j][1], near[j][2]);
            int differing = 0;
            for (int draw = 0; draw < DRAWS; draw++) {
                differing += __builtin_popcountll(prng_next(&a) ^ prng_next(&b));
            }
            ck_assert_int_lt(abs(differing - 32 * DRAWS), 6 * 4 * 64);
        }
    }
}
END_TEST

/* Sum of (count - expected)^2 / expected against its mean and six deviations, all in integers. */
static void expect_even(const uint64_t *counts, uint64_t cells, uint64_t draws)
{
    uint64_t expected = draws / cells, chi = 0;
    for (uint64_t i = 0; i < cells; i++) {
        int64_t off = (int64_t)counts[i] - (int64_t)expected;
        chi += (uint64_t)(off * off);
    }
    ck_assert_uint_lt(chi / expected, cells + 6 * (uint64_t)sqrt(2.0 * (double)cells));
}

START_TEST(below_is_even)
{
    struct prng p = prng_stream(10, 0, 0);
    for (uint64_t n = 1; n <= 100; n += n < 10 ? 1 : 9) {
        uint64_t counts[100] = {0};
        for (uint64_t i = 0; i < n * 2000; i++) {
            uint64_t draw = prng_below(&p, n);
            if (draw >= n) {
                ck_abort_msg("%lu is not below %lu", (unsigned long)draw, (unsigned long)n);
            }
            counts[draw]++;
        }
        expect_even(counts, n, n * 2000);
    }
}
END_TEST

/* n = 3 * 2^62 is where a careless reduction is worst: it would give the lower third twice as often. */
START_TEST(below_has_no_bias_at_huge_ranges)
{
    struct prng p = prng_stream(11, 0, 0);
    uint64_t counts[3] = {0}, n = UINT64_C(3) << 62;
    for (int i = 0; i < 300000; i++) {
        uint64_t draw = prng_below(&p, n);
        ck_assert_msg(draw < n, "out of range");
        counts[draw >> 62]++;
    }
    expect_even(counts, 3, 300000);
}
END_TEST

START_TEST(chance_is_a_ratio)
{
    struct prng p = prng_stream(12, 0, 0);
    int yes = 0;
    for (int i = 0; i < 90000; i++) {
        if (prng_chance(&p, 0, 5) || !prng_chance(&p, 5, 5) || !prng_chance(&p, 7, 5)) {
            ck_abort_msg("never or always is not kept");
        }
        yes += prng_chance(&p, 1, 3);
    }
    ck_assert_int_lt(abs(yes - 30000), 6 * 142);
}
END_TEST

START_TEST(span_includes_both_ends)
{
    struct prng p = prng_stream(13, 0, 0);
    uint64_t counts[5] = {0};
    for (int i = 0; i < 50000; i++) {
        int64_t ns = prng_span(&p, CW_NS(10), CW_NS(14)).ns;
        ck_assert_msg(ns >= 10 && ns <= 14, "out of range");
        counts[ns - 10]++;
    }
    expect_even(counts, 5, 50000);
    ck_assert_int_eq(prng_span(&p, CW_NS(7), CW_NS(7)).ns, 7);
    ck_assert_int_ge(prng_span(&p, CW_NS(0), (cw_span){INT64_MAX}).ns, 0);
}
END_TEST

/*
 * The exponential: cells of equal probability by the logarithm that the generator itself does without; mean and
 * variance; and the far tail, where the run of ones is.
 */
START_TEST(exponential_has_its_shape)
{
    enum { CELLS = 64, DRAWS = 1 << 20 };
    const int64_t mean = 72000;
    double bound[CELLS];
    for (int i = 0; i < CELLS - 1; i++) {
        bound[i] = -(double)mean * log(1.0 - (i + 1) / (double)CELLS);
    }
    bound[CELLS - 1] = HUGE_VAL;
    struct prng p = prng_stream(14, 0, 0);
    uint64_t counts[CELLS] = {0};
    double sum = 0, squares = 0;
    int beyond = 0;
    for (int i = 0; i < DRAWS; i++) {
        int64_t ns = prng_span_exponential(&p, (cw_span){mean}).ns;
        if (ns < 0) {
            ck_abort_msg("negative");
        }
        sum += (double)ns;
        squares += (double)ns * (double)ns;
        beyond += ns > 7 * mean;
        int cell = 0;
        while ((double)ns >= bound[cell]) {
            cell++;
        }
        counts[cell]++;
    }
    expect_even(counts, CELLS, DRAWS);
    double average = sum / DRAWS / (double)mean;
    double second = squares / DRAWS / (double)mean / (double)mean;
    ck_assert_double_eq_tol(average, 1.0, 6.0 / 1024);        /* deviation 1/sqrt(DRAWS) */
    ck_assert_double_eq_tol(second, 2.0, 6.0 * 4.5 / 1024);   /* sqrt(24 - 4) = 4.5 */
    ck_assert_double_eq_tol(beyond, DRAWS * exp(-7), 6 * 31); /* e^-7 of them: 956 */
}
END_TEST

START_TEST(exponential_at_its_limits)
{
    struct prng p = prng_stream(15, 0, 0);
    int saturated = 0;
    for (int i = 0; i < 20000; i++) {
        if (prng_span_exponential(&p, CW_NS(0)).ns != 0) {
            ck_abort_msg("mean 0");
        }
        int64_t ns = prng_span_exponential(&p, (cw_span){INT64_MAX}).ns;
        ck_assert_msg(ns >= 0, "wrapped");
        saturated += ns == INT64_MAX;
    }
    ck_assert_int_lt(abs(saturated - 7358), 6 * 69); /* one in e is longer than the mean */
    /* rounded, not cut: of an exponential around 1, e^-0.5 - e^-1.5 is 1 */
    int ones = 0;
    for (int i = 0; i < 100000; i++) {
        ones += prng_span_exponential(&p, CW_NS(1)).ns == 1;
    }
    ck_assert_int_lt(abs(ones - 38340), 6 * 154);
}
END_TEST

/*
 * The same on every compiler and machine: what a second implementation, in arbitrary precision, gives for these
 * draws.
 */
START_TEST(derived_draws_never_change)
{
    struct prng p = prng_stream(16, 0, 0);
    uint64_t mixed = 0;
    for (int i = 0; i < 1000; i++) {
        mixed = mixed * 31 + prng_below(&p, 1000003);
        mixed = mixed * 31 + (uint64_t)prng_span_exponential(&p, CW_US(72)).ns;
        mixed = mixed * 31 + prng_chance(&p, 1, 3);
    }
    ck_assert_uint_eq(mixed, 8526354663358906616);
}
END_TEST

START_TEST(shuffle_reaches_every_order_evenly)
{
    struct prng p = prng_stream(17, 0, 0);
    uint64_t counts[256] = {0}, seen[24], orders = 0;
    for (int i = 0; i < 48000; i++) {
        uint8_t four[4] = {0, 1, 2, 3};
        prng_shuffle(&p, four, 4, 1);
        counts[four[0] << 6 | four[1] << 4 | four[2] << 2 | four[3]]++;
    }
    for (int i = 0; i < 256; i++) {
        if (counts[i] != 0) {
            ck_assert_uint_lt(orders, 24);
            seen[orders++] = counts[i];
        }
    }
    ck_assert_uint_eq(orders, 24);
    expect_even(seen, 24, 48000);
}
END_TEST

START_TEST(shuffle_moves_whole_objects)
{
    struct wide {
        uint32_t words[37]; /* more than the swap moves at once */
    } objects[50];
    for (uint32_t i = 0; i < 50; i++) {
        for (uint32_t w = 0; w < 37; w++) {
            objects[i].words[w] = i * 37 + w;
        }
    }
    struct prng p = prng_stream(18, 0, 0);
    prng_shuffle(&p, objects, 50, sizeof *objects);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < 50; i++) {
        uint32_t id = objects[i].words[0] / 37;
        ck_assert_uint_lt(id, 50);
        seen |= UINT64_C(1) << id;
        for (uint32_t w = 0; w < 37; w++) {
            ck_assert_uint_eq(objects[i].words[w], id * 37 + w);
        }
    }
    ck_assert_uint_eq(seen, (UINT64_C(1) << 50) - 1);
    prng_shuffle(&p, NULL, 0, 4);
}
END_TEST

START_TEST(below_nothing_stops)
{
    struct prng p = prng_stream(19, 0, 0);
    (void)prng_below(&p, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(published_values),
    SUITE_TEST(streams_never_change),
    SUITE_TEST(mixes_never_change),
    SUITE_TEST(neighbouring_streams_differ),
    SUITE_TEST(streams_do_not_couple),
    SUITE_TEST(below_is_even),
    SUITE_TEST(below_has_no_bias_at_huge_ranges),
    SUITE_TEST(chance_is_a_ratio),
    SUITE_TEST(span_includes_both_ends),
    SUITE_TEST(exponential_has_its_shape),
    SUITE_TEST(exponential_at_its_limits),
    SUITE_TEST(derived_draws_never_change),
    SUITE_TEST(shuffle_reaches_every_order_evenly),
    SUITE_TEST(shuffle_moves_whole_objects),
    SUITE_ABORTS(below_nothing_stops),
};
SUITE_MAIN("prng", tests)
