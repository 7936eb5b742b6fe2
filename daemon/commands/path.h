/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.h - a shortest path between two servers over the links that the link-state database calls up: what packets would do.
 *
 * For people who ask; nodes route by linkstate/routes.h. Where several links lie on shortest paths the first is taken and all are told.
 */
#ifndef DAEMON_COMMANDS_PATH_H
#define DAEMON_COMMANDS_PATH_H

#include "linkstate/linkstate.h"

struct path_step {
    cw_server server;
    cw_link out;      /* the link taken; CW_LINK_SELF at the end */
    cw_links choices; /* those on shortest paths, this one among them */
};

/*
 * Calls step for every server from `from` to `to`, both included, in order. over: the servers that may be passed through. Gives the links of
 * the path; -ENETUNREACH when there is none, -ENOMEM. O(servers).
 */
CW_MUST_CHECK int path_walk(const struct linkstate *ls, const struct torus *t, const struct reach *over, cw_server from,
                            cw_server to, void (*step)(void *context, const struct path_step *step), void *context);

#endif
