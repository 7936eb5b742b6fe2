/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/verify.h"

#include <errno.h>
#include <stdlib.h>

static bool inside(cw_dims dims, cw_coord c)
{
    return c.x < dims.x && c.y < dims.y && c.z < dims.z;
}

static bool end_is_right(const struct graph *g, const struct solution *s, uint32_t i, unsigned port)
{
    unsigned direction = s->spot[i].direction[port];
    struct graph_end far = graph_far(g, i, port);
    if (far.server == GRAPH_NONE) {
        return true;
    }
    if (direction >= CW_LINK_COUNT || dims_axis(s->dims, direction / 2) == 1) {
        return false;
    }
    return s->spot[far.server].direction[far.port] == cw_link_opposite((cw_link)direction) &&
           coord_equal(s->spot[far.server].at, coord_step(s->dims, s->spot[i].at, direction));
}

/* True when what a server was told, its labels and its cables fit the place that the solution gives it. */
static bool server_is_right(const struct graph *g, const struct solution *s, uint32_t i, bool running)
{
    const struct graph_server *server = &g->server[i];
    const struct graph_spot *spot = &s->spot[i];
    unsigned seen = 0, cabled = 0, wanted = 0;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        unsigned direction = spot->direction[port];
        if (!end_is_right(g, s, i, port)) {
            return false;
        }
        bool idle = direction >= CW_LINK_COUNT || dims_axis(s->dims, direction / 2) == 1;
        if (idle && !running && server->label[port] != BOOT_ABSENT && server->expected.x == 0) {
            return false; /* nobody said that there is no cable at this port: there may be more servers behind it */
        }
        if (direction >= CW_LINK_COUNT) {
            continue;
        }
        if ((seen & 1u << direction) != 0 ||
            (server->label[port] < CW_LINK_COUNT && server->label[port] != direction)) {
            return false;
        }
        seen |= 1u << direction;
        if (graph_far(g, i, port).server != GRAPH_NONE) {
            cabled++;
        }
        if (dims_axis(s->dims, direction / 2) > 1) {
            wanted++;
        }
    }
    unsigned links = 0;
    for (unsigned axis = 0; axis < CW_AXES; axis++) {
        links += dims_axis(s->dims, axis) > 1 ? 2 : 0;
    }
    if (server->placed) {
        return dims_equal(server->dims, s->dims) && coord_equal(server->at, spot->at);
    }
    if (server->expected.x != 0 && !dims_equal(server->expected, s->dims)) {
        return false;
    }
    return wanted == links && (running ? 2 * cabled > links || links == 0 : cabled == links);
}

int boot_verify(const struct graph *g, const struct solution *s)
{
    uint32_t cells = dims_servers(s->dims);
    bool running = false;
    for (uint32_t i = 0; i < g->count; i++) {
        running = running || g->server[i].placed;
    }
    if (s->count != g->count || g->count == 0 || cells == 0 || s->dims.x > CW_DIM_MAX || s->dims.y > CW_DIM_MAX ||
        s->dims.z > CW_DIM_MAX || (running ? g->count > cells : g->count != cells)) {
        return 1;
    }
    uint8_t *taken = calloc(cells, 1);
    if (taken == NULL) {
        return -ENOMEM;
    }
    int wrong = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const struct graph_spot *spot = &s->spot[i];
        if (!spot->placed || spot->torus != 0 || !inside(s->dims, spot->at) ||
            taken[coord_cell(s->dims, spot->at)]++ != 0 || !server_is_right(g, s, i, running)) {
            wrong = 1;
            break;
        }
    }
    free(taken);
    return wrong;
}
