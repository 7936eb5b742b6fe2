/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.h - packets to many: multicast and broadcast of IP, where the network allows them (the option multicast). They
 * go to all servers of the network as best-effort messages to the group "ip" of the service multicast, whose names
 * belong to the network's job; each server gives what comes to its device, whose kernel knows who listens.
 *
 * A message is a piece (head.h) that goes from its server to CW_SERVER_NONE, so the same sum is over it and the same
 * judgement comes over its source. It has no order: strand and number are 0.
 */
#ifndef SERVICES_TUNNEL_MANY_H
#define SERVICES_TUNNEL_MANY_H

#include "services/tunnel/packet/vnet.h"

#include "cubeway/multicast.h"

/* So many packets a second a server may send to many, and that many at once. */
enum { MANY_A_SECOND = 1000 };

struct tunnel;

struct many {
    /* The operator's word; neither: as the device is, on for Ethernet. */
    bool wanted, refused;
    const cw_multicast_api *api;
    cw_multicast *user; /* NULL: packets to many are dropped */
    cw_timer *timer;    /* when all services are there, it is opened */
    cw_time full_at;    /* as of struct icmp_rate */
};

/* The option multicast; -EINVAL, and that was said. */
CW_MUST_CHECK int many_read(cw_svc *s, struct many *m);
/* There is a door: opens the group soon, if packets to many are allowed. */
void many_open(struct tunnel *t);
void many_close(struct tunnel *t);
/* Sends a packet that was read from the door and is to many; counts it as sent, or as dropped. */
void many_send(struct tunnel *t, const struct ip_packet *p, const struct offload *offload);

#endif
