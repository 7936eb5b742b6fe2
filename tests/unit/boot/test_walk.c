/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/walk.h"
#include "suite.h"
#include "yard.h"

static struct solution walked(const struct yard *y)
{
    struct solution s;
    ck_assert_int_eq(solution_make(&s, y->g.count), 0);
    for (uint32_t i = 0; i < y->g.count; i++) {
        for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
            s.spot[i].direction[port] = y->g.server[i].label[port];
        }
    }
    ck_assert_int_eq(boot_walk(&y->g, &s), 0);
    return s;
}

START_TEST(the_first_server_is_the_origin)
{
    struct rng r = {1};
    struct yard y = yard_make((cw_dims){5, 4, 7}, true, &r);
    struct solution s = walked(&y);
    ck_assert(yard_is_torus(&y, &s));
    ck_assert(dims_equal(s.dims, y.dims));
    ck_assert(coord_equal(s.spot[0].at, (cw_coord){0, 0, 0}));
    solution_free(&s);
    yard_free(&y);
}
END_TEST

/* Rows of x that close one y further. */
START_TEST(a_twisted_torus_is_told_by_its_shift)
{
    for (unsigned by = 1; by < 5; by++) {
        struct yard y = yard_make_plain((cw_dims){6, 5, 4}, true);
        struct graph_end to[5][4];
        for (uint32_t row = 0; row < 5; row++) {
            for (uint32_t z = 0; z < 4; z++) {
                struct graph_end end = {(5 * 5 + row) * 4 + z, 0};
                to[row][z] = graph_far(&y.g, end.server, end.port);
                graph_cut(&y.g, end);
            }
        }
        for (uint32_t row = 0; row < 5; row++) {
            for (uint32_t z = 0; z < 4; z++) {
                graph_join(&y.g, (struct graph_end){(5 * 5 + row) * 4 + z, 0}, to[(row + by) % 5][z]);
            }
        }
        struct solution s = walked(&y);
        ck_assert(dims_equal(s.dims, y.dims));
        ck_assert(!yard_is_torus(&y, &s));
        ck_assert_int_eq((s.shift[0][1] + 10) % 5,
                         (5 - by) % 5); /* after a row it stands that much before where it started */
        ck_assert_int_eq(s.shift[0][2], 0);
        ck_assert_int_eq(s.shift[1][0], 0);
        solution_free(&s);
        yard_free(&y);
    }
}
END_TEST

/* Two tori, one cable of each exchanged. */
START_TEST(two_tori_are_numbered)
{
    struct yard one = yard_make_plain((cw_dims){3, 3, 3}, true);
    struct yard y = {.dims = {3, 3, 6}};
    ck_assert_int_eq(graph_make(&y.g, 54), 0);
    for (uint32_t i = 0; i < 54; i++) {
        y.g.server[i] = one.g.server[i % 27];
        y.g.server[i].id += i / 27 * 100;
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            y.g.server[i].far[port].server += i / 27 * 27;
        }
    }
    yard_swap(&y, (struct graph_end){4, 2}, (struct graph_end){40, 2});
    struct solution s = walked(&y);
    ck_assert(dims_equal(s.dims, one.dims));
    for (uint32_t i = 0; i < 54; i++) {
        ck_assert_uint_eq(s.spot[i].torus, i / 27);
    }
    solution_free(&s);
    yard_free(&one);
    yard_free(&y);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_first_server_is_the_origin),
    SUITE_TEST(a_twisted_torus_is_told_by_its_shift),
    SUITE_TEST(two_tori_are_numbered),
};
SUITE_MAIN("walk", tests)
