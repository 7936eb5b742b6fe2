/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/icmp.h"

#include "base/bytes.h"
#include "ip_kit.h"
#include "services/tunnel/address.h"
#include "services/tunnel/packet/checksum.h"
#include "suite.h"

#include <string.h>

static uint8_t bytes[2000], out[ICMP_BYTES_MOST];
static struct ip_packet p, answer;

static struct ip_address at(const char *text)
{
    struct ip_address a;
    ck_assert_int_eq(address_read(text, &a), 0);
    return a;
}

/* A packet with that payload behind its IP head. */
static void make(const char *from, const char *to, uint8_t protocol, unsigned fragment, const void *rest, size_t size)
{
    struct ip_address a = at(from), b = at(to);
    memset(bytes, 0, 60);
    size_t head = a.version == 4 ? IP4_HEAD : IP6_HEAD;
    bytes[0] = a.version == 4 ? 0x45 : 0x60;
    bytes[a.version == 4 ? IP4_PROTOCOL : IP6_NEXT] = protocol;
    if (a.version == 4) {
        put_be16(bytes + IP4_FRAGMENT, (uint16_t)fragment);
    }
    memcpy(bytes + (a.version == 4 ? 12 : 8), a.b, a.version == 4 ? 4 : 16);
    memcpy(bytes + (a.version == 4 ? 16 : 24), b.b, a.version == 4 ? 4 : 16);
    memcpy(bytes + head, rest, size);
    ip_set_length(bytes, IP4_HEAD, head + size);
    ck_assert_int_eq(ip_read(bytes, head + size, &p), TUNNEL_GOOD);
}

static size_t make_answer(enum icmp_what what, const char *self, uint32_t mtu)
{
    struct ip_address a = at(self);
    size_t length = icmp_make(what, &p, &a, mtu, out);
    ck_assert_int_eq(ip_read(out, length, &answer), TUNNEL_GOOD);
    const uint8_t *icmp = out + answer.ip_head;
    size_t size = length - answer.ip_head;
    uint64_t sum = answer.version == 4 ? 0 : checksum_pseudo(out, IP_ICMP6, (uint32_t)size);
    ck_assert_uint_eq(checksum_fold(sum + checksum_sum(icmp, size)), 0xffff);
    ck_assert_mem_eq(icmp + 8, bytes, size - 8);
    struct ip_address to, source;
    ip_destination(&answer, &to);
    ip_source(&p, &source);
    ck_assert_mem_eq(&to, &source, sizeof to);
    ip_source(&answer, &source);
    ck_assert_mem_eq(&source, &a, sizeof a);
    return length;
}

START_TEST(answers_of_ipv4)
{
    static const uint8_t echo[1500] = {8};
    make("10.64.3.1", "10.64.4.1", IP_ICMP, 0x4000, echo, 64);
    ck_assert(icmp_may(&p));
    ck_assert_uint_eq(make_answer(ICMP_UNREACHABLE, "10.64.3.1", 0), 20 + 8 + 84);
    ck_assert(out[20] == 3 && out[21] == 1 && get_be32(out + 24) == 0);
    make_answer(ICMP_PROHIBITED, "10.64.3.1", 0);
    ck_assert(out[20] == 3 && out[21] == 13 && get_be32(out + 24) == 0);
    make("10.64.3.1", "10.64.4.1", IP_ICMP, 0x4000, echo, 1500);
    ck_assert_uint_eq(make_answer(ICMP_TOO_BIG, "10.64.3.1", 1444), 576);
    ck_assert(out[20] == 3 && out[21] == 4 && get_be32(out + 24) == 1444);
}
END_TEST

START_TEST(answers_of_ipv6)
{
    static const uint8_t echo[1500] = {128};
    make("fd00::1", "fd00:0:0:1::1", IP_ICMP6, 0, echo, 64);
    ck_assert(icmp_may(&p));
    ck_assert_uint_eq(make_answer(ICMP_UNREACHABLE, "fd00::1", 0), 40 + 8 + 104);
    ck_assert(out[40] == 1 && out[41] == 3);
    make_answer(ICMP_PROHIBITED, "fd00::1", 0);
    ck_assert(out[40] == 1 && out[41] == 1);
    make("fd00::1", "fd00:0:0:1::1", IP_ICMP6, 0, echo, 1500);
    ck_assert_uint_eq(make_answer(ICMP_TOO_BIG, "fd00::1", 1444), ICMP_BYTES_MOST);
    ck_assert(out[40] == 2 && out[41] == 0 && get_be32(out + 44) == 1444);
}
END_TEST

START_TEST(never_about_errors)
{
    for (unsigned type = 0; type < 256; type++) {
        const uint8_t icmp[8] = {(uint8_t)type};
        make("10.64.3.1", "10.64.4.1", IP_ICMP, 0, icmp, 8);
        bool error = type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
        SUITE_HOLDS(icmp_may(&p) == !error, "type %u", type);
        make("fd00::1", "fd00:0:0:1::1", IP_ICMP6, 0, icmp, 8);
        SUITE_HOLDS(icmp_may(&p) == (type >= 128), "type %u of IPv6", type);
    }
    make("10.64.3.1", "10.64.4.1", IP_ICMP, 0, "", 0);
    ck_assert(!icmp_may(&p));
    for (enum icmp_what what = ICMP_UNREACHABLE; what <= ICMP_PROHIBITED; what++) {
        static const uint8_t udp[8] = {[5] = 8};
        make("10.64.3.1", "10.64.4.1", IP_UDP, 0, udp, 8);
        ck_assert(icmp_may(&p));
        make_answer(what, "10.64.3.1", 1000);
        ck_assert(!icmp_may(&answer)); /* nor about one of ours */
    }
}
END_TEST

START_TEST(never_to_nobody_nor_about_what_is_to_many)
{
    static const char *const cases[][2] = {
        {"0.0.0.0", "10.64.4.1"},   {"127.0.0.1", "10.64.4.1"},       {"224.0.0.1", "10.64.4.1"},
        {"10.64.3.1", "224.0.0.1"}, {"10.64.3.1", "255.255.255.255"}, {"::", "fd00::1"},
        {"::1", "fd00::1"},         {"ff02::1", "fd00::1"},           {"fd00::1", "ff02::1"},
    };
    static const uint8_t udp[8] = {[5] = 8};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(cases[i][0], cases[i][1], IP_UDP, 0, udp, 8);
        SUITE_HOLDS(!icmp_may(&p), "case %zu", i);
    }
}
END_TEST

START_TEST(fragments)
{
    static const uint8_t udp[8] = {[5] = 8};
    make("10.64.3.1", "10.64.4.1", IP_UDP, 0x2000, udp, 8);
    ck_assert(icmp_may(&p));
    make("10.64.3.1", "10.64.4.1", IP_UDP, 0x2001, udp, 8);
    ck_assert(!icmp_may(&p));
    uint8_t rest[16] = {IP_UDP, 0, 0, 1};
    make("fd00::1", "fd00:0:0:1::1", 44, 0, rest, 16);
    ck_assert(icmp_may(&p));
    rest[3] = 8;
    make("fd00::1", "fd00:0:0:1::1", 44, 0, rest, 16);
    ck_assert(!icmp_may(&p));
}
END_TEST

START_TEST(rate)
{
    struct icmp_rate spent = {{0}};
    cw_time now = {CW_NS_PER_SEC};
    unsigned made = 0;
    while (icmp_allowed(&spent, now)) {
        made++;
    }
    ck_assert_uint_eq(made, ICMP_A_SECOND);
    now = cw_time_add(now, CW_MS(10));
    ck_assert(icmp_allowed(&spent, now));
    ck_assert(!icmp_allowed(&spent, now));
    now = cw_time_add(now, CW_SEC(100));
    for (made = 0; icmp_allowed(&spent, now);) {
        made++;
    }
    ck_assert_uint_eq(made, ICMP_A_SECOND);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(answers_of_ipv4),    SUITE_TEST(answers_of_ipv6),
    SUITE_TEST(never_about_errors), SUITE_TEST(never_to_nobody_nor_about_what_is_to_many),
    SUITE_TEST(fragments),          SUITE_TEST(rate),
};
SUITE_MAIN("icmp", tests)
