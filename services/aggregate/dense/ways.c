/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/ways.h"

#include <errno.h>
#include <stdlib.h>

int ways_make(const struct torus *torus, const uint8_t *live, uint16_t **out)
{
    cw_server n = torus->servers, known = 1;
    uint16_t *far = malloc(n * sizeof *far);
    cw_server *queue = malloc(n * sizeof *queue);
    if (far == NULL || queue == NULL) {
        free(far);
        free(queue);
        return -ENOMEM;
    }
    for (cw_server o = 0; o < n; o++) {
        far[o] = o == 0 ? 0 : WAYS_CUT_OFF;
    }
    queue[0] = 0;
    for (cw_server i = 0; i < known; i++) {
        for (cw_links left = torus_links(torus); left != 0; left &= (cw_links)(left - 1)) {
            cw_server next = torus_neighbour(torus, queue[i], (cw_link)__builtin_ctz(left));
            if (live[next] && far[next] == WAYS_CUT_OFF) {
                far[next] = (uint16_t)(far[queue[i]] + 1);
                queue[known++] = next;
            }
        }
    }
    free(queue);
    *out = far;
    return 0;
}

/* Orders of the axes: those of one kind of permutation pass the root on one side, where both are as near. */
static const uint8_t orders[CW_LINK_COUNT][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};

cw_link ways_parent(const struct torus *torus, const uint16_t *far, cw_link tree, cw_server offset)
{
    cw_links there = torus_links(torus);
    for (unsigned i = 0; i < CW_LINK_COUNT && far[offset] != WAYS_CUT_OFF; i++) {
        cw_link link = (cw_link)(2 * orders[tree][i / 2] + ((i ^ tree) & 1));
        if ((there >> link & 1) != 0 && far[torus_neighbour(torus, offset, link)] + 1 == far[offset]) {
            return link;
        }
    }
    return CW_LINK_SELF;
}
