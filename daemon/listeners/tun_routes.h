/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_routes.h - does this machine have a route to addresses that a network wants to have?
 *
 * The longest prefix goes first. So a route of another device into the network's subnet, or to the very same one, takes
 * addresses away from the network. One with a shorter prefix, around the subnet, is not in the way: the network takes
 * the addresses that it names away from that device, unless a rule of policy asks that route's table first. That is
 * worth a warning, and no reason not to start: the route may be that of a VPN, which comes and goes.
 */
#ifndef DAEMON_LISTENERS_TUN_ROUTES_H
#define DAEMON_LISTENERS_TUN_ROUTES_H

#include "services/tunnel/address.h"

#include "cubeway/types.h"

enum { TUN_ROUTES_TEXT = 80 };

struct tun_routes_place {
    /* This server's address, and how many of its bits are those of the network's subnet. */
    struct ip_address own;
    uint8_t length;
    /* How many bits are those of this server. Routes to its own addresses lead to its containers: no obstacle. */
    uint8_t each;
    /* Routes by this device are the network's own; 0: there is no such device yet. */
    unsigned index;
};

/* The first route of its kind, as "10.64.7.0/24 by eth0"; "": there is none. */
struct tun_routes_found {
    char inside[TUN_ROUTES_TEXT]; /* is in the way */
    char around[TUN_ROUTES_TEXT];
};

/*
 * Looks through all tables of routes. 1: a route is in the way; 0: none is; -errno: they cannot be looked at, and
 * nothing is found. A look that a change of routes interrupts begins anew; -EINTR: that happened again and again.
 * Default routes are of no interest, and neither are those that lead nowhere (blackhole, unreachable, prohibit, throw).
 */
CW_MUST_CHECK int tun_routes_find(const struct tun_routes_place *place, struct tun_routes_found *out);

/* The subnet of that length that an address is in, and the bytes of an address: 4 or 16. */
struct ip_address tun_routes_subnet(const struct ip_address *a, uint8_t length);
size_t tun_routes_bytes(const struct ip_address *a);

#endif
