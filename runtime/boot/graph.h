/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - servers, ports and cables as far as they are known, and a solution: where each server stands. Plain values.
 *
 * Servers are in rising order of their ids, so that all who know the same servers have the same graph, and a function
 * of it gives all of them the same answer. A cable is in the graph when its two ends name each other.
 */
#ifndef BOOT_GRAPH_H
#define BOOT_GRAPH_H

#include "boot/fault.h"

#define GRAPH_NONE UINT32_MAX

/* One end of a cable. */
struct graph_end {
    uint32_t server; /* index; GRAPH_NONE: silent, or a port that takes no part */
    uint8_t port;
};

struct graph_server {
    uint64_t id;
    char name[BOOT_NAME_BYTES];
    cw_dims expected;                    /* the dims that the server was told; 0,0,0: none */
    cw_dims dims;                        /* placed: of its torus */
    cw_coord at;                         /* placed: its place */
    bool placed;                         /* it has a place, to which others adapt */
    uint8_t label[CW_LINK_COUNT];        /* enum boot_label, by port; of a placed server: the directions */
    struct graph_end far[CW_LINK_COUNT]; /* by port: the other end of its cable */
};

struct graph {
    uint32_t count;
    struct graph_server *server;
};

/* Gives a graph of count servers, all ports of which are unlabelled and silent; graph_free() releases it. -ENOMEM. */
CW_MUST_CHECK int graph_make(struct graph *g, uint32_t count);
void graph_free(struct graph *g);

/* Joins two silent ports by a cable; they may belong to one server. */
void graph_join(struct graph *g, struct graph_end a, struct graph_end b);
/* Removes the cable at that port, if there is one. */
void graph_cut(struct graph *g, struct graph_end a);

static inline struct graph_end graph_far(const struct graph *g, uint32_t server, unsigned port)
{
    return g->server[server].far[port];
}

/* True for one of the two ends of each cable, so that a walk over all ports meets every cable once. */
static inline bool graph_is_first(const struct graph *g, uint32_t server, unsigned port)
{
    struct graph_end far = graph_far(g, server, port);
    return far.server != GRAPH_NONE && (server < far.server || (server == far.server && port <= far.port));
}

/* Where a server stands, in a solution. */
struct graph_spot {
    cw_coord at;
    bool placed;   /* at is known */
    uint8_t torus; /* 0; above 0 when the graph holds several tori (BOOT_FAULT_JOINED) */
    /* Of each port: below CW_LINK_COUNT, or BOOT_ABSENT: it takes no part, or BOOT_UNLABELLED: not known. */
    uint8_t direction[CW_LINK_COUNT];
};

struct solution {
    cw_dims dims;                    /* 0,0,0: no shape was found */
    int16_t shift[CW_AXES][CW_AXES]; /* shift[a]: where a row of axis a arrives, relative to where it started */
    uint32_t count;
    struct graph_spot *spot; /* of each server of the graph */
};

CW_MUST_CHECK int solution_make(struct solution *s, uint32_t count);
void solution_free(struct solution *s);

/* 64 bits that are equal for equal solutions of equal graphs. Not 0. */
uint64_t solution_digest(const struct graph *g, const struct solution *s);

/* Dims and coordinates as arrays, and back. */
static inline unsigned dims_axis(cw_dims dims, unsigned axis)
{
    return axis == 0 ? dims.x : axis == 1 ? dims.y : dims.z;
}

static inline cw_dims dims_of(const unsigned length[CW_AXES])
{
    return (cw_dims){(uint16_t)length[0], (uint16_t)length[1], (uint16_t)length[2]};
}

static inline bool dims_equal(cw_dims a, cw_dims b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static inline uint32_t dims_servers(cw_dims dims)
{
    return (uint32_t)dims.x * dims.y * dims.z;
}

static inline bool coord_equal(cw_coord a, cw_coord b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static inline unsigned coord_axis(cw_coord c, unsigned axis)
{
    return axis == 0 ? c.x : axis == 1 ? c.y : c.z;
}

static inline cw_coord coord_of(const unsigned at[CW_AXES])
{
    return (cw_coord){(uint8_t)at[0], (uint8_t)at[1], (uint8_t)at[2]};
}

/* The coordinate one step from there along the direction; the torus closes. */
cw_coord coord_step(cw_dims dims, cw_coord from, unsigned direction);

/* The dense id of a coordinate inside the dims: x most significant. */
static inline uint32_t coord_cell(cw_dims dims, cw_coord c)
{
    return ((uint32_t)c.x * dims.y + c.y) * dims.z + c.z;
}

#endif
