/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_solve.c - the three ways to a solution together, over seeds: good tori are found; bad ones are not taken for
 * good, and the wrong cables are named.
 */
#include "boot/inspect.h"
#include "boot/solve.h"
#include "boot/verify.h"
#include "sanitized.h"
#include "suite.h"
#include "yard.h"

enum { FAULTS = 64 };

struct verdict {
    struct solution s;
    struct boot_fault fault[FAULTS];
    struct fault_list list;
    int verified;
};

static void judge(const struct graph *g, struct verdict *v)
{
    v->list = (struct fault_list){.fault = v->fault, .max = FAULTS};
    ck_assert_int_eq(boot_solve(g, &v->s), 0);
    v->verified = boot_verify(g, &v->s);
    ck_assert_int_eq(boot_inspect(g, &v->s, &v->list), 0);
}

static cw_dims random_dims(struct rng *r, unsigned least, unsigned most)
{
    unsigned length[CW_AXES];
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        length[axis] = least + (unsigned)rng_below(r, most - least + 1);
    }
    return dims_of(length);
}

static bool same_lengths(cw_dims a, cw_dims b)
{
    unsigned count[8] = {0};
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        count[dims_axis(a, axis)]++;
        count[dims_axis(b, axis)]--;
    }
    for (unsigned i = 0; i < 8; i++) {
        if (count[i] != 0) {
            return false;
        }
    }
    return true;
}

START_TEST(every_good_torus)
{
    struct rng r = {1};
    for (unsigned code = 0; code < 6 * 6 * 6 * 2; code++) {
        unsigned length[CW_AXES] = {1 + code / 2 % 6, 1 + code / 12 % 6, 1 + code / 72};
        cw_dims dims = dims_of(length);
        bool labelled = code % 2 == 0;
        struct yard y = yard_make(dims, labelled, &r);
        struct verdict v;
        judge(&y.g, &v);
        if (v.list.count != 0 || v.verified != 0 || !yard_is_torus(&y, &v.s) ||
            !(labelled ? dims_equal(v.s.dims, dims) : same_lengths(v.s.dims, dims))) {
            char text[BOOT_FAULT_TEXT] = "";
            boot_fault_text(&v.fault[0], text);
            ck_abort_msg("%ux%ux%u %d: found %ux%ux%u, verified %d, faults %u: %s", dims.x, dims.y, dims.z, labelled,
                         v.s.dims.x, v.s.dims.y, v.s.dims.z, v.verified, v.list.count, text);
        }
        solution_free(&v.s);
        yard_free(&y);
    }
}
END_TEST

START_TEST(told_dims_name_the_axes)
{
    struct rng r = {2};
    for (unsigned i = 0; i < 100; i++) {
        cw_dims dims = random_dims(&r, 1, 5);
        struct yard y = yard_make(dims, false, &r);
        for (uint32_t j = 0; j < y.g.count; j++) {
            y.g.server[j].expected = dims;
        }
        struct verdict v;
        judge(&y.g, &v);
        ck_assert_int_eq(v.verified, 0);
        ck_assert(dims_equal(v.s.dims, dims));
        solution_free(&v.s);
        yard_free(&y);
    }
}
END_TEST

static bool fault_names(const struct boot_fault *f, const struct graph *g, struct graph_end a)
{
    struct graph_end b = graph_far(g, a.server, a.port);
    uint64_t here = g->server[a.server].id, there = g->server[b.server].id;
    return (f->who.id == here && f->port == a.port && f->far.id == there && f->far_port == b.port) ||
           (f->who.id == there && f->port == b.port && f->far.id == here && f->far_port == a.port);
}

static void swap_and_judge(struct rng *r, cw_dims dims, bool labelled, bool exact, unsigned *told)
{
    struct yard y = yard_make(dims, labelled, r);
    struct graph_end a = yard_end(&y, r), b = yard_end(&y, r), far = graph_far(&y.g, a.server, a.port);
    while ((b.server == a.server && b.port == a.port) || (b.server == far.server && b.port == far.port)) {
        b = yard_end(&y, r);
    }
    yard_swap(&y, a, b);
    struct verdict v;
    judge(&y.g, &v);
    bool good = yard_is_torus(&y, &v.s);
    if ((v.verified == 0) != good || (v.list.grave == 0) != good) {
        ck_abort_msg("%ux%ux%u %d: a bad torus is taken for good: verified %d, faults %u", dims.x, dims.y, dims.z,
                     labelled, v.verified, v.list.grave);
    }
    bool named = v.list.count == 2 && (fault_names(&v.fault[0], &y.g, a) || fault_names(&v.fault[1], &y.g, a)) &&
                 (fault_names(&v.fault[0], &y.g, b) || fault_names(&v.fault[1], &y.g, b));
    *told += named || good;
    if (exact && !named && !good) {
        for (unsigned i = 0; i < v.list.count && i < 8; i++) {
            char text[BOOT_FAULT_TEXT];
            boot_fault_text(&v.fault[i], text);
            printf("%s\n", text);
        }
        ck_abort_msg("%ux%ux%u %d: %u faults for two swapped cables", dims.x, dims.y, dims.z, labelled, v.list.count);
    }
    solution_free(&v.s);
    yard_free(&y);
}

START_TEST(swapped_cables_by_label)
{
    struct rng r = {3};
    unsigned told = 0;
    for (unsigned i = 0; i < 600; i++) {
        swap_and_judge(&r, random_dims(&r, 3, 6), true, true, &told);
    }
    ck_assert_uint_eq(told, 600);
}
END_TEST

START_TEST(swapped_cables_in_small_tori)
{
    struct rng r = {4};
    unsigned told = 0;
    for (unsigned i = 0; i < 1000; i++) {
        swap_and_judge(&r, random_dims(&r, 2, 3), i % 2 == 0, false, &told);
    }
    printf("small tori: %u of 1000 told exactly\n", told);
}
END_TEST

START_TEST(swapped_cables_by_shape)
{
    struct rng r = {5};
    unsigned told = 0;
    for (unsigned i = 0; i < 300; i++) {
        swap_and_judge(&r, random_dims(&r, 3, 6), false, false, &told);
    }
    printf("by shape: %u of 300 told exactly\n", told);
}
END_TEST

/* Some cables swapped, some cut, some looped back: each that is wrong is named, and nothing that is right. */
START_TEST(many_mistakes_by_label)
{
    struct rng r = {6};
    for (unsigned run = 0; run < (SANITIZED ? 60 : 300); run++) {
        struct yard y = yard_make(random_dims(&r, 4, 6), true, &r);
        for (unsigned mistakes = 1 + (unsigned)rng_below(&r, 4); mistakes > 0; mistakes--) {
            struct graph_end a = yard_end(&y, &r), b = yard_end(&y, &r), far = graph_far(&y.g, a.server, a.port);
            unsigned kind = (unsigned)rng_below(&r, 3);
            if ((b.server == a.server && b.port == a.port) || (b.server == far.server && b.port == far.port) ||
                kind == 0) {
                graph_cut(&y.g, a);
            } else if (kind == 1) {
                yard_swap(&y, a, b);
            } else {
                uint8_t other = (uint8_t)((a.port + 1) % CW_LINK_COUNT);
                graph_cut(&y.g, a);
                graph_cut(&y.g, (struct graph_end){a.server, other});
                graph_join(&y.g, a, (struct graph_end){a.server, other});
            }
        }
        struct verdict v;
        judge(&y.g, &v);
        ck_assert_int_eq(v.verified, yard_is_torus(&y, &v.s) ? 0 : 1);
        ck_assert(dims_equal(v.s.dims, y.dims));
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < y.g.count; i++) {
            for (uint8_t port = 0; port < CW_LINK_COUNT; port++) {
                struct graph_end far = graph_far(&y.g, i, port), should;
                cw_coord at = {(uint8_t)(y.cell_of[i] / y.dims.z / y.dims.y),
                               (uint8_t)(y.cell_of[i] / y.dims.z % y.dims.y), (uint8_t)(y.cell_of[i] % y.dims.z)};
                should = (struct graph_end){y.at_cell[coord_cell(y.dims, coord_step(y.dims, at, port))], port ^ 1};
                bool right = far.server == should.server && far.port == should.port;
                bool both_silent =
                    far.server == GRAPH_NONE && graph_far(&y.g, should.server, should.port).server == GRAPH_NONE;
                wrong += !right &&
                         (far.server == GRAPH_NONE ? !both_silent || i < should.server : graph_is_first(&y.g, i, port));
            }
        }
        ck_assert_uint_eq(v.list.count, wrong);
        solution_free(&v.s);
        yard_free(&y);
    }
}
END_TEST

START_TEST(many_mistakes_by_shape_are_never_taken_for_good)
{
    struct rng r = {7};
    for (unsigned run = 0; run < (SANITIZED ? 30 : 150); run++) {
        struct yard y = yard_make(random_dims(&r, 1, 5), false, &r);
        for (unsigned mistakes = 1 + (unsigned)rng_below(&r, 6); mistakes > 0 && y.g.count > 4; mistakes--) {
            struct graph_end a = yard_end(&y, &r), b = yard_end(&y, &r), far = graph_far(&y.g, a.server, a.port);
            if ((b.server != a.server || b.port != a.port) && (b.server != far.server || b.port != far.port)) {
                yard_swap(&y, a, b);
            }
        }
        struct verdict v;
        judge(&y.g, &v);
        ck_assert_int_eq(v.verified, yard_is_torus(&y, &v.s) ? 0 : 1);
        ck_assert_int_eq(v.list.grave > 0, v.verified == 1);
        solution_free(&v.s);
        yard_free(&y);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(every_good_torus),
    SUITE_TEST(told_dims_name_the_axes),
    SUITE_TEST(swapped_cables_by_label),
    SUITE_TEST(swapped_cables_in_small_tori),
    SUITE_TEST(swapped_cables_by_shape),
    SUITE_TEST(many_mistakes_by_label),
    SUITE_TEST(many_mistakes_by_shape_are_never_taken_for_good),
};
SUITE_MAIN("solve", tests)
