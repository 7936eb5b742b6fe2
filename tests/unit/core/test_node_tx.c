/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "rng.h"
#include "suite.h"
#include "wire/frame.h"

#include <string.h>

static struct bench *two(uint16_t mtu)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->config.mtu = mtu;
    bench_start_all(b);
    bench_settle(b);
    bench_cut(b, 0, CW_LINK_ZM, true);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

/*
 * Frames of data that server 0 gives for +z, each handed to server 1 by hand; control is passed on too. Their sizes and
 * counts.
 */
struct drawn {
    unsigned frames;
    unsigned packets[300];
    uint32_t size[300];
};

static struct drawn draw(struct bench *b)
{
    struct drawn drawn = {.frames = 0};
    struct cw_packet *frame;
    while ((frame = node_tx_pull(b->node[0], CW_LINK_ZP, b->now)) != NULL) {
        struct frame_head head;
        struct frame_walk walk;
        struct frame_slice slice;
        ck_assert_int_eq(frame_decode(frame->data, (size_t)frame->length + frame->pad, &head, &walk), WIRE_OK);
        ck_assert(frame_next(frame->data, &walk, &slice));
        ck_assert_uint_ge(frame->back, 14); /* room for an Ethernet header */
        ck_assert_uint_le(frame->length + frame->pad, b->config.mtu);
        ck_assert_uint_eq(frame->refs, 1);
        if (packet_kind_of(frame->data + slice.at) != PACKET_CONTROL) {
            ck_assert_uint_lt(drawn.frames, 300);
            drawn.packets[drawn.frames] = head.packets;
            drawn.size[drawn.frames++] = frame->length + frame->pad;
        }
        node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    }
    return drawn;
}

static void queue(struct bench *b, size_t length, size_t pad)
{
    cw_svc *s = bench_svc(b, 0);
    cw_packet *p = cw_packet_new_padded(s, length, pad);
    cw_to to = to_server(b, 1);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < length; i++) {
        cw_packet_data(p, NULL)[i] = (uint8_t)(i + length);
    }
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
}

START_TEST(small_packets_share_a_frame)
{
    struct bench *b = two(1500);
    for (unsigned i = 0; i < 100; i++) {
        queue(b, 68, 0); /* 100 with the head */
    }
    struct drawn drawn = draw(b);
    ck_assert_uint_eq(drawn.frames, 8);
    for (unsigned i = 0; i < 7; i++) {
        ck_assert_uint_eq(drawn.packets[i], 14); /* 8 + 1,400 */
        ck_assert_uint_eq(drawn.size[i], 1408);
    }
    ck_assert_uint_eq(drawn.packets[7], 2);
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 100);
    bench_close(b);
}
END_TEST

START_TEST(no_more_than_a_frame_can_count)
{
    struct bench *b = two(9000);
    for (unsigned i = 0; i < 300; i++) {
        queue(b, 0, 0);
    }
    struct drawn drawn = draw(b);
    ck_assert_uint_eq(drawn.frames, 2);
    ck_assert_uint_eq(drawn.packets[0], FRAME_PACKETS_MAX);
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 300);
    bench_close(b);
}
END_TEST

/* Large ones go alone and in their own memory; the pad of a small one is written out. */
START_TEST(large_ones_go_alone)
{
    struct bench *b = two(1500);
    queue(b, 100, 0);
    queue(b, 1000, 0);
    queue(b, 100, 0);
    queue(b, 10, 200);
    queue(b, 100, 0);
    queue(b, 20, 1400);
    struct drawn drawn = draw(b);
    const unsigned packets[] = {1, 1, 3, 1};
    ck_assert_uint_eq(drawn.frames, 4);
    for (unsigned i = 0; i < 4; i++) {
        ck_assert_uint_eq(drawn.packets[i], packets[i]);
    }
    ck_assert_uint_eq(drawn.size[2], 8 + 3 * 32 + 100 + 210 + 100);
    const struct note *note = NULL;
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, &note), 6);
    ck_assert(note->length == 20 && note->pad == 1400);
    /* Nothing is copied for a frame of one packet. */
    cw_svc *s = bench_svc(b, 0);
    cw_packet *p = cw_packet_new(s, 1000);
    cw_to to = to_server(b, 1);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0);
    struct cw_packet *frame;
    do {
        frame = node_tx_pull(b->node[0], CW_LINK_ZP, b->now);
        ck_assert_ptr_nonnull(frame);
        bool mine = frame == p;
        node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
        frame = mine ? NULL : frame;
    } while (frame != NULL);
    bench_close(b);
}
END_TEST

/* Random sizes: everything arrives, in order, in frames that keep the mtu. */
START_TEST(every_size_in_order)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rng rng = {seed};
        struct bench *b = two(rng_below(&rng, 2) ? 1500 : 9000);
        unsigned count = 1 + (unsigned)rng_below(&rng, 250);
        struct {
            size_t length, pad;
        } sent[250];
        for (unsigned i = 0; i < count; i++) {
            bool small = rng_below(&rng, 3) > 0;
            sent[i].length = rng_below(&rng, small ? 500 : cw_mtu(bench_svc(b, 0)));
            sent[i].pad = rng_below(&rng, 6) == 0 ? rng_below(&rng, cw_mtu(bench_svc(b, 0)) - sent[i].length) : 0;
            queue(b, sent[i].length, sent[i].pad);
        }
        draw(b);
        const struct probe *probe = bench_probe(b, 1);
        ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), count);
        for (unsigned i = 0, at = 0; i < probe->count; i++) {
            const struct note *note = &probe->note[i];
            if (note->kind == NOTE_PACKET) {
                ck_assert_uint_eq(note->length + note->pad, sent[at].length + sent[at].pad);
                ck_assert(sent[at].length == 0 || note->first[0] == (uint8_t)sent[at].length);
                at++;
            }
        }
        bench_close(b);
    }
}
END_TEST

START_TEST(memory_runs_out)
{
    struct bench *b = two(1500);
    for (uint32_t nth = 1; nth < 30; nth++) {
        uint64_t dropped = b->dropped[CW_DROP_NO_MEMORY];
        uint64_t counted = node_drops(b->node[1], CW_DROP_NO_MEMORY);
        bench_forget_notes(b);
        for (unsigned i = 0; i < 20; i++) {
            queue(b, 68, 0);
        }
        pkt_home_fail_nth(b->home, nth);
        draw(b);
        pkt_home_fail_nth(b->home, 0);
        unsigned arrived = bench_notes(b, 1, NOTE_PACKET, NULL);
        uint64_t lost = b->dropped[CW_DROP_NO_MEMORY] - dropped + node_drops(b->node[1], CW_DROP_NO_MEMORY) - counted;
        ck_assert_uint_ge(arrived, 19);
        ck_assert_uint_ge(arrived + lost, 20);
    }
    bench_close(b);
}
END_TEST

START_TEST(nothing_leaves_by_a_link_that_is_down)
{
    struct bench *b = two(1500);
    queue(b, 10, 0);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct cw_packet *frame = link == CW_LINK_ZP ? NULL : node_tx_pull(b->node[0], link, b->now);
        ck_assert_ptr_null(frame);
    }
    ck_assert_uint_eq(draw(b).frames, 1);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(small_packets_share_a_frame),
    SUITE_TEST(no_more_than_a_frame_can_count),
    SUITE_TEST(large_ones_go_alone),
    SUITE_TEST(every_size_in_order),
    SUITE_TEST(memory_runs_out),
    SUITE_TEST(nothing_leaves_by_a_link_that_is_down),
};
SUITE_MAIN("node_tx", tests)
