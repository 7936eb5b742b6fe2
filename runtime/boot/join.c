/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/join.h"

/* A port whose cable goes to a port with a known direction gets the opposite of that. */
static bool take_opposites(const struct graph *g, struct solution *s)
{
    bool changed = false;
    for (uint32_t i = 0; i < g->count; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            struct graph_end far = graph_far(g, i, port);
            uint8_t *direction = &s->spot[i].direction[port];
            if (*direction != BOOT_UNLABELLED || far.server == GRAPH_NONE) {
                continue;
            }
            unsigned theirs = s->spot[far.server].direction[far.port];
            if (theirs < CW_LINK_COUNT) {
                *direction = cw_link_opposite((cw_link)theirs);
                changed = true;
            }
        }
    }
    return changed;
}

/* How many cables to servers with a place agree most on where server i stands: *at. 0: none says anything. */
static unsigned voices(const struct graph *g, const struct solution *s, uint32_t i, cw_coord *at)
{
    cw_coord said[CW_LINK_COUNT];
    unsigned count = 0, best = 0;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        struct graph_end far = graph_far(g, i, port);
        if (far.server == GRAPH_NONE || !s->spot[far.server].placed) {
            continue;
        }
        unsigned theirs = s->spot[far.server].direction[far.port];
        if (theirs < CW_LINK_COUNT && s->spot[i].direction[port] == cw_link_opposite((cw_link)theirs)) {
            said[count++] = coord_step(s->dims, s->spot[far.server].at, theirs);
        }
    }
    for (unsigned a = 0; a < count; a++) {
        unsigned same = 0;
        for (unsigned b = 0; b < count; b++) {
            if (coord_equal(said[a], said[b])) {
                same++;
            }
        }
        if (same > best) {
            best = same;
            *at = said[a];
        }
    }
    return best;
}

/* Places those servers for which the most cables speak. False when there are none. */
static bool place_most_certain(const struct graph *g, struct solution *s)
{
    unsigned most = 0;
    cw_coord at = {0};
    for (uint32_t i = 0; i < g->count; i++) {
        if (!s->spot[i].placed) {
            unsigned v = voices(g, s, i, &at);
            most = v > most ? v : most;
        }
    }
    for (uint32_t i = 0; i < g->count && most > 0; i++) {
        if (!s->spot[i].placed && voices(g, s, i, &at) >= most) {
            s->spot[i].at = at;
            s->spot[i].placed = true;
        }
    }
    return most > 0;
}

static bool uses(const struct graph_spot *spot, unsigned direction)
{
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        if (spot->direction[port] == direction) {
            return true;
        }
    }
    return false;
}

/* A cable between two servers with a place goes in the direction from one place to the other. */
static bool take_differences(const struct graph *g, struct solution *s)
{
    bool changed = false;
    for (uint32_t i = 0; i < g->count; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            struct graph_end far = graph_far(g, i, port);
            struct graph_spot *here = &s->spot[i];
            if (far.server == GRAPH_NONE || far.server == i || here->direction[port] != BOOT_UNLABELLED ||
                !here->placed) {
                continue;
            }
            struct graph_spot *there = &s->spot[far.server];
            if (!there->placed || there->direction[far.port] != BOOT_UNLABELLED) {
                continue;
            }
            for (unsigned d = 0; d < CW_LINK_COUNT; d++) {
                unsigned back = cw_link_opposite((cw_link)d);
                if (dims_axis(s->dims, d / 2) > 1 && coord_equal(coord_step(s->dims, here->at, d), there->at) &&
                    !uses(here, d) && !uses(there, back)) {
                    here->direction[port] = (uint8_t)d;
                    there->direction[far.port] = (uint8_t)back;
                    changed = true;
                    break;
                }
            }
        }
    }
    return changed;
}

/* Where a server has one port and one direction left, these belong together. */
static bool take_last(const struct graph *g, struct solution *s)
{
    bool changed = false;
    for (uint32_t i = 0; i < g->count; i++) {
        struct graph_spot *spot = &s->spot[i];
        unsigned open = 0, last = 0, left = 0;
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            if (spot->direction[port] == BOOT_UNLABELLED) {
                open++;
                last = port;
            }
        }
        for (unsigned d = 0; d < CW_LINK_COUNT; d++) {
            if (dims_axis(s->dims, d / 2) > 1 && !uses(spot, d)) {
                left |= 1u << d;
            }
        }
        if (open == 1 && left != 0 && (left & (left - 1)) == 0) {
            spot->direction[last] = (uint8_t)__builtin_ctz(left);
            changed = true;
        }
    }
    return changed;
}

void boot_join(const struct graph *g, struct solution *s)
{
    for (uint32_t i = 0; i < g->count; i++) {
        const struct graph_server *server = &g->server[i];
        if (server->placed && s->dims.x == 0) {
            s->dims = server->dims;
        }
        s->spot[i].placed = server->placed;
        s->spot[i].at = server->at;
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            s->spot[i].direction[port] = server->label[port];
        }
    }
    for (uint32_t i = 0; i < g->count; i++) { /* servers of another torus have no position in this one */
        const struct graph_server *server = &g->server[i];
        if (server->placed && (server->at.x >= s->dims.x || server->at.y >= s->dims.y || server->at.z >= s->dims.z ||
                               !dims_equal(server->dims, s->dims))) {
            s->spot[i].placed = false;
        }
    }
    for (bool changed = true; changed;) {
        changed = take_opposites(g, s);
        changed = changed || place_most_certain(g, s);
        changed = changed || take_differences(g, s);
        changed = changed || take_last(g, s);
    }
}
