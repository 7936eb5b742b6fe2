/* SPDX-License-Identifier: Apache-2.0 */
#include "node_bench.h"
#include "suite.h"

#include <errno.h>

/* An own queue that sends to neighbours, by the link it is asked for; and errs in ways. */
static struct {
    cw_link say;  /* address to this link; CW_LINK_COUNT: the one asked for */
    int left;     /* packets to give, all links together */
    bool forget;  /* not addressed */
    bool foreign; /* not a packet of its own */
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
    cw_packet *p = cw_packet_new_padded(s, 10, 1000);
    cw_to to = {.kind = CW_TO_LINK, .job = PROBE_JOB, .link = own.say < CW_LINK_COUNT ? own.say : link};
    to.process = s->node->env.neighbours[s->node->self * CW_LINK_COUNT + to.link];
    if (!own.forget) {
        ck_assert_int_eq(cw_packet_address(s, p, &to, NULL), 0);
    }
    return p;
}

static struct bench *with_own_queue(cw_dims dims)
{
    struct bench *b = bench_open(dims);
    b->hooks.next_packet = next;
    own.say = CW_LINK_COUNT;
    own.left = own.asked = 0;
    own.forget = own.foreign = false;
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
    cw_poll_links(bench_svc(b, 4), CW_LINKS_ALL);
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
    cw_poll_links(bench_svc(b, 4), cw_links_of(CW_LINK_ZP));
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
    cw_poll_links(bench_svc(b, 4), cw_links_of(CW_LINK_ZP));
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
    cw_poll_links(bench_svc(b, 4), cw_links_of(CW_LINK_ZP));
    bench_kick(b, 4);
    bench_run(b, CW_MS(1));
    ck_assert_uint_eq(own.asked, 1);
    ck_assert_uint_eq(b->dropped[CW_DROP_SERVICE], 1);
    own.foreign = true;
    cw_poll_links(bench_svc(b, 4), cw_links_of(CW_LINK_ZP));
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

static const struct suite_test tests[] = {
    SUITE_TEST(asked_when_a_link_has_room),
    SUITE_TEST(given_for_another_link_it_waits_for_that),
    SUITE_TEST(mistakes_end_the_polling),
    SUITE_TEST(addressing_is_checked),
};
SUITE_MAIN("node_place", tests)
