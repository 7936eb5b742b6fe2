/* SPDX-License-Identifier: Apache-2.0 */
/* The sampled checks: roots by the definition, and two who may deliver one key are found. */
#include "simulator/check_internal.h"

#include "keyspace/owner.h"
#include "town.h"

START_TEST(naive_roots_are_the_fast_ones)
{
    static const cw_dims dims[] = {{3, 3, 3}, {2, 3, 4}, {1, 2, 4}, {4, 4, 4}, {1, 1, 7}};
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++) {
        struct world_config config = town_config(dims[d], 1);
        struct world *w = town_open(&config);
        struct prng p = prng_stream(d, 0, 1);
        struct reach reach;
        uint64_t words[8];
        reach_init(&reach, w->servers, words);
        for (int i = 0; i < 3000; i++) {
            uint64_t route = prng_next(&p);
            reach_clear(&reach);
            for (cw_server s = 0; s < w->servers; s++) {
                if (prng_chance(&p, (uint64_t)i % 4, 8)) {
                    reach_add(&reach, s);
                }
            }
            cw_server fast = owner_root(&w->torus, route, &reach), slow = check_naive_root(w->check, route, &reach);
            if (fast != slow) {
                ck_abort_msg("key %016llx: %u and %u", (unsigned long long)route, fast, slow);
            }
        }
        world_close(w);
    }
}
END_TEST

START_TEST(the_owner_has_no_rival_and_is_everybodys)
{
    struct world *w = town_up((cw_dims){3, 3, 3}, 2);
    town_run(w, CW_MS(100));
    for (cw_server home = 0; home < 27; home++) {
        uint64_t route = town_key(w, home);
        ck_assert_uint_eq(check_rival(w->check, route, home), CW_SERVER_NONE);
        ck_assert_uint_eq(check_rival(w->check, route, (home + 1) % 27), home);
    }
    w->oracle.incarnation[5]++; /* who began another life was no member with those who know the one before */
    ck_assert_uint_eq(check_rival(w->check, town_key(w, 5), 6), CW_SERVER_NONE);
    w->oracle.incarnation[5]--;
    world_pause(w, 13, CW_SEC(1)); /* who cannot act is no rival */
    ck_assert_uint_eq(check_rival(w->check, town_key(w, 13), 12), CW_SERVER_NONE);
    world_close(w);
}
END_TEST

/* Two halves that are told to be one: sooner or later a sampled key is one that both halves may deliver. */
START_TEST(two_who_may_deliver_are_found)
{
    struct world *w = town_up((cw_dims){1, 1, 4}, 3);
    world_cable(w, 0, CW_LINK_ZP, true, false);
    world_cable(w, 2, CW_LINK_ZP, true, false);
    town_run(w, CW_MS(500));
    ck_assert_uint_ne(oracle_component(&w->oracle, 0), oracle_component(&w->oracle, 1));
    for (cw_server s = 0; s < 4; s += 2) {
        cw_link link = CW_LINK_ZP;
        cw_server far = w->neighbours[s * CW_LINK_COUNT + link];
        oracle_cable(&w->oracle, s, link, true);
        oracle_cable(&w->oracle, far, CW_LINK_ZM, true);
        oracle_claims(&w->oracle, s, link, w->oracle.incarnation[far]);
        oracle_claims(&w->oracle, far, CW_LINK_ZM, w->oracle.incarnation[s]);
    }
    ck_assert_uint_eq(oracle_component(&w->oracle, 0), oracle_component(&w->oracle, 1));
    for (int i = 0; i < 1000 && world_violation(w) == NULL; i++) {
        check_sample(w->check);
    }
    town_broken(w, 5);
    world_close(w);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(naive_roots_are_the_fast_ones),
    SUITE_TEST(the_owner_has_no_rival_and_is_everybodys),
    SUITE_TEST(two_who_may_deliver_are_found),
};
SUITE_MAIN("simulator/check_sample", tests)
