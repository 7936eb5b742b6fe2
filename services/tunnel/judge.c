/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/judge.h"

#include "services/tunnel/mutant.h"

static bool is_of(const struct address_plan *plan, const struct ip_packet *p, cw_server server)
{
    struct ip_address source;
    ip_source(p, &source);
    bool behind = address_is_gateway(plan, server) && address_is_outside(plan, &source);
    return behind || address_server(plan, &source) == server || TUNNEL_MUTANT(ANY_SOURCE);
}

enum tunnel_cause judge_read(const struct address_plan *plan, cw_server self, const struct ip_packet *p, cw_server *to)
{
    struct ip_address destination;
    ip_destination(p, &destination);
    *to = CW_SERVER_NONE;
    if (address_is_many(plan, &destination)) {
        return TUNNEL_MULTICAST;
    }
    if (!is_of(plan, p, self)) {
        return TUNNEL_SOURCE;
    }
    cw_server server = address_server(plan, &destination);
    if (server == CW_SERVER_NONE) {
        /* What comes back from a gateway's own kernel would go round for ever. */
        bool good = address_is_outside(plan, &destination) && !address_is_gateway(plan, self);
        return good ? TUNNEL_GOOD : TUNNEL_OUTSIDE;
    }
    if (server == self) {
        return TUNNEL_UNREACHABLE;
    }
    *to = server;
    return TUNNEL_GOOD;
}

enum tunnel_cause judge_many(const struct address_plan *plan, cw_server from, const struct ip_packet *p)
{
    struct ip_address destination;
    ip_destination(p, &destination);
    if (!is_of(plan, p, from)) {
        return TUNNEL_SOURCE;
    }
    return address_is_many(plan, &destination) ? TUNNEL_GOOD : TUNNEL_NOT_HERE;
}

enum tunnel_cause judge_came(const struct address_plan *plan, cw_server self, cw_server from, const struct ip_packet *p)
{
    struct ip_address destination;
    ip_destination(p, &destination);
    if (!is_of(plan, p, from)) {
        return TUNNEL_SOURCE;
    }
    bool on = address_is_gateway(plan, self) && address_is_outside(plan, &destination);
    return on || address_server(plan, &destination) == self ? TUNNEL_GOOD : TUNNEL_NOT_HERE;
}
