/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/join.h"

#include "base/bytes.h"
#include "ip_kit.h"
#include "services/tunnel/cut.h"
#include "services/tunnel/packet/checksum.h"
#include "suite.h"

#include <string.h>

static struct ip_kit_packet drawn;
static struct join join = {.udp = true};
static struct ip_packet p;
static struct offload o;
static uint8_t piece[IP_KIT_BYTES];

static bool add(const uint8_t *bytes, size_t length, const struct offload *offload)
{
    ck_assert_int_eq(ip_read(bytes, length, &p), TUNNEL_GOOD);
    return join_add(&join, &p, offload);
}

/* Two segments of TCP that follow each other, 1,000 bytes each. */
struct pair {
    uint8_t bytes[2][1100];
    size_t length;
};

static void make_pair(struct pair *two, unsigned version, unsigned protocol)
{
    struct rng r = {21};
    struct ip_kit_wish wish = {.version = version, .protocol = protocol, .plain_heads = true, .payload_most = 10};
    ip_kit_draw(&r, &wish, &drawn);
    ck_assert_int_eq(ip_read(drawn.bytes, drawn.length, &p), TUNNEL_GOOD);
    uint8_t *b = drawn.bytes;
    drawn.length = p.heads + 2000u;
    memset(b + p.heads, 0x33, 2000);
    ip_set_length(b, p.ip_head, drawn.length);
    if (protocol == IP_UDP) {
        put_be16(b + p.ip_head + 4, 2008);
    } else {
        b[p.ip_head + TCP_FLAGS] = 0x10;
    }
    ck_assert_int_eq(ip_read(b, drawn.length, &p), TUNNEL_GOOD);
    struct cut cut;
    struct offload one;
    two->length = p.heads + 1000u;
    ck_assert_int_eq(cut_begin(&cut, &p, &(struct offload){true, 1000}, two->length), TUNNEL_GOOD);
    ck_assert_uint_eq(cut_next(&cut, two->bytes[0], &one), two->length);
    ck_assert_uint_eq(cut_next(&cut, two->bytes[1], &one), two->length);
}

/* Puts IP lengths and sums right again after a change. */
static void mend(struct pair *two, unsigned which)
{
    struct ip_packet q = p;
    ip_set_length(two->bytes[which], q.ip_head, two->length);
}

static bool both(struct pair *two)
{
    static const struct offload partial = {true, 0};
    (void)join_take(&join, &p, &o);
    ck_assert(add(two->bytes[0], two->length, &partial));
    return add(two->bytes[1], two->length, &partial);
}

START_TEST(cut_and_joined_is_the_same)
{
    struct rng r = {22};
    unsigned joined = 0;
    for (unsigned i = 0; i < 1500; i++) {
        ip_kit_draw(&r, &(struct ip_kit_wish){.payload_most = i % 10 == 0 ? 0 : 12000}, &drawn);
        struct ip_packet whole;
        struct cut cut;
        ck_assert_int_eq(ip_read(drawn.bytes, drawn.length, &whole), TUNNEL_GOOD);
        size_t room = 60 + (size_t)rng_below(&r, 9500);
        if (cut_begin(&cut, &whole, &(struct offload){true, drawn.gso_size}, room) != TUNNEL_GOOD) {
            continue;
        }
        struct offload each;
        joined += cut_next_bytes(&cut) < drawn.length;
        for (size_t length; (length = cut_next(&cut, piece, &each)) != 0;) {
            SUITE_HOLDS(add(piece, length, &each), "packet %u", i);
        }
        SUITE_HOLDS(join_take(&join, &p, &o));
        SUITE_HOLDS(p.length == drawn.length && o.gso_size == drawn.gso_size && o.partial, "packet %u", i);
        SUITE_HOLDS(memcmp(p.bytes, drawn.bytes, p.length) == 0, "packet %u", i);
        SUITE_HOLDS(!join_take(&join, &p, &o));
    }
    ck_assert_uint_gt(joined, 200);
}
END_TEST

START_TEST(tcp_that_follows)
{
    struct pair two;
    for (unsigned version = 4; version <= 6; version += 2) {
        make_pair(&two, version, IP_TCP);
        ck_assert(both(&two));
        ck_assert(join_take(&join, &p, &o));
        ck_assert_uint_eq(p.length, drawn.length);
        ck_assert_uint_eq(o.gso_size, 1000);
    }
}
END_TEST

/* Each of these fields, changed in the second segment, keeps the two apart. */
START_TEST(tcp_that_does_not_follow)
{
    struct pair two;
    make_pair(&two, 4, IP_TCP);
    const unsigned t = p.ip_head, head = p.heads;
    const struct {
        unsigned at;
        uint8_t change;
    } changes[] = {
        {1, 1},
        {1, 3},
        {1, 0x80},
        {8, 1},
        {12, 1},
        {16, 1},
        {t, 1},
        {t + 3, 1},
        {t + 4, 0x80},
        {t + 7, 1},
        {t + 8, 1},
        {t + 11, 1},
        {t + 12, 1},
        {t + 13, TCP_SYN},
        {t + 13, TCP_RST},
        {t + 13, TCP_URG},
        {t + 13, TCP_CWR},
        {t + 13, 0x10},
        {t + 13, 0x40},
        {t + 14, 1},
        {t + 15, 1},
        {t + 18, 1},
        {t + 19, 1},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        make_pair(&two, 4, IP_TCP);
        two.bytes[1][changes[i].at] ^= changes[i].change;
        mend(&two, 1);
        SUITE_HOLDS(!both(&two), "byte %u", changes[i].at);
        SUITE_HOLDS(join_take(&join, &p, &o) && p.length == two.length && o.gso_size == 0);
        SUITE_HOLDS(memcmp(p.bytes, two.bytes[0], two.length) == 0);
    }
    for (unsigned i = t + 20; i < head; i++) {
        make_pair(&two, 4, IP_TCP);
        two.bytes[1][i] ^= 1;
        SUITE_HOLDS(!both(&two), "option byte %u", i);
    }
    make_pair(&two, 6, IP_TCP);
    for (unsigned i = 0; i < 40; i++) {
        if (i == 0 || (i >= 4 && i <= 6)) {
            continue; /* version, length, next head */
        }
        make_pair(&two, 6, IP_TCP);
        two.bytes[1][i] ^= 0x10;
        SUITE_HOLDS(!both(&two), "byte %u of IPv6", i);
    }
}
END_TEST

START_TEST(identifications)
{
    struct pair two;
    make_pair(&two, 4, IP_TCP);
    put_be16(two.bytes[0] + IP4_FRAGMENT, 0);
    put_be16(two.bytes[1] + IP4_FRAGMENT, 0);
    mend(&two, 0);
    mend(&two, 1);
    ck_assert(both(&two)); /* the second counts on from the first */
    two.bytes[1][IP4_ID] ^= 1;
    mend(&two, 1);
    ck_assert(!both(&two));
    put_be16(two.bytes[0] + IP4_FRAGMENT, IP4_DONT_FRAGMENT);
    put_be16(two.bytes[1] + IP4_FRAGMENT, IP4_DONT_FRAGMENT);
    mend(&two, 0);
    mend(&two, 1);
    ck_assert(both(&two)); /* the field has no meaning */
    put_be16(two.bytes[1] + IP4_FRAGMENT, 0);
    mend(&two, 1);
    ck_assert(!both(&two));
}
END_TEST

START_TEST(flags_that_end)
{
    struct pair two;
    static const uint8_t last[] = {TCP_FIN, TCP_PSH, TCP_FIN | TCP_PSH};
    for (unsigned i = 0; i < 3; i++) {
        make_pair(&two, 4, IP_TCP);
        two.bytes[0][p.ip_head + TCP_FLAGS] |= last[i];
        SUITE_HOLDS(!both(&two)); /* nothing behind such a one */
        make_pair(&two, 4, IP_TCP);
        unsigned at = p.ip_head + TCP_FLAGS;
        two.bytes[1][at] |= last[i];
        SUITE_HOLDS(both(&two));
        SUITE_HOLDS(!add(two.bytes[1], two.length, &(struct offload){true, 0}));
        SUITE_HOLDS(join_take(&join, &p, &o) && p.bytes[at] == (0x10 | last[i]));
    }
    make_pair(&two, 4, IP_TCP);
    two.bytes[0][p.ip_head + TCP_FLAGS] |= TCP_CWR; /* the first may have it */
    ck_assert(both(&two));
}
END_TEST

START_TEST(plain_ones_and_strangers)
{
    struct pair two;
    static const struct offload plain = {false, 0}, partial = {true, 0};
    (void)join_take(&join, &p, &o);
    make_pair(&two, 4, IP_TCP);
    ck_assert(add(two.bytes[0], two.length, &plain));
    ck_assert(!add(two.bytes[1], two.length, &partial));
    ck_assert(join_take(&join, &p, &o) && !o.partial);
    ck_assert_mem_eq(p.bytes, two.bytes[0], two.length);
    ck_assert(add(two.bytes[0], two.length, &partial));
    ck_assert(!add(two.bytes[1], two.length, &plain));
    (void)join_take(&join, &p, &o);
    static uint8_t echo[28] = {0x45, 0, 0, 28, 0, 0, 0, 0, 1, 1};
    put_be16(echo + IP4_SUM, checksum_ipv4_head(echo, 20));
    ck_assert(add(echo, 28, &plain) && !add(echo, 28, &plain));
    ck_assert(join_take(&join, &p, &o));
    ck_assert_mem_eq(p.bytes, echo, 28);
}
END_TEST

START_TEST(udp)
{
    struct pair two;
    for (unsigned version = 4; version <= 6; version += 2) {
        make_pair(&two, version, IP_UDP);
        ck_assert(both(&two));
        ck_assert(join_take(&join, &p, &o) && o.gso_size == 1000 && p.length == drawn.length);
        ck_assert_ptr_null(ip_kit_wrong(p.bytes, p.length, true, 1000));
        join.udp = false;
        ck_assert(!both(&two));
        join.udp = true;
        two.bytes[1][p.ip_head + 2u] ^= 1;
        ck_assert(!both(&two));
    }
}
END_TEST

START_TEST(bounds)
{
    struct pair two;
    static const struct offload partial = {true, 0};
    make_pair(&two, 6, IP_UDP);
    (void)join_take(&join, &p, &o);
    unsigned count = 0;
    while (add(two.bytes[0], two.length, &partial)) {
        count++;
    }
    ck_assert_uint_eq(count, (65535 - 48) / 1000);
    ck_assert(join_take(&join, &p, &o));
    ck_assert_uint_eq(p.length, 48 + 1000 * count);
    /* As many small datagrams as Linux makes in one go. */
    two.length = 49;
    ip_set_length(two.bytes[0], 40, 49);
    put_be16(two.bytes[0] + 44, 9);
    for (count = 0; add(two.bytes[0], two.length, &partial);) {
        count++;
    }
    ck_assert_uint_eq(count, OFFLOAD_UDP_SEGMENTS);
    (void)join_take(&join, &p, &o);
    /* TCP in crumbs has no gso size that Linux would take. */
    make_pair(&two, 4, IP_TCP);
    two.length = p.heads + 7u;
    mend(&two, 0);
    ck_assert(add(two.bytes[0], two.length, &partial));
    uint32_t sequence = get_be32(two.bytes[0] + p.ip_head + 4) + 7;
    put_be32(two.bytes[0] + p.ip_head + 4, sequence);
    ck_assert(!add(two.bytes[0], two.length, &partial));
    (void)join_take(&join, &p, &o);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(cut_and_joined_is_the_same),
    SUITE_TEST(tcp_that_follows),
    SUITE_TEST(tcp_that_does_not_follow),
    SUITE_TEST(identifications),
    SUITE_TEST(flags_that_end),
    SUITE_TEST(plain_ones_and_strangers),
    SUITE_TEST(udp),
    SUITE_TEST(bounds),
};
SUITE_MAIN("join", tests)
