/* SPDX-License-Identifier: Apache-2.0 */
#include "core/routes.h"

#include <stdalign.h>
#include <string.h>

void routes_init(struct routes *r, uint32_t servers, cw_server from, struct arena *arena)
{
    *r = (struct routes){
        .servers = servers,
        .next = arena_carve(arena, servers, sizeof *r->next, 1),
        .hops = arena_carve(arena, servers, sizeof *r->hops, alignof(uint16_t)),
    };
    if (!arena_is_measuring(arena)) {
        routes_clear(r, from);
    }
}

void routes_clear(struct routes *r, cw_server from)
{
    memset(r->next, 0, r->servers * sizeof *r->next);
    memset(r->hops, 0xff, r->servers * sizeof *r->hops);
    r->hops[from] = 0;
}

/* A search under way. */
struct search {
    cw_links *next;
    uint16_t *hops;
    cw_server *order;
    uint32_t count;
};

/*
 * One edge to `to`, `hops` from the source, by first links `via`. It may be new, or of this very level by another way, or nearer;
 * no branch predictor can tell the three apart, so there is no branch: a server that is not new is written behind the end of
 * `order` and overwritten by the next.
 */
static inline void reach_by(struct search *s, cw_server to, uint16_t hops, cw_links via)
{
    uint16_t had = s->hops[to];
    bool fresh = had == ROUTES_UNREACHABLE;
    uint16_t has = fresh ? hops : had;
    s->hops[to] = has;
    s->order[s->count] = to;
    s->count += fresh;
    s->next[to] |= has == hops ? via : CW_LINKS_NONE;
}

uint32_t routes_search(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                       cw_server *order)
{
    routes_clear(r, from);
    struct search s = {r->next, r->hops, order, 0};
    for (unsigned left = links[from]; left != 0; left &= left - 1) {
        cw_link link = (cw_link)__builtin_ctz(left);
        reach_by(&s, neighbours[from * CW_LINK_COUNT + link], 1, cw_links_of(link));
    }
    /* A server is expanded after the whole level before its own: all its ways have left their mark in next[] by then. */
    for (uint32_t done = 0; done < s.count; done++) {
        cw_server at = order[done];
        const cw_server *far = &neighbours[at * CW_LINK_COUNT];
        cw_links via = s.next[at];
        uint16_t hops = s.hops[at] < ROUTES_HOPS_MAX ? (uint16_t)(s.hops[at] + 1) : ROUTES_HOPS_MAX;
        for (unsigned left = links[at]; left != 0; left &= left - 1) {
            reach_by(&s, far[__builtin_ctz(left)], hops, via);
        }
    }
    return s.count + 1;
}

/* What one coordinate of a server adds, by its steps from the source along that axis. */
struct axis {
    cw_links next[CW_DIM_MAX];
    uint16_t hops[CW_DIM_MAX];
};

static void axis_fill(struct axis *a, uint32_t dim, uint32_t from, unsigned axis)
{
    for (uint32_t at = 0; at < dim; at++) {
        uint32_t plus = at >= from ? at - from : at + dim - from;
        uint32_t minus = plus == 0 ? 0 : dim - plus;
        cw_links up = plus != 0 && plus <= minus ? cw_links_of((cw_link)(2 * axis)) : CW_LINKS_NONE;
        cw_links down = plus != 0 && minus <= plus ? cw_links_of((cw_link)(2 * axis + 1)) : CW_LINKS_NONE;
        a->next[at] = up | down;
        a->hops[at] = (uint16_t)(plus < minus ? plus : minus);
    }
}

void routes_whole(struct routes *r, const struct torus *torus, cw_server from)
{
    struct axis axis[CW_AXES];
    cw_coord c = torus_coord(torus, from);
    axis_fill(&axis[0], torus->dim[0], c.x, 0);
    axis_fill(&axis[1], torus->dim[1], c.y, 1);
    axis_fill(&axis[2], torus->dim[2], c.z, 2);
    cw_links *next = r->next;
    uint16_t *hops = r->hops;
    for (uint32_t x = 0; x < torus->dim[0]; x++) {
        for (uint32_t y = 0; y < torus->dim[1]; y++) {
            cw_links plane_next = axis[0].next[x] | axis[1].next[y];
            uint16_t plane_hops = (uint16_t)(axis[0].hops[x] + axis[1].hops[y]);
            for (uint32_t z = 0; z < torus->dim[2]; z++) {
                *next++ = plane_next | axis[2].next[z];
                *hops++ = (uint16_t)(plane_hops + axis[2].hops[z]);
            }
        }
    }
}
