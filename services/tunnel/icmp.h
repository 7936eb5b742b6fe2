/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icmp.h - what a program is told of a packet that the tunnel could not carry: ICMP (RFC 792, RFC 4443), written to the
 * device as if a router had sent it.
 *
 * Never told of: ICMP errors, so that no two of them feed each other (RFC 1122, 3.2.2); fragments but the first;
 * packets to many, and packets from nobody.
 */
#ifndef SERVICES_TUNNEL_ICMP_H
#define SERVICES_TUNNEL_ICMP_H

#include "services/tunnel/packet/ip.h"

#include "cubeway/time.h"

enum icmp_what {
    ICMP_UNREACHABLE, /* the host cannot be reached now */
    ICMP_TOO_BIG,     /* longer than what is carried; with the length that would do */
    ICMP_PROHIBITED,  /* the administrator has not allowed it */
};

enum { ICMP_BYTES_MOST = 1280 };

/* May a packet, which ip_read() gave, be answered? */
bool icmp_may(const struct ip_packet *p);

/*
 * Writes the answer to the packet, which icmp_may() allows, to out: a packet from `self`, of the same version, to the
 * packet's source, that quotes as much of the packet as is usual. mtu: for ICMP_TOO_BIG. Gives its length.
 */
size_t icmp_make(enum icmp_what what, const struct ip_packet *p, const struct ip_address *self, uint32_t mtu,
                 uint8_t out[static ICMP_BYTES_MOST]);

/* How many answers may be made: so many a second, and that many at once. */
enum { ICMP_A_SECOND = 100 };
struct icmp_rate {
    cw_time full_at; /* when all of a second's answers are there again; zeroed: they are */
};

/* May one more be made now? If so it is counted. */
bool icmp_allowed(struct icmp_rate *rate, cw_time now);

#endif
