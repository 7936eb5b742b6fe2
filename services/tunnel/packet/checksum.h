/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.h - the Internet checksum (RFC 1071): one's complement sums of 16 bits, in network order.
 *
 * A *partial* sum is a number of up to 64 bits of which checksum_fold() makes 16. Sums of neighbouring blocks may be
 * added when all blocks but the last have an even length. The checksum in a head is the complement of the sum.
 *
 * TCP and UDP sum a pseudo-head of addresses, protocol and length, too. Where the checksum is left to a device, as the
 * packets of a tun mostly are, the checksum field holds the folded sum of the pseudo-head, not complemented: whoever
 * sums the transport head and the payload with that field in it, and complements the sum, has the checksum.
 */
#ifndef SERVICES_TUNNEL_PACKET_CHECKSUM_H
#define SERVICES_TUNNEL_PACKET_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* The sum of size bytes, which are borrowed; an odd last byte counts as if a zero byte followed. */
uint64_t checksum_sum(const void *bytes, size_t size);
/* A sum as 16 bits, not complemented. */
uint16_t checksum_fold(uint64_t sum);

/* The checksum of an IPv4 head of that many bytes, as if its checksum field held zero. */
uint16_t checksum_ipv4_head(const uint8_t *ip, size_t head);

/*
 * The folded sum of the pseudo-head of a packet whose IP head begins at ip (its version is 4 or 6): for a transport
 * protocol and a length of transport head and payload.
 */
uint16_t checksum_pseudo(const uint8_t *ip, uint8_t protocol, uint32_t length);

/*
 * Does what a device would: sums bytes from `start` to the end and writes the complement at start + offset. Zero is
 * written as 0xffff, which is the same sum: zero would say "no checksum" to UDP. The caller has checked that the field
 * lies within size.
 */
void checksum_complete(uint8_t *bytes, size_t size, size_t start, size_t offset);

#endif
