/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/longer.h"

#include "keyspace/trees.h"

#include <errno.h>
#include <stdlib.h>

/* Hops of a path that is looked at; a longer one has more corners than are allowed, or is of no use. */
enum { HOPS_MOST = 64 };

struct longer {
    struct torus torus;
    struct trees *trees;
};

int longer_open(struct longer **out, const cw_svc *s)
{
    struct longer *l = calloc(1, sizeof *l);
    int rc = l == NULL ? -ENOMEM : torus_init(&l->torus, cw_torus(s));
    rc = rc < 0 ? rc : trees_open(&l->trees, &l->torus);
    if (rc < 0) {
        free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void longer_close(struct longer *l)
{
    if (l != NULL) {
        trees_close(l->trees);
        free(l);
    }
}

size_t longer_bytes(const struct longer_way *way)
{
    return way->waypoints == 0 ? 0 : 4 + 4 * (size_t)way->waypoints;
}

/* Is the link from one to the next, both offsets, on a shortest path to the offset `to`? */
static bool is_shortest(const struct torus *torus, cw_server from, cw_server next, cw_server to)
{
    return torus_distance(torus, 0, from) + 1 + torus_distance(torus, next, to) == torus_distance(torus, 0, to);
}

/*
 * The links of the tree's path to the offset, the first one first, and the offsets that they lead to. Gives how many;
 * 0: the path is none of ours.
 */
static unsigned walk(const struct longer *l, cw_link tree, cw_server to, cw_link link[static HOPS_MOST],
                     cw_server at[static HOPS_MOST])
{
    unsigned hops = trees_depth(l->trees, tree, to), i = hops;
    if (hops > HOPS_MOST) {
        return 0;
    }
    for (cw_server next = to; i > 0; i--) {
        cw_link up = trees_parent(l->trees, tree, next); /* from the server's side */
        cw_server from = torus_neighbour(&l->torus, next, up);
        if (is_shortest(&l->torus, from, next, to)) {
            return 0;
        }
        link[i - 1] = cw_link_opposite(up);
        at[i - 1] = next;
        next = from;
    }
    return hops;
}

/* Links of one axis in a row that are the one shortest path between their ends. */
static unsigned straight_most(const struct torus *torus, cw_link link)
{
    unsigned most = (torus->dim[link / 2] - 1) / 2;
    return most > 0 ? most : 1;
}

bool longer_way(const struct longer *l, const cw_svc *s, cw_server to, cw_link first, struct longer_way *out)
{
    const cw_server self = cw_server_id(s, cw_self(s));
    cw_link link[HOPS_MOST];
    cw_server at[HOPS_MOST];
    if (to >= l->torus.servers || to == self || !(trees_all(l->trees) & cw_links_of(first))) {
        return false;
    }
    unsigned hops = walk(l, first, torus_offset(&l->torus, self, to), link, at), straight = 0;
    out->waypoints = 0;
    for (unsigned i = 0; i < hops; i++) {
        const cw_coord c = cw_server_coord(s, torus_shift(&l->torus, self, at[i]));
        straight = i > 0 && link[i] == link[i - 1] ? straight + 1 : 1;
        if (!cw_reachable(s, c)) {
            return false;
        }
        bool turns = i + 1 < hops && (link[i + 1] != link[i] || straight == straight_most(&l->torus, link[i]));
        if (turns && out->waypoints == LONGER_WAYPOINTS) {
            return false;
        }
        if (turns) {
            out->waypoint[out->waypoints++] = c;
            straight = 0;
        }
    }
    return hops > 0;
}

cw_links longer_links(const struct longer *l, const cw_svc *s, cw_server to)
{
    cw_links links = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct longer_way way;
        links |= longer_way(l, s, to, link, &way) ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return links;
}
