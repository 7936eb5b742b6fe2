/* SPDX-License-Identifier: Apache-2.0 */
#include "nmu/map.h"
#include "rng.h"
#include "suite.h"

START_TEST(a_process_lives_where_its_range_says)
{
    struct map m;
    ck_assert_int_eq(map_open(&m, 4, 8), 0);
    ck_assert_uint_gt(map_bytes(&m), 0);
    uint32_t place = map_take(&m, 9);
    ck_assert_uint_eq(map_server(&m, place, 0), CW_SERVER_NONE);
    *map_replace(&m, place, 1) = (struct nmu_span){3, 5, 100};
    ck_assert_uint_eq(map_server(&m, place, 2), CW_SERVER_NONE);
    ck_assert_uint_eq(map_server(&m, place, 3), 100);
    ck_assert_uint_eq(map_server(&m, place, 5), 102);
    ck_assert_uint_eq(map_server(&m, place, 6), CW_SERVER_NONE);
    struct nmu_span *list = map_replace(&m, place, 3);
    list[0] = (struct nmu_span){0, 2, 10};
    list[1] = (struct nmu_span){3, 5, 10};
    list[2] = (struct nmu_span){7, 7, 90};
    const cw_server want[] = {10, 11, 12, 10, 11, 12, CW_SERVER_NONE, 90, CW_SERVER_NONE};
    for (cw_process p = 0; p < sizeof want / sizeof *want; p++) {
        ck_assert_uint_eq(map_server(&m, place, p), want[p]);
    }
    ck_assert(map_fits(&m, place, 8));
    ck_assert(!map_fits(&m, place, 9));
    map_give(&m, place);
    ck_assert_uint_eq(map_find(&m, 9), MAP_NONE);
    map_close(&m);
}
END_TEST

/* Jobs that come and go in a small table where probes collide all the time: a place stays its job's. */
START_TEST(places_are_kept)
{
    enum { JOBS = 40, LIMIT = 24 };
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct rng rng = {seed};
        struct map m;
        ck_assert_int_eq(map_open(&m, LIMIT, 1), 0);
        uint32_t place[JOBS + 1], used = 0;
        for (unsigned j = 0; j <= JOBS; j++) {
            place[j] = MAP_NONE;
        }
        for (unsigned step = 0; step < 5000; step++) {
            cw_job job = 1 + (cw_job)rng_below(&rng, JOBS);
            if (place[job] == MAP_NONE) {
                uint32_t got = map_take(&m, job * 1024);
                ck_assert((got != MAP_NONE) == (used < LIMIT));
                place[job] = got;
                used += got != MAP_NONE;
            } else if (rng_below(&rng, 2) == 0) {
                map_give(&m, place[job]);
                place[job] = MAP_NONE;
                used--;
            }
            for (cw_job j = 1; j <= JOBS; j++) {
                if (map_find(&m, j * 1024) != place[j]) {
                    ck_abort_msg("seed %lu step %u: job %u", (unsigned long)seed, step, j);
                }
            }
        }
        map_close(&m);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_process_lives_where_its_range_says),
    SUITE_TEST(places_are_kept),
};
SUITE_MAIN("map", tests)
