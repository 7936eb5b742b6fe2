/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"
#include "suite.h"

#include <string.h>

/* ---- Hellos ------------------------------------------------------------------------------------------------------ */

/* A good hello of server 1's on cable 0. */
static struct hello lone_hello(void)
{
    return (struct hello){
        .session = 5,
        .cluster = 7,
        .config_hash = 9,
        .server = {1, 0, 0},
        .port = CW_LINK_XM,
        .incarnation = 200,
        .clock = {1},
    };
}

/* Server 0 of a 2x1x1 torus with light on both cables, and a good hello of server 1 on cable 0 for it. */
static struct hello lone_server(struct ls_bench *b)
{
    ls_bench_open(b, (cw_dims){2, 1, 1});
    ls_bench_boot(b, 0, 100);
    ls_bench_light(b, 0, CW_LINK_XP, true);
    ls_bench_light(b, 0, CW_LINK_XM, true);
    return lone_hello();
}

static void give_hello(struct ls_bench *b, cw_link link, const struct hello *hello)
{
    uint8_t bytes[HELLO_BYTES];
    hello_encode(hello, bytes);
    ck_assert_int_eq(ls_bench_control(b, 0, link, bytes, sizeof bytes), WIRE_OK);
}

START_TEST(a_hello_must_fit_the_cable)
{
    struct ls_bench b;
    struct hello good = lone_server(&b), bad[4] = {good, good, good, good};
    bad[0].cluster = 8;
    bad[1].config_hash = 8;
    bad[2].server = (cw_coord){0, 0, 0};
    bad[3].port = CW_LINK_XP; /* dim 2: server 1's end of the other cable */
    for (unsigned i = 0; i < 4; i++) {
        give_hello(&b, CW_LINK_XP, &bad[i]);
        ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_MISWIRED);
        ck_assert_uint_eq(ls_count(b.ls[0], LS_MISWIRED), i + 1);
        give_hello(&b, CW_LINK_XP, &good);
        ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_INIT);
    }
    /* Each of the two cables has its own port. */
    give_hello(&b, CW_LINK_XM, &good);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XM), ADJ_MISWIRED);
    good.port = CW_LINK_XP;
    give_hello(&b, CW_LINK_XM, &good);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XM), ADJ_INIT);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_wrong_hello_ends_a_link_that_was_up)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    uint32_t session = b.ls[0]->links[CW_LINK_XP].adj.session;
    struct hello wrong = {.session = 5, .cluster = 8, .config_hash = 9, .server = {1, 0, 0}, .port = CW_LINK_XM};
    wrong.incarnation = 200;
    wrong.clock.ns = 1;
    give_hello(&b, CW_LINK_XP, &wrong);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_MISWIRED);
    ck_assert_uint_ne(b.ls[0]->links[CW_LINK_XP].adj.session, session);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_stranger_is_forgotten_after_dead)
{
    struct ls_bench b;
    struct hello hello = lone_server(&b);
    hello.cluster = 8;
    give_hello(&b, CW_LINK_XP, &hello);
    ls_bench_run(&b, (cw_time){ls_bench_ms(50).ns - 1});
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_MISWIRED);
    ls_bench_run(&b, ls_bench_ms(50));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DOWN);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_TEARDOWNS), 0);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_hello_in_the_dark_is_not_heard)
{
    struct ls_bench b;
    struct hello good = lone_server(&b);
    ls_bench_light(&b, 0, CW_LINK_XP, false);
    give_hello(&b, CW_LINK_XP, &good);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_NO_CARRIER);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_restart_of_the_neighbour_ends_the_session)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    uint32_t session = b.ls[0]->links[CW_LINK_XP].adj.session;
    ls_bench_boot(&b, 1, 201); /* before anybody noticed */
    ls_carrier(b.ls[1], CW_LINK_XM, true, b.now);
    ls_bench_flow(&b);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    ck_assert_uint_ne((uint16_t)b.ls[0]->links[CW_LINK_XP].adj.session, (uint16_t)session);
    ck_assert_uint_eq(ls_record(b.ls[0], 0)->up, CW_LINKS_NONE);
    ls_bench_close(&b);
}
END_TEST

START_TEST(an_echo_from_our_future_is_not_ours)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    cw_time lease = b.ls[0]->lease;
    const struct adjacency *adj = &b.ls[0]->links[CW_LINK_XP].adj;
    struct hello hello = {.session = adj->peer_session, .cluster = 7, .config_hash = 9, .server = {1, 0, 0}};
    hello.port = CW_LINK_XM;
    hello.heard = adj->session;
    hello.incarnation = 200;
    hello.clock.ns = 1;
    hello.echo.ns = b.now.ns + 1;
    give_hello(&b, CW_LINK_XP, &hello);
    ck_assert_int_eq(b.ls[0]->lease.ns, lease.ns);
    hello.echo.ns = b.now.ns;
    give_hello(&b, CW_LINK_XP, &hello);
    ck_assert_int_eq(b.ls[0]->lease.ns, b.now.ns + CW_MS(50).ns);
    hello.echo.ns = 1; /* an old one takes nothing back */
    give_hello(&b, CW_LINK_XP, &hello);
    ck_assert_int_eq(b.ls[0]->lease.ns, b.now.ns + CW_MS(50).ns);
    ls_bench_close(&b);
}
END_TEST

/* Of every fifth frame of server 0 and every 50th of server 1 nothing comes: both ends know, both ways. */
START_TEST(hellos_tell_what_a_cable_loses)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    for (unsigned turn = 1; turn <= 2000; turn++) {
        b.now = cw_time_add(b.now, CW_MS(10));
        for (cw_server s = 0; s < 2; s++) {
            cw_link link = s == 0 ? CW_LINK_XP : CW_LINK_XM;
            struct note note = ls_bench_pull(&b, s, link);
            if (turn % (s == 0 ? 5 : 50) != 0) {
                (void)ls_bench_give(&b, s, link, &note);
            }
        }
    }
    for (cw_server s = 0; s < 2; s++) {
        struct ls_link_info info;
        ls_link_info(b.ls[s], s == 0 ? CW_LINK_XP : CW_LINK_XM, &info);
        const struct ls_loss *of_0 = s == 0 ? &info.loss_out : &info.loss_in;
        const struct ls_loss *of_1 = s == 0 ? &info.loss_in : &info.loss_out;
        ck_assert(info.committed);
        ck_assert_int_ge(of_0->ppm, 195000);
        ck_assert_int_le(of_0->ppm, 205000);
        ck_assert_int_ge(of_1->ppm, 19000);
        ck_assert_int_le(of_1->ppm, 21000);
        ck_assert_uint_ge(of_0->hellos, 1980);
        ck_assert_uint_ge(of_0->lost, 390);
        ck_assert(of_0->bad && of_1->bad);
        struct ls_lossy lossy = ls_lossy_links(b.ls[s]);
        ck_assert_uint_eq(lossy.in, cw_links_of(s == 0 ? CW_LINK_XP : CW_LINK_XM));
        ck_assert_uint_eq(lossy.out, lossy.in);
    }
    ls_bench_close(&b);
}
END_TEST

/* Somebody has to look: the entry in which a cable turns bad, or good again, is noted. */
START_TEST(a_cable_that_turns_bad_is_noted)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct hello hello = lone_hello();
    const struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
    hello.session = l->adj.peer_session;
    hello.heard = l->adj.session;
    hello.incarnation = 200;
    hello.digest = lsdb_digest(&b.ls[0]->db);
    hello.ack = l->feed.top;
    hello.number = l->loss.newest;
    for (unsigned i = 0; i < 2400; i++) {
        bool was = l->loss.in.bad;
        uint64_t notes = ls_notes(b.ls[0]);
        hello.number = (uint16_t)(hello.number + (i < 1000 && i % 10 == 0 ? 2 : 1));
        give_hello(&b, CW_LINK_XP, &hello);
        ck_assert(was == l->loss.in.bad || ls_notes(b.ls[0]) != notes);
    }
    ck_assert(!l->loss.in.bad);
    ck_assert_uint_eq(l->loss.in.lost, 100);
    ls_bench_close(&b);
}
END_TEST

/* ---- Another version, and the kernel's frames -------------------------------------------------------------------- */

START_TEST(another_version_is_told_until_a_neighbour_is_heard)
{
    struct ls_bench b;
    struct hello good = lone_server(&b);
    uint64_t notes = ls_notes(b.ls[0]);
    ck_assert_uint_eq(ls_link_foreign(b.ls[0], CW_LINK_XP).frames, 0);
    ls_foreign_frame(b.ls[0], CW_LINK_XP, 1, b.now);
    ck_assert_uint_gt(ls_notes(b.ls[0]), notes);
    notes = ls_notes(b.ls[0]);
    ls_foreign_frame(b.ls[0], CW_LINK_XP, 1, b.now);
    ck_assert_uint_eq(ls_notes(b.ls[0]), notes); /* it was told */
    struct ls_foreign foreign = ls_link_foreign(b.ls[0], CW_LINK_XP);
    ck_assert(foreign.version == 1 && foreign.frames == 2 && foreign.last.ns == b.now.ns);
    good.heard = b.ls[0]->links[CW_LINK_XP].adj.session;
    give_hello(&b, CW_LINK_XP, &good);
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_EXCHANGE);
    ls_foreign_frame(b.ls[0], CW_LINK_XP, 3, b.now); /* changed on the cable: the neighbour speaks ours */
    ck_assert_uint_eq(ls_link_foreign(b.ls[0], CW_LINK_XP).frames, 0);
    ls_bench_close(&b);
}
END_TEST

/* What a kernel passes on is let in, and does not show that its daemon lives. */
START_TEST(relayed_frames_are_no_sign_of_life)
{
    for (unsigned flags = 0; flags <= FRAME_RELAYED; flags += FRAME_RELAYED) {
        struct ls_bench b;
        struct ls_link_info info;
        ls_bench_pair(&b);
        struct frame_head head = {.flags = (uint8_t)flags, .packets = 1};
        ls_stamp(b.ls[1], CW_LINK_XM, &head);
        head.sequence = 0;
        ls_link_info(b.ls[0], CW_LINK_XP, &info);
        cw_time heard = info.heard.at;
        b.now = cw_time_add(b.now, CW_MS(5));
        ck_assert_int_eq(ls_frame(b.ls[0], CW_LINK_XP, &head, b.now), LS_PASS);
        ls_link_info(b.ls[0], CW_LINK_XP, &info);
        ck_assert_int_eq(info.heard.at.ns, flags & FRAME_RELAYED ? heard.ns : b.now.ns);
        ls_bench_close(&b);
    }
}
END_TEST

/* ---- What is malformed ------------------------------------------------------------------------------------------- */

START_TEST(malformed_control_leaves_no_trace)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    linkstate_publish(b.ls[1]);
    linkstate_note(b.ls[1]);
    b.now = cw_time_add(b.now, CW_MS(10));
    struct note note = ls_bench_pull(&b, 1, CW_LINK_XM);
    ck_assert_uint_eq(note.head.packets, 2); /* a hello, and the record */
    const uint8_t *packets[2] = {note.bytes, note.bytes + HELLO_BYTES};
    const size_t sizes[2] = {HELLO_BYTES, note.size - HELLO_BYTES};
    struct linkstate before = *b.ls[0];
    for (unsigned p = 0; p < 2; p++) {
        for (size_t size = 0; size < sizes[p]; size++) {
            ck_assert_int_ne(ls_bench_control(&b, 0, CW_LINK_XP, packets[p], size), WIRE_OK);
        }
        for (size_t at = 0; at < 4; at++) { /* version and kind, type, length */
            uint8_t bytes[LS_BENCH_BYTES];
            memcpy(bytes, packets[p], sizes[p]);
            bytes[at] ^= 0x80;
            ck_assert_int_ne(ls_bench_control(&b, 0, CW_LINK_XP, bytes, sizes[p]), WIRE_OK);
        }
        uint8_t bytes[LS_BENCH_BYTES];
        memcpy(bytes, packets[p], sizes[p]);
        memset(bytes + 4, 0, 4); /* no session */
        ck_assert_int_ne(ls_bench_control(&b, 0, CW_LINK_XP, bytes, sizes[p]), WIRE_OK);
    }
    ck_assert_mem_eq(&before, b.ls[0], sizeof before); /* not even time has passed */
    ls_bench_close(&b);
}
END_TEST

/* ---- Frames and streams of other sessions ------------------------------------------------------------------------ */

START_TEST(frames_of_another_session_are_stale)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct frame_head head = {.packets = 1};
    ls_stamp(b.ls[1], CW_LINK_XM, &head);
    cw_time heard = b.ls[0]->heard[CW_LINK_XP];
    b.now = cw_time_add(b.now, CW_MS(1));
    head.session ^= 1;
    ck_assert_int_eq(ls_frame(b.ls[0], CW_LINK_XP, &head, b.now), LS_STALE);
    ck_assert_int_eq(b.ls[0]->heard[CW_LINK_XP].ns, heard.ns); /* and prove no life */
    head.session ^= 1;
    ck_assert_int_eq(ls_frame(b.ls[0], CW_LINK_XP, &head, b.now), LS_PASS);
    ck_assert_int_eq(b.ls[0]->heard[CW_LINK_XP].ns, b.now.ns);
    ck_assert_int_eq(ls_frame(b.ls[0], CW_LINK_XM, &head, b.now), LS_STALE); /* no such adjacency */
    ls_bench_light(&b, 0, CW_LINK_XP, false);
    ck_assert_int_eq(ls_gate_again(b.ls[0], CW_LINK_XP, &head), LS_STALE);
    ls_bench_close(&b);
}
END_TEST

START_TEST(data_waits_for_control_that_was_lost)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    linkstate_publish(b.ls[1]);
    linkstate_note(b.ls[1]);
    struct note lost = ls_bench_pull(&b, 1, CW_LINK_XM);
    ck_assert_uint_gt(lost.size, 0);
    struct frame_head data = {.packets = 1};
    ls_stamp(b.ls[1], CW_LINK_XM, &data);
    ck_assert_int_eq(ls_frame(b.ls[0], CW_LINK_XP, &data, b.now), LS_WAIT);
    cw_time repeat = cw_time_add(b.now, CW_MS(2));
    ls_bench_run(&b, (cw_time){repeat.ns - 1});
    ck_assert_int_eq(ls_gate_again(b.ls[0], CW_LINK_XP, &data), LS_WAIT);
    ls_bench_run(&b, repeat);
    ck_assert_int_eq(ls_gate_again(b.ls[0], CW_LINK_XP, &data), LS_PASS);
    ck_assert_uint_eq(ls_record(b.ls[0], 1)->seq, 6);
    ls_bench_close(&b);
}
END_TEST

/* Items to server 0 from server 1 in one packet, as the next of the stream. */
static void give_items(struct ls_bench *b, const struct item *item, unsigned count)
{
    const struct adjacency *adj = &b->ls[0]->links[CW_LINK_XP].adj;
    uint8_t bytes[LS_BENCH_BYTES];
    struct stream_writer w;
    struct stream_head head = {adj->peer_session, adj->session, b->ls[0]->links[CW_LINK_XP].feed.acked,
                               b->ls[0]->links[CW_LINK_XP].feed.received + 1};
    stream_begin(&w, bytes, sizeof bytes);
    for (unsigned i = 0; i < count; i++) {
        ck_assert(stream_put(&w, &item[i]));
    }
    ck_assert_int_eq(ls_bench_control(b, 0, CW_LINK_XP, bytes, stream_finish(&w, &head)), WIRE_OK);
}

static void give_item(struct ls_bench *b, const struct item *item)
{
    give_items(b, item, 1);
}

START_TEST(streams_of_another_session_or_with_an_impossible_ack_are_strays)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    const struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
    struct stream_head good = {l->adj.peer_session, l->adj.session, l->feed.top, 0};
    struct stream_head heads[3] = {good, good, good};
    heads[0].session ^= 0x10000;
    heads[1].heard ^= 0x10000;
    heads[2].ack++;
    for (unsigned i = 0; i < 3; i++) {
        uint8_t bytes[STREAM_HEAD_BYTES];
        struct stream_writer w;
        stream_begin(&w, bytes, sizeof bytes);
        ck_assert_int_eq(ls_bench_control(&b, 0, CW_LINK_XP, bytes, stream_finish(&w, &heads[i])), WIRE_OK);
        ck_assert_uint_eq(ls_count(b.ls[0], LS_STRAYS), i + 1);
        ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
    }
    ls_bench_close(&b);
}
END_TEST

/*
 * What bytes changed on a cable can do: the far end has counted items that nobody sent, or we believe that it has some
 * that were lost.
 */
START_TEST(a_stream_that_lost_count_begins_anew)
{
    for (int wrong = -1; wrong <= 1; wrong += 2) {
        struct ls_bench b;
        ls_bench_pair(&b);
        const struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
        uint32_t session = l->adj.session;
        struct hello hello = lone_hello();
        hello.session = l->adj.peer_session;
        hello.incarnation = l->adj.peer_incarnation;
        hello.heard = session;
        hello.flags = HELLO_SYNCED | HELLO_UP;
        hello.digest = lsdb_digest(&b.ls[0]->db);
        const uint32_t acks[] = {wrong, wrong, 0, wrong, wrong, wrong};
        for (unsigned i = 0; i < sizeof acks / sizeof *acks; i++) {
            ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
            hello.ack = l->feed.top + acks[i];
            give_hello(&b, CW_LINK_XP, &hello);
        }
        ck_assert_uint_ne(l->adj.session, session);
        ck_assert_uint_eq(ls_count(b.ls[0], LS_REPAIRS), 1);
        ls_bench_close(&b);
    }
}
END_TEST

/* An item that nobody needs to know is counted, acknowledged and skipped, and does not end what belongs together. */
START_TEST(unknown_items_are_skipped)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct item items[3] = {{.type = ITEM_RECORD, .record = *ls_record(b.ls[0], 1), .more = true},
                            {.type = (enum item_type)200, .other = {.flags = 0xff}},
                            {.type = ITEM_SYNCED, .synced = 1}};
    uint32_t seq = ++items[0].record.seq, received = b.ls[0]->links[CW_LINK_XP].feed.received;
    give_items(&b, items, 2);
    ck_assert_uint_eq(b.ls[0]->links[CW_LINK_XP].feed.received, received + 2);
    ck_assert_uint_lt(ls_record(b.ls[0], 1)->seq, seq);
    give_items(&b, items + 2, 1);
    ck_assert_uint_eq(ls_record(b.ls[0], 1)->seq, seq);
    ls_bench_close(&b);
}
END_TEST

/* Each end of an adjacency is told once what the other runs, and forgets it with the adjacency. */
START_TEST(neighbours_say_what_they_run)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    for (cw_server s = 0; s < 2; s++) {
        struct ls_config config = ls_bench_config(&b, s, 100 + s);
        about_fill(&config.about, s == 0 ? "1.2.3" : "1.2.4", s == 0 ? "feed" : NULL);
        ck_assert_int_eq(ls_open(&b.ls[s], &config), 0);
    }
    for (unsigned round = 0; round < 2; round++) {
        struct ls_link_info info;
        ls_bench_light(&b, 0, CW_LINK_XP, true);
        ls_bench_run_for(&b, CW_SEC(2));
        ls_link_info(b.ls[0], CW_LINK_XP, &info);
        ck_assert(info.committed);
        ck_assert_str_eq(info.about.version, "1.2.4");
        ck_assert_str_eq(info.about.build, "");
        ls_link_info(b.ls[1], CW_LINK_XM, &info);
        ck_assert_str_eq(info.about.version, "1.2.3");
        ck_assert_str_eq(info.about.build, "feed");
        ls_bench_light(&b, 0, CW_LINK_XP, false);
        ls_link_info(b.ls[1], CW_LINK_XM, &info);
        ck_assert_str_eq(info.about.version, "");
    }
    ls_bench_close(&b);
}
END_TEST

START_TEST(records_that_cannot_be_are_refused)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    uint64_t digest = ls_digest(b.ls[0]);
    struct item item = {.type = ITEM_RECORD, .record = *ls_record(b.ls[0], 1)};
    item.record.seq++;
    item.record.origin.x = 2; /* outside the torus */
    give_item(&b, &item);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_REFUSED), 1);
    item.record.origin.x = 1;
    item.record.pending = cw_links_of(CW_LINK_YP); /* a link that it does not have */
    give_item(&b, &item);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_REFUSED), 2);
    item.record = *ls_record(b.ls[0], 1);
    item.record.boot_nonce ^= 1; /* the same version with other content */
    give_item(&b, &item);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_CONFLICTS), 1);
    struct item ack = {.type = ITEM_ACK};
    ack.ack = (struct ack){.acker = {9, 0, 0}, .origin = {0, 0, 0}, 1, 200, 100};
    give_item(&b, &ack);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_REFUSED), 3);
    ck_assert_uint_eq(ls_digest(b.ls[0]), digest);
    ls_bench_close(&b);
}
END_TEST

START_TEST(an_ack_counts_for_the_incarnations_and_versions_of_now)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    b.ls[0]->admission.acked[1] = 0;
    static const struct {
        uint64_t acker_incarnation, incarnation;
        uint32_t seq, acked;
    } cases[] = {
        {199, 100, 4, 0}, {201, 100, 4, 0}, {200, 99, 4, 0},
        {200, 101, 4, 0}, {200, 100, 6, 0}, /* a version that we did not make yet */
        {200, 100, 4, 4}, {200, 100, 3, 4}, {200, 100, 5, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct item item = {.type = ITEM_ACK};
        item.ack = (struct ack){
            .acker = {1, 0, 0},
            .acker_incarnation = cases[i].acker_incarnation,
            .incarnation = cases[i].incarnation,
            .seq = cases[i].seq,
        };
        give_item(&b, &item);
        ck_assert_uint_eq(b.ls[0]->admission.acked[1], cases[i].acked);
    }
    ls_bench_close(&b);
}
END_TEST

/*
 * A newcomer's records and an ack for it in one packet: the ack goes on, though nobody asked for the views in between.
 */
START_TEST(an_ack_finds_the_way_that_came_just_before_it)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){3, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(100));
    struct item items[3] = {{.type = ITEM_RECORD, .record = *ls_record(b.ls[0], 1)},
                            {.type = ITEM_RECORD, .record = {.incarnation = 300, .seq = 1, .origin = {2, 0, 0}}},
                            {.type = ITEM_ACK}};
    items[0].record.seq++;
    items[0].record.pending = cw_links_of(CW_LINK_XP);
    items[0].record.neighbour[CW_LINK_XP] = 300;
    items[1].record.pending = cw_links_of(CW_LINK_XM);
    items[1].record.neighbour[CW_LINK_XM] = 200;
    items[2].ack = (struct ack){.acker = {1, 0, 0}, .origin = {2, 0, 0}, .seq = 1, 200, 300};
    give_items(&b, items, 3);
    struct note note = ls_bench_pull(&b, 0, CW_LINK_XP);
    struct stream stream = ls_bench_stream(&note);
    struct stream_cursor cursor = stream_items(&stream);
    struct item item;
    uint32_t number;
    unsigned passed = 0;
    while (stream_next(&cursor, &number, &item)) {
        passed += item.type == ITEM_ACK && item.ack.acker.x == 1 && item.ack.origin.x == 2;
    }
    ck_assert_uint_eq(passed, 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(an_ack_without_a_way_is_counted)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){3, 1, 1});
    ls_bench_boot(&b, 0, 100);
    ls_bench_boot(&b, 1, 200);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    ls_bench_run(&b, ls_bench_ms(100));
    uint64_t lost = ls_count(b.ls[0], LS_ACKS_LOST);
    struct item item = {.type = ITEM_ACK};
    item.ack = (struct ack){.acker = {1, 0, 0}, .origin = {2, 0, 0}, .seq = 1, 200, 300}; /* nobody has heard of it */
    give_item(&b, &item);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_ACKS_LOST), lost + 1);
    ls_bench_close(&b);
}
END_TEST

/* ---- Our own name ------------------------------------------------------------------------------------------------ */

/* Somebody says that we are of this incarnation, booted another time. */
static void give_own(struct ls_bench *b, uint64_t incarnation)
{
    struct record record = {.incarnation = incarnation, .seq = 1};
    record.boot_nonce = (uint16_t)(b->ls[0]->nonce + 1);
    linkstate_apply(b->ls[0], &record, 1, CW_LINK_XP);
}

START_TEST(a_newer_record_in_our_name_is_outbid)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct item item = {.type = ITEM_RECORD, .record = *ls_record(b.ls[0], 0)};
    give_item(&b, &item); /* our own, as it is: nothing */
    item.record.seq--;
    give_item(&b, &item);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_OUTBIDS), 0);
    item.record.incarnation = 150;
    give_item(&b, &item);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_OUTBIDS), 1);
    ck_assert_uint_eq(ls_incarnation(b.ls[0]), 151);
    ck_assert(!ls_active(b.ls[0]));
    ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_DAMPED);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_DUPLICATES), 0);
    ls_bench_close(&b);
}
END_TEST

START_TEST(four_fights_in_ten_seconds_are_a_duplicate)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ls_refresh(b.ls[0], b.now);
    for (unsigned i = 0; i < 3; i++) {
        give_own(&b, 1000 * (i + 1));
        ck_assert_uint_eq(ls_incarnation(b.ls[0]), 1000 * (i + 1) + 1);
    }
    ck_assert_uint_eq(ls_count(b.ls[0], LS_DUPLICATES), 0);
    struct linkstate soon = *b.ls[0];
    cw_time first = b.now;
    b.ls[0]->now = cw_time_add(first, CW_SEC(10)); /* the first of them is forgotten */
    give_own(&b, 4000);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_DUPLICATES), 0);
    memcpy(b.ls[0]->fights, soon.fights, sizeof soon.fights);
    b.ls[0]->now.ns = cw_time_add(first, CW_SEC(10)).ns - 1;
    give_own(&b, 5000);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_DUPLICATES), 1);
    ck_assert_uint_eq(ls_count(b.ls[0], LS_OUTBIDS), 5);
    ck_assert_int_eq(b.ls[0]->links[CW_LINK_XP].adj.rest.ns, b.ls[0]->now.ns + CW_SEC(10).ns);
    ls_bench_close(&b);
}
END_TEST

/* ---- Goodbye ----------------------------------------------------------------------------------------------------- */

static void give_goodbye(struct ls_bench *b, const struct goodbye *goodbye)
{
    uint8_t bytes[GOODBYE_BYTES];
    goodbye_encode(goodbye, bytes);
    ck_assert_int_eq(ls_bench_control(b, 0, CW_LINK_XP, bytes, sizeof bytes), WIRE_OK);
    ls_refresh(b->ls[0], b->now);
}

START_TEST(a_goodbye_counts_out_the_incarnation_it_names)
{
    static const struct {
        enum goodbye_reason reason;
        bool held;
        enum adjacency_state state; /* whoever leaves in good order may come back at once */
    } cases[] = {
        {GOODBYE_LEAVING, false, ADJ_DOWN},
        {GOODBYE_DIED, false, ADJ_DAMPED},
        {GOODBYE_CLOSED, true, ADJ_DAMPED},
    };
    for (size_t i = 0; i < 3; i++) {
        struct ls_bench b;
        ls_bench_pair(&b);
        uint32_t session = b.ls[0]->links[CW_LINK_XP].adj.peer_session;
        struct goodbye good = {session, 200, {1, 0, 0}, (uint8_t)cases[i].reason}, bad[3] = {good, good, good};
        bad[0].session ^= 0x10000;
        bad[1].incarnation--;
        bad[2].server.x = 0;
        for (unsigned k = 0; k < 3; k++) {
            give_goodbye(&b, &bad[k]);
            ck_assert_uint_eq(ls_count(b.ls[0], LS_STRAYS), k + 1);
            ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), ADJ_UP);
        }
        give_goodbye(&b, &good);
        ck_assert_int_eq(ls_bench_state(&b, 0, CW_LINK_XP), cases[i].state);
        ck_assert(!reach_has(ls_committed(b.ls[0]), 1));
        ck_assert(reach_has(ls_optimistic(b.ls[0]), 1) == cases[i].held);
        ls_bench_close(&b);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(hellos_tell_what_a_cable_loses),
    SUITE_TEST(a_cable_that_turns_bad_is_noted),
    SUITE_TEST(another_version_is_told_until_a_neighbour_is_heard),
    SUITE_TEST(relayed_frames_are_no_sign_of_life),
    SUITE_TEST(unknown_items_are_skipped),
    SUITE_TEST(neighbours_say_what_they_run),
    SUITE_TEST(a_hello_must_fit_the_cable),
    SUITE_TEST(a_wrong_hello_ends_a_link_that_was_up),
    SUITE_TEST(a_stranger_is_forgotten_after_dead),
    SUITE_TEST(a_hello_in_the_dark_is_not_heard),
    SUITE_TEST(a_restart_of_the_neighbour_ends_the_session),
    SUITE_TEST(an_echo_from_our_future_is_not_ours),
    SUITE_TEST(malformed_control_leaves_no_trace),
    SUITE_TEST(frames_of_another_session_are_stale),
    SUITE_TEST(data_waits_for_control_that_was_lost),
    SUITE_TEST(streams_of_another_session_or_with_an_impossible_ack_are_strays),
    SUITE_TEST(a_stream_that_lost_count_begins_anew),
    SUITE_TEST(records_that_cannot_be_are_refused),
    SUITE_TEST(an_ack_counts_for_the_incarnations_and_versions_of_now),
    SUITE_TEST(an_ack_finds_the_way_that_came_just_before_it),
    SUITE_TEST(an_ack_without_a_way_is_counted),
    SUITE_TEST(a_newer_record_in_our_name_is_outbid),
    SUITE_TEST(four_fights_in_ten_seconds_are_a_duplicate),
    SUITE_TEST(a_goodbye_counts_out_the_incarnation_it_names),
};

SUITE_MAIN("linkstate_rx", tests)
