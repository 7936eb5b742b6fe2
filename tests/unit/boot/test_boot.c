/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_boot.c - whole tori of bootstraps in one process: from a cold start, with loss, restarts, late starters,
 * replaced servers and wrong cables.
 */
#include "sanitized.h"
#include "suite.h"
#include "town.h"

#include <string.h>

START_TEST(a_torus_from_cold)
{
    for (unsigned labelled = 0; labelled < 2; labelled++) {
        struct rng r = {10 + labelled};
        struct yard y = yard_make((cw_dims){3, 4, 2}, labelled != 0, &r);
        struct town t = town_make(&y, 1);
        town_start_all(&t);
        cw_time begin = t.now;
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(20)), 24);
        town_check(&t);
        printf("24 servers agree in %lld ms, %llu frames\n", (long long)(cw_time_since(t.now, begin).ns / 1000000),
               (unsigned long long)t.sent);
        town_run(&t, CW_SEC(5));
        for (uint32_t i = 0; i < y.g.count; i++) {
            ck_assert_uint_eq(boot_fault_count(t.server[i].boot), 0);
        }
        uint64_t sent = t.sent;
        town_run(&t, CW_SEC(10));
        ck_assert_uint_le(t.sent - sent, 24 * 6 * 15); /* at rest, a probe a second */
        town_free(&t);
        yard_free(&y);
    }
}
END_TEST

START_TEST(loss_and_disorder)
{
    for (unsigned seed = 0; seed < (SANITIZED ? 2 : 12); seed++) {
        struct rng r = {100 + seed};
        cw_dims dims = {(uint16_t)(2 + rng_below(&r, 3)), (uint16_t)(2 + rng_below(&r, 3)),
                        (uint16_t)(1 + rng_below(&r, 4))};
        struct yard y = yard_make(dims, seed % 2 == 0, &r);
        struct town t = town_make(&y, seed);
        t.loss = 200;
        t.doubled = 100;
        t.delay_us = 40000;
        town_start_all(&t);
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(120)), y.g.count);
        town_check(&t);
        town_free(&t);
        yard_free(&y);
    }
}
END_TEST

START_TEST(late_starters_and_restarts)
{
    for (unsigned seed = 0; seed < (SANITIZED ? 2 : 8); seed++) {
        struct rng r = {200 + seed};
        struct yard y = yard_make((cw_dims){3, 3, 3}, seed % 2 == 0, &r);
        struct town t = town_make(&y, seed);
        t.loss = 50;
        for (uint32_t i = 0; i < y.g.count; i++) {
            town_start(&t, i);
            town_run(&t, CW_MS(rng_below(&r, 400)));
            if (i > 0 && rng_below(&r, 3) == 0) {
                uint32_t again = (uint32_t)rng_below(&r, i);
                town_stop(&t, again);
                town_run(&t, CW_MS(rng_below(&r, 2000)));
                town_start(&t, again);
            }
            ck_assert_uint_eq(town_count(&t, BOOT_AGREED), 0); /* none before the last is there */
        }
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(60)), 27);
        town_check(&t);
        town_free(&t);
        yard_free(&y);
    }
}
END_TEST

/* Power fails in the middle of the agreement: some have stored their place, others have not. */
START_TEST(death_in_the_middle)
{
    unsigned halves = 0;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct rng r = {300 + seed};
        struct yard y = yard_make((cw_dims){3, 3, 3}, seed % 2 == 0, &r);
        struct town t = town_make(&y, seed);
        t.loss = 100;
        t.delay_us = 20000;
        town_start_all(&t);
        while (town_count(&t, BOOT_AGREED) == 0) {
            town_run(&t, CW_MS(2));
        }
        town_run(&t, CW_MS(rng_below(&r, 60)));
        uint32_t agreed = town_count(&t, BOOT_AGREED);
        halves += agreed < 27;
        for (uint32_t i = 0; i < 27; i++) {
            town_stop(&t, i);
        }
        town_run(&t, CW_SEC(2));
        town_start_all(&t);
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(60)), 27);
        town_check(&t);
        town_free(&t);
        yard_free(&y);
    }
    ck_assert_uint_gt(halves, 5);
}
END_TEST

START_TEST(replaced_servers_take_their_place)
{
    for (unsigned seed = 0; seed < (SANITIZED ? 2 : 10); seed++) {
        struct rng r = {400 + seed};
        struct yard y = yard_make((cw_dims){4, 3, 3}, seed % 2 == 0, &r);
        struct town t = town_make(&y, seed);
        t.loss = 50;
        town_start_all(&t);
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(60)), 36);
        struct boot_place old[36];
        unsigned replaced = seed == 0 ? 36 : 1 + (unsigned)rng_below(&r, 12);
        for (uint32_t i = 0; i < 36; i++) {
            old[i] = t.server[i].stored;
        }
        for (unsigned k = 0; k < replaced; k++) {
            uint32_t i = (uint32_t)rng_below(&r, 36);
            town_replace(&t, i);
        }
        town_run(&t, CW_SEC(15));
        for (uint32_t i = 0; i < 36; i++) {
            if (t.server[i].boot == NULL) {
                town_start(&t, i);
                town_run(&t, CW_MS(rng_below(&r, 500)));
            }
        }
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(60)), 36);
        town_check(&t);
        for (uint32_t i = 0; i < 36; i++) {
            ck_assert(coord_equal(old[i].self, t.server[i].stored.self));
        }
        town_free(&t);
        yard_free(&y);
    }
}
END_TEST

START_TEST(wrong_cables_are_refused_then_mended)
{
    for (unsigned seed = 0; seed < (SANITIZED ? 2 : 10); seed++) {
        struct rng r = {500 + seed};
        struct yard y = yard_make((cw_dims){4, 3, 5}, true, &r);
        struct graph_end a = {3, 0}, b = {17, 2};
        yard_swap(&y, a, b);
        struct town t = town_make(&y, seed);
        town_start_all(&t);
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(8)), 0);
        ck_assert_uint_eq(town_count(&t, BOOT_REFUSED), 60);
        for (uint32_t i = 0; i < 60; i++) {
            ck_assert_uint_eq(boot_fault_count(t.server[i].boot), 2);
        }
        char text[BOOT_FAULT_TEXT];
        ck_assert_uint_gt(boot_fault_text(boot_fault(t.server[0].boot, 0), text), 40);
        if (seed == 0) {
            printf("%s\n", text);
        }
        yard_swap(&y, a, b);
        ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(20)), 60);
        town_check(&t);
        town_free(&t);
        yard_free(&y);
    }
}
END_TEST

/* Two tori in one yard, of which the second is new, and one cable of each exchanged. */
static struct yard two_tori(void)
{
    struct yard one = yard_make_plain((cw_dims){3, 3, 3}, true);
    struct yard y = {.dims = {3, 3, 6}, .labelled = true};
    ck_assert_int_eq(graph_make(&y.g, 54), 0);
    for (uint32_t i = 0; i < 54; i++) {
        y.g.server[i] = one.g.server[i % 27];
        y.g.server[i].id += i / 27 * 100;
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            y.g.server[i].far[port].server += i / 27 * 27;
        }
    }
    yard_free(&one);
    return y;
}

START_TEST(two_tori_joined_by_cables_stay_two)
{
    struct yard y = two_tori();
    struct graph_end a = {4, 2}, b = {40, 2};
    struct town t = town_make(&y, 1);
    for (uint32_t i = 0; i < 27; i++) {
        town_start(&t, i);
    }
    ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(20)), 27);
    yard_swap(&y, a, b);
    for (uint32_t i = 27; i < 54; i++) {
        town_start(&t, i);
    }
    town_run(&t, CW_SEC(12));
    ck_assert_uint_eq(town_count(&t, BOOT_AGREED), 27); /* those that had a place; the new ones refuse */
    ck_assert_uint_eq(town_count(&t, BOOT_REFUSED), 27);
    yard_swap(&y, a, b);
    ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(20)), 54);
    town_run(&t, CW_SEC(15));
    yard_swap(&y, a, b); /* both run now: a fault on four servers, and nobody moves */
    town_run(&t, CW_SEC(15));
    ck_assert_uint_eq(town_count(&t, BOOT_AGREED), 54);
    unsigned faulty = 0;
    for (uint32_t i = 0; i < 54; i++) {
        faulty += boot_fault_count(t.server[i].boot) > 0;
    }
    ck_assert_uint_eq(faulty, coord_equal(t.server[4].stored.self, t.server[40].stored.self) ? 0 : 4);
    town_free(&t);
    yard_free(&y);
}
END_TEST

/* A plane that starts long before the others is no torus of two axes. */
START_TEST(a_plane_waits_for_the_others)
{
    struct rng r = {700};
    struct yard y = yard_make((cw_dims){3, 3, 3}, true, &r);
    struct town t = town_make(&y, 1);
    for (uint32_t z = 0; z < 3; z++) {
        for (uint32_t cell = z; cell < 27; cell += 3) {
            town_start(&t, y.at_cell[cell]);
        }
        if (z < 2) {
            town_run(&t, CW_SEC(10));
            ck_assert_uint_eq(town_count(&t, BOOT_AGREED), 0);
        }
    }
    ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(20)), 27);
    town_check(&t);
    town_free(&t);
    yard_free(&y);
}
END_TEST

START_TEST(five_hundred_and_twelve)
{
    struct rng r = {600};
    struct yard y = yard_make((cw_dims){8, 8, 8}, false, &r);
    struct town t = town_make(&y, 1);
    t.loss = 10;
    town_start_all(&t);
    cw_time begin = t.now;
    ck_assert_uint_eq(town_run_until_agreed(&t, CW_SEC(60)), 512);
    town_check(&t);
    printf("512 servers agree in %lld ms, %llu frames\n", (long long)(cw_time_since(t.now, begin).ns / 1000000),
           (unsigned long long)t.sent);
    town_free(&t);
    yard_free(&y);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_torus_from_cold),
    SUITE_TEST(loss_and_disorder),
    SUITE_TEST(late_starters_and_restarts),
    SUITE_TEST(death_in_the_middle),
    SUITE_TEST(replaced_servers_take_their_place),
    SUITE_TEST(wrong_cables_are_refused_then_mended),
    SUITE_TEST(two_tori_joined_by_cables_stay_two),
    SUITE_TEST(a_plane_waits_for_the_others),
    SUITE_TEST(five_hundred_and_twelve),
};
SUITE_MAIN("boot", tests)
