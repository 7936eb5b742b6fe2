/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/ip.h"

#include "base/bytes.h"
#include "ip_kit.h"
#include "services/tunnel/packet/checksum.h"
#include "suite.h"

#include <string.h>

static struct ip_kit_packet drawn;
static struct ip_packet p;
static uint8_t exact[IP_KIT_BYTES];

static enum tunnel_cause read_bytes(const uint8_t *bytes, size_t length)
{
    return ip_read(bytes, length, &p);
}

/* An IPv4 packet with these bytes behind its 20: options, if head says so, and what follows. */
static size_t make4(unsigned head, uint8_t protocol, unsigned fragment, const void *rest, size_t size)
{
    uint8_t *b = exact;
    memset(b, 0, 60);
    b[0] = (uint8_t)(0x40 | head / 4);
    put_be16(b + IP4_LENGTH, (uint16_t)(20 + size));
    put_be16(b + IP4_FRAGMENT, (uint16_t)fragment);
    b[IP4_TTL] = 64;
    b[IP4_PROTOCOL] = protocol;
    put_be32(b + 12, 0x0a400001);
    put_be32(b + 16, 0x0a400101);
    memcpy(b + 20, rest, size);
    put_be16(b + IP4_SUM, checksum_ipv4_head(b, head));
    return 20 + size;
}

static size_t make6(uint8_t next, const void *rest, size_t size)
{
    memset(exact, 0, 40);
    exact[0] = 0x60;
    put_be16(exact + IP6_LENGTH, (uint16_t)size);
    exact[IP6_NEXT] = next;
    exact[8] = exact[24] = 0xfd;
    memcpy(exact + 40, rest, size);
    return 40 + size;
}

START_TEST(drawn_packets_are_read)
{
    struct rng r = {5};
    for (unsigned i = 0; i < 2000; i++) {
        ip_kit_draw(&r, &(struct ip_kit_wish){.payload_most = 3000}, &drawn);
        SUITE_HOLDS(read_bytes(drawn.bytes, drawn.length) == TUNNEL_GOOD, "%u", i);
        SUITE_HOLDS(p.version == drawn.bytes[0] >> 4 && !p.fragment && p.length == drawn.length);
        SUITE_HOLDS(ip_is_tcp(&p) != ip_is_udp(&p) && p.heads < p.length);
        SUITE_HOLDS(p.heads - p.ip_head == (ip_is_udp(&p) ? 8 : drawn.bytes[p.ip_head + 12] >> 4 << 2));
        SUITE_HOLDS(ip_checksum_at(&p) == (ip_is_tcp(&p) ? 16 : 6));
        SUITE_HOLDS(ip_is_tcp(&p) || ip_datagram_fits(&p));
        /* One byte fewer or more is another packet. */
        SUITE_HOLDS(read_bytes(drawn.bytes, drawn.length - 1) == TUNNEL_LENGTH);
        SUITE_HOLDS(read_bytes(drawn.bytes, drawn.length + 1) == TUNNEL_LENGTH);
    }
}
END_TEST

START_TEST(too_short)
{
    uint8_t rest[20] = {0};
    ck_assert_int_eq(read_bytes(exact, 0), TUNNEL_SHORT);
    make4(20, IP_TCP, 0, rest, 20);
    for (size_t length = 1; length < 20; length++) {
        SUITE_HOLDS(read_bytes(exact, length) == TUNNEL_SHORT);
    }
    ck_assert_int_eq(read_bytes(exact, make4(24, IP_TCP, 0, rest, 0)), TUNNEL_SHORT); /* options beyond the end */
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_TCP, 0, rest, 19)), TUNNEL_SHORT);
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_UDP, 0, rest, 7)), TUNNEL_SHORT);
    rest[12] = 0x60;
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_TCP, 0, rest, 20)), TUNNEL_SHORT); /* TCP options beyond it */
    make6(IP_TCP, rest, 20);
    for (size_t length = 1; length < 40; length++) {
        SUITE_HOLDS(read_bytes(exact, length) == TUNNEL_SHORT);
    }
    ck_assert_int_eq(read_bytes(exact, make6(IP_UDP, rest, 0)), TUNNEL_SHORT);
    ck_assert_int_eq(read_bytes(exact, make6(0, rest, 7)), TUNNEL_SHORT);
    ck_assert_int_eq(read_bytes(exact, make6(44, rest, 7)), TUNNEL_SHORT);
    rest[1] = 2;
    ck_assert_int_eq(read_bytes(exact, make6(60, rest, 20)), TUNNEL_SHORT); /* an extension of 24 bytes */
}
END_TEST

START_TEST(wrong_lengths_and_versions)
{
    uint8_t rest[20] = {[12] = 0x40};
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_TCP, 0, rest, 20)), TUNNEL_LENGTH); /* 16 bytes of TCP head */
    ck_assert_int_eq(read_bytes(exact, make4(16, IP_TCP, 0, rest, 20)), TUNNEL_LENGTH);
    rest[5] = 7;
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_UDP, 0, rest, 20)), TUNNEL_LENGTH);
    rest[5] = 21;
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_UDP, 0, rest, 20)), TUNNEL_LENGTH);
    rest[5] = 12; /* shorter than its packet: strange, and no lie */
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_UDP, 0, rest, 20)), TUNNEL_GOOD);
    ck_assert(!ip_datagram_fits(&p));
    size_t length = make4(20, 1, 0, rest, 20);
    exact[10] ^= 1;
    ck_assert_int_eq(read_bytes(exact, length), TUNNEL_SUM);
    for (unsigned version = 0; version < 16; version++) {
        exact[0] = (uint8_t)(version << 4 | 5);
        SUITE_HOLDS((read_bytes(exact, 40) == TUNNEL_VERSION) == (version != 4 && version != 6), "%u", version);
    }
    static const uint8_t long_one[65536] = {0x45};
    ck_assert_int_eq(read_bytes(long_one, 65536), TUNNEL_LENGTH);
}
END_TEST

START_TEST(routes_in_options)
{
    static const struct {
        uint8_t bytes[8];
        enum tunnel_cause cause;
    } cases[] = {
        {{1, 1, 131, 3, 4, 0, 0, 0}, TUNNEL_OPTION}, {{137, 3, 4, 0, 0, 0, 0, 0}, TUNNEL_OPTION},
        {{7, 7, 4, 0, 0, 0, 0, 131}, TUNNEL_OPTION}, {{0, 131, 3, 4, 0, 0, 0, 0}, TUNNEL_GOOD}, /* behind the end */
        {{7, 0, 131, 3, 4, 0, 0, 0}, TUNNEL_GOOD}, /* a list that cannot be read: the receiver refuses it */
        {{148, 4, 0, 0, 0, 0, 0, 0}, TUNNEL_GOOD},   {{7, 9, 131, 3, 4, 0, 0, 0}, TUNNEL_GOOD},
        {{1, 1, 1, 1, 1, 1, 1, 131}, TUNNEL_OPTION}, {{1, 1, 1, 1, 1, 1, 1, 7}, TUNNEL_GOOD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SUITE_HOLDS(read_bytes(exact, make4(28, 1, 0, cases[i].bytes, 8)) == cases[i].cause, "case %zu", i);
    }
    uint8_t routing[16] = {IP_UDP, 0, 0, 0, [8 + 5] = 8};
    ck_assert_int_eq(read_bytes(exact, make6(43, routing, 16)), TUNNEL_OPTION);
    routing[2] = 4; /* segment routing */
    ck_assert_int_eq(read_bytes(exact, make6(43, routing, 16)), TUNNEL_GOOD);
    ck_assert_uint_eq(p.ip_head, 48);
    ck_assert(ip_is_udp(&p));
}
END_TEST

START_TEST(fragments_and_strangers)
{
    uint8_t rest[32] = {0};
    static const unsigned fragments[] = {0x2000, 0x0001, 0x1fff};
    for (unsigned i = 0; i < 3; i++) {
        SUITE_HOLDS(read_bytes(exact, make4(20, IP_TCP, fragments[i], rest, 8)) == TUNNEL_GOOD);
        SUITE_HOLDS(p.fragment && !ip_is_tcp(&p) && p.heads == 20 && ip_checksum_at(&p) == 0);
    }
    ck_assert_int_eq(read_bytes(exact, make4(20, IP_ICMP, 0x4000, rest, 8)), TUNNEL_GOOD);
    ck_assert(!p.fragment && p.heads == 20 && p.protocol == IP_ICMP);
    rest[0] = IP_TCP; /* hop by hop, then fragment, then a bit of TCP */
    rest[0] = 44;
    rest[8] = IP_TCP;
    ck_assert_int_eq(read_bytes(exact, make6(0, rest, 24)), TUNNEL_GOOD);
    ck_assert(p.fragment && p.protocol == IP_TCP && p.heads == 56 && !ip_is_tcp(&p));
    rest[0] = 132; /* authentication, 12 bytes: SCTP */
    rest[1] = 1;
    ck_assert_int_eq(read_bytes(exact, make6(51, rest, 32)), TUNNEL_GOOD);
    ck_assert(!p.fragment && p.protocol == 132 && p.heads == 52);
}
END_TEST

START_TEST(addresses)
{
    uint8_t rest[8] = {0};
    struct ip_address a;
    read_bytes(exact, make4(20, 1, 0, rest, 8));
    ip_source(&p, &a);
    ck_assert(a.version == 4 && get_be32(a.b) == 0x0a400001 && get_be64(a.b + 4) == 0 && get_be32(a.b + 12) == 0);
    ip_destination(&p, &a);
    ck_assert(a.version == 4 && get_be32(a.b) == 0x0a400101);
    size_t length = make6(59, rest, 0);
    exact[23] = 1;
    exact[39] = 2;
    read_bytes(exact, length);
    ip_source(&p, &a);
    ck_assert(a.version == 6 && a.b[0] == 0xfd && a.b[15] == 1);
    ip_destination(&p, &a);
    ck_assert(a.version == 6 && a.b[0] == 0xfd && a.b[15] == 2);
}
END_TEST

START_TEST(marks)
{
    struct rng r = {9};
    for (unsigned i = 0; i < 200; i++) {
        ip_kit_draw(&r, &(struct ip_kit_wish){.payload_most = 100}, &drawn);
        unsigned class = get_be16(drawn.bytes) >> (drawn.bytes[0] >> 4 == 4 ? 0 : 4) & 0xff;
        SUITE_HOLDS(ip_ecn(drawn.bytes) == (class & 3));
        ip_mark(drawn.bytes);
        SUITE_HOLDS(ip_ecn(drawn.bytes) == ECN_CE);
        SUITE_HOLDS((get_be16(drawn.bytes) >> (drawn.bytes[0] >> 4 == 4 ? 0 : 4) & 0xff) == (class | 3));
        SUITE_HOLDS(ip_kit_wrong(drawn.bytes, drawn.length, true, drawn.gso_size) == NULL);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(drawn_packets_are_read),
    SUITE_TEST(too_short),
    SUITE_TEST(wrong_lengths_and_versions),
    SUITE_TEST(routes_in_options),
    SUITE_TEST(fragments_and_strangers),
    SUITE_TEST(addresses),
    SUITE_TEST(marks),
};
SUITE_MAIN("ip", tests)
