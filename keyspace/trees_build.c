/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trees_build.c - the search around the descent: a few starts from the closed form, each of many rounds; a round is a
 * walk along the level and then a descent. All of it is bounded by work, which is counted in vertices looked at and not
 * in time, so that every server stops at the same place.
 */
#include "keyspace/trees_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STARTS = 4,
    ROUNDS = 32,         /* of each start */
    WORK_BASE = 4000000, /* work of every build: small shapes finish all their rounds with it, in a few ms */
    WORK_SERVER = 6000,  /* and for each server: 4,096 servers get some ten rounds (docs/trees.md) */
};

/*
 * The depth above which vertices are dear, round by round: at times well below what can be reached, which shakes the
 * trees; mostly just above the diameter, which lets the mean fall. Each start begins at another place of the cycle.
 * Found by trial over all shapes up to 6x6x6.
 */
static unsigned tolerance_of(unsigned diameter, unsigned start, unsigned round)
{
    const unsigned cycle[8] = {diameter / 2, diameter,     diameter,     diameter + 1,
                               diameter + 1, diameter + 1, diameter + 1, diameter};
    return cycle[(round + 4 * start) % 8];
}

static bool shallower(struct trees_extent a, struct trees_extent b)
{
    return a.max < b.max || (a.max == b.max && a.total < b.total);
}

/* The axes of a torus by rising length, those of length 1 last: every order of the same lengths is built in one way. */
struct axes {
    unsigned from[CW_AXES]; /* axis of the sorted torus -> axis of the torus */
};

static cw_dims sort_axes(const struct torus *torus, struct axes *axes)
{
    uint16_t dim[CW_AXES];
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        uint16_t size = (uint16_t)torus->dim[axis];
        unsigned at = axis;
        while (at > 0 && size > 1 && (dim[at - 1] == 1 || dim[at - 1] > size)) {
            dim[at] = dim[at - 1];
            axes->from[at] = axes->from[at - 1];
            at--;
        }
        dim[at] = size;
        axes->from[at] = axis;
    }
    return (cw_dims){dim[0], dim[1], dim[2]};
}

static cw_link link_from(const struct axes *axes, unsigned link)
{
    return (cw_link)(2 * axes->from[link / 2] + link % 2);
}

static cw_server offset_from(const struct descent *d, const struct axes *axes, const struct torus *torus, cw_server v)
{
    cw_coord c = torus_coord(&d->torus, v);
    const uint8_t part[CW_AXES] = {c.x, c.y, c.z};
    uint8_t on[CW_AXES];
    for (unsigned k = 0; k < CW_AXES; k++) {
        on[axes->from[k]] = part[k];
    }
    return torus_id(torus, (cw_coord){on[0], on[1], on[2]});
}

/* Copies the trees as they are now: in the axes of the torus, each named by the link by which it leaves the root. */
static void write_cells(const struct descent *d, const struct axes *axes, const struct torus *torus,
                        struct trees_cell *cells)
{
    for (cw_server v = 0; v < torus->servers; v++) {
        struct trees_cell *row = &cells[(size_t)offset_from(d, axes, torus, v) * CW_LINK_COUNT];
        for (unsigned t = 0; t < d->trees; t++) {
            struct trees_cell *cell = &row[link_from(axes, (unsigned)__builtin_ctz(d->children[t][0]))];
            cell->parent = v == 0 ? CW_LINK_SELF : link_from(axes, d->parent[t][v]);
            cell->depth = d->depth[t][v];
            cell->children = 0;
            for (unsigned set = d->children[t][v]; set != 0; set &= set - 1) {
                cell->children |= cw_links_of(link_from(axes, (unsigned)__builtin_ctz(set)));
            }
        }
    }
}

int trees_build(const struct torus *torus, struct trees_cell *cells)
{
    struct axes axes;
    struct torus sorted;
    struct descent d;
    int rc = torus_init(&sorted, sort_axes(torus, &axes));
    rc = rc < 0 ? rc : descent_open(&d, &sorted);
    if (rc < 0) {
        return rc;
    }
    d.budget = WORK_BASE + (uint64_t)WORK_SERVER * torus->servers;
    struct trees_extent best = {.max = UINT32_MAX};
    uint32_t salt = 0;
    for (unsigned start = 0; start < STARTS && d.work < d.budget; start++) {
        descent_plant(&d);
        for (unsigned round = 0; round < ROUNDS && d.work < d.budget; round++) {
            d.tolerance = tolerance_of(torus_diameter(torus), start, round);
            if (round > 0) {
                descent_sweep(&d, ++salt);
            }
            descent_touch(&d);
            while (descent_sweep(&d, 0)) {
            }
            struct trees_extent extent = descent_extent(&d);
            if (shallower(extent, best)) {
                best = extent;
                write_cells(&d, &axes, torus, cells);
            }
        }
    }
    descent_close(&d);
    return 0;
}
