/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ip.h - reading an IP packet: where its heads end, who sends it to whom, and what it is as far as the tunnel cares.
 *
 * A packet that ip_read() calls good has heads that lie inside it and lengths that are its own, so that whoever looks
 * at fields below `heads` need not ask again. IPv4: the checksum of the head is right. Nothing is said of transport
 * checksums.
 */
#ifndef SERVICES_TUNNEL_PACKET_IP_H
#define SERVICES_TUNNEL_PACKET_IP_H

#include "services/tunnel/packet/cause.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IP_ICMP = 1,
    IP_TCP = 6,
    IP_UDP = 17,
    IP_ICMP6 = 58,

    IP4_HEAD = 20,
    IP6_HEAD = 40,
    TCP_HEAD = 20,
    UDP_HEAD = 8,
};

/* Places in a TCP head, and the flags in its byte 13. */
enum { TCP_SEQUENCE = 4, TCP_ACK = 8, TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_CHECKSUM = 16, UDP_CHECKSUM = 6 };
enum {
    TCP_FIN = 0x01,
    TCP_SYN = 0x02,
    TCP_RST = 0x04,
    TCP_PSH = 0x08,
    TCP_URG = 0x20,
    TCP_CWR = 0x80,
};
/* Places in an IPv4 head. */
enum { IP4_LENGTH = 2, IP4_ID = 4, IP4_FRAGMENT = 6, IP4_TTL = 8, IP4_PROTOCOL = 9, IP4_SUM = 10 };
enum { IP4_DONT_FRAGMENT = 0x4000, IP4_FRAGMENTED = 0x3fff };
/* Places in an IPv6 head. */
enum { IP6_LENGTH = 4, IP6_NEXT = 6, IP6_HOPS = 7 };

/* Explicit congestion notification (RFC 3168): two bits of the traffic class. */
enum { ECN_NOT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

/* An address of either version; IPv4 has four bytes of it. Unused bytes are zero. */
struct ip_address {
    uint8_t version;
    uint8_t b[16];
};

struct ip_packet {
    /* Borrowed: they belong to whoever called ip_read(). */
    const uint8_t *bytes;
    size_t length;
    /* 4 or 6. */
    uint8_t version;
    /* What follows the IP heads: a number of IANA's; for IPv6 that behind the extension heads. */
    uint8_t protocol;
    /* A part of a larger packet; its transport head was not looked at, and may be elsewhere. */
    bool fragment;
    /* Bytes of the IP head with its options, or its extension heads: where the transport head begins. */
    uint16_t ip_head;
    /* Bytes of all heads: where the payload begins. It is ip_head unless the packet is unfragmented TCP or UDP. */
    uint16_t heads;
};

/*
 * Reads length bytes. TUNNEL_GOOD, and *out is filled; otherwise the cause for which such a packet is dropped, and *out
 * means nothing. A UDP datagram may be shorter than the packet that it comes in: those that are cut or joined may not
 * (ip_datagram_fits()).
 */
enum tunnel_cause ip_read(const uint8_t *bytes, size_t length, struct ip_packet *out);

/* Is it TCP or UDP with its transport head? */
static inline bool ip_is_tcp(const struct ip_packet *p)
{
    return p->protocol == IP_TCP && !p->fragment;
}
static inline bool ip_is_udp(const struct ip_packet *p)
{
    return p->protocol == IP_UDP && !p->fragment;
}
/* Of UDP: the datagram's length is that of all that follows the IP heads. */
bool ip_datagram_fits(const struct ip_packet *p);

/* Where in the transport head of TCP or UDP the checksum stands; 0 for other packets. */
static inline uint16_t ip_checksum_at(const struct ip_packet *p)
{
    return ip_is_tcp(p) ? TCP_CHECKSUM : ip_is_udp(p) ? UDP_CHECKSUM : 0;
}

void ip_source(const struct ip_packet *p, struct ip_address *out);
void ip_destination(const struct ip_packet *p, struct ip_address *out);

/* The two ECN bits of the packet; and sets them to CE, with the IPv4 head's checksum made right, in its bytes. */
unsigned ip_ecn(const uint8_t *bytes);
void ip_mark(uint8_t *bytes);

/*
 * Writes the length of the whole packet into the IP head (of version 4 or 6) at bytes, and for IPv4 the checksum of the
 * head, ip_head bytes long, that goes with it.
 */
void ip_set_length(uint8_t *bytes, size_t ip_head, size_t length);

#endif
