/* SPDX-License-Identifier: Apache-2.0 */
/*
 * udp.h - a link as a flow of UDP datagrams between two configured addresses, for machines that are not cabled as a
 * torus. A frame is a datagram, without a header of our own: that a link leads to the wrong cluster or port is for the
 * node to see, as on a cable.
 *
 * The socket is connected: datagrams from anywhere else never come out. Datagrams are never fragmented. A datagram that
 * is longer than the path carries is lost, and the system reports it; a path that has become narrower than the mtu does
 * not carry whole frames, and counts as one without a carrier.
 *
 * There is a carrier unless the system says that nobody can be reached. "Connection refused" (ICMP: no socket there)
 * takes the carrier away when something was heard from that side before, for then its daemon has died; having no route
 * takes the carrier away too. It comes back when a frame arrives, or by itself after UDP_RETRY_MS, because only sending
 * can find out. Refusals by a side that was never heard change nothing: that side is waited for.
 */
#ifndef SHIM_UDP_H
#define SHIM_UDP_H

#include "shim/shim.h"

enum {
    UDP_RETRY_MS = 100,    /* a carrier that was taken away comes back after this, to try again */
    UDP_FRAME_MAX = 65507, /* bytes of the largest datagram */
};

struct udp_options {
    const char *local, *remote; /* "10.0.0.1:7001", "[fd00::1]:7001", "[fe80::1%eth0]:7001" */
    uint32_t mtu;               /* of frames; 0: what the path carries now, less the IP and UDP headers */
    uint64_t bits_per_second;   /* of the path; 0: unknown */
};

/*
 * Gives the shim. 0; or, with one sentence in why: -EINVAL (a text is no address), -EADDRINUSE (the port is in use),
 * -EADDRNOTAVAIL (no such address here), -ENETUNREACH (no route), -EMSGSIZE (the path carries less than mtu), or
 * another -errno.
 */
CW_MUST_CHECK int udp_open(struct shim **out, const struct udp_options *options, char why[static SHIM_WHY_BYTES]);

#endif
