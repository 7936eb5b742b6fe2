/* SPDX-License-Identifier: Apache-2.0 */
#include "ls_bench.h"
#include "suite.h"

START_TEST(the_first_hello)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 3, 1});
    ls_bench_boot(&b, 4, 77);
    b.now = ls_bench_ms(3);
    ls_carrier(b.ls[4], CW_LINK_YM, true, b.now);
    ck_assert_uint_eq(ls_tx_links(b.ls[4]), cw_links_of(CW_LINK_YM));
    struct note note = ls_bench_pull(&b, 4, CW_LINK_YM);
    ck_assert_uint_eq(note.size, HELLO_BYTES);
    ck_assert_uint_eq(note.head.packets, 1);
    struct hello hello = ls_bench_hello(&note);
    ck_assert_uint_eq(hello.session, b.ls[4]->links[CW_LINK_YM].adj.session);
    ck_assert_uint_eq(hello.cluster, 7);
    ck_assert_uint_eq(hello.config_hash, 9);
    ck_assert_uint_eq(hello.server.x, 1);
    ck_assert_uint_eq(hello.server.y, 1);
    ck_assert_uint_eq(hello.flags, HELLO_FENCED);
    ck_assert_uint_eq(hello.port, CW_LINK_YM);
    ck_assert_uint_eq(hello.heard, 0);
    ck_assert_uint_eq(hello.incarnation, 77);
    ck_assert_int_eq(hello.clock.ns, ls_bench_ms(3).ns);
    ck_assert_int_eq(hello.echo.ns, 0);
    ck_assert_uint_eq(hello.position, 0);
    ck_assert_uint_eq(hello.ack, 0);
    ck_assert_uint_eq(hello.digest, ls_digest(b.ls[4]));
    ck_assert_uint_eq(ls_tx_links(b.ls[4]), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_bench_pull(&b, 4, CW_LINK_YM).size, 0);
    ck_assert_uint_eq(ls_bench_pull(&b, 4, CW_LINK_YP).size, 0); /* dark */
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_clock_at_zero_is_sent_as_one)
{
    struct ls_bench b;
    ls_bench_open(&b, (cw_dims){2, 1, 1});
    ls_bench_boot(&b, 0, 1);
    ls_bench_light(&b, 0, CW_LINK_XP, true);
    struct note note = ls_bench_pull(&b, 0, CW_LINK_XP);
    ck_assert_int_eq(ls_bench_hello(&note).clock.ns, 1);
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_hello_of_a_link_that_is_up)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
    b.now = l->hello_at;
    ls_tick(b.ls[0], b.now);
    struct note note = ls_bench_pull(&b, 0, CW_LINK_XP);
    struct hello hello = ls_bench_hello(&note);
    ck_assert_uint_eq(hello.flags, HELLO_UP | HELLO_SYNCED);
    ck_assert_uint_eq(hello.heard, b.ls[1]->links[CW_LINK_XM].adj.session);
    ck_assert_int_eq(hello.echo.ns, l->clock.ns);
    ck_assert_uint_eq(hello.position, b.ls[1]->links[CW_LINK_XM].feed.received);
    ck_assert_uint_eq(hello.ack, b.ls[1]->links[CW_LINK_XM].feed.top);
    ck_assert_int_eq(l->hello_at.ns, b.now.ns + CW_MS(10).ns);
    ls_leave(b.ls[0], b.now);
    linkstate_publish(b.ls[0]); /* what waits counts into the position */
    b.now = cw_time_add(b.now, CW_MS(10));
    ls_refresh(b.ls[0], b.now);
    uint32_t top = l->feed.top, unsent = l->feed.unsent;
    ck_assert_uint_gt(unsent, 0);
    note = ls_bench_pull(&b, 0, CW_LINK_XP);
    ck_assert_uint_eq(ls_bench_hello(&note).position, top + unsent);
    ck_assert_uint_eq(ls_bench_hello(&note).flags, HELLO_UP | HELLO_SYNCED | HELLO_LEAVING);
    ls_bench_close(&b);
}
END_TEST

START_TEST(hellos_in_a_hurry_are_a_ms_apart)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
    b.now = l->hello_at;
    ls_tick(b.ls[0], b.now);
    (void)ls_bench_pull(&b, 0, CW_LINK_XP);
    cw_time last = b.now;
    linkstate_step(b.ls[0], CW_LINK_XP, ADJ_CLOSED); /* asks for a hello at once */
    linkstate_settle(b.ls[0], false);
    ck_assert_uint_eq(ls_tx_links(b.ls[0]), CW_LINKS_NONE);
    ck_assert_int_eq(ls_next_wake(b.ls[0]).ns, last.ns + CW_MS(1).ns);
    b.now.ns = last.ns + CW_MS(1).ns - 1;
    ck_assert_uint_eq(ls_bench_pull(&b, 0, CW_LINK_XP).size, 0);
    b.now.ns++;
    ls_tick(b.ls[0], b.now);
    ck_assert_uint_eq(ls_bench_pull(&b, 0, CW_LINK_XP).size, HELLO_BYTES);
    ls_bench_close(&b);
}
END_TEST

START_TEST(an_item_is_acknowledged_within_200_us)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    linkstate_publish(b.ls[0]);
    linkstate_note(b.ls[0]);
    struct note note = ls_bench_pull(&b, 0, CW_LINK_XP);
    ck_assert_uint_eq(ls_bench_stream(&note).items, 1);
    ck_assert_int_eq(ls_bench_give(&b, 0, CW_LINK_XP, &note), LS_PASS);
    cw_time due = cw_time_add(b.now, CW_US(200));
    ck_assert_int_eq(ls_next_wake(b.ls[1]).ns, due.ns);
    ck_assert_uint_eq(ls_tx_links(b.ls[1]), CW_LINKS_NONE);
    b.now = due;
    ls_tick(b.ls[1], b.now);
    ck_assert_uint_eq(ls_tx_links(b.ls[1]), cw_links_of(CW_LINK_XM));
    note = ls_bench_pull(&b, 1, CW_LINK_XM);
    struct stream ack = ls_bench_stream(&note);
    ck_assert_uint_eq(note.size, STREAM_HEAD_BYTES);
    ck_assert_uint_eq(ack.items, 0);
    ck_assert_uint_eq(ack.head.ack, b.ls[0]->links[CW_LINK_XP].feed.top);
    ck_assert(!feed_is_idle(&b.ls[0]->links[CW_LINK_XP].feed));
    (void)ls_bench_give(&b, 1, CW_LINK_XM, &note);
    ck_assert(feed_is_idle(&b.ls[0]->links[CW_LINK_XP].feed));
    ls_bench_close(&b);
}
END_TEST

START_TEST(a_frame_takes_as_many_items_as_it_has_room_for)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    for (unsigned i = 0; i < 100; i++) {
        linkstate_publish(b.ls[0]);
    }
    linkstate_note(b.ls[0]);
    uint32_t top = b.ls[0]->links[CW_LINK_XP].feed.top;
    uint8_t out[LS_BENCH_BYTES], packets;
    size_t least = STREAM_HEAD_BYTES + ITEM_RECORD_BYTES;
    ck_assert_uint_eq(ls_pull(b.ls[0], CW_LINK_XP, out, least - 1, &packets, b.now), 0);
    ck_assert_uint_eq(packets, 0);
    ck_assert_uint_eq(ls_pull(b.ls[0], CW_LINK_XP, out, least, &packets, b.now), least);
    ck_assert_uint_eq(packets, 1);
    ck_assert_uint_eq(b.ls[0]->links[CW_LINK_XP].feed.top, top + 1);
    struct note note = ls_bench_pull(&b, 0, CW_LINK_XP);
    struct stream stream = ls_bench_stream(&note);
    ck_assert_uint_eq(stream.items, (1500 - STREAM_HEAD_BYTES) / ITEM_RECORD_BYTES);
    ck_assert_uint_eq(stream.head.first, top + 2);
    ck_assert_uint_eq(ls_tx_links(b.ls[0]) & cw_links_of(CW_LINK_XP), cw_links_of(CW_LINK_XP));
    ls_bench_close(&b);
}
END_TEST

START_TEST(frames_are_stamped_with_what_was_sent_before_them)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    struct ls_link *l = &b.ls[0]->links[CW_LINK_XP];
    struct frame_head first = {0}, second = {0}, third = {0};
    ls_stamp(b.ls[0], CW_LINK_XP, &first);
    linkstate_publish(b.ls[0]); /* not sent: not in the position */
    linkstate_note(b.ls[0]);
    ls_stamp(b.ls[0], CW_LINK_XP, &second);
    ck_assert_uint_eq(first.session, (uint16_t)l->adj.session);
    ck_assert_uint_eq(second.sequence, (uint16_t)(first.sequence + 1));
    ck_assert_uint_eq(second.position, first.position);
    (void)ls_bench_pull(&b, 0, CW_LINK_XP);
    ls_stamp(b.ls[0], CW_LINK_XP, &third);
    ck_assert_uint_eq(third.position, (uint16_t)(first.position + 1));
    ls_bench_close(&b);
}
END_TEST

START_TEST(data_waits_while_the_window_holds_control_back)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ls_bench_cut(&b, 0, CW_LINK_XP, true);
    for (unsigned i = 0; i < FEED_WINDOW; i++) {
        linkstate_publish(b.ls[0]);
    }
    linkstate_note(b.ls[0]);
    ls_bench_flow(&b);
    ck_assert_uint_eq(ls_up_links(b.ls[0]), cw_links_of(CW_LINK_XP)); /* all are under way */
    linkstate_publish(b.ls[0]);
    linkstate_note(b.ls[0]);
    ck_assert_uint_eq(ls_up_links(b.ls[0]), CW_LINKS_NONE);
    ck_assert_uint_eq(ls_tx_links(b.ls[0]), CW_LINKS_NONE);
    ls_bench_cut(&b, 0, CW_LINK_XP, false);
    ls_bench_run_for(&b, CW_MS(10)); /* repeated, and what waited gathered and sent */
    ck_assert_uint_eq(ls_up_links(b.ls[0]), cw_links_of(CW_LINK_XP));
    ck_assert_uint_eq(ls_digest(b.ls[0]), ls_digest(b.ls[1]));
    ls_bench_close(&b);
}
END_TEST

START_TEST(who_has_parted_says_goodbye_and_no_more)
{
    struct ls_bench b;
    ls_bench_pair(&b);
    ls_leave(b.ls[0], b.now);
    ls_bench_run_for(&b, CW_NS(CW_MS(10).ns - 1));
    b.now.ns++;
    ls_tick(b.ls[0], b.now);
    struct note note = ls_bench_pull(&b, 0, CW_LINK_XP);
    struct goodbye goodbye;
    ck_assert_int_eq(goodbye_decode(note.bytes, GOODBYE_BYTES, &goodbye), WIRE_OK);
    ck_assert_uint_eq(goodbye.session, b.ls[0]->links[CW_LINK_XP].adj.session);
    ck_assert_uint_eq(goodbye.incarnation, 100);
    ck_assert_uint_eq(goodbye.reason, GOODBYE_LEAVING);
    for (unsigned i = 0; i < 10; i++) {
        b.now = cw_time_add(b.now, CW_MS(10));
        ls_tick(b.ls[0], b.now);
        ck_assert_uint_eq(ls_tx_links(b.ls[0]), CW_LINKS_NONE);
    }
    ls_bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_first_hello),
    SUITE_TEST(a_clock_at_zero_is_sent_as_one),
    SUITE_TEST(a_hello_of_a_link_that_is_up),
    SUITE_TEST(hellos_in_a_hurry_are_a_ms_apart),
    SUITE_TEST(an_item_is_acknowledged_within_200_us),
    SUITE_TEST(a_frame_takes_as_many_items_as_it_has_room_for),
    SUITE_TEST(frames_are_stamped_with_what_was_sent_before_them),
    SUITE_TEST(data_waits_while_the_window_holds_control_back),
    SUITE_TEST(who_has_parted_says_goodbye_and_no_more),
};

SUITE_MAIN("linkstate_tx", tests)
