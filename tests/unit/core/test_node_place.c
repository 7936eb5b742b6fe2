/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"
#include "wire/frame.h"

#include <errno.h>

/* An own queue that sends to neighbours, by the link it is asked for; and errs in ways. */
static struct {
    cw_link say;  /* address to this link; CW_LINK_COUNT: the one asked for */
    int left;     /* packets to give, all links together */
    bool forget;  /* not addressed */
    bool foreign; /* not a packet of its own */
    bool small;   /* 10 bytes; otherwise 1,010 */
    cw_span old;  /* peek(): what it would give waits for so long already */
    unsigned asked;
    cw_packet other;
} own;

static cw_packet *next(cw_svc *s, cw_link link)
{
    own.asked++;
    if (own.left == 0) {
        return NULL;
    }
    own.left--;
    if (own.foreign) {
        return &own.other;
    }
    cw_packet *p = cw_packet_new_padded(s, 10, own.small ? 0 : 1000);
    cw_to to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = own.say < CW_LINK_COUNT ? own.say : link};
    to.process = s->node->env.neighbours[s->node->self * CW_LINK_COUNT + to.link];
    if (!own.forget) {
        ck_assert_int_eq(cw_packet_address(s, p, &to, NULL), 0);
    }
    return p;
}

/* Says that it is small, also when it is not. */
static bool peek(cw_svc *s, cw_place place, cw_link link, cw_peek *out)
{
    (void)place, (void)link;
    *out = (cw_peek){sizeof *out, 10, {cw_now(s).ns - own.old.ns}};
    return own.left > 0;
}

static struct bench *with_own_queue(cw_dims dims)
{
    struct bench *b = bench_open(dims);
    b->hooks.next_packet = next;
    own.say = CW_LINK_COUNT;
    own.left = own.asked = 0;
    own.forget = own.foreign = own.small = false;
    own.old.ns = 0;
    bench_start_all(b);
    bench_settle(b);
    bench_forget_notes(b);
    return b;
}

START_TEST(asked_when_a_link_has_room)
{
    struct bench *b = with_own_queue((cw_dims){1, 3, 3});
    bench_run(b, CW_MS(5));
    ck_assert_uint_eq(own.asked, 0); /* not before it polls */
    own.left = 100000;
    cw_poll_links(bench_svc(b, 4), CW_PLACE_MAIN, CW_LINKS_ALL);
    bench_kick(b, 4);
    bench_run(b, CW_MS(10));
    /* Four links without a pause: 1,010 bytes of payload are 1,088 on a wire of 125 bytes a microsecond. */
    unsigned arrived = 0;
    for (cw_link link = CW_LINK_YP; link < CW_LINK_COUNT; link++) {
        unsigned here = bench_notes(b, b->neighbours[4 * CW_LINK_COUNT + link], NOTE_PACKET, NULL);
        ck_assert_uint_ge(here, 1130);
        arrived += here;
    }
    ck_assert_uint_le(arrived, own.asked);
    /* It has no more: asked once more for each link, then never again. */
    own.left = 0;
    own.asked = 0;
    bench_run(b, CW_MS(10));
    ck_assert_uint_eq(own.asked, 4);
    cw_poll_links(bench_svc(b, 4), CW_PLACE_MAIN, cw_links_of(CW_LINK_ZP));
    bench_kick(b, 4);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(own.asked, 5);
    bench_close(b);
}
END_TEST

START_TEST(given_for_another_link_it_waits_for_that)
{
    struct bench *b = with_own_queue((cw_dims){1, 3, 3});
    own.say = CW_LINK_YM;
    own.left = 1;
    cw_poll_links(bench_svc(b, 4), CW_PLACE_MAIN, cw_links_of(CW_LINK_ZP));
    bench_kick(b, 4);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 1);
    bench_close(b);
}
END_TEST

START_TEST(mistakes_end_the_polling)
{
    struct bench *b = with_own_queue((cw_dims){1, 3, 3});
    own.forget = true;
    own.left = 1000;
    cw_poll_links(bench_svc(b, 4), CW_PLACE_MAIN, cw_links_of(CW_LINK_ZP));
    bench_kick(b, 4);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(own.asked, 1);
    ck_assert_uint_eq(b->dropped[CW_DROP_SERVICE], 1);
    own.foreign = true;
    cw_poll_links(bench_svc(b, 4), CW_PLACE_MAIN, cw_links_of(CW_LINK_ZP));
    bench_kick(b, 4);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(own.asked, 2);
    ck_assert_uint_eq(bench_svc(b, 4)->in_hand, 0);
    bench_close(b);
}
END_TEST

START_TEST(addressing_is_checked)
{
    struct bench *b = with_own_queue((cw_dims){1, 1, 2});
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1), bad = {.kind = CW_TO_SERVER};
    cw_packet *p = cw_packet_new(s, 100);
    ck_assert_int_eq(cw_packet_address(s, p, NULL, NULL), -EINVAL);
    ck_assert_int_eq(cw_packet_address(s, NULL, &to, NULL), -EINVAL);
    ck_assert_int_eq(cw_packet_address(s, p, &bad, NULL), -EINVAL);
    ck_assert_int_eq(cw_packet_address(s, p, &to, NULL), 0);
    ck_assert_int_eq(cw_send(s, p, &to, NULL), 0); /* a change of mind */
    cw_send_options trace = {CW_SEND_INIT, .trace = true, .record_path = true};
    p = cw_packet_new(s, 160);
    ck_assert_int_eq(cw_packet_address(s, p, &to, &trace), -EMSGSIZE); /* its memory is small */
    ck_assert_int_eq(cw_send(s, p, &to, &trace), 0);                   /* which sending helps */
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 2);
    bench_close(b);
}
END_TEST

/* ---- Whose turn: its own queue, or what waits -------------------------------------------------------------------- */

static unsigned came, own_came, own_first;

static cw_verdict note_order(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    (void)s, (void)rx;
    bool of_own = cw_packet_data(p, &length)[0] == 0; /* texts begin with a letter */
    own_came += of_own;
    own_first += of_own && came < 5;
    came++;
    return CW_DROP;
}

/* Five texts wait, and the own queue has five packets: those go first that have waited longer. */
START_TEST(who_waited_longer_goes_first)
{
    for (unsigned older = 0; older < 2; older++) {
        struct bench *b = bench_open((cw_dims){1, 1, 2});
        b->hooks.next_packet = next;
        b->hooks.peek_packet = peek;
        b->hooks.on_packet = note_order;
        bench_start_all(b);
        bench_settle(b);
        bench_cut(b, 0, CW_LINK_ZM, true);
        own.say = CW_LINK_COUNT;
        own.forget = own.foreign = own.small = false;
        own.old = older == 1 ? CW_SEC(1) : CW_NS(0);
        came = own_came = own_first = 0;
        cw_to to = to_server(b, 1);
        for (unsigned i = 0; i < 5; i++) {
            ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "text", 1000), &to, NULL), 0);
        }
        own.left = 5;
        cw_poll_links(bench_svc(b, 0), CW_PLACE_MAIN, cw_links_of(CW_LINK_ZP));
        bench_kick(b, 0);
        bench_run(b, CW_MS(1));
        ck_assert_uint_eq(came, 10);
        ck_assert_uint_eq(own_came, 5);
        ck_assert_uint_eq(own_first, older == 1 ? 5 : 0);
        bench_close(b);
    }
}
END_TEST

/* What is known to be small shares a frame; what is longer than it said waits again, and comes. */
START_TEST(small_ones_share_a_frame)
{
    for (unsigned lies = 0; lies < 2; lies++) {
        struct bench *b = bench_open((cw_dims){1, 1, 2});
        b->hooks.next_packet = next;
        b->hooks.peek_packet = peek;
        bench_start_all(b);
        bench_settle(b);
        bench_forget_notes(b);
        own.say = CW_LINK_COUNT;
        own.forget = own.foreign = false;
        own.small = true;
        own.old = CW_SEC(1);
        own.left = lies == 1 ? 30 : 20;
        cw_poll_links(bench_svc(b, 0), CW_PLACE_MAIN, cw_links_of(CW_LINK_ZP));
        if (lies == 1) { /* the first is small, all others are long */
            cw_to to = to_server(b, 1);
            ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 0), &to, NULL), 0);
            own.small = false;
            own.old.ns = 0;
            bench_kick(b, 0);
            bench_run(b, CW_MS(2));
            ck_assert_uint_eq(bench_notes(b, 1, NOTE_PACKET, NULL), 31);
        } else {
            struct cw_packet *frame = node_tx_pull(b->node[0], CW_LINK_ZP, b->now);
            ck_assert_ptr_nonnull(frame);
            ck_assert_uint_eq(frame->data[FRAME_AT_PACKETS], 20);
            pkt_release(frame);
            ck_assert_uint_eq(own.left, 0);
        }
        bench_close(b);
    }
}
END_TEST

/* ---- The background ---------------------------------------------------------------------------------------------- */

static unsigned mains, mains_after;

static cw_verdict note_class(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    size_t length;
    (void)s, (void)rx;
    if (cw_packet_data(p, &length)[0] == 'm') {
        mains++;
        mains_after += came > 0;
    } else {
        came++;
    }
    return CW_DROP;
}

START_TEST(the_background_waits_for_the_rest)
{
    const cw_send_options behind = {CW_SEND_INIT, .place = CW_PLACE_BACKGROUND};
    const cw_send_options nowhere = {CW_SEND_INIT, .place = (cw_place)2};
    struct bench *b = bench_open((cw_dims){1, 1, 2});
    b->hooks.on_packet = note_class;
    b->hooks.next_packet = next;
    b->hooks.background = true;
    bench_start_all(b);
    bench_settle(b);
    bench_cut(b, 0, CW_LINK_ZM, true);
    came = mains = mains_after = 0;
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(cw_send(s, packet_of(b, 0, "behind", 1000), &to, &behind), 0);
    }
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(cw_send(s, packet_of(b, 0, "main", 1000), &to, NULL), 0);
    }
    struct node_service_info info;
    cw_link_info link = {.size = sizeof link};
    ck_assert(node_service_at(b->node[0], 0, &info));
    ck_assert_uint_eq(info.queued_packets, 200);
    ck_assert_int_eq(cw_link_get(s, CW_LINK_ZP, &link), 0);
    ck_assert_uint_eq(link.queued_packets, 200);
    cw_packet *p = cw_packet_new(s, 1);
    ck_assert_int_eq(cw_send(s, p, &to, &nowhere), -EINVAL);
    cw_packet_free(s, p);
    bench_kick(b, 0);
    bench_run(b, CW_MS(10));
    ck_assert_uint_eq(mains, 100);
    ck_assert_uint_eq(came, 100);
    ck_assert_uint_eq(mains_after, 0);
    /* Its own queue may have packets of either kind. */
    own.say = CW_LINK_COUNT;
    own.forget = own.foreign = own.small = false;
    own.left = 1;
    cw_poll_links(s, CW_PLACE_BACKGROUND, cw_links_of(CW_LINK_ZP));
    cw_poll_links(s, (cw_place)2, CW_LINKS_ALL); /* nothing happens */
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_int_eq(b->hooks.asked, CW_PLACE_BACKGROUND);
    ck_assert_uint_eq(came, 101);
    bench_close(b);
}
END_TEST

START_TEST(who_asks_for_none_has_none)
{
    const cw_send_options behind = {CW_SEND_INIT, .place = CW_PLACE_BACKGROUND};
    struct bench *b = with_own_queue((cw_dims){1, 1, 2});
    cw_svc *s = bench_svc(b, 0);
    cw_to to = to_server(b, 1);
    cw_packet *p = cw_packet_new(s, 1);
    ck_assert_int_eq(cw_send(s, p, &to, &behind), -EINVAL);
    cw_packet_free(s, p);
    own.left = 1;
    cw_poll_links(s, CW_PLACE_BACKGROUND, CW_LINKS_ALL);
    bench_kick(b, 0);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(own.asked, 0);
    bench_close(b);
}
END_TEST

/* ---- The mark ---------------------------------------------------------------------------------------------------- */

static unsigned marked;

static cw_verdict note_mark(cw_svc *s, cw_packet *p, const cw_rx *rx)
{
    (void)s, (void)p;
    came += rx->where == CW_ARRIVED;
    marked += rx->where == CW_ARRIVED && rx->marked;
    return rx->where == CW_ARRIVED ? CW_DROP : CW_FORWARD;
}

/* A hundred packets of 8.7 us each over two links, of which the first is busy and the second idle. */
static void a_hundred(cw_span mark_after, uint64_t rate)
{
    struct bench *b = bench_open((cw_dims){1, 1, 5});
    b->hooks.on_packet = note_mark;
    b->hooks.mark_after = mark_after;
    b->config.bits_per_second = rate;
    bench_start_all(b);
    bench_settle(b);
    came = marked = 0;
    cw_to to = to_server(b, 2);
    for (unsigned i = 0; i < 100; i++) {
        ck_assert_int_eq(cw_send(bench_svc(b, 0), packet_of(b, 0, "x", 1000), &to, NULL), 0);
    }
    bench_kick(b, 0);
    bench_run(b, CW_MS(3));
    ck_assert_uint_eq(came, 100);
    bench_close(b);
}

START_TEST(who_waits_too_long_is_marked)
{
    a_hundred(CW_NS(0), 1000000000);
    ck_assert_uint_eq(marked, 0);
    a_hundred(CW_US(400), 0);
    ck_assert_uint_gt(marked, 45); /* and no server after that takes it away */
    ck_assert_uint_lt(marked, 60);
    a_hundred(CW_NS(1), 100000000); /* four frames of 1,500 bytes take 480 us */
    ck_assert_uint_gt(marked, 35);
    ck_assert_uint_lt(marked, 50);
    a_hundred(CW_MS(100), 0);
    ck_assert_uint_eq(marked, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(asked_when_a_link_has_room),        SUITE_TEST(given_for_another_link_it_waits_for_that),
    SUITE_TEST(mistakes_end_the_polling),          SUITE_TEST(addressing_is_checked),
    SUITE_TEST(who_waited_longer_goes_first),      SUITE_TEST(small_ones_share_a_frame),
    SUITE_TEST(the_background_waits_for_the_rest), SUITE_TEST(who_asks_for_none_has_none),
    SUITE_TEST(who_waits_too_long_is_marked),
};
SUITE_MAIN("node_place", tests)
