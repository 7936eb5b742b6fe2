/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/lane.h"

#include "suite.h"
#include "wire/control.h"
#include "wire/frame.h"
#include "wire/packet.h"

#include <linux/if_ether.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BYTES = 128 };

/* Does a socket of this lane hear these bytes behind an Ethernet header? */
static bool hears(enum lane lane, const uint8_t *frame, size_t length)
{
    uint8_t bytes[ETH_HLEN + BYTES] = {0};
    int fd[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, fd), 0);
    ck_assert_int_eq(lane_filter(fd[1], lane), 0);
    memcpy(bytes + ETH_HLEN, frame, length);
    (void)!write(fd[0], bytes, ETH_HLEN + length); /* a socket that drops tells its writer */
    ssize_t got = read(fd[1], bytes, sizeof bytes);
    ck_assert(got == -1 || got == (ssize_t)(ETH_HLEN + length));
    close(fd[0]);
    close(fd[1]);
    return got >= 0;
}

static void is_of(enum lane lane, const uint8_t *frame, size_t length)
{
    ck_assert_int_eq(hears(LANE_CONTROL, frame, length), lane == LANE_CONTROL);
    ck_assert_int_eq(hears(LANE_DATA, frame, length), lane == LANE_DATA);
}

/* The frame's head; gives where its first packet is. */
static size_t head_of(uint8_t frame[static BYTES], unsigned flags, uint8_t packets)
{
    memset(frame, 0, BYTES);
    return frame_encode(&(struct frame_head){.flags = (uint8_t)flags, .packets = packets, .session = 7}, frame);
}

static void control_in(uint8_t frame[static BYTES], size_t at, uint8_t type)
{
    frame[at] = WIRE_VERSION_NOW << 4 | PACKET_CONTROL;
    frame[at + 1] = type;
}

START_TEST(control_but_a_goodbye_is_control)
{
    uint8_t frame[BYTES];
    static const uint8_t types[] = {CONTROL_HELLO, CONTROL_GOODBYE, CONTROL_STREAM,
                                    CONTROL_PROBE, CONTROL_CABLING, CONTROL_CABLING_ACK};
    for (unsigned flags = 0; flags <= FRAME_TAGGED; flags++) {
        for (size_t i = 0; i < sizeof types; i++) {
            size_t at = head_of(frame, flags, (uint8_t)(1 + i % 2));
            control_in(frame, at, types[i]);
            is_of(types[i] == CONTROL_GOODBYE ? LANE_DATA : LANE_CONTROL, frame, at + 64);
        }
    }
}
END_TEST

START_TEST(packets_are_data)
{
    uint8_t frame[BYTES];
    for (unsigned kind = PACKET_KEY; kind < PACKET_CONTROL; kind++) {
        for (unsigned flags = 0; flags < 256; flags++) { /* where a control packet has its type */
            size_t at = head_of(frame, 0, 1);
            frame[at] = (uint8_t)(WIRE_VERSION_NOW << 4 | kind);
            frame[at + 1] = (uint8_t)flags;
            is_of(LANE_DATA, frame, BYTES);
        }
    }
}
END_TEST

START_TEST(what_is_not_understood_is_data)
{
    uint8_t frame[BYTES];
    size_t at = head_of(frame, 0, 1);
    control_in(frame, at, CONTROL_HELLO);
    is_of(LANE_CONTROL, frame, BYTES);
    for (unsigned head = 0; head < 256; head++) {
        frame[FRAME_AT_VERSION] = (uint8_t)head;
        is_of(head == 0x10 ? LANE_CONTROL : LANE_DATA, frame, BYTES);
    }
    head_of(frame, 0, 1);
    for (unsigned first = 0; first < 256; first++) {
        control_in(frame, at, CONTROL_HELLO);
        frame[at] = (uint8_t)first;
        is_of(first == 0x14 ? LANE_CONTROL : LANE_DATA, frame, BYTES);
    }
    for (unsigned type = 0; type < 256; type++) {
        control_in(frame, at, (uint8_t)type);
        bool known = CONTROL_HELLO <= type && type <= CONTROL_CABLING_ACK && type != CONTROL_GOODBYE;
        is_of(known ? LANE_CONTROL : LANE_DATA, frame, BYTES);
    }
}
END_TEST

/* Of exactly one lane, whatever the length: nothing is dropped by being too short to be looked at. */
START_TEST(short_frames_are_data)
{
    uint8_t frame[BYTES];
    for (unsigned flags = 0; flags <= FRAME_TAGGED; flags++) {
        size_t at = head_of(frame, flags, 1);
        control_in(frame, at, CONTROL_HELLO);
        for (size_t length = 1; length < at + 8; length++) {
            is_of(length < at + 2 ? LANE_DATA : LANE_CONTROL, frame, length);
        }
    }
}
END_TEST

/* The first packet decides, the tag's bytes do not. */
START_TEST(a_tag_is_not_looked_at)
{
    uint8_t frame[BYTES];
    size_t at = head_of(frame, FRAME_TAGGED, 1);
    control_in(frame, FRAME_HEAD_BYTES, CONTROL_HELLO); /* by chance, inside the tag */
    frame[at] = WIRE_VERSION_NOW << 4 | PACKET_KEY;
    is_of(LANE_DATA, frame, BYTES);
}
END_TEST

START_TEST(what_is_no_socket_is_told)
{
    ck_assert_int_lt(lane_filter(-1, LANE_DATA), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(control_but_a_goodbye_is_control),
    SUITE_TEST(packets_are_data),
    SUITE_TEST(short_frames_are_data),
    SUITE_TEST(what_is_not_understood_is_data),
    SUITE_TEST(a_tag_is_not_looked_at),
    SUITE_TEST(what_is_no_socket_is_told),
};

int main(void)
{
    return suite_run("lane", tests, sizeof tests / sizeof *tests);
}
