/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why the tunnel drops a packet. Every dropped packet has one cause and is counted under it; operators see
 * the names.
 */
#ifndef SERVICES_TUNNEL_PACKET_CAUSE_H
#define SERVICES_TUNNEL_PACKET_CAUSE_H

enum tunnel_cause {
    TUNNEL_GOOD = 0,
    /* The bytes. */
    TUNNEL_SHORT,   /* the packet ends within a head */
    TUNNEL_VERSION, /* neither IPv4 nor IPv6 */
    TUNNEL_LENGTH,  /* a length in a head is not that of the packet */
    TUNNEL_SUM,     /* the checksum of the IPv4 head is wrong */
    TUNNEL_OPTION,  /* an IPv4 option that routes, or an IPv6 routing header of type 0 */
    TUNNEL_OFFLOAD, /* the virtio head, or a piece's, contradicts the packet */
    /* The addresses. */
    TUNNEL_SOURCE,    /* the source address is not one of the server that sends the packet */
    TUNNEL_OUTSIDE,   /* the destination is in no subnet of this network */
    TUNNEL_NOT_HERE,  /* a piece came to this server with the address of another one */
    TUNNEL_MULTICAST, /* to many: not carried */
    /* The way. */
    TUNNEL_TOO_BIG,     /* longer than what one frame takes */
    TUNNEL_UNREACHABLE, /* the destination's server cannot be reached now */
    TUNNEL_PROHIBITED,  /* the NMU lets nothing go there */
    TUNNEL_NO_GATEWAY,  /* the destination is outside, and no gateway can be reached now */
    TUNNEL_DAMAGED,     /* a piece whose sum is wrong */
    TUNNEL_FRAME,       /* an Ethernet frame that is not the network's */
    TUNNEL_CAUSES,
};

/* The name, as counters have it: "short", "version". Constant; CHECKs that the cause is one. */
const char *tunnel_cause_name(enum tunnel_cause cause);
/* One sentence of what it means, for operators. Constant. */
const char *tunnel_cause_text(enum tunnel_cause cause);

#endif
