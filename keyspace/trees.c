/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/trees.h"
#include "keyspace/trees_build.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The trees of a vertex lie side by side: a message that is striped over six trees finds them in a cache line or two.
 */
struct trees {
    struct torus torus;
    bool tabled;
    struct trees_extent extent;
    struct trees_cell cells[]; /* [offset * CW_LINK_COUNT + tree] */
};

static size_t bytes_for(const struct torus *torus, bool tabled)
{
    size_t cells = tabled ? (size_t)torus->servers * CW_LINK_COUNT : 0;
    return sizeof(struct trees) + cells * sizeof(struct trees_cell);
}

static struct trees_extent measure(const struct trees *trees)
{
    struct trees_extent extent = {0};
    for (size_t i = 0; i < (size_t)trees->torus.servers * CW_LINK_COUNT; i++) {
        unsigned depth = trees->cells[i].depth;
        extent.total += depth;
        extent.max = depth > extent.max ? depth : extent.max;
    }
    return extent;
}

int trees_open(struct trees **out, const struct torus *torus)
{
    bool tabled = torus->servers > 1 && torus->servers <= TREES_TABLE_SERVERS;
    struct trees *trees = calloc(1, bytes_for(torus, tabled));
    if (trees == NULL) {
        return -ENOMEM;
    }
    trees->torus = *torus;
    trees->tabled = tabled;
    trees->extent = trees_closed_extent(torus);
    if (tabled) {
        int rc = trees_build(torus, trees->cells);
        if (rc < 0) {
            free(trees);
            return rc;
        }
        trees->extent = measure(trees);
    }
    *out = trees;
    return 0;
}

void trees_close(struct trees *trees)
{
    free(trees);
}

size_t trees_bytes(const struct trees *trees)
{
    return bytes_for(&trees->torus, trees->tabled);
}

cw_links trees_all(const struct trees *trees)
{
    return torus_links(&trees->torus);
}

struct trees_extent trees_extent(const struct trees *trees)
{
    return trees->extent;
}

static const struct trees_cell *cell_of(const struct trees *trees, cw_link tree, cw_server offset)
{
    assert(tree < CW_LINK_COUNT && trees->torus.dim[tree / 2u] > 1);
    assert(offset < trees->torus.servers);
    return &trees->cells[(size_t)offset * CW_LINK_COUNT + tree];
}

cw_link trees_parent(const struct trees *trees, cw_link tree, cw_server offset)
{
    return trees->tabled ? cell_of(trees, tree, offset)->parent : trees_closed_parent(&trees->torus, tree, offset);
}

cw_links trees_children(const struct trees *trees, cw_link tree, cw_server offset)
{
    return trees->tabled ? cell_of(trees, tree, offset)->children : trees_closed_children(&trees->torus, tree, offset);
}

unsigned trees_depth(const struct trees *trees, cw_link tree, cw_server offset)
{
    return trees->tabled ? cell_of(trees, tree, offset)->depth : trees_closed_depth(&trees->torus, tree, offset);
}

cw_link trees_branch(const struct trees *trees, cw_link tree, cw_server above, cw_server below)
{
    unsigned depth = trees_depth(trees, tree, above);
    unsigned climb = trees_depth(trees, tree, below);
    if (climb <= depth) {
        return above == below ? CW_LINK_SELF : TREES_NOT_BELOW;
    }
    cw_link up = CW_LINK_SELF;
    for (; climb > depth; climb--) {
        up = trees_parent(trees, tree, below);
        below = torus_neighbour(&trees->torus, below, up);
    }
    return below == above ? cw_link_opposite(up) : TREES_NOT_BELOW;
}

uint32_t trees_prune(const struct trees *trees, cw_link tree, const uint64_t *members, uint64_t *needed)
{
    size_t words = trees_set_words(&trees->torus);
    uint32_t count = 0;
    memset(needed, 0, words * sizeof *needed);
    for (size_t word = 0; word < words; word++) {
        for (uint64_t set = members[word]; set != 0; set &= set - 1) {
            cw_server at = (cw_server)(64 * word) + (cw_server)__builtin_ctzll(set);
            assert(at < trees->torus.servers);
            /* Climbs until it meets the path of another member, so that each needed vertex is looked at once. */
            while (!trees_set_has(needed, at)) {
                trees_set_add(needed, at);
                count++;
                if (at != 0) {
                    at = torus_neighbour(&trees->torus, at, trees_parent(trees, tree, at));
                }
            }
        }
    }
    return count;
}

cw_links trees_children_in(const struct trees *trees, cw_link tree, cw_server offset, const uint64_t *needed)
{
    cw_links kept = CW_LINKS_NONE;
    for (unsigned set = trees_children(trees, tree, offset); set != 0; set &= set - 1) {
        cw_link link = (cw_link)__builtin_ctz(set);
        if (trees_set_has(needed, torus_neighbour(&trees->torus, offset, link))) {
            kept |= cw_links_of(link);
        }
    }
    return kept;
}

/* Visits in post-order without a stack: on the way up, the link that was climbed says which children are done. */
void trees_sizes(const struct trees *trees, cw_link tree, uint32_t *size)
{
    const struct torus *torus = &trees->torus;
    cw_server at = 0;
    unsigned todo = trees_children(trees, tree, at);
    size[at] = 1;
    while (at != 0 || todo != 0) {
        if (todo != 0) {
            at = torus_neighbour(torus, at, (cw_link)__builtin_ctz(todo));
            todo = trees_children(trees, tree, at);
            size[at] = 1;
            continue;
        }
        cw_link up = trees_parent(trees, tree, at);
        cw_server parent = torus_neighbour(torus, at, up);
        size[parent] += size[at];
        todo = trees_children(trees, tree, parent) & ~((2u << cw_link_opposite(up)) - 1);
        at = parent;
    }
}

/*
 * The axis orders o = 0..5 are xyz xzy yxz yzx zxy zyx (facet.h): so o / 2 is the first axis, and the parity of o says
 * whether the other two rise or fall. Bit a of f is the sign of axis a.
 */
unsigned trees_vertex_index(const struct trees *trees, cw_link tree, cw_server offset)
{
    cw_link first = offset == 0 ? tree : trees_parent(trees, tree, offset);
    unsigned lower = first / 2u == 0 ? 1 : 0;
    unsigned children = trees_children(trees, tree, offset) & ~(3u << (first & ~1u));
    unsigned signs = (first & 1u) << (first / 2u);
    unsigned falling = 0;
    if (children != 0) {
        unsigned second = (unsigned)__builtin_ctz(children);
        signs |= (second & 1u) << (second / 2u);
        falling = second / 2u != lower;
    }
    return 6 * signs + 2 * (first / 2u) + falling;
}
