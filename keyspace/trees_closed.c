/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_closed.c - the closed form (docs/trees.md). Let x be the coordinates of the vertex for a + tree, and mirrored
 * (-x mod dim) for a - tree. Tree i enters the vertex along
 *     axis i                                              when x_i = 0,
 *     the first axis j of i+1, i+2, ..., i with x_j > 0   otherwise (cyclic).
 * At one vertex the trees with x_i = 0 take axis i, and the others rotate among the axes with x > 0: a bijection, so no
 * arc is shared. Going from parent to parent lowers first all other coordinates to 0 and then x_i, so there is no
 * cycle.
 */
#include "keyspace/trees.h"

#include <assert.h>

struct steps {
    uint32_t on[CW_AXES]; /* steps from the root in the direction of the tree, per axis */
};

static struct steps steps_of(const struct torus *torus, cw_link tree, cw_server offset)
{
    cw_coord c = torus_coord(torus, offset);
    struct steps x = {{c.x, c.y, c.z}};
    if (tree & 1u) {
        for (unsigned axis = 0; axis < CW_AXES; axis++) {
            x.on[axis] = x.on[axis] ? torus->dim[axis] - x.on[axis] : 0;
        }
    }
    return x;
}

/* The axis by which a tree of this axis enters the vertex. An axis of length 1 has no steps, so it is not chosen. */
static unsigned entry_axis(struct steps x, unsigned axis)
{
    if (x.on[axis] == 0) {
        return axis;
    }
    unsigned next = (axis + 1) % CW_AXES;
    while (x.on[next] == 0) {
        next = (next + 1) % CW_AXES;
    }
    return next;
}

cw_link trees_closed_parent(const struct torus *torus, cw_link tree, cw_server offset)
{
    assert(torus_links(torus) & cw_links_of(tree));
    if (offset == 0) {
        return CW_LINK_SELF;
    }
    unsigned axis = entry_axis(steps_of(torus, tree, offset), tree / 2u);
    return cw_link_opposite((cw_link)(2 * axis + (tree & 1u)));
}

cw_links trees_closed_children(const struct torus *torus, cw_link tree, cw_server offset)
{
    assert(torus_links(torus) & cw_links_of(tree));
    cw_links children = CW_LINKS_NONE;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        cw_link out = (cw_link)(2 * axis + (tree & 1u));
        cw_server child = torus_neighbour(torus, offset, out);
        if (torus->dim[axis] > 1 && child != 0 && trees_closed_parent(torus, tree, child) == cw_link_opposite(out)) {
            children |= cw_links_of(out);
        }
    }
    return children;
}

unsigned trees_closed_depth(const struct torus *torus, cw_link tree, cw_server offset)
{
    assert(torus_links(torus) & cw_links_of(tree));
    if (offset == 0) {
        return 0;
    }
    unsigned axis = tree / 2u;
    struct steps x = steps_of(torus, tree, offset);
    /* With x_i = 0 the first step up goes back round the ring of axis i, and the rest of the ring follows. */
    unsigned around = x.on[axis] == 0 ? torus->dim[axis] : 0;
    return x.on[0] + x.on[1] + x.on[2] + around;
}

struct trees_extent trees_closed_extent(const struct torus *torus)
{
    unsigned span = 0, axes = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        span += torus->dim[axis] - 1;
        if (torus->dim[axis] > 1) {
            axes++;
        }
    }
    struct trees_extent extent = {.max = axes > 1 ? span + 1 : span};
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        if (torus->dim[axis] > 1) {
            /*
             * The depths of all offsets less the ring that the formula would count for the root; the same for + and -.
             */
            extent.total += (uint64_t)torus->servers * (span + 2) - 2 * torus->dim[axis];
        }
    }
    return extent;
}
