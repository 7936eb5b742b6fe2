/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/cause.h"

#include "base/check.h"

static const struct {
    const char *name, *text;
} causes[TUNNEL_CAUSES] = {
    [TUNNEL_GOOD] = {"good", "The packet was not dropped."},
    [TUNNEL_SHORT] = {"short", "The packet ends within a head."},
    [TUNNEL_VERSION] = {"version", "The packet is neither IPv4 nor IPv6."},
    [TUNNEL_LENGTH] = {"length", "A length in a head is not that of the packet."},
    [TUNNEL_SUM] = {"sum", "The checksum of the IPv4 head is wrong."},
    [TUNNEL_OPTION] = {"option", "The packet has an IPv4 option that routes, or an IPv6 routing header of type 0."},
    [TUNNEL_OFFLOAD] = {"offload", "What the device or the other server says of a packet contradicts the packet."},
    [TUNNEL_SOURCE] = {"source", "The source address is not one of the server that sends the packet."},
    [TUNNEL_OUTSIDE] = {"outside", "No server of this network has the destination."},
    [TUNNEL_PROHIBITED] = {"prohibited", "The network's job has no grant for the destination's server."},
    [TUNNEL_NO_GATEWAY] = {"no-gateway", "The packet is for an address outside, and no gateway can be reached."},
    [TUNNEL_NOT_HERE] = {"not-here", "A piece came to this server with the address of another one."},
    [TUNNEL_MULTICAST] = {"multicast", "The packet is for many, which this network does not carry."},
    [TUNNEL_TOO_BIG] = {"too-big", "The packet is longer than what one frame takes."},
    [TUNNEL_UNREACHABLE] = {"unreachable", "The destination's server cannot be reached now."},
    [TUNNEL_DAMAGED] = {"damaged", "The sum of a piece is wrong."},
    [TUNNEL_FRAME] = {"frame", "An Ethernet frame is neither IP nor ARP, or for a machine outside of this network."},
};

const char *tunnel_cause_name(enum tunnel_cause cause)
{
    CHECK(cause < TUNNEL_CAUSES);
    return causes[cause].name;
}

const char *tunnel_cause_text(enum tunnel_cause cause)
{
    CHECK(cause < TUNNEL_CAUSES);
    return causes[cause].text;
}
