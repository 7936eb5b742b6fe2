/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tun_routes.h - does this machine have a route to addresses that a network wants to have?
 *
 * A network's subnet that overlaps with a route of another device would take addresses away from whoever has them now,
 * or lose its own to them, since the longer prefix goes first.
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

/*
 * Looks through all tables of routes. 1: a route is in the way, and out[] says which: "10.64.7.0/24 by eth0"; 0: none
 * is; -errno. Default routes are in nobody's way.
 */
CW_MUST_CHECK int tun_routes_find(const struct tun_routes_place *place, char out[static TUN_ROUTES_TEXT]);

/* The subnet of that length that an address is in, and the bytes of an address: 4 or 16. */
struct ip_address tun_routes_subnet(const struct ip_address *a, uint8_t length);
size_t tun_routes_bytes(const struct ip_address *a);

#endif
