/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/trees.h"
#include "naive.h"
#include "rng.h"
#include "suite.h"
#include "trees_check.h"

#include <errno.h>
#include <string.h>

/* Set by a test to refuse the n-th allocation from now; 0 refuses none. The program is linked with --wrap. */
static unsigned refuse;
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

static bool refused(void)
{
    return refuse > 0 && --refuse == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __real_calloc(count, bytes);
}

START_TEST(reports_that_memory_is_short)
{
    struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){3, 3, 3}), 0);
    struct trees *const untouched = (struct trees *)&torus;
    struct trees *trees = untouched;
    int rc;
    unsigned failures = 0;
    for (unsigned nth = 1;; nth++) {
        refuse = nth;
        rc = trees_open(&trees, &torus);
        refuse = 0;
        if (rc == 0) {
            break;
        }
        ck_assert_int_eq(rc, -ENOMEM);
        ck_assert_ptr_eq(trees, untouched);
        failures++;
    }
    ck_assert_uint_ge(failures, 2); /* the table and the building of it */
    trees_close(trees);
    trees_close(NULL);
}
END_TEST

START_TEST(has_a_table_up_to_the_limit_only)
{
    struct torus torus;
    struct trees *trees = open_trees(&torus, 1, 1, 1);
    ck_assert_uint_eq(trees_all(trees), CW_LINKS_NONE);
    ck_assert_uint_eq(trees_extent(trees).max, 0);
    trees_close(trees);

    trees = open_trees(&torus, 256, 256, 256);
    ck_assert_uint_lt(trees_bytes(trees), 1024);
    struct rng random = {3};
    for (int i = 0; i < 1000; i++) {
        cw_server v = (cw_server)rng_below(&random, torus.servers);
        cw_link tree = (cw_link)rng_below(&random, CW_LINK_COUNT);
        ck_assert_uint_eq(trees_parent(trees, tree, v), trees_closed_parent(&torus, tree, v));
        ck_assert_uint_eq(trees_children(trees, tree, v), trees_closed_children(&torus, tree, v));
        ck_assert_uint_eq(trees_depth(trees, tree, v), trees_closed_depth(&torus, tree, v));
        ck_assert_uint_eq(trees_branch(trees, tree, 0, v), v == 0 ? CW_LINK_SELF : tree);
    }
    ck_assert_uint_eq(trees_extent(trees).total, trees_closed_extent(&torus).total);
    trees_close(trees);

    trees = open_trees(&torus, 8, 8, 8);
    ck_assert_uint_ge(trees_bytes(trees), 24 * 512);
    trees_close(trees);
}
END_TEST

/* The offsets of one table, taken from any root, are arc-disjoint trees between servers. */
START_TEST(serves_every_root_by_translation)
{
    struct torus torus;
    struct trees *trees = open_trees(&torus, 4, 5, 2);
    struct rng random = {11};
    for (int i = 0; i < 20; i++) {
        cw_server root = (cw_server)rng_below(&random, torus.servers);
        uint8_t used[40][CW_LINK_COUNT] = {{0}};
        for (cw_server s = 0; s < torus.servers; s++) {
            cw_server offset = torus_offset(&torus, root, s);
            for (unsigned tree = 0; tree < CW_LINK_COUNT && s != root; tree++) {
                cw_link up = trees_parent(trees, (cw_link)tree, offset);
                cw_server parent = torus_neighbour(&torus, s, up);
                ck_assert_uint_eq(used[parent][up ^ 1]++, 0);
                cw_links siblings = trees_children(trees, (cw_link)tree, torus_offset(&torus, root, parent));
                ck_assert_uint_ne(siblings & 1u << (up ^ 1), 0);
                unsigned hops = 0;
                for (cw_server at = s; at != root; hops++) {
                    at =
                        torus_neighbour(&torus, at, trees_parent(trees, (cw_link)tree, torus_offset(&torus, root, at)));
                }
                ck_assert_uint_eq(hops, trees_depth(trees, (cw_link)tree, offset));
            }
        }
    }
    trees_close(trees);
}
END_TEST

/* Naive: is `above` on the path from `below` to the root, and which link did the path use to leave it? */
static unsigned naive_branch(const struct torus *torus, const struct trees *trees, cw_link tree, cw_server above,
                             cw_server below)
{
    if (above == below) {
        return CW_LINK_SELF;
    }
    while (below != 0) {
        cw_link up = trees_parent(trees, tree, below);
        below = torus_neighbour(torus, below, up);
        if (below == above) {
            return up ^ 1u;
        }
    }
    return TREES_NOT_BELOW;
}

static const unsigned shapes[][3] = {{3, 3, 3}, {2, 3, 4}, {5, 1, 4}, {1, 9, 1}, {2, 2, 2}, {6, 5, 4}};
enum { SHAPES = sizeof shapes / sizeof *shapes, SERVERS_MAX = 120 };

START_TEST(branch_and_sizes_as_by_climbing)
{
    for (int i = 0; i < SHAPES; i++) {
        struct torus torus;
        struct trees *trees = open_trees(&torus, shapes[i][0], shapes[i][1], shapes[i][2]);
        for (unsigned set = trees_all(trees); set != 0; set &= set - 1) {
            cw_link tree = (cw_link)__builtin_ctz(set);
            uint32_t size[SERVERS_MAX], naive[SERVERS_MAX] = {0};
            trees_sizes(trees, tree, size);
            for (cw_server above = 0; above < torus.servers; above++) {
                for (cw_server below = 0; below < torus.servers; below++) {
                    unsigned expected = naive_branch(&torus, trees, tree, above, below);
                    naive[above] += expected != TREES_NOT_BELOW;
                    if (trees_branch(trees, tree, above, below) != expected) {
                        ck_abort_msg("shape %d tree %u: %u above %u", i, tree, above, below);
                    }
                }
                ck_assert_uint_eq(size[above], naive[above]);
            }
        }
        trees_close(trees);
    }
}
END_TEST

/* The members and all above them, by asking for every pair; returns how many. */
static uint32_t naive_prune(const struct torus *torus, const struct trees *trees, cw_link tree, const uint64_t *members,
                            uint64_t *needed)
{
    uint32_t count = 0;
    for (cw_server v = 0; v < torus->servers; v++) {
        for (cw_server m = 0; m < torus->servers; m++) {
            if (trees_set_has(members, m) && naive_branch(torus, trees, tree, v, m) != TREES_NOT_BELOW) {
                trees_set_add(needed, v);
                count++;
                break;
            }
        }
    }
    return count;
}

static void check_prune(const struct torus *torus, const struct trees *trees, cw_link tree, const uint64_t *members)
{
    uint64_t needed[2] = {0xeeee, 0xeeee}, naive[2] = {0};
    ck_assert_uint_le(trees_set_words(torus), 2);
    uint32_t kept = trees_prune(trees, tree, members, needed);
    ck_assert_uint_eq(kept, naive_prune(torus, trees, tree, members, naive));
    ck_assert_int_eq(memcmp(naive, needed, trees_set_words(torus) * sizeof *needed), 0);
    for (cw_server v = 0; v < torus->servers; v++) {
        unsigned children = 0;
        for (unsigned set = trees_children(trees, tree, v); set != 0; set &= set - 1) {
            cw_server w = torus_neighbour(torus, v, (cw_link)__builtin_ctz(set));
            children |= trees_set_has(naive, w) ? set & -set : 0;
        }
        ck_assert_uint_eq(trees_children_in(trees, tree, v, needed), children);
    }
}

START_TEST(pruned_to_the_union_of_the_paths)
{
    struct rng random = {5};
    for (int i = 0; i < SHAPES; i++) {
        struct torus torus;
        struct trees *trees = open_trees(&torus, shapes[i][0], shapes[i][1], shapes[i][2]);
        for (unsigned round = 0; round < 60; round++) {
            uint64_t members[2] = {0};
            for (uint32_t m = 0; m < round / 6; m++) {
                trees_set_add(members, (cw_server)rng_below(&random, torus.servers));
            }
            cw_link tree = (cw_link)(round % CW_LINK_COUNT);
            if (torus.dim[tree / 2] > 1) {
                check_prune(&torus, trees, tree, members);
            }
        }
        trees_close(trees);
    }
}
END_TEST

START_TEST(vertex_keys_fall_to_the_parent)
{
    for (int i = 0; i < SHAPES; i++) {
        struct torus torus;
        struct trees *trees = open_trees(&torus, shapes[i][0], shapes[i][1], shapes[i][2]);
        for (cw_server v = 0; v < torus.servers; v++) {
            unsigned heirs = 0; /* links to the first heirs of the vertices of v's server */
            for (unsigned set = trees_all(trees); set != 0; set &= set - 1) {
                cw_link tree = (cw_link)__builtin_ctz(set);
                unsigned index = trees_vertex_index(trees, tree, v);
                ck_assert_uint_lt(index, 48);
                cw_server sigma[SERVERS_MAX];
                naive_sequence(torus_dims(&torus), v, index, sigma);
                cw_link to = v == 0 ? tree : trees_parent(trees, tree, v);
                ck_assert_uint_eq(sigma[1], torus_neighbour(&torus, v, to));
                heirs |= 1u << to;
                unsigned beside = trees_children(trees, tree, v) & ~(3u << (to & ~1u));
                bool child = false;
                for (; beside != 0; beside &= beside - 1) {
                    child |= sigma[2] == torus_neighbour(&torus, v, (cw_link)__builtin_ctz(beside));
                }
                ck_assert(child || (trees_children(trees, tree, v) & ~(3u << (to & ~1u))) == 0);
            }
            ck_assert_uint_eq(heirs, trees_all(trees)); /* all different */
        }
        trees_close(trees);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(reports_that_memory_is_short),     SUITE_TEST(has_a_table_up_to_the_limit_only),
    SUITE_TEST(serves_every_root_by_translation), SUITE_TEST(branch_and_sizes_as_by_climbing),
    SUITE_TEST(pruned_to_the_union_of_the_paths), SUITE_TEST(vertex_keys_fall_to_the_parent),
};
SUITE_MAIN("trees", tests)
