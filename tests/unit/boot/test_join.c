/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/join.h"
#include "boot/verify.h"
#include "suite.h"
#include "yard.h"

/* All have the place of the truth but those that forget() says; unlabelled newcomers know nothing but their cables. */
static void place(struct yard *y)
{
    for (uint32_t i = 0; i < y->g.count; i++) {
        struct graph_server *server = &y->g.server[i];
        uint32_t cell = y->cell_of[i];
        server->placed = true;
        server->dims = y->dims;
        server->at = (cw_coord){(uint8_t)(cell / y->dims.z / y->dims.y), (uint8_t)(cell / y->dims.z % y->dims.y),
                                (uint8_t)(cell % y->dims.z)};
        for (uint8_t d = 0; d < CW_LINK_COUNT; d++) {
            if (dims_axis(y->dims, d / 2) > 1) {
                server->label[y->port[i][d]] = d;
            }
        }
    }
}

static void forget(struct yard *y, uint32_t i)
{
    struct graph_server *server = &y->g.server[i];
    server->placed = false;
    for (unsigned port = 0; port < CW_LINK_COUNT && !y->labelled; port++) {
        server->label[port] = server->label[port] == BOOT_ABSENT ? BOOT_ABSENT : BOOT_UNLABELLED;
    }
}

START_TEST(newcomers_take_the_places_that_are_free)
{
    struct rng r = {1};
    for (unsigned run = 0; run < 300; run++) {
        cw_dims dims = {(uint16_t)(2 + rng_below(&r, 4)), (uint16_t)(2 + rng_below(&r, 4)),
                        (uint16_t)(1 + rng_below(&r, 4))};
        struct yard y = yard_make(dims, run % 2 == 0, &r);
        cw_coord *truth = calloc(y.g.count, sizeof *truth);
        place(&y);
        for (uint32_t i = 0; i < y.g.count; i++) {
            truth[i] = y.g.server[i].at;
        }
        uint32_t newcomers = 1 + (uint32_t)rng_below(&r, y.labelled ? y.g.count - 1 : 1 + y.g.count / 4);
        for (uint32_t k = 0; k < newcomers; k++) {
            forget(&y, k);
        }
        struct solution s;
        ck_assert_int_eq(solution_make(&s, y.g.count), 0);
        boot_join(&y.g, &s);
        ck_assert_int_eq(boot_verify(&y.g, &s), 0);
        for (uint32_t i = 0; i < y.g.count; i++) {
            ck_assert(coord_equal(s.spot[i].at, truth[i]));
        }
        free(truth);
        solution_free(&s);
        yard_free(&y);
    }
}
END_TEST

START_TEST(a_whole_plane_of_newcomers)
{
    struct rng r = {2};
    struct yard y = yard_make((cw_dims){4, 4, 4}, false, &r);
    place(&y);
    for (uint32_t cell = 16; cell < 32; cell++) {
        forget(&y, y.at_cell[cell]);
    }
    struct solution s;
    ck_assert_int_eq(solution_make(&s, y.g.count), 0);
    boot_join(&y.g, &s);
    ck_assert_int_eq(boot_verify(&y.g, &s), 0);
    solution_free(&s);
    yard_free(&y);
}
END_TEST

/* One cable of a newcomer leads elsewhere: five voices against one. */
START_TEST(a_wrong_cable_is_outvoted_and_refused)
{
    struct rng r = {3};
    for (unsigned run = 0; run < 100; run++) {
        struct yard y = yard_make((cw_dims){5, 4, 5}, true, &r);
        place(&y);
        cw_coord truth = y.g.server[7].at;
        forget(&y, 7);
        struct graph_end a = {7, (uint8_t)rng_below(&r, CW_LINK_COUNT)}, b = yard_end(&y, &r);
        struct graph_end far = graph_far(&y.g, a.server, a.port);
        if (b.server == 7 || b.server == far.server || graph_far(&y.g, b.server, b.port).server == 7) {
            yard_free(&y);
            continue;
        }
        yard_swap(&y, a, b);
        struct solution s;
        ck_assert_int_eq(solution_make(&s, y.g.count), 0);
        boot_join(&y.g, &s);
        ck_assert_int_eq(boot_verify(&y.g, &s), 1);
        ck_assert(coord_equal(s.spot[7].at, truth));
        solution_free(&s);
        yard_free(&y);
    }
}
END_TEST

/* A running torus of other dims at the end of a wrong cable. */
START_TEST(two_tori_that_run_are_not_made_one)
{
    struct yard y = yard_make_plain((cw_dims){3, 3, 3}, true);
    place(&y);
    y.g.server[26].dims = (cw_dims){3, 3, 4};
    struct solution s;
    ck_assert_int_eq(solution_make(&s, y.g.count), 0);
    boot_join(&y.g, &s);
    ck_assert_int_eq(boot_verify(&y.g, &s), 1);
    solution_free(&s);
    yard_free(&y);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(newcomers_take_the_places_that_are_free),
    SUITE_TEST(a_whole_plane_of_newcomers),
    SUITE_TEST(a_wrong_cable_is_outvoted_and_refused),
    SUITE_TEST(two_tori_that_run_are_not_made_one),
};
SUITE_MAIN("join", tests)
