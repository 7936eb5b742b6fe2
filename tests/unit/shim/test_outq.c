/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/outq.h"

#include "conformance.h"
#include "netns.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEADER = 14 };

static int packet_socket(void)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(0x88b5), .sll_ifindex = (int)if_nametoindex("left")};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* On a line that is as good as stopped: as many frames as there was room for are taken. */
static void try_mtu(uint32_t mtu, uint64_t speed)
{
    static uint8_t frame[65536] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    struct outq q;
    netns_mtu("left", mtu);
    netns_tbf("left", 8000, 20000, 100000000);
    int fd = packet_socket();
    ck_assert_int_eq(outq_open(&q, fd, mtu + HEADER, speed), 0);
    unsigned room = outq_room(&q);
    ck_assert_uint_ge(room, OUTQ_FRAMES_MIN);
    ck_assert_uint_le(room, OUTQ_FRAMES_MAX + 1);
    unsigned taken = 0;
    while (send(fd, frame, mtu + HEADER, MSG_DONTWAIT) > 0) {
        taken++;
    }
    ck_assert_msg(taken >= room, "mtu %u, %u Mb/s: room for %u, %u taken", mtu, (unsigned)(speed / 1000000), room,
                  taken);
    ck_assert(mtu < 1000 || outq_room(&q) == 0); /* short frames leave quickly even here */
    close(fd);
}

/* Around the sizes at which the kernel's allocator takes the next larger block, too. */
START_TEST(what_there_is_room_for_is_taken)
{
    static const uint32_t mtus[] = {68, 576, 1000, 1500, 2000, 4000, 4096, 8000, 9000, 16000};
    static const uint64_t speeds[] = {0, 1000000, 1000000000, UINT64_C(400000000000)};
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    for (size_t i = 0; i < sizeof mtus / sizeof *mtus; i++) {
        for (size_t j = 0; j < sizeof speeds / sizeof *speeds; j++) {
            try_mtu(mtus[i], speeds[j]);
        }
    }
    for (uint32_t block = 2048; block <= 16384; block *= 2) {
        for (uint32_t less = 300; less < 640; less += 20) {
            try_mtu(block - less, 1000000000);
        }
    }
}
END_TEST

/* Short frames among long ones, too: what was promised less what they are charged as is still there. */
START_TEST(no_frame_is_charged_as_more_than_it_is_called)
{
    static uint8_t frame[9014] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    struct outq q;
    netns_enter();
    netns_veth("left", "right", 9000, -1);
    netns_tbf("left", 8000, 20000, 100000000);
    for (uint32_t size = 15; size <= sizeof frame; size += 1 + size / 16) {
        int fd = packet_socket();
        ck_assert_int_eq(outq_open(&q, fd, sizeof frame, 0), 0);
        uint32_t left = outq_left(&q);
        ck_assert_uint_eq(outq_frames(&q, left), outq_room(&q));
        ck_assert_int_eq(send(fd, frame, size, MSG_DONTWAIT), size);
        ck_assert_uint_ge(outq_left(&q) + outq_charge(size), left);
        close(fd);
    }
}
END_TEST

START_TEST(room_comes_back_before_the_line_is_idle)
{
    struct outq q;
    static uint8_t frame[1514] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    netns_tbf("left", 10000000, 1600, 100000000);
    int fd = packet_socket();
    ck_assert_int_eq(outq_open(&q, fd, sizeof frame, 10000000), 0);
    for (int i = 0; i < 10; i++) {
        while (send(fd, frame, sizeof frame, MSG_DONTWAIT) > 0) {
        }
        ck_assert_int_eq(errno, EAGAIN);
        struct pollfd one = {.fd = fd, .events = POLLOUT};
        ck_assert_int_eq(poll(&one, 1, 5000), 1);
        unsigned room = outq_room(&q);
        ck_assert_uint_ge(room, 2);
    }
    close(fd);
}
END_TEST

START_TEST(a_descriptor_that_is_none)
{
    struct outq q;
    ck_assert_int_eq(outq_open(&q, -1, 1500, 0), -EBADF);
    q = (struct outq){.fd = -1, .limit = 1000, .each = 1};
    ck_assert_uint_eq(outq_room(&q), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_there_is_room_for_is_taken),
    SUITE_TEST(no_frame_is_charged_as_more_than_it_is_called),
    SUITE_TEST(room_comes_back_before_the_line_is_idle),
    SUITE_TEST(a_descriptor_that_is_none),
};

int main(void)
{
    return netns_can() ? suite_run("outq", tests, sizeof tests / sizeof *tests) : SUITE_SKIP;
}
