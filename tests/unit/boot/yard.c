/* SPDX-License-Identifier: Apache-2.0 */
#include "yard.h"

#include <stdio.h>
#include <string.h>

static void shuffle(struct rng *r, uint32_t *values, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(r, i), keep = values[i - 1];
        values[i - 1] = values[j];
        values[j] = keep;
    }
}

static struct yard make(cw_dims dims, bool labelled, struct rng *r)
{
    uint32_t n = dims_servers(dims);
    struct yard y = {.dims = dims, .labelled = labelled};
    y.at_cell = calloc(n, sizeof *y.at_cell);
    y.cell_of = calloc(n, sizeof *y.cell_of);
    y.port = calloc(n, sizeof *y.port);
    if (graph_make(&y.g, n) != 0 || y.at_cell == NULL || y.cell_of == NULL || y.port == NULL) {
        abort();
    }
    for (uint32_t i = 0; i < n; i++) {
        y.at_cell[i] = i;
    }
    if (r != NULL) {
        shuffle(r, y.at_cell, n);
    }
    for (uint32_t cell = 0; cell < n; cell++) {
        y.cell_of[y.at_cell[cell]] = cell;
    }
    uint64_t id = 0;
    for (uint32_t i = 0; i < n; i++) {
        id += 1 + (r != NULL ? rng_below(r, 1u << 20) : 0);
        y.g.server[i].id = id;
        snprintf(y.g.server[i].name, sizeof y.g.server[i].name, "s%u", y.cell_of[i]);
        uint32_t ports[CW_LINK_COUNT] = {0, 1, 2, 3, 4, 5};
        if (!labelled && r != NULL) {
            shuffle(r, ports, CW_LINK_COUNT);
        }
        for (unsigned d = 0; d < CW_LINK_COUNT; d++) {
            y.port[i][d] = (uint8_t)ports[d];
            y.g.server[i].label[ports[d]] = (uint8_t)(dims_axis(dims, d / 2) == 1 ? (unsigned)BOOT_ABSENT
                                                      : labelled                  ? d
                                                                                  : (unsigned)BOOT_UNLABELLED);
        }
    }
    return y;
}

static void cable(struct yard *y)
{
    for (uint32_t cell = 0; cell < y->g.count; cell++) {
        cw_coord at = {(uint8_t)(cell / y->dims.z / y->dims.y), (uint8_t)(cell / y->dims.z % y->dims.y),
                       (uint8_t)(cell % y->dims.z)};
        for (unsigned d = 0; d < CW_LINK_COUNT; d += 2) {
            if (dims_axis(y->dims, d / 2) > 1) {
                uint32_t a = y->at_cell[cell], b = y->at_cell[coord_cell(y->dims, coord_step(y->dims, at, d))];
                graph_join(&y->g, (struct graph_end){a, y->port[a][d]}, (struct graph_end){b, y->port[b][d ^ 1u]});
            }
        }
    }
}

struct yard yard_make(cw_dims dims, bool labelled, struct rng *r)
{
    struct yard y = make(dims, labelled, r);
    cable(&y);
    return y;
}

struct yard yard_make_plain(cw_dims dims, bool labelled)
{
    return yard_make(dims, labelled, NULL);
}

void yard_free(struct yard *y)
{
    graph_free(&y->g);
    free(y->at_cell);
    free(y->cell_of);
    free(y->port);
}

struct graph_end yard_end(const struct yard *y, struct rng *r)
{
    for (;;) {
        uint32_t i = (uint32_t)rng_below(r, y->g.count);
        uint8_t port = (uint8_t)rng_below(r, CW_LINK_COUNT);
        if (graph_far(&y->g, i, port).server != GRAPH_NONE) {
            return (struct graph_end){i, port};
        }
    }
}

void yard_swap(struct yard *y, struct graph_end a, struct graph_end b)
{
    struct graph_end far_a = graph_far(&y->g, a.server, a.port), far_b = graph_far(&y->g, b.server, b.port);
    graph_cut(&y->g, a);
    graph_cut(&y->g, b);
    graph_join(&y->g, a, far_b);
    graph_join(&y->g, b, far_a);
}

bool yard_is_torus(const struct yard *y, const struct solution *s)
{
    uint32_t n = y->g.count;
    if (s->count != n || dims_servers(s->dims) != n) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (!s->spot[i].placed || s->spot[i].at.x >= s->dims.x || s->spot[i].at.y >= s->dims.y ||
            s->spot[i].at.z >= s->dims.z) {
            return false;
        }
        for (uint32_t j = 0; j < i && n <= 256; j++) {
            if (coord_equal(s->spot[i].at, s->spot[j].at)) {
                return false;
            }
        }
        for (unsigned port = 0; port < CW_LINK_COUNT; port++) {
            struct graph_end far = graph_far(&y->g, i, port);
            unsigned d = s->spot[i].direction[port];
            if (far.server == GRAPH_NONE) {
                if (d < CW_LINK_COUNT && dims_axis(s->dims, d / 2) > 1) {
                    return false;
                }
                continue;
            }
            if (d >= CW_LINK_COUNT || s->spot[far.server].direction[far.port] != (d ^ 1u) ||
                !coord_equal(coord_step(s->dims, s->spot[i].at, d), s->spot[far.server].at)) {
                return false;
            }
        }
    }
    return true;
}
