/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - the sizes and counts of the tunnel, on one screen.
 */
#ifndef SERVICES_TUNNEL_PACKET_LIMITS_H
#define SERVICES_TUNNEL_PACKET_LIMITS_H

enum {
    /* The job of the network that is built in, and the one port of every network. */
    TUNNEL_JOB = 9,
    TUNNEL_PORT = 0,

    /* Bytes before the IP packet: of a piece on the torus (head.h), and of a packet at the device (vnet.h). */
    TUNNEL_HEAD_BYTES = 16,
    TUNNEL_VNET_BYTES = 10,

    /* The longest IP packet, head and all, that is read, joined or written. */
    TUNNEL_PACKET_MOST = 65535,
    /* IPv6 wants this much of every link (RFC 8200, section 5). */
    TUNNEL_MTU_LEAST = 1280,

    /* Strands of a pair of servers: packets of one strand keep their order. A power of two, at most 256. */
    TUNNEL_STRANDS = 32,
    /* Servers that the widest subnet, a /12 of IPv4 with a /24 for each server, has addresses for. */
    TUNNEL_SERVERS_MOST = 4096,
};

#endif
