/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/neighbour.h"

#include "services/tunnel/packet/checksum.h"

#include "base/bytes.h"
#include "base/digest.h"

enum { TYPE_IP4 = 0x0800, TYPE_ARP = 0x0806, TYPE_IP6 = 0x86dd };
/* ARP over Ethernet for IPv4: places, the whole length, and what is asked and answered. */
enum { ARP_OPERATION = 6, ARP_SENDER = 8, ARP_SENDER_IP = 14, ARP_TARGET_IP = 24, ARP_BYTES = 28 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };
/* Neighbour discovery: types, and places behind the IPv6 head. */
enum { ND_FIRST = 133, ND_SOLICITATION = 135, ND_ADVERTISEMENT = 136, ND_LAST = 137 };
enum { ND_FLAGS = 4, ND_TARGET = 8, ND_OPTION = 24, ND_BYTES = 32, ND_HOPS = 255 };
enum { ND_SOURCE_MAC = 1, ND_TARGET_MAC = 2, ND_SOLICITED = 0x40, ND_OVERRIDE = 0x20 };

static const uint8_t arp_begin[] = {0, 1, 8, 0, 6, 4, 0}, everybody[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

void neighbours_init(struct neighbours *n, const struct address_plan *plan, cw_server self)
{
    memset(n, 0, sizeof *n);
    n->plan = plan;
    n->self = self;
}

void neighbour_mac(cw_server server, uint8_t host, uint8_t out[static ETHER_MAC])
{
    put_be32(out, 0x02cb0000 | server >> 8);
    out[4] = (uint8_t)server;
    out[5] = host;
}

static uint8_t host_of(const struct ip_address *a)
{
    return a->b[a->version == 4 ? 3 : 15];
}

static bool is_to_many(const uint8_t *mac)
{
    return (mac[0] & 1) != 0;
}

/* The MAC address that an address implies; of one outside, that of the tunnel itself. */
static void implied(const struct neighbours *n, const struct ip_address *a, uint8_t out[static ETHER_MAC])
{
    cw_server server = address_server(n->plan, a);
    bool known = server != CW_SERVER_NONE;
    neighbour_mac(known ? server : n->self, known ? host_of(a) : 0, out);
}

/* ---- What is learned --------------------------------------------------------------------------------------------- */

static unsigned slot_of(const struct ip_address *a)
{
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, a->b, sizeof a->b);
    return (unsigned)(digest_value(&d) % NEIGHBOUR_ENTRIES);
}

static bool same(const struct ip_address *a, const struct ip_address *b)
{
    return a->version == b->version && memcmp(a->b, b->b, sizeof a->b) == 0;
}

static void learn(struct neighbours *n, const struct ip_address *a, const uint8_t *mac)
{
    if (address_server(n->plan, a) == n->self && !is_to_many(mac)) {
        struct neighbour_entry *e = &n->entry[slot_of(a)];
        e->address = *a;
        memcpy(e->mac, mac, ETHER_MAC);
    }
}

/* ---- Questions and answers --------------------------------------------------------------------------------------- */

static void put_head(uint8_t *frame, const uint8_t *to, const uint8_t *from, uint16_t type)
{
    memcpy(frame, to, ETHER_MAC);
    memcpy(frame + ETHER_MAC, from, ETHER_MAC);
    put_be16(frame + 2 * ETHER_MAC, type);
}

static struct ip_address four(const uint8_t *b)
{
    struct ip_address a = {.version = 4};
    memcpy(a.b, b, 4);
    return a;
}

static struct ip_address six(const uint8_t *b)
{
    struct ip_address a = {.version = 6};
    memcpy(a.b, b, 16);
    return a;
}

/* Whose is it, if not this server's? CW_SERVER_NONE: nobody is answered for. */
static cw_server other_server(const struct neighbours *n, const struct ip_address *a)
{
    cw_server server = address_server(n->plan, a);
    return server == n->self ? CW_SERVER_NONE : server;
}

static enum neighbour_what read_arp(struct neighbours *n, const uint8_t *frame, size_t size, uint8_t *answer,
                                    size_t *length)
{
    const uint8_t *arp = frame + ETHER_HEAD;
    uint8_t mac[ETHER_MAC];
    if (size < ETHER_HEAD + ARP_BYTES || memcmp(arp, arp_begin, sizeof arp_begin) != 0) {
        return NEIGHBOUR_FOREIGN;
    }
    const struct ip_address sender = four(arp + ARP_SENDER_IP), target = four(arp + ARP_TARGET_IP);
    learn(n, &sender, arp + ARP_SENDER);
    cw_server server = other_server(n, &target);
    if (arp[ARP_OPERATION + 1] != ARP_REQUEST || server == CW_SERVER_NONE || is_to_many(arp + ARP_SENDER)) {
        return NEIGHBOUR_SILENT;
    }
    neighbour_mac(server, host_of(&target), mac);
    put_head(answer, arp + ARP_SENDER, mac, TYPE_ARP);
    uint8_t *a = answer + ETHER_HEAD;
    memcpy(a, arp_begin, sizeof arp_begin);
    a[ARP_OPERATION + 1] = ARP_REPLY;
    memcpy(a + ARP_SENDER, mac, ETHER_MAC);
    memcpy(a + ARP_SENDER_IP, target.b, 4);
    memcpy(a + ARP_SENDER_IP + 4, arp + ARP_SENDER, ETHER_MAC);
    memcpy(a + ARP_TARGET_IP, sender.b, 4);
    *length = ETHER_HEAD + ARP_BYTES;
    return NEIGHBOUR_ANSWER;
}

/* An IPv6 head and a message of neighbour discovery with one option, a MAC address; its checksum included. */
static size_t put_discovery(uint8_t *ip, const struct ip_address *from, const struct ip_address *to, uint8_t type,
                            uint8_t flags, const struct ip_address *target, const uint8_t *mac)
{
    uint8_t *nd = ip + IP6_HEAD;
    memset(ip, 0, IP6_HEAD + ND_BYTES);
    ip[0] = 0x60;
    put_be16(ip + IP6_LENGTH, ND_BYTES);
    ip[IP6_NEXT] = IP_ICMP6;
    ip[IP6_HOPS] = ND_HOPS;
    memcpy(ip + 8, from->b, 16);
    memcpy(ip + 24, to->b, 16);
    nd[0] = type;
    nd[ND_FLAGS] = flags;
    memcpy(nd + ND_TARGET, target->b, 16);
    nd[ND_OPTION] = type == ND_ADVERTISEMENT ? ND_TARGET_MAC : ND_SOURCE_MAC;
    nd[ND_OPTION + 1] = 1;
    memcpy(nd + ND_OPTION + 2, mac, ETHER_MAC);
    put_be16(nd + 2, checksum_pseudo(ip, IP_ICMP6, ND_BYTES));
    checksum_complete(ip, IP6_HEAD + ND_BYTES, IP6_HEAD, 2);
    return ETHER_HEAD + IP6_HEAD + ND_BYTES;
}

static bool is_nobody(const struct ip_address *a)
{
    return get_be64(a->b) == 0 && get_be64(a->b + 8) == 0;
}

/* Routers' messages and the like are the link's own affair, too. */
static enum neighbour_what read_discovery(struct neighbours *n, const uint8_t *frame, const struct ip_packet *p,
                                          uint8_t *answer, size_t *length)
{
    const uint8_t *nd = p->bytes + p->ip_head;
    struct ip_address sender, everyone = {.version = 6, .b = {0xff, 2, [15] = 1}};
    uint8_t mac[ETHER_MAC], everyone_mac[] = {0x33, 0x33, 0, 0, 0, 1};
    if (p->length - p->ip_head < ND_OPTION) {
        return NEIGHBOUR_SILENT;
    }
    const struct ip_address target = six(nd + ND_TARGET);
    ip_source(p, &sender);
    learn(n, nd[0] == ND_ADVERTISEMENT ? &target : &sender, frame + ETHER_MAC);
    cw_server server = other_server(n, &target);
    if (nd[0] != ND_SOLICITATION || server == CW_SERVER_NONE || is_to_many(frame + ETHER_MAC)) {
        return NEIGHBOUR_SILENT;
    }
    bool probe = is_nobody(&sender); /* whoever is about to take the address: it is taken */
    neighbour_mac(server, host_of(&target), mac);
    put_head(answer, probe ? everyone_mac : frame + ETHER_MAC, mac, TYPE_IP6);
    *length = put_discovery(answer + ETHER_HEAD, &target, probe ? &everyone : &sender, ND_ADVERTISEMENT,
                            ND_OVERRIDE | (probe ? 0 : ND_SOLICITED), &target, mac);
    return NEIGHBOUR_ANSWER;
}

static bool is_discovery(const struct ip_packet *p)
{
    return p->version == 6 && p->protocol == IP_ICMP6 && !p->fragment && p->length > p->ip_head &&
           p->bytes[p->ip_head] >= ND_FIRST && p->bytes[p->ip_head] <= ND_LAST;
}

static enum neighbour_what read_ip(struct neighbours *n, const uint8_t *frame, size_t size, uint8_t *answer,
                                   size_t *length)
{
    static const uint8_t ours[] = {0x02, 0xcb};
    struct ip_packet p;
    struct ip_address source;
    if (ip_read(frame + ETHER_HEAD, size - ETHER_HEAD, &p) != TUNNEL_GOOD) {
        return NEIGHBOUR_PACKET; /* whoever reads it says what is wrong */
    }
    if (is_discovery(&p)) {
        return read_discovery(n, frame, &p, answer, length);
    }
    if (!is_to_many(frame) && memcmp(frame, ours, sizeof ours) != 0) {
        return NEIGHBOUR_FOREIGN; /* a bridge that does not know where a machine is tries everywhere */
    }
    ip_source(&p, &source);
    learn(n, &source, frame + ETHER_MAC);
    return NEIGHBOUR_PACKET;
}

enum neighbour_what neighbour_read(struct neighbours *n, const uint8_t *frame, size_t size,
                                   uint8_t answer[static NEIGHBOUR_FRAME], size_t *length)
{
    *length = 0;
    if (size < ETHER_HEAD) {
        return NEIGHBOUR_FOREIGN;
    }
    uint16_t type = get_be16(frame + 2 * ETHER_MAC);
    if (type == TYPE_ARP) {
        return read_arp(n, frame, size, answer, length);
    }
    return type == TYPE_IP4 || type == TYPE_IP6 ? read_ip(n, frame, size, answer, length) : NEIGHBOUR_FOREIGN;
}

/* ---- To a machine ------------------------------------------------------------------------------------------------ */

/* Where packets to many go (RFC 1112, section 6.4; RFC 2464, section 7). */
static bool many(const struct neighbours *n, const struct ip_address *a, uint8_t out[static ETHER_MAC])
{
    static const uint8_t begin4[] = {0x01, 0x00, 0x5e}, begin6[] = {0x33, 0x33};
    if (!address_is_many(n->plan, a)) {
        return false;
    }
    if (a->version == 6) {
        memcpy(out, begin6, 2);
        memcpy(out + 2, a->b + 12, 4);
    } else if (a->b[0] >> 4 == 14) {
        memcpy(out, begin4, 3);
        out[3] = a->b[1] & 0x7f;
        memcpy(out + 4, a->b + 2, 2);
    } else {
        memcpy(out, everybody, ETHER_MAC);
    }
    return true;
}

bool neighbour_head(const struct neighbours *n, const struct ip_packet *p, uint8_t out[static ETHER_HEAD])
{
    struct ip_address from, to;
    uint8_t near[ETHER_MAC], far[ETHER_MAC];
    ip_source(p, &from);
    ip_destination(p, &to);
    const struct neighbour_entry *e = &n->entry[slot_of(&to)];
    bool known = many(n, &to, near);
    if (!known && same(&e->address, &to)) {
        memcpy(near, e->mac, ETHER_MAC);
        known = true;
    } else if (!known) {
        implied(n, &to, near);
    }
    implied(n, &from, far);
    put_head(out, near, far, p->version == 4 ? TYPE_IP4 : TYPE_IP6);
    return known;
}

size_t neighbour_ask(const struct neighbours *n, const struct ip_packet *p, uint8_t out[static NEIGHBOUR_FRAME])
{
    struct ip_address from, to, group = {.version = 6, .b = {0xff, 2, [11] = 1, [12] = 0xff}};
    uint8_t mac[ETHER_MAC], group_mac[] = {0x33, 0x33, 0xff, 0, 0, 0}, *a = out + ETHER_HEAD;
    ip_source(p, &from);
    ip_destination(p, &to);
    implied(n, &from, mac);
    if (p->version == 6) {
        memcpy(group.b + 13, to.b + 13, 3);
        memcpy(group_mac + 3, to.b + 13, 3);
        put_head(out, group_mac, mac, TYPE_IP6);
        return put_discovery(a, &from, &group, ND_SOLICITATION, 0, &to, mac);
    }
    put_head(out, everybody, mac, TYPE_ARP);
    memset(a, 0, ARP_BYTES);
    memcpy(a, arp_begin, sizeof arp_begin);
    a[ARP_OPERATION + 1] = ARP_REQUEST;
    memcpy(a + ARP_SENDER, mac, ETHER_MAC);
    memcpy(a + ARP_SENDER_IP, from.b, 4);
    memcpy(a + ARP_TARGET_IP, to.b, 4);
    return ETHER_HEAD + ARP_BYTES;
}
