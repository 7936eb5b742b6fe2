/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.h - a small cluster of records to test link state with, and its links worked out in ways too simple to be
 * wrong: from all records anew, by definition, with Floyd and Warshall's distances.
 */
#ifndef KIT_LINKS_H
#define KIT_LINKS_H

#include "base/check.h"
#include "keyspace/torus.h"
#include "wire/record.h"

#include <string.h>

enum { LINKS_SERVERS_MAX = 64, LINKS_FAR = 1 << 20 };

struct cluster {
    struct torus torus;
    cw_server neighbours[LINKS_SERVERS_MAX * CW_LINK_COUNT];
    struct record record[LINKS_SERVERS_MAX]; /* each server's own; at first incarnation 1, seq 1, no link */
};

static inline void cluster_init(struct cluster *c, cw_dims dims)
{
    memset(c, 0, sizeof *c);
    CHECK(torus_init(&c->torus, dims) == 0 && c->torus.servers <= LINKS_SERVERS_MAX);
    torus_neighbours_fill(&c->torus, c->neighbours);
    for (cw_server s = 0; s < c->torus.servers; s++) {
        c->record[s] = (struct record){.incarnation = 1, .seq = 1, .origin = torus_coord(&c->torus, s)};
    }
}

enum link_state { LINK_DOWN, LINK_PENDING, LINK_UP };

/* One end lists a link anew, in a new version of its record, with the incarnation that the other end has now. */
static inline void cluster_list(struct cluster *c, cw_server s, cw_link link, enum link_state state)
{
    struct record *r = &c->record[s];
    cw_links bit = cw_links_of(link);
    const struct record *far = &c->record[c->neighbours[s * CW_LINK_COUNT + link]];
    r->up = (cw_links)(r->up & ~bit) | (state == LINK_UP ? bit : 0);
    r->pending = (cw_links)(r->pending & ~bit) | (state == LINK_PENDING ? bit : 0);
    r->neighbour[link] = state == LINK_DOWN ? 0 : (uint16_t)far->incarnation;
    r->seq++;
}

/* Both ends list the link anew. */
static inline void cluster_link(struct cluster *c, cw_server s, cw_link link, enum link_state state)
{
    cluster_list(c, s, link, state);
    cluster_list(c, c->neighbours[s * CW_LINK_COUNT + link], cw_link_opposite(link), state);
}

static inline void cluster_link_all(struct cluster *c, enum link_state state)
{
    for (cw_server s = 0; s < c->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (torus_links(&c->torus) & cw_links_of(link)) {
                cluster_list(c, s, link, state);
            }
        }
    }
}

/* A server begins a new life: next incarnation, no link. Its neighbours have not noticed yet. */
static inline void cluster_restart(struct cluster *c, cw_server s)
{
    struct record *r = &c->record[s];
    *r = (struct record){.incarnation = r->incarnation + 1, .seq = 1, .origin = r->origin};
}

/* By definition (semantics 4.2): both ends list it, each with the other's incarnation. Incarnation 0: no record. */
static inline bool naive_link(const struct torus *t, const struct record *records, cw_server s, cw_link link, bool opt)
{
    if (!(torus_links(t) & cw_links_of(link))) {
        return false;
    }
    cw_link back = cw_link_opposite(link);
    const struct record *near = &records[s], *far = &records[torus_neighbour(t, s, link)];
    unsigned near_lists = near->up | (opt ? near->pending : 0u), far_lists = far->up | (opt ? far->pending : 0u);
    return near->incarnation != 0 && far->incarnation != 0 && (near_lists & cw_links_of(link)) != 0 &&
           (far_lists & cw_links_of(back)) != 0 && near->neighbour[link] == far->incarnation % 65536 &&
           far->neighbour[back] == near->incarnation % 65536;
}

static inline void naive_links(const struct torus *t, const struct record *records, bool opt, cw_links *out)
{
    for (cw_server s = 0; s < t->servers; s++) {
        out[s] = CW_LINKS_NONE;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            out[s] |= naive_link(t, records, s, link, opt) ? cw_links_of(link) : CW_LINKS_NONE;
        }
    }
}

struct naive_distances {
    int d[LINKS_SERVERS_MAX][LINKS_SERVERS_MAX]; /* LINKS_FAR: no path */
};

static inline void naive_distances(const struct torus *t, const cw_links *links, struct naive_distances *out)
{
    for (cw_server a = 0; a < t->servers; a++) {
        for (cw_server b = 0; b < t->servers; b++) {
            out->d[a][b] = a == b ? 0 : LINKS_FAR;
        }
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (links[a] & cw_links_of(link)) {
                out->d[a][torus_neighbour(t, a, link)] = 1;
            }
        }
    }
    for (cw_server k = 0; k < t->servers; k++) {
        for (cw_server a = 0; a < t->servers; a++) {
            for (cw_server b = 0; b < t->servers; b++) {
                if (out->d[a][k] + out->d[k][b] < out->d[a][b]) {
                    out->d[a][b] = out->d[a][k] + out->d[k][b];
                }
            }
        }
    }
}

/* Every link of from whose far end is one step nearer to `to`. */
static inline cw_links naive_next(const struct torus *t, const cw_links *links, const struct naive_distances *dist,
                                  cw_server from, cw_server to)
{
    cw_links next = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        bool alive = (links[from] & cw_links_of(link)) != 0;
        if (alive && from != to && dist->d[from][to] < LINKS_FAR &&
            dist->d[torus_neighbour(t, from, link)][to] + 1 == dist->d[from][to]) {
            next |= cw_links_of(link);
        }
    }
    return next;
}

#endif
