/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cut_kernel.c - what cut.h makes of a large packet, compared with what Linux makes of it: the packet is sent,
 * with its virtio head, over a pair of interfaces whose offloads are off, so that the kernel segments it in software.
 */
#include "services/tunnel/cut.h"

#include "base/bytes.h"
#include "ip_kit.h"
#include "netns.h"
#include "services/tunnel/packet/limits.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ETHER = 14, MTU = 9216, ROUNDS = 400, WAIT_MS = 2000 };

static struct ip_kit_packet drawn;
static uint8_t out[TUNNEL_VNET_BYTES + ETHER + IP_KIT_BYTES], in[IP_KIT_BYTES];

static int open_on(const char *name, int protocol)
{
    int fd = socket(AF_PACKET, SOCK_RAW, htons((uint16_t)protocol));
    ck_assert_int_ge(fd, 0);
    struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons((uint16_t)protocol), .sll_ifindex = (int)if_nametoindex(name)};
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Without checksums by the device, Linux takes away all segmentation by the device, too. */
static void offloads_off(const char *name)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ethtool_value off = {.cmd = ETHTOOL_STXCSUM, .data = 0};
    struct ifreq r = {.ifr_data = (void *)&off};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    ck_assert_msg(ioctl(fd, SIOCETHTOOL, &r) == 0, "offloads: %s", strerror(errno));
    close(fd);
}

/* The packet with its virtio head and an Ethernet head before it; csum_start counts from the Ethernet head. */
static size_t dress(const struct ip_packet *p, const struct offload *o)
{
    uint8_t *ether = out + TUNNEL_VNET_BYTES;
    vnet_write(p, o, out);
    uint16_t start = (uint16_t)(p->ip_head + ETHER), heads = (uint16_t)(p->heads + ETHER);
    out[6] = (uint8_t)start;
    out[7] = (uint8_t)(start >> 8);
    if (o->gso_size != 0) {
        out[2] = (uint8_t)heads;
        out[3] = (uint8_t)(heads >> 8);
    }
    memset(ether, 0xff, 6);
    memset(ether + 6, 2, 6);
    put_be16(ether + 12, p->version == 4 ? ETH_P_IP : ETH_P_IPV6);
    memcpy(ether + ETHER, p->bytes, p->length);
    return TUNNEL_VNET_BYTES + ETHER + p->length;
}

/* The next packet of ours; the kernel sends some of its own, as when an interface comes up. */
static size_t next_packet(int fd, const uint8_t mac[6])
{
    for (;;) {
        struct pollfd ready = {fd, POLLIN, 0};
        ck_assert_msg(poll(&ready, 1, WAIT_MS) == 1, "a segment is missing");
        ssize_t n = recv(fd, in, sizeof in, 0);
        ck_assert_int_gt(n, ETHER);
        if (memcmp(in + 6, mac, 6) == 0) {
            return (size_t)n - ETHER;
        }
    }
}

static void compare(int to, int from, unsigned round)
{
    static const uint8_t mac[6] = {2, 2, 2, 2, 2, 2};
    struct ip_packet p;
    struct offload o = {true, drawn.gso_size};
    ck_assert_int_eq(ip_read(drawn.bytes, drawn.length, &p), TUNNEL_GOOD);
    size_t length = dress(&p, &o);
    ck_assert_msg(send(to, out, length, 0) == (ssize_t)length, "round %u: %s", round, strerror(errno));
    struct cut cut;
    struct offload one;
    static uint8_t piece[IP_KIT_BYTES];
    ck_assert_int_eq(cut_begin(&cut, &p, &o, (size_t)p.heads + o.gso_size), TUNNEL_GOOD);
    struct ip_kit_list want = {0};
    for (size_t bytes; (bytes = cut_next(&cut, piece, &one)) != 0;) {
        SUITE_HOLDS(one.gso_size == 0);
        ip_kit_clear(&want);
        ip_kit_segments(piece, bytes, true, 0, false, &want); /* completes the checksum */
        size_t same, got = next_packet(from, mac);
        const uint8_t *ours = ip_kit_segment(&want, 0, &same);
        SUITE_HOLDS(got == same, "round %u: %zu bytes, and Linux has %zu", round, same, got);
        SUITE_HOLDS(memcmp(ours, in + ETHER, got) == 0, "round %u: segment at %u differs", round, cut.done);
    }
    ip_kit_free(&want);
}

START_TEST(as_linux_does)
{
    netns_enter();
    netns_veth("left", "right", MTU, -1);
    offloads_off("left");
    /* Protocol 0: the kernel takes it from the virtio head, and the socket hears nothing. */
    int to = open_on("left", 0), from = open_on("right", ETH_P_ALL), one = 1;
    ck_assert_int_eq(setsockopt(to, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one), 0);
    int room = 16 << 20;
    (void)setsockopt(from, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    struct rng r = {31};
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct ip_kit_wish wish = {.payload_most = i % 20 == 0 ? 0 : 10000};
        do {
            ip_kit_draw(&r, &wish, &drawn);
        } while (drawn.gso_size < 48 || drawn.length / drawn.gso_size > 100); /* more than Linux queues at once */
        compare(to, from, i);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_linux_does)};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    return suite_run("cut_kernel", tests, sizeof tests / sizeof *tests);
}
