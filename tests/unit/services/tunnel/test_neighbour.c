/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/neighbour.h"

#include "base/bytes.h"
#include "rng.h"
#include "services/tunnel/packet/checksum.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

enum { SELF = 4, SERVERS = 27, ARP = ETHER_HEAD + 28, SOLICITATION = ETHER_HEAD + 72 };

static struct address_plan plan;
static struct neighbours n;
static uint8_t frame[200], answer[NEIGHBOUR_FRAME];
static size_t length;
static const uint8_t machine[] = {0x52, 0x54, 0, 1, 2, 3}, everybody[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static void begin(void)
{
    char why[ADDRESS_WHY_BYTES];
    enum address_fault fault;
    const struct address_wish wish = {.subnet6 = "fd12:3456:789a::/48", .dims = {3, 3, 3}, .job = 9};
    ck_assert_int_eq(address_plan_make(&plan, &wish, &fault, why), 0);
    neighbours_init(&n, &plan, SELF);
}

static struct ip_address address(const char *text)
{
    struct ip_address a;
    ck_assert_int_eq(address_read(text, &a), 0);
    return a;
}

static void ask_arp(const char *sender, const char *target, uint16_t operation)
{
    const struct ip_address from = address(sender), to = address(target);
    memset(frame, 0, sizeof frame);
    memcpy(frame, everybody, 6);
    memcpy(frame + 6, machine, 6);
    put_be16(frame + 12, 0x0806);
    memcpy(frame + 14, (const uint8_t[]){0, 1, 8, 0, 6, 4}, 6);
    put_be16(frame + 20, operation);
    memcpy(frame + 22, machine, 6);
    memcpy(frame + 28, from.b, 4);
    memcpy(frame + 38, to.b, 4);
}

/* A message of neighbour discovery, from and about these addresses. */
static void ask_nd(const char *sender, const char *target, uint8_t type)
{
    const struct ip_address from = address(sender), about = address(target), group = address("ff02::1:ff00:1");
    uint8_t *ip = frame + ETHER_HEAD;
    memset(frame, 0, sizeof frame);
    memcpy(frame, (const uint8_t[]){0x33, 0x33, 0xff, 0, 0, 1}, 6);
    memcpy(frame + 6, machine, 6);
    put_be16(frame + 12, 0x86dd);
    ip[0] = 0x60;
    put_be16(ip + 4, 32);
    ip[6] = 58;
    ip[7] = 255;
    memcpy(ip + 8, from.b, 16);
    memcpy(ip + 24, group.b, 16);
    ip[40] = type;
    memcpy(ip + 48, about.b, 16);
}

/* An IPv4 packet without payload, in a frame to that MAC address. */
static size_t put_packet(const char *sender, const char *target, const uint8_t *mac)
{
    const struct ip_address from = address(sender), to = address(target);
    uint8_t *ip = frame + ETHER_HEAD;
    memset(frame, 0, sizeof frame);
    memcpy(frame, mac, 6);
    memcpy(frame + 6, machine, 6);
    put_be16(frame + 12, 0x0800);
    ip[0] = 0x45;
    ip[9] = 253;
    memcpy(ip + 12, from.b, 4);
    memcpy(ip + 16, to.b, 4);
    ip_set_length(ip, 20, 20);
    return ETHER_HEAD + 20;
}

static enum neighbour_what look(size_t size)
{
    return neighbour_read(&n, frame, size, answer, &length);
}

START_TEST(names_of_servers)
{
    uint8_t mac[6];
    neighbour_mac(0x123456, 7, mac);
    ck_assert_mem_eq(mac, ((const uint8_t[]){0x02, 0xcb, 0x12, 0x34, 0x56, 7}), 6);
}
END_TEST

START_TEST(arp)
{
    begin();
    ask_arp("10.64.4.9", "10.64.13.2", 1);
    ck_assert_int_eq(look(ARP), NEIGHBOUR_ANSWER);
    ck_assert_uint_eq(length, ARP);
    const uint8_t mac[] = {0x02, 0xcb, 0, 0, 13, 2};
    ck_assert_mem_eq(answer, machine, 6);
    ck_assert_mem_eq(answer + 6, mac, 6);
    ck_assert_uint_eq(get_be16(answer + 12), 0x0806);
    ck_assert_uint_eq(get_be16(answer + 20), 2);
    ck_assert_mem_eq(answer + 22, mac, 6);
    ck_assert_mem_eq(answer + 28, address("10.64.13.2").b, 4);
    ck_assert_mem_eq(answer + 32, machine, 6);
    ck_assert_mem_eq(answer + 38, address("10.64.4.9").b, 4);
    /* A probe for another server's address is told that it is taken (RFC 5227). */
    ask_arp("0.0.0.0", "10.64.13.2", 1);
    ck_assert_int_eq(look(ARP), NEIGHBOUR_ANSWER);
    /* Of the own server's addresses, of nobody's, and of answers nothing is said. */
    static const char *const silent[] = {"10.64.4.1", "10.64.4.200", "10.64.27.1", "10.64.13.0", "192.0.2.1"};
    for (unsigned i = 0; i < 5; i++) {
        ask_arp("10.64.4.9", silent[i], 1);
        SUITE_HOLDS(look(ARP) == NEIGHBOUR_SILENT, "%s", silent[i]);
    }
    ask_arp("10.64.4.9", "10.64.13.2", 2);
    ck_assert_int_eq(look(ARP), NEIGHBOUR_SILENT);
    ask_arp("10.64.4.9", "10.64.13.2", 1);
    ck_assert_int_eq(look(ARP - 1), NEIGHBOUR_FOREIGN);
    frame[18] = 5;
    ck_assert_int_eq(look(ARP), NEIGHBOUR_FOREIGN);
}
END_TEST

START_TEST(discovery)
{
    struct ip_packet p;
    const uint8_t mac[] = {0x02, 0xcb, 0, 0, 13, 2}, *nd = answer + ETHER_HEAD + 40;
    begin();
    ask_nd("fd12:3456:789a:4::9", "fd12:3456:789a:d::2", 135);
    ck_assert_int_eq(look(SOLICITATION), NEIGHBOUR_ANSWER);
    ck_assert_uint_eq(length, NEIGHBOUR_FRAME);
    ck_assert_mem_eq(answer, machine, 6);
    ck_assert_mem_eq(answer + 6, mac, 6);
    ck_assert_int_eq(ip_read(answer + ETHER_HEAD, length - ETHER_HEAD, &p), TUNNEL_GOOD);
    ck_assert_uint_eq(p.bytes[7], 255);
    ck_assert_uint_eq(nd[0], 136);
    ck_assert_uint_eq(nd[4], 0x60); /* solicited, override */
    ck_assert_mem_eq(nd + 8, address("fd12:3456:789a:d::2").b, 16);
    ck_assert_mem_eq(nd + 26, mac, 6);
    uint64_t sum = checksum_pseudo(p.bytes, 58, 32) + checksum_sum(nd, 32);
    ck_assert_uint_eq(checksum_fold(sum), 0xffff);
    /* Detection of duplicates: to everybody, and not solicited. */
    ask_nd("::", "fd12:3456:789a:d::2", 135);
    ck_assert_int_eq(look(SOLICITATION), NEIGHBOUR_ANSWER);
    ck_assert_mem_eq(answer, ((const uint8_t[]){0x33, 0x33, 0, 0, 0, 1}), 6);
    ck_assert_uint_eq(nd[4], 0x20);
    ask_nd("::", "fd12:3456:789a:4::2", 135);
    ck_assert_int_eq(look(SOLICITATION), NEIGHBOUR_SILENT);
    for (uint8_t type = 133; type <= 137; type++) {
        ask_nd("fd12:3456:789a:4::9", "fd12:3456:789a:d::2", type);
        SUITE_HOLDS(look(SOLICITATION) == (type == 135 ? NEIGHBOUR_ANSWER : NEIGHBOUR_SILENT), "type %u", type);
    }
}
END_TEST

START_TEST(what_is_carried)
{
    const uint8_t far[] = {0x02, 0xcb, 0, 0, 13, 2};
    begin();
    ck_assert_int_eq(look(put_packet("10.64.4.9", "10.64.13.2", far)), NEIGHBOUR_PACKET);
    ck_assert_int_eq(look(put_packet("10.64.4.9", "10.64.13.2", everybody)), NEIGHBOUR_PACKET);
    ck_assert_int_eq(look(put_packet("10.64.4.9", "10.64.13.2", machine)), NEIGHBOUR_FOREIGN);
    size_t size = put_packet("10.64.4.9", "10.64.13.2", far);
    put_be16(frame + 12, 0x8100); /* a VLAN */
    ck_assert_int_eq(look(size), NEIGHBOUR_FOREIGN);
    ck_assert_int_eq(look(13), NEIGHBOUR_FOREIGN);
}
END_TEST

/* Reads a packet from one address to another, and gives the head that it gets here. */
static bool head_of(const char *from, const char *to, uint8_t head[static ETHER_HEAD])
{
    static uint8_t bytes[60];
    struct ip_packet p;
    const struct ip_address a = address(from), b = address(to);
    memset(bytes, 0, sizeof bytes);
    if (a.version == 4) {
        (void)put_packet(from, to, everybody);
        memcpy(bytes, frame + ETHER_HEAD, 20);
    } else {
        bytes[0] = 0x60;
        bytes[6] = 253;
        memcpy(bytes + 8, a.b, 16);
        memcpy(bytes + 24, b.b, 16);
    }
    ck_assert_int_eq(ip_read(bytes, a.version == 4 ? 20 : 40, &p), TUNNEL_GOOD);
    bool known = neighbour_head(&n, &p, head);
    if (!known) {
        length = neighbour_ask(&n, &p, answer);
    }
    return known;
}

START_TEST(machines_are_learned)
{
    uint8_t head[ETHER_HEAD];
    const uint8_t peer[] = {0x02, 0xcb, 0, 0, 13, 2};
    begin();
    /* Not known yet: as its address implies, and asked as the peer would. */
    ck_assert(!head_of("10.64.13.2", "10.64.4.9", head));
    ck_assert_mem_eq(head, ((const uint8_t[]){0x02, 0xcb, 0, 0, 4, 9, 0x02, 0xcb, 0, 0, 13, 2, 8, 0}), ETHER_HEAD);
    ck_assert_uint_eq(length, ARP);
    ck_assert_mem_eq(answer, everybody, 6);
    ck_assert_uint_eq(get_be16(answer + 20), 1);
    ck_assert_mem_eq(answer + 22, peer, 6);
    ck_assert_mem_eq(answer + 28, address("10.64.13.2").b, 4);
    ck_assert_mem_eq(answer + 38, address("10.64.4.9").b, 4);
    ask_arp("10.64.4.9", "10.64.13.2", 2); /* its answer */
    ck_assert_int_eq(look(ARP), NEIGHBOUR_SILENT);
    ck_assert(head_of("10.64.13.2", "10.64.4.9", head));
    ck_assert_mem_eq(head, machine, 6);
    /* By a packet, too; but no address of another server. */
    ck_assert_int_eq(look(put_packet("10.64.4.7", "10.64.13.2", peer)), NEIGHBOUR_PACKET);
    ck_assert(head_of("10.64.13.2", "10.64.4.7", head));
    ck_assert_int_eq(look(put_packet("10.64.5.7", "10.64.13.2", peer)), NEIGHBOUR_PACKET);
    ck_assert(!head_of("10.64.13.2", "10.64.5.7", head));
    /* IPv6: asked in the group of its address, and learned from the answer. */
    ck_assert(!head_of("fd12:3456:789a:d::2", "fd12:3456:789a:4::1:9", head));
    ck_assert_uint_eq(length, NEIGHBOUR_FRAME);
    ck_assert_mem_eq(answer, ((const uint8_t[]){0x33, 0x33, 0xff, 1, 0, 9}), 6);
    ask_nd("fe80::1", "fd12:3456:789a:4::1:9", 136);
    ck_assert_int_eq(look(SOLICITATION), NEIGHBOUR_SILENT);
    ck_assert(head_of("fd12:3456:789a:d::2", "fd12:3456:789a:4::1:9", head));
    ck_assert_mem_eq(head, machine, 6);
    /* From outside, by a gateway: the tunnel's own voice. */
    ck_assert(head_of("192.0.2.1", "10.64.4.9", head));
    ck_assert_mem_eq(head + 6, ((const uint8_t[]){0x02, 0xcb, 0, 0, 4, 0}), 6);
}
END_TEST

START_TEST(groups)
{
    uint8_t head[ETHER_HEAD];
    begin();
    ck_assert(head_of("10.64.13.2", "239.255.128.1", head));
    ck_assert_mem_eq(head, ((const uint8_t[]){1, 0, 0x5e, 0x7f, 128, 1}), 6);
    ck_assert(head_of("10.64.13.2", "255.255.255.255", head));
    ck_assert_mem_eq(head, everybody, 6);
    ck_assert(head_of("fd12:3456:789a:d::2", "ff02::fb", head));
    ck_assert_mem_eq(head, ((const uint8_t[]){0x33, 0x33, 0, 0, 0, 0xfb}), 6);
}
END_TEST

/* Whatever a frame is, nothing beyond it is read, and an answer is one of the two lengths. */
START_TEST(anything)
{
    struct rng r = {1};
    begin();
    for (unsigned i = 0; i < 20000; i++) {
        if (i % 3 == 0) {
            ask_arp("10.64.4.9", "10.64.13.2", 1);
        } else if (i % 3 == 1) {
            ask_nd("fd12:3456:789a:4::9", "fd12:3456:789a:d::2", 135);
        } else {
            (void)put_packet("10.64.4.9", "10.64.13.2", everybody);
        }
        size_t size = rng_below(&r, SOLICITATION + 1);
        for (unsigned k = 0; k < 3 && size > 0; k++) {
            frame[rng_below(&r, SOLICITATION)] = (uint8_t)rng_below(&r, 256);
        }
        uint8_t *exact = malloc(size + (size == 0)); /* a sanitizer sees one byte too many */
        memcpy(exact, frame, size);
        enum neighbour_what what = neighbour_read(&n, exact, size, answer, &length);
        SUITE_HOLDS(what == NEIGHBOUR_ANSWER ? length == ARP || length == NEIGHBOUR_FRAME : length == 0);
        free(exact);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names_of_servers),     SUITE_TEST(arp),    SUITE_TEST(discovery), SUITE_TEST(what_is_carried),
    SUITE_TEST(machines_are_learned), SUITE_TEST(groups), SUITE_TEST(anything),
};
SUITE_MAIN("neighbour", tests)
