/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/loss.h"

#include "dice.h"
#include "suite.h"

enum { MINE = 7, THEIRS = 9, LONG = 40000 };

static void hear(struct loss *l, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        loss_heard(l, THEIRS, (uint16_t)(first + i));
    }
}

START_TEST(what_comes_is_not_lost)
{
    struct loss l = {0};
    hear(&l, 65000, 1000); /* the numbers wrap */
    ck_assert_uint_eq(l.in.lost, 0);
    ck_assert_uint_eq(l.in.sent, 1000 - LOSS_LATE); /* the last ones are not judged yet */
    ck_assert_int_eq(loss_ppm(&l.in), 0);
    ck_assert_int_eq(loss_ppm(&l.out), -1);
    ck_assert_uint_eq(l.before, 0xffff);
    ck_assert_uint_eq(l.newest, (uint16_t)(65000 + 999));
}
END_TEST

START_TEST(a_gap_is_a_loss)
{
    struct loss l = {0};
    hear(&l, 1, 100);
    hear(&l, 104, 100); /* not 101, 102, 103 */
    ck_assert_uint_eq(l.in.lost, 3);
    ck_assert_uint_eq(l.in.sent, 203 - LOSS_LATE);
    ck_assert_int_eq(loss_ppm(&l.in), 3 * LOSS_PPM / (203 - LOSS_LATE));
}
END_TEST

START_TEST(late_and_twice_is_not_lost)
{
    struct loss l = {0};
    hear(&l, 1, 100);
    hear(&l, 102, 6);
    ck_assert(!loss_heard(&l, THEIRS, 101)); /* overtaken by 6 */
    ck_assert(!loss_heard(&l, THEIRS, 101));
    ck_assert(!loss_heard(&l, THEIRS, 107)); /* the newest, again */
    hear(&l, 108, 50);
    ck_assert_uint_eq(l.in.lost, 0);
    hear(&l, 159, 20);                       /* without 158 */
    ck_assert(!loss_heard(&l, THEIRS, 158)); /* overtaken by more than LOSS_LATE: it was judged */
    hear(&l, 179, 20);
    ck_assert_uint_eq(l.in.lost, 1);
}
END_TEST

/* A number that was changed on the cable, an outage, another session: what is between says nothing. */
START_TEST(a_jump_begins_anew)
{
    struct loss l = {0};
    hear(&l, 1, 100);
    loss_heard(&l, THEIRS, 40000);
    hear(&l, 101, 100); /* and back */
    ck_assert_uint_eq(l.in.lost, 0);
    hear(&l, 201 + LOSS_JUMP, 100);
    ck_assert_uint_eq(l.in.lost, 0);
    loss_heard(&l, THEIRS + 1, 900);
    ck_assert_uint_eq(l.newest, 900);
    ck_assert_uint_eq(l.before, 0);
    ck_assert_uint_eq(l.in.lost, 0);
    loss_pause(&l);
    loss_heard(&l, THEIRS + 1, 950);
    loss_heard(&l, THEIRS + 1, 951);
    ck_assert_uint_eq(l.before, 1);
    ck_assert_uint_eq(l.in.lost, 0);
}
END_TEST

/* One end of a cable that loses hellos, and the oracle: which of them were lost in truth. */
struct end {
    struct loss loss;
    uint64_t sent, lost; /* of what this end has sent */
};

static void say(struct end *from, uint32_t from_session, struct end *to, uint32_t to_session, struct dice *d,
                uint32_t loss_ppm)
{
    uint16_t number = loss_send(&from->loss);
    from->sent++;
    if (dice_below(d, LOSS_PPM) < loss_ppm) {
        from->lost++;
        return;
    }
    loss_heard(&to->loss, from_session, number);
    if (from->loss.peer == to_session) {
        loss_told(&to->loss, to_session, from->loss.newest, from->loss.before);
    }
}

static bool near(uint64_t a, uint64_t b, uint64_t by)
{
    return (a > b ? a - b : b - a) <= by;
}

/*
 * Both ends count what was lost in truth, each way. Of its own hellos an end is not told those whose news was lost,
 * too: it judges fewer of them, and the share is the same.
 */
START_TEST(both_ends_count_the_truth)
{
    static const uint32_t rates[] = {0, 1000, 20000, 100000, 300000};
    for (unsigned i = 0; i < 25; i++) {
        struct dice d = {i};
        struct end a = {0}, b = {0};
        uint32_t there = rates[i % 5], back = rates[i / 5];
        for (unsigned k = 0; k < LONG; k++) {
            say(&a, MINE, &b, THEIRS, &d, there);
            say(&b, THEIRS, &a, MINE, &d, back);
        }
        ck_assert(near(b.loss.in.lost, a.lost, 20) && near(b.loss.in.sent, a.sent, 20));
        ck_assert(near(a.loss.in.lost, b.lost, 20) && near(a.loss.in.sent, b.sent, 20));
        ck_assert_uint_ge(a.loss.out.sent,
                          (uint64_t)LONG * 9 / 10); /* nine in a row must be lost for one to be missed */
        uint64_t share = a.loss.out.lost * LOSS_PPM / a.loss.out.sent, truth = a.lost * LOSS_PPM / a.sent;
        ck_assert_msg(near(share, truth, 500 + truth / 20), "%u/%u: %u of a million, in truth %u", there, back,
                      (unsigned)share, (unsigned)truth);
    }
}
END_TEST

/* The estimate follows a change within some thousand hellos, and its error is that of a thousand draws. */
START_TEST(the_estimate_slides)
{
    struct dice d = {77};
    struct end a = {0}, b = {0};
    static const uint32_t rates[] = {20000, 0, 200000, 20000};
    for (unsigned r = 0; r < 4; r++) {
        for (unsigned k = 0; k < 3000; k++) {
            say(&a, MINE, &b, THEIRS, &d, rates[r]);
            say(&b, THEIRS, &a, MINE, &d, 0);
        }
        int32_t in = loss_ppm(&b.loss.in), out = loss_ppm(&a.loss.out);
        ck_assert_msg(near((uint64_t)in, rates[r], rates[r] / 2), "%u: %d", rates[r], in);
        ck_assert(near((uint64_t)out, (uint64_t)in, 5000));
        ck_assert(b.loss.in.bad == (rates[r] != 0) && a.loss.out.bad == (rates[r] != 0));
        ck_assert(!a.loss.in.bad && !b.loss.out.bad);
    }
}
END_TEST

/*
 * What is older than a change of the cable's state is forgotten, so that both ends tell the rate of now, though one of
 * them is told of fewer hellos; and a steady rate, however high, is never taken for a change.
 */
START_TEST(the_two_ends_tell_the_rate_of_now)
{
    static const uint32_t after[] = {200000, 0, 100000, 500000, 0};
    unsigned forgotten = 0;
    for (unsigned seed = 0; seed < 20; seed++) {
        struct dice d = {seed};
        struct end a = {0}, b = {0};
        for (unsigned r = 0; r < 5; r++) {
            unsigned hellos = 2 * LOSS_PARTS * LOSS_PART, last = 0;
            for (unsigned k = 0; k < hellos; k++) {
                say(&a, MINE, &b, THEIRS, &d, after[r]);
                say(&b, THEIRS, &a, MINE, &d, 0);
                bool settled = k >= 4 * LOSS_PART && b.loss.in.fresh == LOSS_PARTS;
                forgotten += settled && last > b.loss.in.fresh;
                last = b.loss.in.fresh;
                if (k == 4 * LOSS_PART) { /* half of the window: it would hold the old state by half */
                    uint64_t in = (uint64_t)loss_ppm(&b.loss.in), out = (uint64_t)loss_ppm(&a.loss.out);
                    ck_assert_msg(near(in, after[r], 5000 + after[r] / 4), "%u: %u", after[r], (unsigned)in);
                    ck_assert_msg(near(out, in, 15000 + in / 8), "%u: %u and %u", after[r], (unsigned)in,
                                  (unsigned)out);
                }
            }
            ck_assert(b.loss.in.bad == (after[r] != 0) && a.loss.out.bad == (after[r] != 0));
        }
    }
    ck_assert_uint_eq(forgotten, 0);
}
END_TEST

/*
 * Loss that comes and goes, as of a loose plug, is a bad cable's, whatever its period is and wherever it begins; and
 * the rate that is told of it is never next to nothing.
 */
START_TEST(bad_and_good_by_turns_is_bad)
{
    static const unsigned halves[] = {LOSS_PART, 2 * LOSS_PART, 5 * LOSS_PART / 2, 3 * LOSS_PART, 4 * LOSS_PART};
    const unsigned window = LOSS_PARTS * LOSS_PART, most = 20 * window;
    for (unsigned i = 0; i < 4 * sizeof halves / sizeof *halves; i++) {
        struct dice d = {i};
        struct loss l = {0};
        uint16_t number = 0;
        unsigned half = halves[i / 4], phase = i % 4 * half / 2, bad = 0;
        for (unsigned k = 0; k < most; k++) {
            bool lossy = (k + phase) / half % 2 == 0;
            number++;
            if (!lossy || dice_below(&d, 5) != 0) {
                loss_heard(&l, THEIRS, number);
            }
            bad += l.in.bad;
            if (l.in.bad) {
                int32_t now = loss_ppm(&l.in), before = loss_before_ppm(&l.in);
                SUITE_HOLDS((now > before ? now : before) >= LOSS_GOOD_PPM);
            }
        }
        ck_assert_msg(bad > most - window, "half a period of %u, phase %u: bad for %u of %u", half, phase, bad, most);
    }
}
END_TEST

/* Bad from 1 % on, and good again below 0.5 %; told once each. */
START_TEST(bad_has_hysteresis)
{
    struct loss l = {0};
    uint16_t number = 0;
    unsigned turns = 0;
    for (unsigned i = 0; i < LOSS_PARTS * LOSS_PART; i++) {
        number = (uint16_t)(number + (i % 60 == 59 ? 2 : 1)); /* 1.6 % */
        turns += loss_heard(&l, THEIRS, number);
        SUITE_HOLDS(!l.in.bad || l.in.sent >= (uint64_t)LOSS_PARTS_SURE * LOSS_PART);
    }
    ck_assert(l.in.bad && turns == 1);
    for (unsigned i = 0; i < 4 * LOSS_PARTS * LOSS_PART; i++) {
        number = (uint16_t)(number + (i % 140 == 139 ? 2 : 1)); /* 0.7 %: it stays as it was called */
        turns += loss_heard(&l, THEIRS, number);
    }
    ck_assert(l.in.bad && turns == 1);
    for (unsigned i = 0; i < 2 * LOSS_PARTS * LOSS_PART; i++) {
        turns += loss_heard(&l, THEIRS, ++number);
    }
    ck_assert(!l.in.bad && turns == 2);
    for (unsigned i = 0; i < 4 * LOSS_PARTS * LOSS_PART; i++) {
        number = (uint16_t)(number + (i % 140 == 139 ? 2 : 1));
        turns += loss_heard(&l, THEIRS, number);
    }
    ck_assert(!l.in.bad && turns == 2);
}
END_TEST

/* Any numbers at all: nothing overflows, and shares stay shares. */
START_TEST(any_numbers)
{
    struct dice d = {5};
    struct loss l = {0};
    for (unsigned i = 0; i < 100000; i++) {
        uint16_t number = dice_below(&d, 3) == 0 ? (uint16_t)dice_word(&d) : (uint16_t)(l.newest + dice_below(&d, 4));
        loss_heard(&l, 1 + dice_below(&d, 100) / 99, number);
        loss_send(&l);
        loss_told(&l, 1 + dice_below(&d, 100) / 99, (uint16_t)(l.sent - dice_below(&d, 30)), (uint16_t)dice_word(&d));
        SUITE_HOLDS(l.in.lost <= l.in.sent && l.out.lost <= l.out.sent);
        SUITE_HOLDS(loss_ppm(&l.in) <= LOSS_PPM && loss_ppm(&l.out) <= LOSS_PPM);
    }
    ck_assert_uint_gt(l.in.sent, 1000);
    ck_assert_uint_gt(l.out.sent, 1000);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_comes_is_not_lost),
    SUITE_TEST(a_gap_is_a_loss),
    SUITE_TEST(late_and_twice_is_not_lost),
    SUITE_TEST(a_jump_begins_anew),
    SUITE_TEST(the_two_ends_tell_the_rate_of_now),
    SUITE_TEST(both_ends_count_the_truth),
    SUITE_TEST(the_estimate_slides),
    SUITE_TEST(bad_has_hysteresis),
    SUITE_TEST(bad_and_good_by_turns_is_bad),
    SUITE_TEST(any_numbers),
};
SUITE_MAIN("loss", tests)
