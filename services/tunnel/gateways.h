/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gateways.h - which gateway of the plan (address.h) a packet takes that is for an address outside.
 *
 * The nearest reachable one by links; among equally near ones the flow's hash decides. When one of them dies or comes
 * back, only flows move that it had or gets (rendezvous hashing): those of the others keep their gateway, whose kernel
 * knows them.
 */
#ifndef SERVICES_TUNNEL_GATEWAYS_H
#define SERVICES_TUNNEL_GATEWAYS_H

#include "services/tunnel/address.h"

#include "cubeway/service.h"

struct gateways {
    unsigned near; /* how many are reachable and as near as any */
    cw_server server[ADDRESS_GATEWAYS];
};

/* Looks who can be reached; for whenever the view has changed. This server is none of them. */
void gateways_look(struct gateways *g, cw_svc *s, const struct address_plan *plan);
/* CW_SERVER_NONE: none can be reached. */
cw_server gateways_pick(const struct gateways *g, uint64_t flow);

#endif
