/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - a shortest path between two servers over links that the link-state database reports as up: the way of
 * packets.
 *
 * This is for people who ask; nodes route by linkstate/routes.h. Where several links lie on shortest paths, the path
 * takes the first and names all of them.
 */
#ifndef DAEMON_COMMANDS_PATH_H
#define DAEMON_COMMANDS_PATH_H

#include "linkstate/linkstate.h"

struct path_step {
    cw_server server;
    cw_link out;      /* the link taken; CW_LINK_SELF at the end */
    cw_links choices; /* all links on shortest paths, `out` among them */
};

/*
 * Calls step for every server from `from` to `to`, both included, in order. over: the servers that the path may pass.
 * Returns how many links it has; -ENETUNREACH when there is none, or -ENOMEM. O(servers).
 */
CW_MUST_CHECK int path_walk(const struct linkstate *ls, const struct torus *t, const struct reach *over, cw_server from,
                            cw_server to, void (*step)(void *context, const struct path_step *step), void *context);

#endif
