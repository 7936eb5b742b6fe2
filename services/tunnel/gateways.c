/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/gateways.h"

#include "base/digest.h"

#include <limits.h>

void gateways_look(struct gateways *g, cw_svc *s, const struct address_plan *plan)
{
    const cw_coord self = cw_self(s);
    unsigned nearest = UINT_MAX;
    g->near = 0;
    for (unsigned i = 0; i < plan->gateways.ranges; i++) {
        for (cw_server n = plan->gateways.range[i].first; n <= plan->gateways.range[i].last; n++) {
            const cw_coord c = cw_server_coord(s, n);
            unsigned away = cw_distance(s, self, c);
            if (away == 0 || away > nearest || !cw_reachable(s, c)) {
                continue;
            }
            g->near = away < nearest ? 0 : g->near;
            nearest = away;
            g->server[g->near++] = n;
        }
    }
}

cw_server gateways_pick(const struct gateways *g, uint64_t flow)
{
    cw_server best = CW_SERVER_NONE;
    uint64_t most = 0;
    for (unsigned i = 0; i < g->near; i++) {
        uint64_t rank = digest_of_words((const uint64_t[]){flow, g->server[i]}, 2);
        if (best == CW_SERVER_NONE || rank > most) {
            best = g->server[i];
            most = rank;
        }
    }
    return best;
}
