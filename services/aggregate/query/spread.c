/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int spread_open(struct spread *t, cw_server servers)
{
    *t = (struct spread){.parent = malloc(servers * sizeof *t->parent), .order = malloc(servers * sizeof *t->order)};
    t->distance = malloc(servers * sizeof *t->distance);
    t->height = malloc(servers * sizeof *t->height);
    t->needed = malloc(servers * sizeof *t->needed);
    if (t->parent == NULL || t->order == NULL || t->distance == NULL || t->height == NULL || t->needed == NULL) {
        spread_close(t);
        return -ENOMEM;
    }
    return 0;
}

void spread_close(struct spread *t)
{
    free(t->parent);
    free(t->order);
    free(t->distance);
    free(t->height);
    free(t->needed);
    *t = (struct spread){.count = 0};
}

static bool has(const uint64_t *set, cw_server s)
{
    return (set[s / 64] >> s % 64 & 1) != 0;
}

/* From the far ends back to the asker: who is needed, and how far the furthest member is. */
static void look_down(struct spread *t, const uint64_t *members)
{
    for (cw_server i = 0; i < t->count; i++) {
        cw_server s = t->order[i];
        t->height[s] = 0;
        t->needed[s] = has(members, s);
    }
    for (cw_server i = t->count; i-- > 1;) {
        cw_server s = t->order[i], up = t->parent[s];
        if (t->needed[s]) {
            t->needed[up] = true;
            t->height[up] = t->height[s] + 1 > t->height[up] ? (uint16_t)(t->height[s] + 1) : t->height[up];
        }
    }
}

void spread_make(struct spread *t, const struct torus *torus, cw_server asker, const uint64_t *dead,
                 const uint64_t *members)
{
    for (cw_server s = 0; s < torus->servers; s++) {
        t->parent[s] = CW_SERVER_NONE;
        t->distance[s] = SPREAD_NONE;
        t->needed[s] = false;
        t->height[s] = 0;
    }
    t->order[0] = asker;
    t->distance[asker] = 0;
    t->count = 1;
    for (cw_server i = 0; i < t->count; i++) {
        cw_server at = t->order[i];
        for (cw_links left = torus_links(torus); left != 0; left &= (cw_links)(left - 1)) {
            cw_server next = torus_neighbour(torus, at, (cw_link)__builtin_ctz(left));
            if (t->distance[next] == SPREAD_NONE && !has(dead, next)) {
                t->distance[next] = (uint16_t)(t->distance[at] + 1);
                t->parent[next] = at;
                t->order[t->count++] = next;
            }
        }
    }
    look_down(t, members);
}
