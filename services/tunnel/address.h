/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - which IP addresses are whose: the plan of a network's addresses.
 *
 * Of IPv4 the network has a subnet, 10.64.0.0/12 unless configured; server n has the /24 that begins at base + 256 n.
 * There host 1 is the server itself and 2..254 are for what runs on it (containers); 0 and 255 are nobody's. Of IPv6
 * the network has a unique local /48 (RFC 4193), 40 bits of which follow from the cluster's number, the dims and the
 * network's job unless configured; server n has the /64 with the number n, and there ::1 is the server itself, and 0
 * nobody's.
 *
 * A network may be one of some servers only; the addresses of the others are nobody's then. And it may have *gateways*:
 * servers by which it reaches addresses outside its subnets, in the prefixes that it names. They are in the plan, and
 * not announced, so that no server can make itself one.
 *
 * A server's number is cw_server, 0..N-1. All servers of a cluster must have one plan.
 */
#ifndef SERVICES_TUNNEL_ADDRESS_H
#define SERVICES_TUNNEL_ADDRESS_H

#include "services/reply/numbers.h"
#include "services/tunnel/packet/ip.h"

#include "cubeway/types.h"

enum { ADDRESS_WHY_BYTES = 200, ADDRESS_TEXT_BYTES = 46, ADDRESS_GATEWAYS = 64, ADDRESS_PREFIXES = 16 };

#define ADDRESS_SUBNET "10.64.0.0/12"

/* Behind a gateway unless configured: everything. */
#define ADDRESS_OUTSIDE "0.0.0.0/0 ::/0"

struct address_prefix {
    struct ip_address base;
    uint8_t length;
};

struct address_plan {
    cw_server servers;
    uint32_t base4;
    uint8_t length4;
    uint8_t prefix6[6];
    struct numbers members;  /* no range: all servers */
    struct numbers gateways; /* at most ADDRESS_GATEWAYS of them, all members */
    unsigned prefixes;       /* that are behind a gateway; 0 without gateways */
    struct address_prefix prefix[ADDRESS_PREFIXES];
};

/* What a plan is made of. */
struct address_wish {
    /* "A.B.C.D/LENGTH" with a length of 8..24; NULL: ADDRESS_SUBNET. */
    const char *subnet4;
    /* "PREFIX::/48"; NULL: the one that follows from cluster, dims and job. */
    const char *subnet6;
    uint32_t cluster;
    cw_dims dims;
    cw_job job;
    /* As numbers_read(); NULL: all servers are members, and there is no gateway. */
    const char *servers, *gateways;
    /* Prefixes with spaces between them; NULL: ADDRESS_OUTSIDE. */
    const char *outside;
};

/* What a plan cannot be made of: the number of servers, or one of the texts. */
enum address_fault {
    ADDRESS_OF_TORUS,
    ADDRESS_OF_SUBNET,
    ADDRESS_OF_SUBNET6,
    ADDRESS_OF_SERVERS,
    ADDRESS_OF_GATEWAYS,
    ADDRESS_OF_OUTSIDE,
};
/* The option that has the text: "subnet" ..; "" of the torus. */
const char *address_fault_option(enum address_fault fault);

/*
 * Makes the plan of a network. 0; or -EINVAL, with what is at fault in *fault, and in why[] what was expected of that
 * text ("an IPv4 subnet, for example .."), or of a torus with too many servers a whole sentence.
 */
CW_MUST_CHECK int address_plan_make(struct address_plan *plan, const struct address_wish *wish,
                                    enum address_fault *fault, char why[static ADDRESS_WHY_BYTES]);

/* The server that has the address; CW_SERVER_NONE: nobody has it. */
cw_server address_server(const struct address_plan *plan, const struct ip_address *a);
/* Is the address in one of the network's subnets, whether or not somebody has it? */
bool address_inside(const struct address_plan *plan, const struct ip_address *a);
/* Is the server one of the network's? */
bool address_is_member(const struct address_plan *plan, cw_server server);
bool address_is_gateway(const struct address_plan *plan, cw_server server);
/* Is the address outside the subnets, behind a gateway, and one that hosts have? */
bool address_is_outside(const struct address_plan *plan, const struct ip_address *a);
/* The first address of the subnet of that version, and its length: 48 for version 6. */
uint8_t address_subnet(const struct address_plan *plan, uint8_t version, struct ip_address *out);
/* Have the plans of two networks addresses in common? */
bool address_overlap(const struct address_plan *a, const struct address_plan *b);

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
