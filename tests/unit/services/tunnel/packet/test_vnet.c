/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/packet/vnet.h"

#include "base/bytes.h"
#include "ip_kit.h"
#include "services/tunnel/packet/limits.h"
#include "suite.h"

#include <string.h>

static struct ip_kit_packet drawn, again;
static uint8_t head[TUNNEL_VNET_BYTES];
static struct ip_packet p;
static struct offload o;

static void draw(struct rng *r, unsigned version, unsigned protocol)
{
    struct ip_kit_wish wish = {.version = version, .protocol = protocol, .payload_most = 9000};
    do {
        ip_kit_draw(r, &wish, &drawn);
    } while (drawn.gso_size == 0);
    ck_assert_int_eq(ip_read(drawn.bytes, drawn.length, &p), TUNNEL_GOOD);
    vnet_write(&p, &(struct offload){true, drawn.gso_size}, head);
}

static enum tunnel_cause judge(void)
{
    return vnet_read(head, drawn.bytes, &p, &o);
}

START_TEST(written_heads_are_read)
{
    struct rng r = {2};
    for (unsigned i = 0; i < 500; i++) {
        ip_kit_draw(&r, &(struct ip_kit_wish){.payload_most = 9000}, &drawn);
        again = drawn;
        SUITE_HOLDS(ip_read(drawn.bytes, drawn.length, &p) == TUNNEL_GOOD);
        struct offload had = {true, drawn.gso_size};
        vnet_write(&p, &had, head);
        SUITE_HOLDS(judge() == TUNNEL_GOOD);
        SUITE_HOLDS(o.partial && o.gso_size == drawn.gso_size);
        SUITE_HOLDS(memcmp(drawn.bytes, again.bytes, drawn.length) == 0);
        uint32_t payload = (uint32_t)(p.length - p.heads), size = o.gso_size == 0 ? payload : o.gso_size;
        SUITE_HOLDS(offload_segments(&p, &o) == (payload + size - 1) / size);
    }
    vnet_write(&p, &(struct offload){false, 0}, head);
    static const uint8_t zero[TUNNEL_VNET_BYTES];
    ck_assert_mem_eq(head, zero, sizeof zero);
}
END_TEST

/* Every field, as <linux/virtio_net.h> has it. */
START_TEST(fields)
{
    struct rng r = {3};
    draw(&r, 4, 6);
    drawn.bytes[p.ip_head + TCP_FLAGS] |= TCP_CWR;
    vnet_write(&p, &(struct offload){true, 0x1234}, head);
    const uint8_t want[TUNNEL_VNET_BYTES] = {
        1, 0x81, (uint8_t)p.heads, (uint8_t)(p.heads >> 8), 0x34, 0x12, (uint8_t)p.ip_head, 0, 16, 0};
    if (drawn.length - p.heads > 0x1234) {
        ck_assert_mem_eq(head, want, sizeof want);
    }
    draw(&r, 6, 6);
    ck_assert_uint_eq(head[1] & 0x7f, 4);
    draw(&r, 4, 17);
    ck_assert(head[1] == 5 && head[8] == 6);
}
END_TEST

START_TEST(lies_are_found)
{
    struct rng r = {4};
    for (unsigned i = 0; i < 200; i++) {
        draw(&r, 0, 0);
        uint8_t good[TUNNEL_VNET_BYTES];
        memcpy(good, head, sizeof good);
        head[0] = 0; /* a gso size without a partial checksum */
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        memcpy(head, good, sizeof good);
        head[1] = head[1] == 5 ? 1 : 5;
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        head[1] = 3; /* fragments of UDP, which nobody makes any more */
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        head[1] = good[1] | 0x20; /* UDP around a packet */
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        memcpy(head, good, sizeof good);
        head[4] = head[5] = 0;
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        memcpy(head, good, sizeof good);
        head[6]++;
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        memcpy(head, good, sizeof good);
        head[8]++;
        SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        memcpy(head, good, sizeof good);
        head[2] = head[3] = 0xff; /* not believed, and not needed */
        SUITE_HOLDS(judge() == TUNNEL_GOOD);
        if (ip_is_tcp(&p)) {
            head[4] = 7;
            head[5] = 0;
            SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
            memcpy(head, good, sizeof good);
            drawn.bytes[p.ip_head + TCP_FLAGS] |= TCP_SYN;
            SUITE_HOLDS(judge() == TUNNEL_OFFLOAD);
        }
    }
}
END_TEST

/* A gso size that one segment does not reach is no gso size. */
START_TEST(one_segment)
{
    struct rng r = {6};
    draw(&r, 4, 6);
    put_be16(head + 4, 0xffff);
    ck_assert_int_eq(judge(), TUNNEL_GOOD);
    ck_assert(o.partial && o.gso_size == 0);
}
END_TEST

START_TEST(wrong_pseudo_sums_are_put_right)
{
    struct rng r = {7};
    draw(&r, 0, 0);
    again = drawn;
    drawn.bytes[p.ip_head + ip_checksum_at(&p)] ^= 0x55;
    ck_assert_int_eq(judge(), TUNNEL_GOOD);
    ck_assert_mem_eq(drawn.bytes, again.bytes, drawn.length);
}
END_TEST

/* A packet in a packet: its checksum is completed, and the packet is plain. */
START_TEST(checksums_of_others)
{
    struct rng r = {8};
    struct ip_kit_packet inner;
    ip_kit_draw(&r, &(struct ip_kit_wish){.version = 6, .protocol = 6, .plain_heads = true, .payload_most = 700},
                &inner);
    struct ip_packet in;
    ck_assert_int_eq(ip_read(inner.bytes, inner.length, &in), TUNNEL_GOOD);
    memset(drawn.bytes, 0, 40);
    drawn.length = 40 + inner.length;
    drawn.bytes[0] = 0x60;
    put_be16(drawn.bytes + 4, (uint16_t)inner.length);
    drawn.bytes[6] = 41;
    memcpy(drawn.bytes + 40, inner.bytes, inner.length);
    ck_assert_int_eq(ip_read(drawn.bytes, drawn.length, &p), TUNNEL_GOOD);
    memset(head, 0, sizeof head);
    head[0] = 1;
    head[6] = 80;
    head[8] = 16;
    ck_assert_int_eq(judge(), TUNNEL_GOOD);
    ck_assert(!o.partial && o.gso_size == 0);
    ck_assert_ptr_null(ip_kit_wrong(drawn.bytes + 40, inner.length, false, 0));
    /* Beyond the end, or in the IP head. */
    put_be16(head + 6, 0xffff);
    ck_assert_int_eq(judge(), TUNNEL_OFFLOAD);
    head[6] = 39;
    head[7] = 0;
    ck_assert_int_eq(judge(), TUNNEL_OFFLOAD);
    head[6] = 80;
    head[1] = 4;
    ck_assert_int_eq(judge(), TUNNEL_OFFLOAD);
}
END_TEST

START_TEST(what_fits)
{
    struct rng r = {10};
    draw(&r, 4, 17);
    ck_assert(offload_fits(&p, &(struct offload){true, drawn.gso_size}));
    ck_assert(offload_fits(&p, &(struct offload){true, 0}));
    ck_assert(offload_fits(&p, &(struct offload){false, 0}));
    ck_assert(!offload_fits(&p, &(struct offload){false, drawn.gso_size}));
    ck_assert(!offload_fits(&p, &(struct offload){true, (uint16_t)(p.length - p.heads)}));
    put_be16(drawn.bytes + p.ip_head + 4, 9); /* a datagram that is shorter than its packet */
    ck_assert(!offload_fits(&p, &(struct offload){true, 0}));
    ck_assert(offload_fits(&p, &(struct offload){false, 0}));
    p.fragment = true;
    ck_assert(!offload_fits(&p, &(struct offload){true, 0}));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(written_heads_are_read),
    SUITE_TEST(fields),
    SUITE_TEST(lies_are_found),
    SUITE_TEST(one_segment),
    SUITE_TEST(wrong_pseudo_sums_are_put_right),
    SUITE_TEST(checksums_of_others),
    SUITE_TEST(what_fits),
};
SUITE_MAIN("vnet", tests)
