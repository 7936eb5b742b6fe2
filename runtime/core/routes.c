/* SPDX-License-Identifier: Apache-2.0 */
#include "core/routes.h"

#include <stdalign.h>

void routes_init(struct routes *r, uint32_t servers, cw_server from, struct arena *arena)
{
    *r = (struct routes){
        .servers = servers,
        .way = arena_carve(arena, servers, sizeof *r->way, alignof(uint32_t)),
    };
    if (!arena_is_measuring(arena)) {
        routes_clear(r, from);
    }
}

void routes_clear(struct routes *r, cw_server from)
{
    for (cw_server s = 0; s < r->servers; s++) {
        r->way[s] = (uint32_t)ROUTES_UNREACHABLE << ROUTES_LINK_BITS;
    }
    r->way[from] = 0;
}

/*
 * One edge to `to`, by first links `via`; `level` is a way of that length without links. The server is new, or of this
 * very level by another way, or nearer, and over broken links no branch predictor can tell these apart: so there is no
 * branch. One that is not new is written behind the end of `order` and overwritten by the next. Levels only rise, and
 * unreachable is above all.
 */
static inline uint32_t reach_by(uint32_t *way, cw_server *order, uint32_t count, cw_server to, uint32_t level,
                                cw_links via)
{
    uint32_t had = way[to];
    bool fresh = had > (level | CW_LINKS_ALL);
    uint32_t has = fresh ? level : had;
    way[to] = has | (via & (0u - (has >= level)));
    order[count] = to;
    return count + fresh;
}

uint32_t routes_search(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                       cw_server *restrict order)
{
    enum { STEP = 1 << ROUTES_LINK_BITS };
    uint32_t *restrict way = r->way;
    uint32_t count = 0;
    routes_clear(r, from);
    for (unsigned left = links[from]; left != 0; left &= left - 1) {
        cw_link link = (cw_link)__builtin_ctz(left);
        count = reach_by(way, order, count, neighbours[from * CW_LINK_COUNT + link], STEP, cw_links_of(link));
    }
    /* A server is expanded after the whole level before its own: all its ways have left their mark by then. */
    for (uint32_t done = 0; done < count; done++) {
        cw_server at = order[done];
        cw_links via = way[at] & CW_LINKS_ALL, alive = links[at];
        uint32_t level = (way[at] ^ via) + STEP;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            /* A dead link leads back to where we are, which is nearer: again without a branch. */
            cw_server far = neighbours[at * CW_LINK_COUNT + link] ^ at;
            count = reach_by(way, order, count, at ^ (far & (0u - (alive >> link & 1u))), level, via);
        }
    }
    return count + 1;
}

/* What one coordinate of a server adds to the way there, by its steps from the source along that axis. */
struct axis {
    uint32_t way[CW_DIM_MAX];
};

static void axis_fill(struct axis *a, uint32_t dim, uint32_t from, unsigned axis)
{
    for (uint32_t at = 0; at < dim; at++) {
        uint32_t plus = at >= from ? at - from : at + dim - from;
        uint32_t minus = plus == 0 ? 0 : dim - plus;
        cw_links up = plus != 0 && plus <= minus ? cw_links_of((cw_link)(2 * axis)) : CW_LINKS_NONE;
        cw_links down = plus != 0 && minus <= plus ? cw_links_of((cw_link)(2 * axis + 1)) : CW_LINKS_NONE;
        a->way[at] = (plus < minus ? plus : minus) << ROUTES_LINK_BITS | up | down;
    }
}

/* Hops along the axes add up and their links are different bits: a way is the sum of what its coordinates add. */
void routes_whole(struct routes *r, const struct torus *torus, cw_server from)
{
    struct axis axis[CW_AXES];
    cw_coord c = torus_coord(torus, from);
    axis_fill(&axis[0], torus->dim[0], c.x, 0);
    axis_fill(&axis[1], torus->dim[1], c.y, 1);
    axis_fill(&axis[2], torus->dim[2], c.z, 2);
    uint32_t *way = r->way;
    for (uint32_t x = 0; x < torus->dim[0]; x++) {
        for (uint32_t y = 0; y < torus->dim[1]; y++) {
            uint32_t row = axis[0].way[x] + axis[1].way[y];
            for (uint32_t z = 0; z < torus->dim[2]; z++) {
                *way++ = row + axis[2].way[z];
            }
        }
    }
}
