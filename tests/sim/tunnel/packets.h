/* SPDX-License-Identifier: Apache-2.0 */
/* packets.h - the heads of IP packets that programs of a simulated torus send, and the addresses in them. */
#ifndef PACKETS_H
#define PACKETS_H

#include "services/tunnel/packet/ip.h"
#include "tunnel_turns.h"

#include <stddef.h>

/* What an IP head is to say. */
struct packet_wish {
    unsigned version, protocol, ecn;
    cw_server from, to;
};

/* Writes the address of a server of the door's network: 4 bytes or 16. */
void packet_address(const struct tunnel_turns *door, unsigned version, cw_server server, uint8_t *out);
/* Writes the IP head of a packet that has so many bytes behind it. Gives the head's length. */
size_t packet_write_ip(const struct tunnel_turns *door, const struct packet_wish *wish, size_t length, uint8_t *out);
/* The sum of the pseudo-head of such a packet. */
uint16_t packet_pseudo(const uint8_t *ip, size_t length);
/* Has the packet the address of that server, as its source or as its destination? */
bool packet_is_from(const struct tunnel_turns *door, const struct ip_packet *p, cw_server from);
bool packet_is_for(const struct tunnel_turns *door, const struct ip_packet *p, cw_server to);

#endif
