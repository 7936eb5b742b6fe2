/* SPDX-License-Identifier: Apache-2.0 */
#include "trees_check.h"

#include "suite.h"

#include <stdlib.h>

struct trees *open_trees(struct torus *torus, unsigned x, unsigned y, unsigned z)
{
    struct trees *trees = NULL;
    ck_assert_int_eq(torus_init(torus, (cw_dims){(uint16_t)x, (uint16_t)y, (uint16_t)z}), 0);
    ck_assert_int_eq(trees_open(&trees, torus), 0);
    return trees;
}

static void fault(const struct torus *t, const char *what, unsigned tree, cw_server v)
{
    ck_abort_msg("%ux%ux%u: tree %u, offset %u: %s", t->dim[0], t->dim[1], t->dim[2], tree, v, what);
}

/* Hops to the root; a cycle is a climb of as many hops as there are servers. */
static unsigned climb(const struct torus *torus, const uint8_t *parent, unsigned tree, cw_server v)
{
    cw_server at = v;
    unsigned hops = 0;
    while (at != 0) {
        at = torus_neighbour(torus, at, parent[at * CW_LINK_COUNT + tree]);
        if (++hops == torus->servers) {
            fault(torus, "a cycle", tree, v);
        }
    }
    return hops;
}

struct trees_extent check_trees(const struct torus *torus, const uint8_t *parent)
{
    struct trees_extent extent = {0};
    uint8_t *uses = calloc(torus->servers, CW_LINK_COUNT); /* [sender * links + out link] */
    ck_assert_ptr_nonnull(uses);
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        if (torus->dim[tree / 2] == 1) {
            continue;
        }
        unsigned from_root = 0;
        for (cw_server v = 1; v < torus->servers; v++) {
            cw_link in = parent[v * CW_LINK_COUNT + tree];
            if (in >= CW_LINK_COUNT || torus->dim[in / 2u] == 1) {
                fault(torus, "enters by no link", tree, v);
            }
            cw_server sender = torus_neighbour(torus, v, in);
            from_root += sender == 0;
            if (uses[sender * CW_LINK_COUNT + cw_link_opposite(in)]++ != 0) {
                fault(torus, "an arc is used twice", tree, v);
            }
            unsigned depth = climb(torus, parent, tree, v);
            extent.total += depth;
            extent.max = depth > extent.max ? depth : extent.max;
        }
        if (from_root != 1) {
            fault(torus, "not one root link", tree, 0);
        }
    }
    for (cw_server v = 0; v < torus->servers; v++) {
        for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
            bool wanted = torus->dim[link / 2] > 1 && torus_neighbour(torus, v, (cw_link)link) != 0;
            if (uses[v * CW_LINK_COUNT + link] != wanted) {
                fault(torus, wanted ? "an arc is idle" : "the root is entered", link, v);
            }
        }
    }
    free(uses);
    return extent;
}

void check_lookups(const struct torus *torus, const struct trees *trees)
{
    ck_assert_uint_eq(trees_all(trees), torus_links(torus));
    uint8_t *parent = malloc((size_t)torus->servers * CW_LINK_COUNT);
    ck_assert_ptr_nonnull(parent);
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        if (!(trees_all(trees) >> tree & 1)) {
            continue;
        }
        ck_assert_uint_eq(trees_parent(trees, (cw_link)tree, 0), CW_LINK_SELF);
        ck_assert_uint_eq(trees_children(trees, (cw_link)tree, 0), 1u << tree);
        for (cw_server v = 0; v < torus->servers; v++) {
            parent[v * CW_LINK_COUNT + tree] = trees_parent(trees, (cw_link)tree, v);
        }
    }
    struct trees_extent walked = check_trees(torus, parent);
    ck_assert_uint_eq(trees_extent(trees).max, walked.max);
    ck_assert_uint_eq(trees_extent(trees).total, walked.total);
    for (unsigned tree = 0; tree < CW_LINK_COUNT; tree++) {
        if (!(trees_all(trees) >> tree & 1)) {
            continue;
        }
        for (cw_server v = 0; v < torus->servers; v++) {
            if (trees_depth(trees, (cw_link)tree, v) != climb(torus, parent, tree, v)) {
                fault(torus, "wrong depth", tree, v);
            }
            unsigned children = 0;
            for (unsigned link = 0; link < CW_LINK_COUNT; link++) {
                cw_server w = torus_neighbour(torus, v, (cw_link)link);
                children |= (unsigned)(w != 0 && parent[w * CW_LINK_COUNT + tree] == (link ^ 1)) << link;
            }
            if (trees_children(trees, (cw_link)tree, v) != children) {
                fault(torus, "wrong children", tree, v);
            }
        }
    }
    free(parent);
}
