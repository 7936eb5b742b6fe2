/* SPDX-License-Identifier: Apache-2.0 */
/* A row of four servers, told event by event: right deliveries are let pass, each kind of wrong one is charged. */
#include "keyspace/key.h"
#include "keyspace/owner.h"
#include "suite.h"
#include "testbed/cwlab/outcome/judge.h"

#include <string.h>

enum { A, B, C, D, XP = CW_LINK_XP, XM = CW_LINK_XM };

static struct torus torus;
static struct trail trail;

static void happens(int64_t at, cw_server s, uint8_t kind, uint8_t link)
{
    struct trail_event e = {
        .at = at, .server = s, .record = {.turn_ns = at, .written_ns = at, .kind = kind, .link = link}};
    ck_assert_int_eq(trail_add(&trail, &e), 0);
}

static void delivers(int64_t from, int64_t at, cw_server s, uint64_t key)
{
    struct trail_event e = {
        .at = at, .server = s, .record = {.turn_ns = from, .written_ns = at, .kind = WITNESS_DELIVERED}};
    e.record.key = key;
    ck_assert_int_eq(trail_add(&trail, &e), 0);
}

/* A ring of four along x, all links up at 10. */
static void ring(void)
{
    ck_assert_int_eq(torus_init(&torus, (cw_dims){4, 1, 1}), 0);
    trail_free(&trail);
    for (cw_server s = A; s <= D; s++) {
        happens(1, s, WITNESS_OPENED, 0);
        happens(10, s, WITNESS_LINK_UP, XP);
        happens(10, s, WITNESS_LINK_UP, XM);
    }
}

/* A key whose sequence begins with these two. */
static uint64_t key_of(cw_server first, cw_server second)
{
    cw_server out[2];
    for (uint64_t key = 1;; key += UINT64_C(0x9e3779b97f4a7c15)) {
        if (owner_sequence(&torus, key, 2, out) == 2 && out[0] == first && out[1] == second) {
            return key;
        }
    }
}

static struct judge_result judged(bool cut)
{
    struct judge_result r;
    trail_sort(&trail);
    ck_assert_int_eq(judge_trail(&trail, &torus, 0, INT64_MAX, cut, &r), 0);
    return r;
}

START_TEST(the_root_and_another)
{
    ring();
    delivers(100, 101, A, key_of(A, B));
    struct judge_result r = judged(false);
    ck_assert(r.delivered == 1 && r.judged == 1 && r.misdelivered == 0);
    delivers(110, 111, B, key_of(A, B));
    r = judged(false);
    ck_assert(r.judged == 2 && r.misdelivered == 1 && strstr(r.first, "before it in the key's sequence") != NULL);
    ck_assert(strstr(r.first, "1,0,0 delivered") != NULL && strstr(r.first, "0,0,0 is active") != NULL);
}
END_TEST

START_TEST(the_heir_of_the_dead)
{
    ring();
    happens(200, A, TRAIL_KILLED, 0);
    delivers(210, 211, B, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 0);
    /* It starts again and is not active before it has a link. */
    happens(300, A, WITNESS_OPENED, 0);
    delivers(310, 311, B, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 0);
    happens(350, B, WITNESS_LINK_DOWN, XM);
    happens(400, A, WITNESS_LINK_UP, XP);
    delivers(410, 411, B, key_of(A, B)); /* one end only calls it up */
    ck_assert_uint_eq(judged(false).misdelivered, 0);
    happens(420, B, WITNESS_LINK_UP, XM);
    delivers(430, 431, B, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 1);
}
END_TEST

START_TEST(the_heir_of_one_that_leaves)
{
    ring();
    happens(200, A, TRAIL_LEAVES, 0); /* its links stay for what passes through it */
    delivers(210, 211, B, key_of(A, B));
    happens(220, A, WITNESS_LINK_UP, XP);
    delivers(230, 231, B, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 0);
    delivers(240, 241, C, key_of(B, C)); /* the others are judged as ever */
    ck_assert_uint_eq(judged(false).misdelivered, 1);
    happens(300, A, WITNESS_OPENED, 0);
    happens(310, A, WITNESS_LINK_UP, XP);
    delivers(320, 321, B, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 2);
}
END_TEST

/* The keeper notes a kill before the signal, so a daemon may still write: its next life begins without those links. */
START_TEST(what_the_killed_still_wrote_is_forgotten)
{
    ring();
    happens(200, A, TRAIL_KILLED, 0);
    happens(201, A, WITNESS_LINK_UP, XP);
    happens(300, A, WITNESS_OPENED, 0);
    delivers(310, 311, B, key_of(A, B));
    struct judge_result r = judged(false);
    ck_assert_uint_eq(r.judged, 1);
    ck_assert_uint_eq(r.misdelivered, 0);
}
END_TEST

START_TEST(what_changes_meanwhile_is_not_judged)
{
    ring();
    happens(205, A, TRAIL_KILLED, 0);
    delivers(200, 210, B, key_of(A, B));
    struct judge_result r = judged(false);
    ck_assert(r.delivered == 1 && r.judged == 0 && r.misdelivered == 0 && r.turn_worst_ns == 10);
}
END_TEST

START_TEST(a_zombie)
{
    for (int cut = 0; cut < 2; cut++) {
        ring();
        happens(200, B, WITNESS_LINK_DOWN, XM); /* its neighbours have given A up, it has not noticed */
        happens(200, D, WITNESS_LINK_DOWN, XP);
        delivers(210, 211, A, key_of(A, B)); /* not replaced yet */
        ck_assert_uint_eq(judged(cut).misdelivered, 0);
        delivers(300, 301, B, key_of(A, B));
        ck_assert_uint_eq(judged(cut).misdelivered, 0);
        delivers(310, 311, A, key_of(A, B));
        struct judge_result r = judged(cut);
        ck_assert_uint_eq(r.misdelivered, !cut); /* cut off, both sides may */
        ck_assert(cut || strstr(r.first, "has replaced it") != NULL);
    }
}
END_TEST

/* A record of the link's end; its turn began before it was written. */
static void rises(int64_t from, int64_t at, cw_server s, uint8_t link)
{
    struct trail_event e = {.at = at, .server = s};
    e.record = (struct witness_record){.turn_ns = from, .written_ns = at, .kind = WITNESS_LINK_UP, .link = link};
    ck_assert_int_eq(trail_add(&trail, &e), 0);
}

/*
 * A was given up, and comes back. Its own end of the link to B goes up when B's whole component has acknowledged that A
 * comes, so what A delivers from then on is A's, however late B's own end goes up: 2 to 30 ms later on a machine that
 * has other work (times here are in microseconds).
 */
START_TEST(one_that_just_returns)
{
    for (int64_t late = 2000; late <= 30000; late += 7000) {
        for (int64_t turn = 10; turn <= late; turn += late - 10) { /* of B, when it writes: long, or short */
            ring();
            happens(200, B, WITNESS_LINK_DOWN, XM);
            happens(200, D, WITNESS_LINK_DOWN, XP);
            happens(260, A, WITNESS_LINK_DOWN, XP);
            happens(260, A, WITNESS_LINK_DOWN, XM);
            delivers(300, 301, B, key_of(A, B)); /* while A was away */
            rises(310, 312, A, XP);
            delivers(320, 321, A, key_of(A, B));
            delivers(400, 401, A, key_of(A, B));
            rises(312 + turn, 312 + late, B, XM);
            struct judge_result r = judged(false);
            ck_assert_uint_eq(r.misdelivered, 0);
            ck_assert_uint_eq(r.judged, 3);
        }
    }
}
END_TEST

/* The same of one that has just started: the key was another's until A came. */
START_TEST(one_that_just_starts)
{
    ring();
    happens(200, A, TRAIL_KILLED, 0);
    happens(210, B, WITNESS_LINK_DOWN, XM);
    happens(210, D, WITNESS_LINK_DOWN, XP);
    delivers(300, 301, B, key_of(A, B));
    happens(400, A, WITNESS_OPENED, 0);
    delivers(450, 451, B, key_of(A, B));
    happens(500, A, WITNESS_LINK_UP, XP);
    delivers(510, 511, A, key_of(A, B));
    happens(30500, B, WITNESS_LINK_UP, XM);
    struct judge_result r = judged(false);
    ck_assert_uint_eq(r.judged, 3);
    ck_assert_uint_eq(r.misdelivered, 0);
}
END_TEST

/* A delivers on after others have taken its place, in each way that is none of the above. */
START_TEST(returning_excuses_no_zombie)
{
    /* It never noticed that it was given up: a link that comes up at the far end later did not let it in. */
    ring();
    happens(200, B, WITNESS_LINK_DOWN, XM);
    happens(200, D, WITNESS_LINK_DOWN, XP);
    delivers(300, 301, B, key_of(A, B));
    delivers(320, 321, A, key_of(A, B));
    rises(325, 330, B, XM);
    ck_assert_uint_eq(judged(false).misdelivered, 1);
    /* It came back, was given up again, and replaced after that. */
    ring();
    happens(200, B, WITNESS_LINK_DOWN, XM);
    happens(200, D, WITNESS_LINK_DOWN, XP);
    happens(260, A, WITNESS_LINK_DOWN, XM);
    happens(260, A, WITNESS_LINK_DOWN, XP);
    happens(310, A, WITNESS_LINK_UP, XP);
    delivers(320, 321, A, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 0);
    delivers(500, 501, B, key_of(A, B));
    ck_assert_uint_eq(judged(false).misdelivered, 0);
    delivers(510, 511, A, key_of(A, B));
    struct judge_result r = judged(false);
    ck_assert_uint_eq(r.misdelivered, 1);
    ck_assert_ptr_nonnull(strstr(r.first, "1,0,0 has replaced it"));
}
END_TEST

/*
 * Links that were lost to a busy machine have split the ring: A and B here, C and D there. What D delivers of A's keys
 * is D's there, before A's last neighbour is killed and after it.
 */
START_TEST(another_part_replaces_nobody)
{
    for (int with = 0; with < 2; with++) { /* who was connected with A */
        ring();
        happens(200, A, WITNESS_LINK_DOWN, XM);
        happens(200, D, WITNESS_LINK_DOWN, XP);
        if (!with) {
            happens(205, B, WITNESS_LINK_DOWN, XP);
            happens(205, C, WITNESS_LINK_DOWN, XM);
        }
        delivers(250, 251, D, key_of(A, D));
        happens(300, B, TRAIL_KILLED, 0);
        delivers(320, 321, D, key_of(A, D));
        delivers(330, 331, A, key_of(A, D));
        struct judge_result r = judged(false);
        ck_assert_uint_eq(r.misdelivered, with ? 2 : 0); /* with: D's first was wrong by rule 2, and A's by rule 3 */
    }
}
END_TEST

START_TEST(a_stream)
{
    struct judge_stream s;
    trail_free(&trail);
    for (uint32_t n = 0; n < 100; n++) {
        struct trail_event e = {.at = n * 1000, .server = A};
        e.record = (struct witness_record){.kind = WITNESS_SENT,
                                           .job = WITNESS_JOB,
                                           .source = A,
                                           .number = n,
                                           .sent_ns = n * 1000,
                                           .written_ns = n * 1000};
        ck_assert_int_eq(trail_add(&trail, &e), 0);
        if (n >= 40 && n < 50) {
            continue; /* lost */
        }
        e.at = e.record.written_ns = n * 1000 + 300;
        e.server = n < 40 ? B : C;
        e.record.kind = WITNESS_DELIVERED;
        ck_assert_int_eq(trail_add(&trail, &e), 0);
        if (n == 70) {
            ck_assert_int_eq(trail_add(&trail, &e), 0);
        }
    }
    trail_sort(&trail);
    ck_assert_int_eq(judge_stream(&trail, A, 0, INT64_MAX, &s), 0);
    ck_assert(s.sent == 100 && s.delivered == 91 && s.lost == 10 && s.duplicated == 1 && s.receivers == 2);
    ck_assert(s.gap_worst_ns == 11000 && s.gap_worst_at_ns == 39300 && s.latency_median_ns == 300);
    ck_assert_int_eq(judge_stream(&trail, A, 50000, 60000, &s), 0);
    ck_assert(s.sent == 10 && s.lost == 0);
}
END_TEST

static void packet(cw_server at, uint8_t kind, uint32_t number, int64_t sent)
{
    struct trail_event e = {.at = kind == WITNESS_SENT ? sent : sent + 300, .server = at};
    e.record = (struct witness_record){
        .kind = kind, .job = WITNESS_JOB, .source = A, .number = number, .sent_ns = sent, .written_ns = e.at};
    ck_assert_int_eq(trail_add(&trail, &e), 0);
}

/* The second life of the sender sends the same numbers: they are neither the same packets, nor do they hide a loss. */
START_TEST(two_lives_of_a_sender)
{
    struct judge_stream s;
    trail_free(&trail);
    happens(1000, A, WITNESS_OPENED, 0);
    happens(1500, B, WITNESS_OPENED, 0);
    happens(200000, A, WITNESS_OPENED, 0);
    for (uint32_t n = 0; n < 100; n++) {
        packet(A, WITNESS_SENT, n, 2000 + n * 1000);
        packet(A, WITNESS_SENT, n, 202000 + n * 1000);
        packet(B, WITNESS_DELIVERED, n, 2000 + n * 1000);
        if (n < 60) { /* the others are lost */
            packet(B, WITNESS_DELIVERED, n, 202000 + n * 1000);
        }
    }
    trail_sort(&trail);
    int64_t first = judge_next_life(&trail, A, INT64_MIN), second = judge_next_life(&trail, A, first);
    ck_assert(first == 1000 && second == 200000 && judge_next_life(&trail, A, second) == INT64_MAX);
    ck_assert_int_eq(judge_stream(&trail, A, first, second, &s), 0);
    ck_assert(s.sent == 100 && s.delivered == 100 && s.lost == 0 && s.duplicated == 0);
    ck_assert_int_eq(judge_stream(&trail, A, second, INT64_MAX, &s), 0);
    ck_assert(s.sent == 100 && s.delivered == 60 && s.lost == 40 && s.duplicated == 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(the_root_and_another),
                                          SUITE_TEST(the_heir_of_the_dead),
                                          SUITE_TEST(the_heir_of_one_that_leaves),
                                          SUITE_TEST(what_the_killed_still_wrote_is_forgotten),
                                          SUITE_TEST(what_changes_meanwhile_is_not_judged),
                                          SUITE_TEST(a_zombie),
                                          SUITE_TEST(one_that_just_returns),
                                          SUITE_TEST(one_that_just_starts),
                                          SUITE_TEST(returning_excuses_no_zombie),
                                          SUITE_TEST(another_part_replaces_nobody),
                                          SUITE_TEST(a_stream),
                                          SUITE_TEST(two_lives_of_a_sender)};
SUITE_MAIN("judge", tests)
