/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/commands/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The link is up in the records of both ends, and both ends may be passed. */
static bool joined(const struct linkstate *ls, const struct torus *t, const struct reach *over, cw_server a,
                   cw_link link, cw_server *b)
{
    *b = torus_neighbour(t, a, link);
    const struct record *near = ls_record(ls, a), *far = ls_record(ls, *b);
    return near != NULL && far != NULL && reach_has(over, a) && reach_has(over, *b) && (near->up & cw_links_of(link)) &&
           (far->up & cw_links_of(cw_link_opposite(link)));
}

/* The distance of each server from `to`, in links; UINT32_MAX where there is no path. The search begins at `to`. */
static void search(const struct linkstate *ls, const struct torus *t, const struct reach *over, cw_server to,
                   uint32_t *far, cw_server *queue)
{
    size_t head = 0, tail = 0;
    memset(far, 0xff, t->servers * sizeof *far);
    far[to] = 0;
    queue[tail++] = to;
    while (head < tail) {
        cw_server here = queue[head++], next;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if ((torus_links(t) & cw_links_of(link)) && joined(ls, t, over, here, link, &next) &&
                far[next] == UINT32_MAX) {
                far[next] = far[here] + 1;
                queue[tail++] = next;
            }
        }
    }
}

static cw_links choices_at(const struct linkstate *ls, const struct torus *t, const struct reach *over,
                           const uint32_t *far, cw_server here)
{
    cw_links choices = CW_LINKS_NONE;
    cw_server next;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((torus_links(t) & cw_links_of(link)) && joined(ls, t, over, here, link, &next) &&
            far[next] + 1 == far[here]) {
            choices |= cw_links_of(link);
        }
    }
    return choices;
}

int path_walk(const struct linkstate *ls, const struct torus *t, const struct reach *over, cw_server from, cw_server to,
              void (*step)(void *context, const struct path_step *step), void *context)
{
    uint32_t *far = calloc(t->servers, sizeof *far);
    cw_server *queue = calloc(t->servers, sizeof *queue);
    int rc = -ENOMEM;
    if (far != NULL && queue != NULL) {
        search(ls, t, over, to, far, queue);
        rc = far[from] == UINT32_MAX ? -ENETUNREACH : (int)far[from];
    }
    for (cw_server here = from; rc >= 0;) {
        cw_links choices = choices_at(ls, t, over, far, here);
        cw_link out = here == to ? CW_LINK_SELF : (cw_link)__builtin_ctz(choices);
        step(context, &(struct path_step){here, out, choices});
        if (here == to) {
            break;
        }
        here = torus_neighbour(t, here, out);
    }
    free(queue);
    free(far);
    return rc;
}
