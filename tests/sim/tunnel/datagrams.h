/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagrams.h - programs that speak UDP over the service `ip`, beside those that speak TCP (programs.h): they send
 * numbered datagrams to any server, alone or several in one packet, as a kernel with UDP's segmentation offload gives
 * them to a device, some with marks allowed and most without, and some with the address of another server. Nobody
 * sends one again. Of what comes these judge, by the names of programs.h:
 *
 *   once, server, source   as there
 *   packet                 each datagram has the length and the bytes that were sent
 */
#ifndef DATAGRAMS_H
#define DATAGRAMS_H

#include "packets.h"
#include "services/tunnel/packet/vnet.h"

/* How many were sent, with their own address; and came. */
struct datagrams_counts {
    uint64_t sent, came;
};

/* Forgets everything that was. */
void datagrams_begin(void);
/* Sends a few, from the server of that door. */
void datagrams_send(const struct tunnel_turns *door);
/* Judges what was given to the programs of that server. */
void datagrams_take(const struct tunnel_turns *door, const struct ip_packet *p, const struct offload *offload);
struct datagrams_counts datagrams_counts(void);

#endif
