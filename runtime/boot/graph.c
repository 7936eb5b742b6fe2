/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/graph.h"
#include "base/check.h"
#include "base/digest.h"

#include <errno.h>
#include <stdlib.h>

int graph_make(struct graph *g, uint32_t count)
{
    struct graph_server *server = calloc(count > 0 ? count : 1, sizeof *server);
    if (server == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            server[i].label[port] = BOOT_UNLABELLED;
            server[i].far[port].server = GRAPH_NONE;
        }
    }
    *g = (struct graph){count, server};
    return 0;
}

void graph_free(struct graph *g)
{
    free(g->server);
    *g = (struct graph){0};
}

void graph_join(struct graph *g, struct graph_end a, struct graph_end b)
{
    CHECK(graph_far(g, a.server, a.port).server == GRAPH_NONE && graph_far(g, b.server, b.port).server == GRAPH_NONE);
    g->server[a.server].far[a.port] = b;
    g->server[b.server].far[b.port] = a;
}

void graph_cut(struct graph *g, struct graph_end a)
{
    struct graph_end b = graph_far(g, a.server, a.port);
    if (b.server != GRAPH_NONE) {
        g->server[b.server].far[b.port].server = GRAPH_NONE;
        g->server[a.server].far[a.port].server = GRAPH_NONE;
    }
}

int solution_make(struct solution *s, uint32_t count)
{
    struct graph_spot *spot = calloc(count > 0 ? count : 1, sizeof *spot);
    if (spot == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            spot[i].direction[port] = BOOT_UNLABELLED;
        }
    }
    *s = (struct solution){.count = count, .spot = spot};
    return 0;
}

void solution_free(struct solution *s)
{
    free(s->spot);
    *s = (struct solution){0};
}

uint64_t solution_digest(const struct graph *g, const struct solution *s)
{
    struct digest d;
    digest_init(&d);
    digest_u64(&d, (uint64_t)s->dims.x << 32 | (uint64_t)s->dims.y << 16 | s->dims.z);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct graph_spot *spot = &s->spot[i];
        digest_u64(&d, g->server[i].id);
        uint8_t bytes[] = {spot->at.x,         spot->at.y,         spot->at.z,         spot->placed,
                           spot->direction[0], spot->direction[1], spot->direction[2], spot->direction[3],
                           spot->direction[4], spot->direction[5]};
        digest_bytes(&d, bytes, sizeof bytes);
    }
    uint64_t value = digest_value(&d);
    return value != 0 ? value : 1;
}

cw_coord coord_step(cw_dims dims, cw_coord from, unsigned direction)
{
    unsigned at[CW_AXES] = {from.x, from.y, from.z};
    unsigned axis = direction / 2;
    unsigned length = dims_axis(dims, axis);
    at[axis] = (at[axis] + (direction % 2 == 0 ? 1 : length - 1)) % length;
    return coord_of(at);
}
