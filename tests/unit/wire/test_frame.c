/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/frame.h"

#include "packets.h"
#include "suite.h"

#include <stdlib.h>

/* Two packets of 8 and 9 bytes, as small as control packets may be, and padding that is not zero. */
static const uint8_t plain[] = {
    0x20, 0x02, 0xab, 0xcd, 0x12, 0x34, 0x56, 0x78,       /* no flags, 2 packets, session, sequence, position */
    0x24, 0x01, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01,       /* */
    0x24, 0x01, 0x00, 0x09, 0x00, 0x00, 0x00, 0x01, 0x77, /* */
    0xde, 0xad, 0xbe, 0xef,
};
enum { PLAIN_USED = 8 + 8 + 9 };

static const uint8_t tagged[] = {
    0x21, 0x01, 0x00, 0x00, 0xff, 0xff, 0x00, 0x01,                         /* tagged, 1 packet */
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,                         /* counter */
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, /* tag */
    0xfc, 0xfd, 0xfe, 0xff,                                                 /* */
    0x24, 0x01, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01,                         /* */
};

/* frame_decode() that fails the test when a refusal has touched its outputs. */
static enum wire_reason decode(const uint8_t *bytes, size_t size, struct frame_head *head, struct frame_walk *walk)
{
    struct frame_head head_before;
    struct frame_walk walk_before;
    uint8_t *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    memset(head, 0xa5, sizeof *head);
    memset(walk, 0xa5, sizeof *walk);
    memcpy(&head_before, head, sizeof *head);
    memcpy(&walk_before, walk, sizeof *walk);
    enum wire_reason reason = frame_decode(exact, size, head, walk);
    if (reason != WIRE_OK && (memcmp(head, &head_before, sizeof *head) || memcmp(walk, &walk_before, sizeof *walk))) {
        ck_abort_msg("refused as %s, but outputs touched", wire_reason_name(reason));
    }
    free(exact);
    return reason;
}

START_TEST(golden_bytes_decode_to_what_they_say)
{
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice = {7, 7};
    uint8_t again[32];
    ck_assert_int_eq(decode(plain, sizeof plain, &head, &walk), WIRE_OK);
    ck_assert_uint_eq(head.flags, 0);
    ck_assert_uint_eq(head.packets, 2);
    ck_assert_uint_eq(head.session, 0xabcd);
    ck_assert_uint_eq(head.sequence, 0x1234);
    ck_assert_uint_eq(head.position, 0x5678);
    ck_assert_uint_eq(head.counter, 0);
    ck_assert(frame_next(plain, &walk, &slice));
    ck_assert_uint_eq(slice.at, 8);
    ck_assert_uint_eq(slice.size, 8);
    ck_assert(frame_next(plain, &walk, &slice));
    ck_assert_uint_eq(slice.at, 16);
    ck_assert_uint_eq(slice.size, 9);
    ck_assert(!frame_next(plain, &walk, &slice));
    ck_assert_uint_eq(slice.at, 16);
    ck_assert_uint_eq(walk.at, PLAIN_USED);
    ck_assert_uint_eq(frame_encode(&head, again), 8);
    ck_assert_mem_eq(again, plain, 8);

    ck_assert_int_eq(decode(tagged, sizeof tagged, &head, &walk), WIRE_OK);
    ck_assert_uint_eq(head.flags, FRAME_TAGGED);
    ck_assert_uint_eq(head.counter, 0x0102030405060708);
    ck_assert_uint_eq(head.tag[0], 0xf0);
    ck_assert_uint_eq(head.tag[15], 0xff);
    ck_assert(frame_next(tagged, &walk, &slice));
    ck_assert_uint_eq(slice.at, 32);
    ck_assert_uint_eq(frame_encode(&head, again), 32);
    ck_assert_mem_eq(again, tagged, 32);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    struct frame_head head;
    struct frame_walk walk;
    for (size_t size = 0; size < sizeof plain; size++) {
        ck_assert_int_eq(decode(plain, size, &head, &walk), size < PLAIN_USED ? WIRE_TRUNCATED : WIRE_OK);
    }
    for (size_t size = 0; size < sizeof tagged; size++) {
        ck_assert_int_eq(decode(tagged, size, &head, &walk), WIRE_TRUNCATED);
    }
}
END_TEST

START_TEST(each_wrong_has_its_name)
{
    static const struct {
        unsigned at;
        uint8_t byte;
        enum wire_reason reason;
    } wrongs[] = {
        {0, 0x00, WIRE_BAD_VERSION}, {0, 0x10, WIRE_BAD_VERSION}, {0, 0x22, WIRE_RESERVED}, {0, 0x24, WIRE_RESERVED},
        {0, 0x28, WIRE_RESERVED},    {0, 0x21, WIRE_TRUNCATED},   {1, 0, WIRE_BAD_VALUE},   {1, 3, WIRE_TRUNCATED},
        {11, 7, WIRE_BAD_LENGTH},    {11, 0, WIRE_BAD_LENGTH},    {10, 1, WIRE_TRUNCATED},  {19, 14, WIRE_TRUNCATED},
        {19, 13, WIRE_OK}, /* the padding becomes payload: nobody can tell */
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        uint8_t bytes[sizeof plain];
        struct frame_head head;
        struct frame_walk walk;
        memcpy(bytes, plain, sizeof plain);
        bytes[wrongs[i].at] = wrongs[i].byte;
        enum wire_reason reason = decode(bytes, sizeof bytes, &head, &walk);
        ck_assert_msg(reason == wrongs[i].reason, "case %zu: %s", i, wire_reason_name(reason));
    }
}
END_TEST

/* Accepted: the head is written the same and the slices lie one behind the other, all inside. */
static void examine(const uint8_t *bytes, size_t size)
{
    struct frame_head head;
    struct frame_walk walk;
    struct frame_slice slice;
    uint8_t again[FRAME_HEAD_BYTES + FRAME_TAG_BYTES];
    if (decode(bytes, size, &head, &walk) != WIRE_OK) {
        return;
    }
    uint32_t at = frame_encode(&head, again);
    ck_assert_mem_eq(again, bytes, at);
    unsigned packets = 0;
    for (; frame_next(bytes, &walk, &slice); packets++) {
        if (slice.at != at || slice.size < CONTROL_HEAD_BYTES || slice.size > size - at) {
            ck_abort_msg("packet %u at %u, %u bytes", packets, slice.at, slice.size);
        }
        at += slice.size;
    }
    ck_assert_uint_eq(packets, head.packets);
}

START_TEST(every_bit_flip_is_refused_or_another_frame)
{
    for (size_t bit = 0; bit < 8 * sizeof plain; bit++) {
        uint8_t bytes[sizeof plain];
        memcpy(bytes, plain, sizeof bytes);
        bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        examine(bytes, sizeof bytes);
    }
    for (size_t bit = 0; bit < 8 * sizeof tagged; bit++) {
        uint8_t bytes[sizeof tagged];
        memcpy(bytes, tagged, sizeof bytes);
        bytes[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        examine(bytes, sizeof bytes);
    }
}
END_TEST

/* A frame filled by the plan, with padding of any content behind it, comes apart into the same packets. */
START_TEST(filled_frames_come_apart)
{
    struct dice dice = {5};
    for (unsigned round = 0; round < 3000; round++) {
        static uint8_t frame[9000 + 64];
        uint8_t packet[DICE_PACKET_MAX];
        uint32_t offset[FRAME_PACKETS_MAX], sizes[FRAME_PACKETS_MAX];
        struct frame_plan plan;
        struct frame_head head = {.session = (uint16_t)round, .sequence = 2, .position = 3};
        struct packet_head packet_head;
        frame_open(&plan, round % 2 ? 1500 : 9000, round % 3 ? 0 : FRAME_TAGGED);
        for (;;) {
            uint32_t size = dice_packet(&dice, PACKET_SERVER, dice_below(&dice, DICE_FLAGS), &packet_head, packet);
            if (!frame_fits(&plan, size)) {
                ck_assert_uint_lt(frame_room(&plan), size);
                break;
            }
            unsigned i = plan.packets;
            sizes[i] = size;
            offset[i] = frame_add(&plan, size);
            memcpy(frame + offset[i], packet, size);
        }
        head.flags = plan.flags;
        head.packets = plan.packets;
        head.counter = plan.flags ? 17 : 0;
        ck_assert_uint_le(plan.size, plan.mtu);
        ck_assert_uint_eq(frame_encode(&head, frame), plan.flags ? 32 : 8);
        uint32_t padding = dice_below(&dice, 64);
        for (uint32_t i = 0; i < padding; i++) {
            frame[plan.size + i] = (uint8_t)dice_word(&dice);
        }

        struct frame_head got;
        struct frame_walk walk;
        struct frame_slice slice;
        struct packet_exts exts;
        ck_assert_int_eq(decode(frame, plan.size + padding, &got, &walk), WIRE_OK);
        ck_assert_uint_eq(got.session, head.session);
        ck_assert_uint_eq(got.packets, plan.packets);
        ck_assert_uint_eq(got.counter, head.counter);
        for (unsigned i = 0; frame_next(frame, &walk, &slice); i++) {
            ck_assert_uint_eq(slice.at, offset[i]);
            ck_assert_uint_eq(slice.size, sizes[i]);
            ck_assert_int_eq(packet_decode(frame + slice.at, slice.size, &packet_head, &exts), WIRE_OK);
        }
        ck_assert_uint_eq(walk.at, plan.size);
        ck_assert_int_eq(decode(frame, plan.size - 1, &got, &walk), WIRE_TRUNCATED);
    }
}
END_TEST

START_TEST(the_plan_stops_at_the_mtu_and_at_255)
{
    struct frame_plan plan;
    frame_open(&plan, 8 + 32 + 10, 0);
    ck_assert_uint_eq(frame_room(&plan), 42);
    ck_assert_uint_eq(frame_add(&plan, 32), 8);
    ck_assert_uint_eq(frame_room(&plan), 10);
    ck_assert(frame_fits(&plan, 10));
    ck_assert(!frame_fits(&plan, 11));
    ck_assert_uint_eq(frame_add(&plan, 10), 40);
    ck_assert_uint_eq(frame_room(&plan), 0);
    ck_assert(!frame_fits(&plan, 1));

    frame_open(&plan, 9000, FRAME_TAGGED);
    for (unsigned i = 0; i < FRAME_PACKETS_MAX; i++) {
        ck_assert(frame_fits(&plan, 8));
        ck_assert_uint_eq(frame_add(&plan, 8), 32 + 8 * i);
    }
    ck_assert_uint_eq(plan.packets, 255);
    ck_assert_uint_eq(frame_room(&plan), 0);
    ck_assert(!frame_fits(&plan, 8));
}
END_TEST

/* A frame that a kernel passed on: it bears the flag, and no link sequence. */
START_TEST(relayed_frames_have_no_sequence)
{
    uint8_t bytes[sizeof plain], again[FRAME_HEAD_BYTES];
    struct frame_head head;
    struct frame_walk walk;
    memcpy(bytes, plain, sizeof bytes);
    bytes[FRAME_AT_VERSION] = 0x22;
    ck_assert_int_eq(decode(bytes, sizeof bytes, &head, &walk), WIRE_RESERVED);
    bytes[FRAME_AT_SEQUENCE] = 0;
    ck_assert_int_eq(decode(bytes, sizeof bytes, &head, &walk), WIRE_RESERVED);
    bytes[FRAME_AT_SEQUENCE + 1] = 0;
    ck_assert_int_eq(decode(bytes, sizeof bytes, &head, &walk), WIRE_OK);
    ck_assert_uint_eq(head.flags, FRAME_RELAYED);
    ck_assert_uint_eq(head.position, 0x5678);
    ck_assert_uint_eq(frame_encode(&head, again), FRAME_HEAD_BYTES);
    ck_assert_mem_eq(again, bytes, sizeof again);
}
END_TEST

/* The first packet says which lane a frame belongs to. */
START_TEST(control_but_a_goodbye_has_a_lane_of_its_own)
{
    for (unsigned flags = 0; flags < 16; flags++) {
        for (unsigned first = 0; first < 256; first++) {
            for (unsigned type = 0; type < 256; type++) {
                uint8_t bytes[FRAME_HEAD_BYTES + FRAME_TAG_BYTES + 72] = {(uint8_t)(0x20 | flags), 1};
                size_t at = flags & FRAME_TAGGED ? 32 : 8;
                bytes[at] = (uint8_t)first;
                bytes[at + 1] = (uint8_t)type;
                bool control = first == 0x24 && (type == 1 || (type >= 3 && type <= 6));
                ck_assert_int_eq(frame_lane(bytes, sizeof bytes), control ? FRAME_CONTROL : FRAME_DATA);
                bytes[0] ^= 0x10; /* of another version: not understood */
                ck_assert_int_eq(frame_lane(bytes, sizeof bytes), FRAME_DATA);
            }
        }
    }
}
END_TEST

START_TEST(short_frames_are_data)
{
    uint8_t bytes[48] = {0x21, 1};
    memcpy(bytes + 32, (const uint8_t[]){0x24, 0x01, 0x00, 0x08, 0x00, 0x00, 0x00, 0x01}, 8);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        ck_assert_int_eq(frame_lane(bytes, size), size < 40 ? FRAME_DATA : FRAME_CONTROL);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(golden_bytes_decode_to_what_they_say),
    SUITE_TEST(every_truncation_is_refused),
    SUITE_TEST(relayed_frames_have_no_sequence),
    SUITE_TEST(control_but_a_goodbye_has_a_lane_of_its_own),
    SUITE_TEST(short_frames_are_data),
    SUITE_TEST(each_wrong_has_its_name),
    SUITE_TEST(every_bit_flip_is_refused_or_another_frame),
    SUITE_TEST(filled_frames_come_apart),
    SUITE_TEST(the_plan_stops_at_the_mtu_and_at_255),
};
SUITE_MAIN("frame", tests)
