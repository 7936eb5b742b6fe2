/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel.h - the service `ip`: an IP network over the torus (CamCubeOS 6.3).
 *
 * One instance is one network, whose job and name are the instance's; the one that is built in is job 9. Others are
 * opened from the same table with a job and a name of their own (services/table.h, `network NAME` of cubewayd.conf). It
 * runs on a server when its host opens it, and does nothing without a *door*: what brings packets that programs on this
 * server send, and takes those that are for them. In the daemon that is a tun (daemon/listeners/tun_door.h); in tests
 * it is the test.
 *
 * Options, as of cw_option(): subnet (10.64.0.0/12), subnet6 (a /48 that follows from the cluster, the dims and the
 * job), cluster (the daemon gives its own where the file says nothing; 0 where there is no daemon), mtu (what one frame
 * takes, or less), spread (shortest; or disjoint, and ports: longer.h), multicast (many.h), servers, gateway_servers
 * and gateway_for (address.h), gateway_device (for whoever makes rules of it), device, ethernet, netns and force (the
 * door's).
 */
#ifndef SERVICES_TUNNEL_TUNNEL_H
#define SERVICES_TUNNEL_TUNNEL_H

#include "services/tunnel/address.h"
#include "services/tunnel/packet/vnet.h"

#include "cubeway/service.h"

enum { TUNNEL_API_VERSION = 1 };

/* The name of the built-in network, and of its device unless the option `device` says otherwise. */
#define TUNNEL_NAME "ip"
#define TUNNEL_DEVICE "cw0"

struct tunnel_door {
    /* The device takes UDP packets with a gso size. */
    bool udp;
    /* The device is Ethernet's (tap): what is read of it are frames, and what is written, too (neighbour.h). */
    bool ethernet;
    /*
     * Borrows a virtio head (and of Ethernet the ETHER_HEAD bytes behind it) and a packet, for programs on this server.
     * False: the packet could not be taken.
     */
    bool (*write)(void *context, const uint8_t *head, const uint8_t *packet, size_t length);
    /*
     * Packets wait to be joined with others: calls api.flush() soon, when what has come in this turn has been given to
     * the service. Must not call it from within.
     */
    void (*flush_soon)(void *context);
    void *context;
};

/* What a host needs to know of a network, to make a device for it. */
struct tunnel_place {
    cw_server self;
    struct ip_address own4, own6;
    /* Bits of the networks' prefixes; that of IPv6 is 48. */
    uint8_t length4;
    /* The longest IP packet that is carried. */
    uint32_t mtu;
    /* The network is not one of this server: it gets no device. */
    bool stranger;
    /* What is reached by the device beside the subnets: what is behind gateways; none on a gateway. */
    unsigned prefixes;
    struct address_prefix prefix[ADDRESS_PREFIXES];
};
/* What a plan means for one of its servers. */
void tunnel_place(const struct address_plan *plan, cw_server self, uint32_t mtu, struct tunnel_place *out);

/* What the service exports. Everything is called as an upcall of the service (node_visit()). */
struct tunnel_api {
    size_t size;
    void (*place)(cw_svc *tunnel, struct tunnel_place *out);
    /* Copies door; NULL: there is none any more. -ENOMEM: the former one stays. */
    int (*attach)(cw_svc *tunnel, const struct tunnel_door *door);
    /*
     * A packet, or a frame of Ethernet, was read from the device, with its virtio head. Borrows both, and may write to
     * the packet. Whatever is wrong with it is counted, and told to whoever sent it where ICMP has a word for it.
     */
    void (*read)(cw_svc *tunnel, const uint8_t *head, uint8_t *packet, size_t length);
    /* Writes what waits to be joined. */
    void (*flush)(cw_svc *tunnel);
};

extern const cw_service tunnel_service;

#endif
