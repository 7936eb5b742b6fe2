/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vnet.h - what stands before each packet that is read from or written to a tun with IFF_VNET_HDR: ten bytes of virtio
 * (virtio 1.2, 5.1.6), little-endian (TUNSETVNETLE).
 *
 *      0         1           2               4             6                8
 *      flags:8   gso type:8  head bytes:16   gso size:16   sum begins:16    sum goes:16
 *
 * The head is not believed: of what it says only the gso size and "the checksum is partial" are taken, and only where
 * the packet itself bears them out. All else is computed from the packet.
 */
#ifndef SERVICES_TUNNEL_PACKET_VNET_H
#define SERVICES_TUNNEL_PACKET_VNET_H

#include "services/tunnel/packet/ip.h"

/* The smallest segments that Linux cuts TCP into (TCP_MIN_GSO_SIZE), and the most that it cuts UDP into. */
enum { OFFLOAD_TCP_LEAST = 8, OFFLOAD_UDP_SEGMENTS = 128 };

/* What a packet still lacks, that a device or the receiving stack does for it. */
struct offload {
    /* The checksum field of TCP or UDP holds the sum of the pseudo-head: checksum.h. */
    bool partial;
    /* Payload bytes of each segment, but for the last, that the packet stands for; 0: it is one segment. */
    uint16_t gso_size;
};

/*
 * Judges the head before a packet that was read, and writes what it says into *out. The packet's bytes, which p was
 * read from, may change: a partial checksum of neither TCP nor UDP, as of a packet inside the packet, is completed
 * here, and that of UDP or TCP gets the right sum of the pseudo-head. TUNNEL_GOOD, or TUNNEL_OFFLOAD: the head
 * contradicts the packet.
 */
enum tunnel_cause vnet_read(const uint8_t *head, uint8_t *packet, const struct ip_packet *p, struct offload *out);

/* Writes the head for a packet that has what `offload` says, which offload_fits(). */
void vnet_write(const struct ip_packet *p, const struct offload *offload, uint8_t *head);

/*
 * A head speaks of what begins with so many bytes more, or less (negative), before the packet: an Ethernet head.
 * TUNNEL_OFFLOAD: the place where sums begin would be before the packet.
 */
enum tunnel_cause vnet_shift(uint8_t *head, int bytes);

/*
 * Can a packet be so? Partial are TCP, and UDP whose datagram fills the packet; a gso size goes with partial ones whose
 * payload is longer than it, and with a TCP segment only that neither opens nor resets a connection. Asked of what
 * comes from the device and from the torus alike.
 */
bool offload_fits(const struct ip_packet *p, const struct offload *offload);

/* How many segments the packet stands for: 1 without a gso size. */
static inline uint32_t offload_segments(const struct ip_packet *p, const struct offload *offload)
{
    uint32_t payload = (uint32_t)(p->length - p->heads);
    return offload->gso_size == 0 ? 1 : (payload - 1) / offload->gso_size + 1;
}

#endif
