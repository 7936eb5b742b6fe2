/* SPDX-License-Identifier: Apache-2.0 */
/*
 * longer.h - longer paths to a server, which share no link with one another, nor with any shortest path: for a single
 * large flow in a quiet cluster, which by shortest paths alone has one link to a neighbour where six lead there.
 *
 * They are those of the arc-disjoint trees whose root is this server (keyspace/trees.h): tree L leaves by link L and
 * comes to every server by a link of its own. Which links are not the first of a shortest path have such a path, unless
 * it has a link in common with a shortest one, too many corners, or a server that is out of view. In 3x3x3 that is
 * every link; the paths are at most two hops longer there.
 *
 * A packet is led along by way-points: where the path turns, and so often between that each leg is the one shortest
 * path of its ends. (Along an axis of length 2 there are two cables; which one is taken is the node's choice.)
 */
#ifndef SERVICES_TUNNEL_LONGER_H
#define SERVICES_TUNNEL_LONGER_H

#include "cubeway/service.h"

enum { LONGER_WAYPOINTS = 6 };
/* What the way-points take from a packet at most: cw_mtu(). */
enum { LONGER_BYTES = 4 + 4 * LONGER_WAYPOINTS };

struct longer;

struct longer_way {
    unsigned waypoints;
    cw_coord waypoint[LONGER_WAYPOINTS];
};

/* Gives the longer paths from this server, for longer_close(). -ENOMEM: *out is untouched. */
CW_MUST_CHECK int longer_open(struct longer **out, const cw_svc *s);
/* Takes it; may be NULL. */
void longer_close(struct longer *l);

/* The first links of longer paths to a server; none when it is not reachable, or this one. O(length of the paths). */
cw_links longer_links(const struct longer *l, const cw_svc *s, cw_server to);
/* The path that begins with that link. False: there is none. */
bool longer_way(const struct longer *l, const cw_svc *s, cw_server to, cw_link first, struct longer_way *out);
/* Bytes that its way-points take from a packet. */
size_t longer_bytes(const struct longer_way *way);

#endif
