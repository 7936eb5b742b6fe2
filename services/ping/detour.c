/* SPDX-License-Identifier: Apache-2.0 */
#include "services/ping/detour.h"

#include <errno.h>

/* The order in which a leg goes along the axes, and the sense on each: 6 * 8 ways to go a distance. */
static const uint8_t axes[6][CW_AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
enum { WAYS = 6 * 8 };

/* The server that lies so many links from `from`, at most half way round on any axis. */
static cw_coord step(const unsigned dim[CW_AXES], cw_coord from, unsigned links, unsigned way)
{
    unsigned at[CW_AXES] = {from.x, from.y, from.z};
    for (unsigned i = 0; i < CW_AXES; i++) {
        unsigned axis = axes[way / 8][i];
        unsigned here = links < dim[axis] / 2 ? links : dim[axis] / 2;
        links -= here;
        at[axis] = (at[axis] + ((way >> axis) & 1 ? dim[axis] - here : here)) % dim[axis];
    }
    return (cw_coord){(uint8_t)at[0], (uint8_t)at[1], (uint8_t)at[2]};
}

/*
 * True when the leg from `from` to `to` may be part of the path. A path that comes by here again is good only when
 * there is no other: an answer that retraces it is at home as soon as it is here.
 */
static bool good_leg(const cw_svc *s, cw_coord from, cw_coord to, bool any)
{
    cw_coord home = cw_self(s);
    unsigned out = cw_distance(s, from, home);
    return cw_reachable(s, to) && (any || out == 0 || out + cw_distance(s, home, to) > cw_distance(s, from, to));
}

/* The end of a leg of so many links; false: there is none. */
static bool next_leg(const cw_svc *s, const unsigned dim[CW_AXES], unsigned links, cw_coord *at)
{
    for (unsigned way = 0; way < 2 * WAYS; way++) {
        cw_coord to = step(dim, *at, links, way % WAYS);
        if (good_leg(s, *at, to, way >= WAYS)) {
            *at = to;
            return true;
        }
    }
    return false;
}

int detour_plan(const cw_svc *s, unsigned hops, cw_coord out[static DETOUR_LEGS_MAX])
{
    cw_dims dims = cw_torus(s);
    const unsigned dim[CW_AXES] = {dims.x, dims.y, dims.z};
    unsigned diameter = dim[0] / 2 + dim[1] / 2 + dim[2] / 2;
    cw_coord at = cw_self(s);
    int legs = 0;
    for (; hops > 0 && diameter > 0 && legs < DETOUR_LEGS_MAX; legs++) {
        unsigned links = hops < diameter ? hops : diameter;
        if (!next_leg(s, dim, links, &at)) {
            return -ENETUNREACH;
        }
        out[legs] = at;
        hops -= links;
    }
    return hops == 0 && legs > 0 ? legs : -ENETUNREACH;
}
