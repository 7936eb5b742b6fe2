/* SPDX-License-Identifier: Apache-2.0 */
#include "datagrams.h"

#include "base/bytes.h"
#include "programs.h"
#include "services/tunnel/packet/limits.h"

#include <string.h>

/* A datagram begins with its number. */
enum { DATAGRAMS = 40000, NUMBER = 4, TOGETHER = 8, BURST = 3, PACKET = 65536 };

struct datagram {
    cw_server from, to;
    uint16_t length;
    bool lie, came;
};

static struct datagram datagram[DATAGRAMS];
static uint32_t datagrams;
static struct datagrams_counts counts;
static uint8_t packet[PACKET];

#define WRONG(rule, ...) seeds_fail(programs_ledger->wrong, rule, __VA_ARGS__)

void datagrams_begin(void)
{
    datagrams = 0;
    counts = (struct datagrams_counts){0};
}

struct datagrams_counts datagrams_counts(void)
{
    return counts;
}

static uint8_t byte_of(uint32_t number, uint32_t at)
{
    return (uint8_t)(at * 29 + (at >> 8) * 13 + number * 11);
}

static uint32_t below(const struct tunnel_turns *door, uint32_t most)
{
    return (uint32_t)(cw_random(door->s) % most);
}

/* Writes the next datagram, of that many bytes. */
static void write_one(uint8_t *out, const struct datagram *d)
{
    put_be32(out, datagrams);
    for (uint32_t i = NUMBER; i < d->length; i++) {
        out[i] = byte_of(datagrams, i);
    }
    datagram[datagrams++] = *d;
}

static void send_packet(const struct tunnel_turns *door)
{
    const cw_server self = door->place.self, servers = programs_plan.servers;
    const bool six = below(door, 2) == 0, lie = below(door, 16) == 0;
    struct packet_wish wish = {six ? 6 : 4, IP_UDP, below(door, 3) == 0 ? ECN_ECT0 : ECN_NOT, self,
                               below(door, servers)};
    wish.from = lie ? (self + 1 + below(door, servers - 1)) % servers : self;
    const uint32_t most = door->place.mtu - (six ? IP6_HEAD : IP4_HEAD) - UDP_HEAD;
    const uint32_t each = NUMBER + (below(door, 2) == 0 ? below(door, 60) : below(door, most - NUMBER + 1));
    const uint32_t count = below(door, 2) == 0 ? 1 : 1 + below(door, TOGETHER);
    const uint32_t last = count == 1 ? each : NUMBER + below(door, each - NUMBER + 1); /* never more than the others */
    const size_t payload = (size_t)each * (count - 1) + last;
    if (wish.to == self || payload + UDP_HEAD + IP6_HEAD >= PACKET || datagrams + count > DATAGRAMS) {
        return;
    }
    size_t ip = packet_write_ip(door, &wish, UDP_HEAD + payload, packet), length = ip + UDP_HEAD + payload;
    uint8_t *udp = packet + ip, head[TUNNEL_VNET_BYTES];
    put_be16(udp, (uint16_t)(2000 + below(door, 8)));
    put_be16(udp + 2, 53);
    put_be16(udp + 4, (uint16_t)(UDP_HEAD + payload));
    put_be16(udp + UDP_CHECKSUM, packet_pseudo(packet, UDP_HEAD + payload));
    for (uint32_t i = 0; i < count; i++) {
        const struct datagram d = {wish.from, wish.to, (uint16_t)(i + 1 < count ? each : last), lie, false};
        write_one(udp + UDP_HEAD + (size_t)i * each, &d);
    }
    struct ip_packet p;
    if (ip_read(packet, length, &p) != TUNNEL_GOOD) {
        WRONG("world", "a program sent what is no packet");
        return;
    }
    counts.sent += lie ? 0 : count;
    vnet_write(&p, &(struct offload){true, count > 1 ? (uint16_t)each : 0}, head);
    door->api->read(door->tunnel, head, packet, length);
}

void datagrams_send(const struct tunnel_turns *door)
{
    for (uint32_t i = below(door, 2 * BURST); i < BURST; i++) {
        send_packet(door);
    }
}

static void take_one(const struct tunnel_turns *door, const struct ip_packet *p, const uint8_t *bytes, size_t length)
{
    const cw_server self = door->place.self;
    uint32_t number = length < NUMBER ? DATAGRAMS : get_be32(bytes);
    if (number >= datagrams) {
        WRONG("packet", "server %u was given a datagram that nobody sent", self);
        return;
    }
    struct datagram *d = &datagram[number];
    if (d->lie || !packet_is_from(door, p, d->from)) {
        WRONG("source", "server %u was given datagram %u with the address of a server that did not send it", self,
              number);
    } else if (d->to != self || !packet_is_for(door, p, self)) {
        WRONG("server", "server %u was given datagram %u for server %u", self, number, d->to);
    } else if (d->came) {
        WRONG("once", "datagram %u came again", number);
    } else if (d->length != length) {
        WRONG("packet", "datagram %u of %u bytes has %zu", number, d->length, length);
    }
    for (uint32_t i = NUMBER; i < length; i++) {
        if (bytes[i] != byte_of(number, i)) {
            WRONG("packet", "datagram %u: byte %u is another one", number, i);
            return;
        }
    }
    d->came = true;
    counts.came++;
}

void datagrams_take(const struct tunnel_turns *door, const struct ip_packet *p, const struct offload *offload)
{
    const size_t all = p->length - p->heads, each = offload->gso_size != 0 ? offload->gso_size : all;
    for (size_t at = 0; at < all; at += each) {
        take_one(door, p, p->bytes + p->heads + at, all - at < each ? all - at : each);
    }
}
