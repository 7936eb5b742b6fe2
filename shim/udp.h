/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp.h - a link as a flow of UDP datagrams between two configured addresses, for machines that are not cabled as a torus. A frame is
 * a datagram: no header of our own, since a link to the wrong cluster or port is for the node to see, as on a cable.
 *
 * The socket is connected: datagrams from anywhere else never come out. Datagrams are never fragmented: one that the path does
 * not carry is lost and tells so, and a path that has become narrower than the mtu carries no whole frames: it counts as no carrier.
 *
 * The carrier: there is one unless the system says that nobody is reached. "Connection refused" (ICMP: no socket there) after
 * something had been heard from that side means that its daemon died, and takes the carrier away; so does having no route.
 * It comes back as soon as a frame arrives, or by itself after UDP_RETRY_MS: only by sending does one find out. A side that never
 * was heard is waited for: its refusals change nothing.
 */
#ifndef SHIM_UDP_H
#define SHIM_UDP_H

#include "shim/shim.h"

enum { UDP_RETRY_MS = 100, UDP_FRAME_MAX = 65507 };

struct udp_options {
    const char *local, *remote; /* "10.0.0.1:7001", "[fd00::1]:7001", "[fe80::1%eth0]:7001" */
    uint32_t mtu;               /* of frames; 0: what the path carries now, without IP and UDP headers */
    uint64_t bits_per_second;   /* of the path; 0: unknown */
};

/*
 * Gives the shim. 0, or with one sentence in why: -EINVAL an address is none, -EADDRINUSE the port is in use, -EADDRNOTAVAIL no such
 * address here, -ENETUNREACH no route, -EMSGSIZE the path carries less than mtu, or another -errno.
 */
CW_MUST_CHECK int udp_open(struct shim **out, const struct udp_options *options, char why[static SHIM_WHY_BYTES]);

#endif
