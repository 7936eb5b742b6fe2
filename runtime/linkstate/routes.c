/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/routes.h"

#include "base/bytes.h"
#include "base/check.h"

#include <stdalign.h>
#include <string.h>

enum { WORD = 8, STEP = ROUTES_STEP };

static inline uint8_t mark_after(uint8_t mark)
{
    return mark == ROUTES_MARKS * STEP ? STEP : (uint8_t)(mark + STEP);
}

void routes_init(struct routes *r, uint32_t servers, cw_server from, struct arena *arena)
{
    *r = (struct routes){
        .servers = servers,
        .way = arena_carve(arena, 2, routes_table_bytes(servers), alignof(uint64_t)),
    };
    if (!arena_is_measuring(arena)) {
        routes_clear(r, from);
    }
}

void routes_clear(struct routes *r, cw_server from)
{
    memset(r->way, 0, routes_table_bytes(r->servers));
    memset(routes_levels(r), ROUTES_FAR, r->servers);
    r->way[from] = routes_mark(0);
    routes_levels(r)[from] = 0;
    r->is_deep = false;
}

/*
 * One edge to `to`, by first links `via`; `mark` is a way of that level without links. The server is new, or of this
 * very level by another way, or nearer, and over broken links no branch predictor can tell these apart: so there is no
 * branch. One that is not new is written behind the end of `order` and overwritten by the next.
 */
static inline uint32_t reach_by(uint8_t *way, cw_server *order, uint32_t count, cw_server to, uint8_t mark,
                                cw_links via)
{
    uint32_t had = way[to];
    bool fresh = had == 0;
    uint32_t has = fresh ? mark : had;
    way[to] = (uint8_t)(has | (via & (0u - ((has ^ mark) < STEP))));
    order[count] = to;
    return count + fresh;
}

uint32_t routes_search(struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from,
                       cw_server *restrict order)
{
    uint8_t *restrict way = r->way, *restrict levels = routes_levels(r);
    uint32_t count = 0, level = 0;
    uint8_t behind = routes_mark(1); /* the mark of the level behind the one that is expanded */
    routes_clear(r, from);
    for (unsigned left = links[from]; left != 0; left &= left - 1) {
        cw_link link = (cw_link)__builtin_ctz(left);
        count = reach_by(way, order, count, neighbours[from * CW_LINK_COUNT + link], behind, cw_links_of(link));
    }
    /* A server is expanded after the whole level before its own: all its ways have left their mark by then. */
    for (uint32_t done = 0; done < count; done++) {
        cw_server at = order[done];
        cw_links via = way[at] & CW_LINKS_ALL, alive = links[at];
        uint8_t mark = mark_after(way[at] ^ via);
        level += mark != behind;
        behind = mark;
        levels[at] = (uint8_t)level;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            /* A dead link leads back to where we are, which is nearer: again without a branch. */
            cw_server far = neighbours[at * CW_LINK_COUNT + link] ^ at;
            count = reach_by(way, order, count, at ^ (far & (0u - (alive >> link & 1u))), mark, via);
        }
    }
    r->is_deep = level >= ROUTES_DEEP;
    return count + 1;
}

/* The first neighbour by a link that is up which is one level nearer than at. */
static cw_server nearer(const struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server at)
{
    unsigned left = links[at];
    for (; left != 0; left &= left - 1) {
        cw_server far = neighbours[at * CW_LINK_COUNT + (unsigned)__builtin_ctz(left)];
        uint8_t way = r->way[far];
        if (way != 0 && mark_after(way & (uint8_t)~CW_LINKS_ALL) == (r->way[at] & ~CW_LINKS_ALL)) {
            return far;
        }
    }
    CHECK(left != 0); /* the table was made of other links */
    return at;
}

uint32_t routes_hops(const struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server s)
{
    if (!routes_reaches(r, s)) {
        return ROUTES_UNREACHABLE;
    }
    uint32_t hops = 0;
    for (; routes_next(r, s) != CW_LINKS_NONE; hops++) {
        s = nearer(r, neighbours, links, s);
    }
    return hops;
}

/* Bit i: byte i of the eight is not 0, by its mark. */
static uint64_t reached(const uint8_t *way)
{
    const uint64_t low = UINT64_C(0x0101010101010101), diagonal = UINT64_C(0x8040201008040201);
    uint64_t eight = get_be64(way);
    /* One bit a byte, the first byte highest; the product puts that of byte i at 56 + i and no two at one place. */
    return ((eight >> (CW_LINK_COUNT + 1) | eight >> CW_LINK_COUNT) & low) * diagonal >> 56;
}

void routes_members(const struct routes *r, struct reach *set)
{
    enum { BITS = 64 };
    for (uint32_t first = 0; first < r->servers; first += BITS) {
        uint64_t word = 0;
        for (uint32_t at = 0; at < BITS && first + at < r->servers; at += WORD) {
            word |= reached(r->way + first + at) << at;
        }
        reach_put_word(set, first / BITS, word);
    }
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
        a->way[at] = (plus < minus ? plus : minus) << CW_LINK_COUNT | up | down;
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
    uint8_t *way = r->way, *level = routes_levels(r);
    r->is_deep = torus->dim[0] / 2 + torus->dim[1] / 2 + torus->dim[2] / 2 >= ROUTES_DEEP;
    for (uint32_t x = 0; x < torus->dim[0]; x++) {
        for (uint32_t y = 0; y < torus->dim[1]; y++) {
            uint32_t row = axis[0].way[x] + axis[1].way[y];
            for (uint32_t z = 0; z < torus->dim[2]; z++) {
                uint32_t sum = row + axis[2].way[z];
                *way++ = (uint8_t)(routes_mark(sum >> CW_LINK_COUNT) | (sum & CW_LINKS_ALL));
                *level++ = (uint8_t)(sum >> CW_LINK_COUNT);
            }
        }
    }
}

/* What the way and the level of s must be by those of its neighbours. */
static bool is_right(const struct routes *r, const cw_server *neighbours, cw_links links, cw_server from, cw_server s)
{
    const uint8_t *level = routes_levels(r);
    uint32_t nearest = ROUTES_FAR, via = CW_LINKS_NONE;
    for (unsigned left = links; left != 0; left &= left - 1) {
        cw_link link = (cw_link)__builtin_ctz(left);
        cw_server near = neighbours[s * CW_LINK_COUNT + link];
        cw_links first = near == from ? cw_links_of(cw_link_opposite(link)) : routes_next(r, near);
        via = level[near] < nearest ? first : level[near] == nearest ? via | first : via;
        nearest = level[near] < nearest ? level[near] : nearest;
    }
    if (nearest == ROUTES_FAR) {
        return level[s] == ROUTES_FAR && r->way[s] == 0;
    }
    return level[s] == nearest + 1 && r->way[s] == (routes_mark(nearest + 1) | via);
}

bool routes_are_right(const struct routes *r, const cw_server *neighbours, const cw_links *links, cw_server from)
{
    bool right = r->way[from] == routes_mark(0) && routes_levels(r)[from] == 0;
    for (cw_server s = 0; s < r->servers && right && !r->is_deep; s++) {
        right = s == from || is_right(r, neighbours, links[s], from, s);
    }
    return right || r->is_deep;
}
