/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "node_bench.h"
#include "rng.h"
#include "suite.h"
#include "wire/frame.h"
#include "wire/goodbye.h"

#include <string.h>

static struct bench *two(void)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

/* A data packet to server 1 as server 0 would send it, into out. Its bytes. */
static uint32_t data_packet(uint8_t *out, cw_port port, uint32_t payload)
{
    struct packet_head head = {
        .kind = PACKET_SERVER, .length = (uint16_t)(PACKET_HEAD_BYTES + payload), .hop_limit = 5};
    head.hops = 1;
    head.port = port;
    head.job = head.source_job = PROBE_JOB;
    head.to.server = (cw_coord){0, 0, 1};
    packet_encode(&head, out);
    memset(out + PACKET_HEAD_BYTES, 'p', payload);
    return head.length;
}

/* A frame by hand: `packets` data packets with rising ports, the stamp of server 0 on +z, and Ethernet's padding. */
static struct cw_packet *frame_of(struct bench *b, unsigned packets, uint32_t payload, unsigned padding)
{
    struct cw_packet *frame = pkt_take(b->home, 1500);
    struct frame_head head = {.packets = (uint8_t)packets};
    ls_stamp(b->node[0]->ls, CW_LINK_ZP, &head);
    uint32_t at = frame_encode(&head, frame->data);
    for (unsigned i = 0; i < packets; i++) {
        at += data_packet(frame->data + at, (cw_port)i, payload);
    }
    memset(frame->data + at, 0x5a, padding);
    frame->length = at + padding;
    return frame;
}

START_TEST(one_packet_keeps_its_memory)
{
    struct bench *b = two();
    uint32_t out = pkt_home_out(b->home);
    for (unsigned padding = 0; padding < 30; padding += 7) {
        const struct note *note = NULL;
        node_rx(b->node[1], CW_LINK_ZM, frame_of(b, 1, 6, padding), b->now);
        bench_notes(b, 1, NOTE_PACKET, &note);
        ck_assert(note->length == 6 && note->pad == 0);
        ck_assert_uint_eq(pkt_home_out(b->home), out);
    }
    bench_close(b);
}
END_TEST

START_TEST(many_packets_in_their_order)
{
    struct bench *b = two();
    node_rx(b->node[1], CW_LINK_ZM, frame_of(b, 20, 30, 5), b->now);
    const struct probe *probe = bench_probe(b, 1);
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 20);
    for (unsigned i = 0; i < 20; i++) {
        ck_assert_uint_eq(probe->note[i].rx.port, i);
        ck_assert_uint_eq(probe->note[i].rx.in, CW_LINK_ZM);
    }
    bench_close(b);
}
END_TEST

/* Stamps of no adjacency, of another session, of a link that is down: nothing of the frame is looked at. */
START_TEST(stale_frames)
{
    struct bench *b = two();
    struct cw_packet *frame = frame_of(b, 3, 10, 0);
    frame->data[FRAME_AT_SESSION] ^= 0x40;
    node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    ck_assert_uint_eq(b->dropped[CW_DROP_STALE_LINK], 3);
    node_rx(b->node[1], CW_LINK_XP, frame_of(b, 2, 10, 0), b->now); /* no such link */
    ck_assert_uint_eq(b->dropped[CW_DROP_STALE_LINK], 5);
    frame = frame_of(b, 1, 10, 0);
    node_carrier(b->node[1], CW_LINK_ZM, false, b->now);
    node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    ck_assert_uint_eq(b->dropped[CW_DROP_STALE_LINK], 6);
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 0);
    bench_close(b);
}
END_TEST

/*
 * The sender had said more on its control stream than has come: data waits, so many frames, and goes on when control is
 * there.
 */
START_TEST(data_waits_for_control)
{
    struct bench *b = two();
    struct cw_packet *frame = frame_of(b, 1, 10, 0);
    uint16_t position = get_be16(frame->data + FRAME_AT_POSITION);
    pkt_release(frame);
    /* Server 0 has news (a link of its own goes), which is still on the cable. */
    bench_cut(b, 0, CW_LINK_ZM, true);
    for (unsigned i = 0; i < NODE_GATE_FRAMES + 2; i++) {
        frame = frame_of(b, 2, 10, 0);
        ck_assert_uint_ne(get_be16(frame->data + FRAME_AT_POSITION), position);
        node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    }
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 0);
    ck_assert_uint_eq(b->dropped[CW_DROP_GATE_OVERFLOW], 4);
    ck_assert_uint_eq(node_packets_inside(b->node[1]), 2 * NODE_GATE_FRAMES);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 2 * NODE_GATE_FRAMES);
    ck_assert_uint_eq(node_packets_inside(b->node[1]), 0);
    bench_close(b);
}
END_TEST

/* It never comes: what waited for it ends with the link, though nothing is ever heard on that again. */
START_TEST(what_waits_ends_with_its_link)
{
    struct bench *b = two();
    bench_cut(b, 0, CW_LINK_ZM, true);
    b->link[1][CW_LINK_ZM].cut = true; /* in silence */
    node_rx(b->node[1], CW_LINK_ZM, frame_of(b, 2, 10, 0), b->now);
    ck_assert_uint_eq(node_packets_inside(b->node[1]), 2);
    bench_run(b, CW_MS(100));
    ck_assert_uint_eq(node_packets_inside(b->node[1]), 0);
    ck_assert_uint_eq(b->dropped[CW_DROP_STALE_LINK], 2);
    bench_close(b);
}
END_TEST

/* Bytes from anybody: no crash, no leak, one count each. */
START_TEST(any_bytes)
{
    struct bench *b = two();
    struct rng rng = {1};
    for (unsigned i = 0; i < 100000; i++) {
        struct cw_packet *frame = frame_of(b, 1 + (unsigned)rng_below(&rng, 4), (uint32_t)rng_below(&rng, 60), 0);
        unsigned faults = (unsigned)rng_below(&rng, 4);
        for (unsigned k = 0; k < faults; k++) {
            frame->data[rng_below(&rng, frame->length)] = (uint8_t)rng_next(&rng);
        }
        if (rng_below(&rng, 4) == 0) {
            frame->length = (uint32_t)rng_below(&rng, frame->length + 1);
        }
        if (rng_below(&rng, 16) == 0) {
            frame->pad = (uint32_t)rng_below(&rng, 9000);
        }
        cw_link link = rng_below(&rng, 4) > 0 ? CW_LINK_ZM : (cw_link)rng_below(&rng, CW_LINK_COUNT);
        uint64_t digest = i % 100 == 0 ? node_digest(b->node[1]) : 0;
        node_expect(b->node[1], frame); /* whatever it holds, it may be looked at, and nothing follows */
        ck_assert(digest == 0 || digest == node_digest(b->node[1]));
        node_rx(b->node[1], link, frame, b->now);
        bench_probe(b, 1)->count = 0;
        struct cw_packet *out;
        for (link = 0; link < CW_LINK_COUNT; link++) {
            while ((out = node_tx_pull(b->node[1], link, b->now)) != NULL) {
                pkt_release(out);
            }
        }
    }
    ck_assert_uint_gt(b->dropped[CW_DROP_MALFORMED], 1000);
    ck_assert_uint_gt(b->dropped[CW_DROP_STALE_LINK], 1000);
    bench_close(b);
}
END_TEST

/* The torus is 1x1x2. */
START_TEST(sources_outside_the_torus)
{
    static const struct {
        cw_coord source;
        bool holds;
    } table[] = {{{0, 0, 0}, true},  {{0, 0, 1}, true},  {{0, 0, 2}, false},
                 {{0, 1, 0}, false}, {{1, 0, 0}, false}, {{255, 255, 255}, false}};
    struct bench *b = two();
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct cw_packet *frame = frame_of(b, 1, 10, 0);
        uint8_t *at = frame->data + FRAME_HEAD_BYTES + PACKET_AT_SOURCE;
        at[0] = table[i].source.x;
        at[1] = table[i].source.y;
        at[2] = table[i].source.z;
        uint64_t malformed = b->dropped[CW_DROP_MALFORMED];
        bench_forget_notes(b);
        node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
        ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), table[i].holds);
        ck_assert_uint_eq(b->dropped[CW_DROP_MALFORMED] - malformed, !table[i].holds);
    }
    bench_close(b);
}
END_TEST

/* Data that the neighbour's kernel passed on is let in; control in such a frame is refused, and shows nobody alive. */
START_TEST(relayed_frames)
{
    struct bench *b = two();
    struct cw_packet *frame = frame_of(b, 1, 10, 0);
    frame->data[FRAME_AT_VERSION] |= FRAME_RELAYED;
    put_be16(frame->data + FRAME_AT_SEQUENCE, 0);
    node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 1);
    uint8_t bytes[GOODBYE_BYTES];
    struct goodbye goodbye = {
        .session = ls_link_session(b->node[0]->ls, CW_LINK_ZP),
        .incarnation = ls_incarnation(b->node[0]->ls),
        .reason = GOODBYE_DIED,
    };
    goodbye_encode(&goodbye, bytes);
    for (unsigned flags = FRAME_RELAYED;; flags = 0) {
        struct frame_head head = {.packets = 1};
        ls_stamp(b->node[0]->ls, CW_LINK_ZP, &head);
        head.flags = (uint8_t)flags;
        head.sequence = 0;
        frame = pkt_take(b->home, FRAME_HEAD_BYTES + sizeof bytes);
        memcpy(frame->data + frame_encode(&head, frame->data), bytes, sizeof bytes);
        node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
        bool up = (ls_up_links(b->node[1]->ls) & cw_links_of(CW_LINK_ZM)) != 0;
        ck_assert(up == (flags != 0));
        ck_assert_uint_eq(node_drops(b->node[1], CW_DROP_MALFORMED), 1);
        if (flags == 0) {
            break;
        }
    }
    bench_close(b);
}
END_TEST

/* The mark, a guest's extension and those that nobody knows are passed on as they came. */
START_TEST(what_is_not_for_us_stays_as_it_is)
{
    static const uint8_t tail[] = {0x06, 0x03, 0x01, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00,
                                   0x00, 0x08, 0x20, 0x02, 0x12, 0x34, 'a',  'b',  'c',  'd'};
    struct bench *b = bench_open((cw_dims){1, 1, 5});
    bench_start_all(b);
    bench_settle(b);
    struct cw_packet *frame = pkt_take(b->home, 1500);
    struct frame_head head = {.packets = 1};
    struct packet_head packet = {.kind = PACKET_SERVER,
                                 .flags = (uint8_t)(packet_flag(EXT_GUEST) | PACKET_MARK),
                                 .length = PACKET_HEAD_BYTES + sizeof tail};
    packet.hop_limit = 5;
    packet.hops = 1;
    packet.ext_words = sizeof tail / EXT_WORD_BYTES;
    packet.job = packet.source_job = PROBE_JOB;
    packet.to.server = (cw_coord){0, 0, 2};
    ls_stamp(b->node[0]->ls, CW_LINK_ZP, &head);
    uint32_t at = frame_encode(&head, frame->data);
    packet_encode(&packet, frame->data + at);
    memcpy(frame->data + at + PACKET_HEAD_BYTES, tail, sizeof tail);
    frame->length = at + packet.length;
    node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    struct cw_packet *out = node_tx_pull(b->node[1], CW_LINK_ZP, b->now);
    while (out != NULL && frame_lane(out->data, out->length) == FRAME_CONTROL) {
        pkt_release(out);
        out = node_tx_pull(b->node[1], CW_LINK_ZP, b->now);
    }
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(out->length, FRAME_HEAD_BYTES + packet.length);
    ck_assert_uint_eq(out->data[FRAME_HEAD_BYTES + PACKET_AT_FLAGS], packet.flags);
    ck_assert_uint_eq(out->data[FRAME_HEAD_BYTES + PACKET_AT_HOPS], 2);
    ck_assert_mem_eq(out->data + FRAME_HEAD_BYTES + PACKET_HEAD_BYTES, tail, sizeof tail);
    pkt_release(out);
    bench_close(b);
}
END_TEST

START_TEST(another_version_is_noted)
{
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    bench_start(b, 0);
    bench_start(b, 1);
    struct cw_packet *frame = frame_of(b, 1, 10, 0);
    frame->data[FRAME_AT_VERSION] = 0x10;
    node_rx(b->node[1], CW_LINK_ZM, frame, b->now);
    ck_assert_uint_eq(ls_link_foreign(b->node[1]->ls, CW_LINK_ZM).version, 1);
    ck_assert_uint_eq(node_drops(b->node[1], CW_DROP_MALFORMED), 1);
    bench_close(b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(relayed_frames),
    SUITE_TEST(what_is_not_for_us_stays_as_it_is),
    SUITE_TEST(another_version_is_noted),
    SUITE_TEST(one_packet_keeps_its_memory),
    SUITE_TEST(many_packets_in_their_order),
    SUITE_TEST(stale_frames),
    SUITE_TEST(data_waits_for_control),
    SUITE_TEST(what_waits_ends_with_its_link),
    SUITE_TEST(any_bytes),
    SUITE_TEST(sources_outside_the_torus),
};
SUITE_MAIN("node_rx", tests)
