/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - which IP addresses are whose: the plan of a network's addresses.
 *
 * Of IPv4 the network has a subnet, 10.64.0.0/12 unless configured; server n has the /24 that begins at base + 256 n.
 * There host 1 is the server itself and 2..254 are for what runs on it (containers); 0 and 255 are nobody's. Of IPv6
 * the network has a unique local /48 (RFC 4193), 40 bits of which follow from the cluster's id and the network's job
 * unless configured; server n has the /64 with the number n, and there ::1 is the server itself, and 0 nobody's.
 *
 * A server's number is cw_server, 0..N-1. All servers of a cluster must have one plan.
 */
#ifndef SERVICES_TUNNEL_ADDRESS_H
#define SERVICES_TUNNEL_ADDRESS_H

#include "services/tunnel/ip.h"

#include "cubeway/types.h"

enum { ADDRESS_WHY_BYTES = 200, ADDRESS_TEXT_BYTES = 46 };

#define ADDRESS_SUBNET "10.64.0.0/12"

struct address_plan {
    cw_server servers;
    uint32_t base4;
    uint8_t length4;
    uint8_t prefix6[6];
};

/*
 * Makes the plan of a network for a torus of that many servers. subnet4 is "A.B.C.D/LENGTH" with a length of 8..24,
 * subnet6 "PREFIX::/48"; NULL: the usual one. 0, or -EINVAL and in why[] a sentence that says what is wrong and what to
 * write.
 */
CW_MUST_CHECK int address_plan_make(struct address_plan *plan, const char *subnet4, const char *subnet6,
                                    uint32_t cluster, cw_job job, cw_server servers,
                                    char why[static ADDRESS_WHY_BYTES]);

/* The server that has the address; CW_SERVER_NONE: nobody has it. */
cw_server address_server(const struct address_plan *plan, const struct ip_address *a);
/* Is the address in one of the network's subnets, whether or not somebody has it? */
bool address_inside(const struct address_plan *plan, const struct ip_address *a);
/* The own address of a server of the plan, of version 4 or 6. */
void address_of(const struct address_plan *plan, cw_server server, uint8_t version, struct ip_address *out);
/*
 * The address from which the tunnel itself speaks to programs on that server, as a router would: host 0, which is
 * nobody's. It never leaves the server. (Linux takes no packet from a device that comes from an address of its own.)
 */
void address_of_tunnel(const struct address_plan *plan, cw_server server, uint8_t version, struct ip_address *out);
/* To many at once: multicast of either version, 255.255.255.255, or the last address of the network's subnet. */
bool address_is_many(const struct address_plan *plan, const struct ip_address *a);

/* Writes the address as people do, and gives out. */
const char *address_text(const struct ip_address *a, char out[static ADDRESS_TEXT_BYTES]);
/* Reads an address of either version. -EINVAL: the text is none. */
CW_MUST_CHECK int address_read(const char *text, struct ip_address *out);

#endif
