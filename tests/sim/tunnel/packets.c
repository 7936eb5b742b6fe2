/* SPDX-License-Identifier: Apache-2.0 */
#include "packets.h"

#include "base/bytes.h"

#include <string.h>

void packet_address(const struct tunnel_turns *door, unsigned version, cw_server server, uint8_t *out)
{
    if (version == 4) {
        put_be32(out, get_be32(door->place.own4.b) + 256 * server - 256 * door->place.self);
        return;
    }
    memcpy(out, door->place.own6.b, 16);
    put_be16(out + 6, (uint16_t)server);
}

static uint16_t fold(uint64_t sum)
{
    while (sum >> 16 != 0) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)sum;
}

static uint64_t words(const uint8_t *bytes, size_t length)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i += 2) {
        sum += get_be16(bytes + i);
    }
    return sum;
}

size_t packet_write_ip(const struct tunnel_turns *door, const struct packet_wish *wish, size_t length, uint8_t *out)
{
    if (wish->version == 4) {
        memset(out, 0, IP4_HEAD);
        out[0] = 0x45;
        out[1] = (uint8_t)wish->ecn;
        put_be16(out + IP4_LENGTH, (uint16_t)(IP4_HEAD + length));
        put_be16(out + IP4_FRAGMENT, IP4_DONT_FRAGMENT);
        out[IP4_TTL] = 64;
        out[IP4_PROTOCOL] = (uint8_t)wish->protocol;
        packet_address(door, 4, wish->from, out + 12);
        packet_address(door, 4, wish->to, out + 16);
        put_be16(out + IP4_SUM, (uint16_t)~fold(words(out, IP4_HEAD)));
        return IP4_HEAD;
    }
    memset(out, 0, IP6_HEAD);
    put_be32(out, UINT32_C(0x60000000) | wish->ecn << 20);
    put_be16(out + IP6_LENGTH, (uint16_t)length);
    out[IP6_NEXT] = (uint8_t)wish->protocol;
    out[IP6_HOPS] = 64;
    packet_address(door, 6, wish->from, out + 8);
    packet_address(door, 6, wish->to, out + 24);
    return IP6_HEAD;
}

uint16_t packet_pseudo(const uint8_t *ip, size_t length)
{
    bool four = ip[0] >> 4 == 4;
    return fold((four ? words(ip + 12, 8) : words(ip + 8, 32)) + ip[four ? IP4_PROTOCOL : IP6_NEXT] + length);
}

static bool is_address(const struct tunnel_turns *door, const struct ip_packet *p, const struct ip_address *a,
                       cw_server server)
{
    uint8_t own[16] = {0};
    packet_address(door, p->version, server, own);
    return memcmp(a->b, own, p->version == 4 ? 4 : 16) == 0;
}

bool packet_is_from(const struct tunnel_turns *door, const struct ip_packet *p, cw_server from)
{
    struct ip_address a;
    ip_source(p, &a);
    return is_address(door, p, &a, from);
}

bool packet_is_for(const struct tunnel_turns *door, const struct ip_packet *p, cw_server to)
{
    struct ip_address a;
    ip_destination(p, &a);
    return is_address(door, p, &a, to);
}
