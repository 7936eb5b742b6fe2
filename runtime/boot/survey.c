/* SPDX-License-Identifier: Apache-2.0 */
#include "boot/survey.h"
#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The entry of the server at the other end of a port, if that names this end, too; otherwise ATLAS_NONE. */
static uint32_t mutual(const struct atlas *a, uint32_t index, unsigned port)
{
    const struct cabling *here = &a->entry[index];
    uint32_t far = here->port[port].far_id != 0 ? atlas_find(a, here->port[port].far_id) : ATLAS_NONE;
    if (far == ATLAS_NONE) {
        return ATLAS_NONE;
    }
    const struct cabling_port *back = &a->entry[far].port[here->port[port].far_port];
    return back->far_id == here->id && back->far_port == port ? far : ATLAS_NONE;
}

/* Marks in seen[] all servers that are connected with this one, lists them in order[], and gives their number. */
static uint32_t reach(const struct atlas *a, uint32_t self, uint8_t *seen, uint32_t *order, uint32_t *missing)
{
    uint32_t count = 0;
    order[count++] = self;
    seen[self] = 1;
    for (uint32_t at = 0; at < count; at++) {
        const struct cabling *here = &a->entry[order[at]];
        for (unsigned port = 0; port < CW_LINK_COUNT && here->flags != CABLING_PLACED; port++) {
            if (here->port[port].far_id == 0) {
                continue;
            }
            uint32_t far = mutual(a, order[at], port);
            if (far == ATLAS_NONE) {
                (*missing)++;
            } else if (!seen[far]) {
                seen[far] = 1;
                order[count++] = far;
            }
        }
    }
    return count;
}

static int by_id(const void *a, const void *b)
{
    const struct graph_server *left = a, *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

uint32_t boot_survey_find(const struct graph *g, uint64_t id)
{
    struct graph_server key = {.id = id};
    const struct graph_server *found = bsearch(&key, g->server, g->count, sizeof key, by_id);
    return found != NULL ? (uint32_t)(found - g->server) : GRAPH_NONE;
}

static void fill_server(struct graph_server *server, const struct cabling *advert)
{
    server->id = advert->id;
    memcpy(server->name, advert->name, sizeof server->name);
    server->placed = advert->flags == CABLING_PLACED;
    server->dims = server->placed ? advert->dims : (cw_dims){0};
    server->expected = advert->flags == CABLING_TOLD ? advert->dims : (cw_dims){0};
    server->at = advert->at;
    for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
        server->label[port] = advert->port[port].label;
    }
}

static void fill_cables(const struct atlas *a, struct graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t index = atlas_find(a, g->server[i].id);
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            uint32_t far = mutual(a, index, port);
            uint32_t there = far != ATLAS_NONE ? boot_survey_find(g, a->entry[far].id) : GRAPH_NONE;
            if (there != GRAPH_NONE) {
                g->server[i].far[port] = (struct graph_end){there, a->entry[index].port[port].far_port};
            }
        }
    }
}

int boot_survey(const struct atlas *a, uint64_t self, struct graph *g, uint32_t *missing)
{
    uint32_t index = atlas_find(a, self);
    CHECK(index != ATLAS_NONE);
    *missing = 0;
    uint8_t *seen = calloc(a->count, 1);
    uint32_t *order = malloc(a->count * sizeof *order);
    int rc = -ENOMEM;
    if (seen != NULL && order != NULL) {
        uint32_t count = reach(a, index, seen, order, missing);
        rc = graph_make(g, count);
        for (uint32_t i = 0; i < count && rc == 0; i++) {
            fill_server(&g->server[i], &a->entry[order[i]]);
        }
    }
    if (rc == 0) {
        qsort(g->server, g->count, sizeof *g->server, by_id);
        fill_cables(a, g);
    }
    free(seen);
    free(order);
    return rc;
}
