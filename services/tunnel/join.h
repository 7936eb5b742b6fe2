/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - pieces of one flow that follow each other become one large packet, which the kernel takes at once as if a
 * network card had gathered it (Linux calls that GRO).
 *
 * The guarantee: the segments that the joined packet stands for are, byte for byte and in order, those of the pieces;
 * only the IPv4 identification may differ where DF is set, which gives that field no meaning (RFC 6864). So packets
 * are joined when
 *  - both are TCP, or both are UDP and the device takes such packets, with a partial checksum and no fragments;
 *  - their heads are alike in all but lengths, checksums, TCP's sequence number and IPv4's identification: traffic
 *    class, hop limit, options, acknowledgement, window and time stamps, too;
 *  - the sequence numbers follow each other, and IPv4's identification counts on;
 *  - all segments but the last have one size;
 *  - of TCP's flags the first has none of SYN, FIN, RST, PSH and URG, and the next none of SYN, RST, URG and CWR;
 *  - the whole is no longer than an IP packet can be.
 * Nothing waits for a piece that may come: the caller takes what it has when it has nothing more to add.
 */
#ifndef SERVICES_TUNNEL_JOIN_H
#define SERVICES_TUNNEL_JOIN_H

#include "services/tunnel/packet/limits.h"
#include "services/tunnel/packet/vnet.h"

struct join {
    /* The device takes UDP packets with a gso size. Set by the owner before the first join_add(). */
    bool udp;
    /* What was joined; length 0: nothing. What `packet` borrows are the bytes below. */
    struct ip_packet packet;
    struct offload offload;
    /* The payload of each segment but the last; and how many segments there are. */
    uint32_t size, segments;
    /* Nothing can follow: the last segment is shorter, ends the connection, or is to be pushed. */
    bool closed;
    uint8_t bytes[TUNNEL_PACKET_MOST + 1];
};

/*
 * Adds a packet, of which the caller knows offload_fits(). True: its bytes were copied. False: it does not follow what
 * is there, which is unchanged: the caller takes that with join_take(), and adds the packet again, to nothing, which
 * succeeds.
 */
bool join_add(struct join *j, const struct ip_packet *packet, const struct offload *offload);

/*
 * Gives what was joined so far, borrowed until the next join_add(), and begins anew. False: there is nothing. The
 * packet's lengths and sums are right, and offload_fits() it.
 */
bool join_take(struct join *j, struct ip_packet *packet, struct offload *offload);

#endif
