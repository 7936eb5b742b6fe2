/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour.h - a network whose devices are Ethernet's (tap), for bridges and virtual machines: frames to packets and
 * back, and answers to those who ask which MAC address an IP address has (ARP, RFC 826; neighbour discovery, RFC 4861).
 *
 * A MAC address names a server (CamCubeOS 6.3): 02:cb, the server's number in three bytes, and the last byte of the IP
 * address. So who asks for an address of another server is answered here at once, and nothing is asked on the torus.
 * Nobody is answered about addresses of the own server: machines that have them answer themselves, and detection of
 * duplicates finds what is a duplicate. What other servers' machines send has such a MAC address as its source, so a
 * bridge learns that all of them are behind this device.
 *
 * Machines of this server may have any MAC address. What they have is learned from what they send; until then they are
 * believed to have the address that their IP address implies, and are asked.
 */
#ifndef SERVICES_TUNNEL_NEIGHBOUR_H
#define SERVICES_TUNNEL_NEIGHBOUR_H

#include "services/tunnel/address.h"

enum { ETHER_MAC = 6, ETHER_HEAD = 14, NEIGHBOUR_FRAME = ETHER_HEAD + 72, NEIGHBOUR_ENTRIES = 512 };

struct neighbour_entry {
    struct ip_address address; /* version 0: none */
    uint8_t mac[ETHER_MAC];
};

struct neighbours {
    const struct address_plan *plan; /* borrowed */
    cw_server self;
    /* What was learned, by a hash of the address; a later one takes the place of one with the same hash. */
    struct neighbour_entry entry[NEIGHBOUR_ENTRIES];
};

/* Forgets what was learned. */
void neighbours_init(struct neighbours *n, const struct address_plan *plan, cw_server self);

/* The MAC address of the address with that last byte on that server. */
void neighbour_mac(cw_server server, uint8_t host, uint8_t out[static ETHER_MAC]);

enum neighbour_what {
    NEIGHBOUR_PACKET,  /* behind the first ETHER_HEAD bytes is an IP packet for the network */
    NEIGHBOUR_ANSWER,  /* a question, and *length bytes of `answer` are the frame that answers it */
    NEIGHBOUR_SILENT,  /* the link's own affair, and nothing is to be done */
    NEIGHBOUR_FOREIGN, /* neither IP nor a question, or for a machine that is not in this network */
};

/* Judges a frame that was read from the device, and learns from it. */
enum neighbour_what neighbour_read(struct neighbours *n, const uint8_t *frame, size_t size,
                                   uint8_t answer[static NEIGHBOUR_FRAME], size_t *length);

/*
 * The Ethernet head of a packet that ip_read() gave and that goes to a machine here. False: the machine's MAC address
 * is the one that its IP address implies, for want of a better one.
 */
bool neighbour_head(const struct neighbours *n, const struct ip_packet *p, uint8_t out[static ETHER_HEAD]);
/* The question which MAC address the destination of that packet has, as its source would ask. Gives its length. */
size_t neighbour_ask(const struct neighbours *n, const struct ip_packet *p, uint8_t out[static NEIGHBOUR_FRAME]);

#endif
