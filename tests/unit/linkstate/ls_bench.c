/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"

#include "suite.h"

#include <string.h>

enum { FLOW_FRAMES = 100000 }; /* more at one instant is a livelock */

void ls_bench_open(struct ls_bench *b, cw_dims dims)
{
    *b = (struct ls_bench){.timers = ls_timers_default()};
    ck_assert_int_eq(torus_init(&b->torus, dims), 0);
    ck_assert_uint_le(b->torus.servers, LS_BENCH_SERVERS);
    torus_neighbours_fill(&b->torus, b->neighbours);
}

void ls_bench_close(struct ls_bench *b)
{
    for (cw_server s = 0; s < b->torus.servers; s++) {
        if (b->ls[s] != NULL) {
            ls_close(b->ls[s]);
        }
    }
}

struct ls_config ls_bench_config(const struct ls_bench *b, cw_server s, uint64_t incarnation)
{
    return (struct ls_config){
        .torus = b->torus,
        .neighbours = b->neighbours,
        .self = s,
        .cluster = 7,
        .config_hash = 9,
        .incarnation = incarnation,
        .seed = 1,
        .timers = b->timers,
    };
}

void ls_bench_boot(struct ls_bench *b, cw_server s, uint64_t incarnation)
{
    struct ls_config config = ls_bench_config(b, s, incarnation);
    if (b->ls[s] != NULL) {
        ls_close(b->ls[s]);
    }
    ck_assert_int_eq(ls_open(&b->ls[s], &config), 0);
}

static cw_server peer_of(const struct ls_bench *b, cw_server s, cw_link link)
{
    return b->neighbours[s * CW_LINK_COUNT + link];
}

void ls_bench_light(struct ls_bench *b, cw_server s, cw_link link, bool on)
{
    cw_server peer = peer_of(b, s, link);
    if (b->ls[s] != NULL) {
        ls_carrier(b->ls[s], link, on, b->now);
    }
    if (b->ls[peer] != NULL) {
        ls_carrier(b->ls[peer], cw_link_opposite(link), on, b->now);
    }
}

static void cut_end(struct ls_bench *b, cw_server s, cw_link link, bool cut)
{
    cw_links bit = cw_links_of(link);
    b->cut[s] = cut ? b->cut[s] | bit : b->cut[s] & (cw_links)~bit;
}

void ls_bench_cut(struct ls_bench *b, cw_server s, cw_link link, bool cut)
{
    cut_end(b, s, link, cut);
    cut_end(b, peer_of(b, s, link), cw_link_opposite(link), cut);
}

struct note ls_bench_pull(struct ls_bench *b, cw_server s, cw_link link)
{
    struct note note = {.size = 0};
    note.size = ls_pull(b->ls[s], link, note.bytes, sizeof note.bytes, &note.head.packets, b->now);
    ls_stamp(b->ls[s], link, &note.head);
    ck_assert((note.size == 0) == (note.head.packets == 0));
    return note;
}

static size_t packet_size(const uint8_t *bytes)
{
    return (size_t)bytes[2] << 8 | bytes[3];
}

enum ls_gate ls_bench_give(struct ls_bench *b, cw_server from, cw_link link, const struct note *note)
{
    struct linkstate *to = b->ls[peer_of(b, from, link)];
    cw_link in = cw_link_opposite(link);
    (void)ls_frame(to, in, &note->head, b->now);
    for (size_t at = 0; at < note->size; at += packet_size(note->bytes + at)) {
        ck_assert_int_eq(ls_control(to, in, note->bytes + at, packet_size(note->bytes + at), b->now), WIRE_OK);
    }
    return ls_gate_again(to, in, &note->head);
}

enum wire_reason ls_bench_control(struct ls_bench *b, cw_server to, cw_link link, const void *bytes, size_t size)
{
    return ls_control(b->ls[to], link, bytes, size, b->now);
}

void ls_bench_flow(struct ls_bench *b)
{
    bool moved = true;
    for (unsigned frames = 0; moved;) {
        moved = false;
        for (cw_server s = 0; s < b->torus.servers; s++) {
            for (cw_link link = 0; b->ls[s] != NULL && link < CW_LINK_COUNT; link++) {
                if (!(ls_tx_links(b->ls[s]) & cw_links_of(link))) {
                    continue;
                }
                struct note note = ls_bench_pull(b, s, link);
                ck_assert_uint_gt(note.size, 0); /* who has nothing to say does not ask for the link */
                moved = true;
                b->frames++;
                if (!(b->cut[s] & cw_links_of(link)) && b->ls[peer_of(b, s, link)] != NULL) {
                    (void)ls_bench_give(b, s, link, &note);
                }
                ck_assert_uint_lt(++frames, FLOW_FRAMES);
            }
        }
    }
}

void ls_bench_run(struct ls_bench *b, cw_time until)
{
    for (;;) {
        ls_bench_flow(b);
        cw_time next = CW_NEVER;
        for (cw_server s = 0; s < b->torus.servers; s++) {
            next = b->ls[s] == NULL ? next : cw_time_min(next, ls_next_wake(b->ls[s]));
        }
        if (cw_time_before(until, next)) {
            b->now = until;
            return;
        }
        b->now = cw_time_max(next, b->now);
        for (cw_server s = 0; s < b->torus.servers; s++) {
            if (b->ls[s] != NULL && cw_time_due(ls_next_wake(b->ls[s]), b->now)) {
                ls_tick(b->ls[s], b->now);
                ck_assert(cw_time_before(b->now, ls_next_wake(b->ls[s]))); /* what was due is done */
            }
        }
    }
}

void ls_bench_run_for(struct ls_bench *b, cw_span span)
{
    ls_bench_run(b, cw_time_add(b->now, span));
}

void ls_bench_pair(struct ls_bench *b)
{
    ls_bench_open(b, (cw_dims){2, 1, 1});
    ls_bench_boot(b, 0, 100);
    ls_bench_boot(b, 1, 200);
    ls_bench_light(b, 0, CW_LINK_XP, true);
    ls_bench_run(b, ls_bench_ms(100));
    ck_assert_uint_eq(ls_up_links(b->ls[0]), cw_links_of(CW_LINK_XP));
    ck_assert_uint_eq(ls_up_links(b->ls[1]), cw_links_of(CW_LINK_XM));
}

/* The first packet of this type. */
static const uint8_t *find_packet(const struct note *note, enum control_type type)
{
    for (size_t at = 0; at < note->size; at += packet_size(note->bytes + at)) {
        struct control_head head;
        ck_assert_int_eq(control_decode(note->bytes + at, packet_size(note->bytes + at), &head), WIRE_OK);
        if (head.type == type) {
            return note->bytes + at;
        }
    }
    ck_abort_msg("no packet of type %d", (int)type);
}

struct hello ls_bench_hello(const struct note *note)
{
    struct hello hello;
    ck_assert_int_eq(hello_decode(find_packet(note, CONTROL_HELLO), HELLO_BYTES, &hello), WIRE_OK);
    return hello;
}

struct stream ls_bench_stream(const struct note *note)
{
    const uint8_t *bytes = find_packet(note, CONTROL_STREAM);
    struct stream stream;
    ck_assert_int_eq(stream_decode(bytes, packet_size(bytes), &stream), WIRE_OK);
    return stream;
}
