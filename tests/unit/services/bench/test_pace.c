/* SPDX-License-Identifier: Apache-2.0 */
#include "services/bench/pace.h"

#include "rng.h"
#include "suite.h"

static const struct {
    uint64_t num, den;
} ratios[] = {
    {1, 1},
    {1000000000, 7},
    {72000, 1},
    {UINT64_C(72000000000000), UINT64_C(980000000)}, /* 9,000 bytes at 0.98 Gbit/s */
    {UINT64_C(72000000000000), UINT64_C(1000000000000000)},
    {3, 1000},
    {UINT64_C(1000000000), 1},
};
enum { RATIOS = sizeof ratios / sizeof *ratios };
static const int64_t first = 123;

static int64_t beat(uint64_t num, uint64_t den, uint64_t n)
{
    return first + (int64_t)(uint64_t)((unsigned __int128)n * num / den);
}

START_TEST(never_drifts)
{
    for (int i = 0; i < RATIOS; i++) {
        struct pace p = pace_of(ratios[i].num, ratios[i].den, (cw_time){first});
        for (uint64_t n = 0; n < 100000; n++) {
            if (p.next.ns != beat(ratios[i].num, ratios[i].den, n)) {
                ck_abort_msg("ratio %d beat %llu at %lld", i, (unsigned long long)n, (long long)p.next.ns);
            }
            pace_step(&p);
        }
    }
}
END_TEST

/* Skipping is stepping, only faster. */
START_TEST(skips_as_it_steps)
{
    struct rng rng = {3};
    for (int i = 0; i < RATIOS; i++) {
        struct pace skips = pace_of(ratios[i].num, ratios[i].den, (cw_time){first});
        struct pace steps = skips;
        for (int k = 0; k < 300; k++) {
            uint64_t reach = rng_below(&rng, 1 + 50 * ratios[i].num / ratios[i].den);
            cw_time to = {skips.next.ns + (int64_t)reach - 2};
            uint64_t count = 0;
            while (cw_time_before(steps.next, to)) {
                pace_step(&steps);
                count++;
            }
            if (pace_skip(&skips, to) != count || skips.next.ns != steps.next.ns || skips.rest != steps.rest) {
                ck_abort_msg("ratio %d round %d", i, k);
            }
        }
    }
}
END_TEST

START_TEST(skips_a_year_at_once)
{
    struct pace p = pace_of(72000, 1, (cw_time){0});
    int64_t year = INT64_C(365) * 86400 * 1000000000;
    ck_assert_uint_eq(pace_skip(&p, (cw_time){year}), (uint64_t)year / 72000);
    ck_assert_int_ge(p.next.ns, year);
    ck_assert_int_lt(p.next.ns, year + 72000);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(never_drifts),
    SUITE_TEST(skips_as_it_steps),
    SUITE_TEST(skips_a_year_at_once),
};
SUITE_MAIN("pace", tests)
