/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"
#include "rng.h"

START_TEST(frames_are_told_apart)
{
    uint8_t frame[100];
    struct frame_head head = {.packets = 1};
    struct probe probe = pair_neighbour(0, 0);
    frame_encode(&head, frame);
    probe_encode(&probe, frame + FRAME_HEAD_BYTES);
    ck_assert(boot_owns(frame, FRAME_HEAD_BYTES + PROBE_BYTES));
    for (uint32_t length = 0; length < 16; length++) {
        ck_assert(!boot_owns(frame, length));
    }
    for (unsigned type = 0; type < 256; type++) {
        frame[FRAME_HEAD_BYTES + 1] = (uint8_t)type;
        ck_assert_int_eq(boot_owns(frame, sizeof frame), type >= CONTROL_PROBE && type <= CONTROL_CABLING_ACK);
    }
    frame[FRAME_HEAD_BYTES] = WIRE_VERSION_NOW << 4 | 1; /* a data packet */
    frame[FRAME_HEAD_BYTES + 1] = CONTROL_PROBE;
    ck_assert(!boot_owns(frame, sizeof frame));
}
END_TEST

START_TEST(garbage_is_counted_and_changes_nothing)
{
    struct rng r = {1};
    cw_time now = {1};
    struct boot *b = pair_open(NULL, now);
    struct boot_progress progress;
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t bytes[300];
        for (unsigned k = 0; k < sizeof bytes; k++) {
            bytes[k] = (uint8_t)rng_next(&r);
        }
        struct frame_head head = {.packets = 1};
        if (i % 2 == 0) { /* a good head before it */
            frame_encode(&head, bytes);
            bytes[FRAME_HEAD_BYTES] = WIRE_VERSION_NOW << 4 | 4;
            bytes[FRAME_HEAD_BYTES + 1] = (uint8_t)(4 + i / 2 % 3);
            bytes[FRAME_HEAD_BYTES + 2] = 0;
            bytes[FRAME_HEAD_BYTES + 3] = i / 2 % 3 == 0 ? 56 : i / 2 % 3 == 1 ? 120 : 28;
        }
        boot_rx(b, i % CW_LINK_COUNT, bytes, sizeof bytes, now);
    }
    boot_progress(b, &progress);
    ck_assert_uint_eq(progress.servers, 1);
    ck_assert_uint_ge(progress.refused_frames, 4900);
    ck_assert_uint_eq(boot_fault_count(b), 0);
    boot_close(b);
}
END_TEST

/* Words count only from the neighbour whose probe was heard, in this life of it and of us. */
START_TEST(words_of_another_session_are_not_taken)
{
    cw_time now = {1};
    struct boot *b = pair_open(NULL, now);
    struct boot_progress progress;
    boot_tick(b, now);
    uint32_t session = pair_pull(b, 0, now).probe.session;
    struct cabling advert = {.id = 500, .version = 1};
    memset(advert.port, 0, sizeof advert.port);
    for (uint8_t i = 0; i < CW_LINK_COUNT; i++) {
        advert.port[i].label = i;
    }
    uint8_t packet[CABLING_HEAD_BYTES + CABLING_ENTRY_BYTES];
    cabling_put(&advert, packet, 0);
    for (unsigned step = 0; step < 4; step++) {
        struct probe probe = pair_neighbour(0, session);
        if (step == 1) {
            pair_probe(b, 0, &probe, now);
        }
        uint32_t size = cabling_finish(step == 1 ? 77 : 1000, step == 2 ? 77 : session, 1, packet);
        pair_put(b, 0, packet, size, now);
        boot_progress(b, &progress);
        ck_assert_uint_eq(progress.servers, step == 3 ? 2 : 1);
    }
    ck_assert_uint_eq(pair_pull(b, 0, cw_time_add(now, CW_MS(10))).acks, 1);
    boot_close(b);
}
END_TEST

START_TEST(a_carrier_lost_is_a_neighbour_lost)
{
    cw_time now = {1};
    struct boot *b = pair_open(NULL, now);
    struct probe probe = pair_neighbour(3, 0);
    struct boot_plug plug;
    pair_probe(b, 3, &probe, now);
    boot_plug(b, 3, &plug);
    ck_assert(plug.heard);
    ck_assert(plug.carrier);
    ck_assert(!plug.both_ways);
    ck_assert_uint_eq(boot_carrier(b, 3, false, now) & 8, 0);
    boot_plug(b, 3, &plug);
    ck_assert(!plug.heard);
    ck_assert(!plug.carrier);
    ck_assert_uint_eq(boot_carrier(b, 3, true, now) & 8, 8);
    boot_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(frames_are_told_apart),
    SUITE_TEST(garbage_is_counted_and_changes_nothing),
    SUITE_TEST(words_of_another_session_are_not_taken),
    SUITE_TEST(a_carrier_lost_is_a_neighbour_lost),
};
SUITE_MAIN("boot_rx", tests)
