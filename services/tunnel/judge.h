/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.h - who may speak to whom: the addresses in a packet against the plan (address.h).
 *
 * The guarantee: no packet is sent, and none is taken, whose source address is not one of the server that it comes
 * from. To a gateway (address.h) belong the addresses outside, too: it speaks for those behind it. A program on a
 * server, root in a container included, cannot speak with another server's address: when a packet is read the server is
 * this one, and when a piece arrives it is the one that the NMU of the sending server stamped (NMU 4.1).
 */
#ifndef SERVICES_TUNNEL_JUDGE_H
#define SERVICES_TUNNEL_JUDGE_H

#include "services/tunnel/address.h"

/*
 * A packet that was read here. TUNNEL_GOOD: it is for *to, another server, or for any gateway where *to is
 * CW_SERVER_NONE. Otherwise the cause to drop it:
 * TUNNEL_MULTICAST, TUNNEL_SOURCE, TUNNEL_OUTSIDE; TUNNEL_UNREACHABLE for an address of this server, since the kernel
 * keeps to itself what it has.
 */
enum tunnel_cause judge_read(const struct address_plan *plan, cw_server self, const struct ip_packet *p, cw_server *to);

/* A packet that came from that server. TUNNEL_GOOD, or TUNNEL_SOURCE or TUNNEL_NOT_HERE: the cause to drop it. */
enum tunnel_cause judge_came(const struct address_plan *plan, cw_server self, cw_server from,
                             const struct ip_packet *p);

/* Of a packet to many, which this server reads or which came from another one: TUNNEL_SOURCE, TUNNEL_NOT_HERE. */
enum tunnel_cause judge_many(const struct address_plan *plan, cw_server from, const struct ip_packet *p);

#endif
