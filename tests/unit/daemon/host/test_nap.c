/* SPDX-License-Identifier: Apache-2.0 */
/* test_nap.c - a stream is told from bursts and from conversations. */
#include "suite.h"

#include "daemon/host/nap.h"

static cw_time now;

/* A turn that began so long after the last one had ended. True: a nap is due behind it. */
static bool turn(struct nap *n, unsigned frames, cw_span after)
{
    now = cw_time_add(now, after);
    cw_time begun = now;
    now = cw_time_add(now, CW_US(20));
    nap_turn(n, frames, begun, now);
    return nap_is_due(n);
}

/* A turn after a nap. */
static bool nap_and_turn(struct nap *n, unsigned frames)
{
    nap_taken(n);
    return turn(n, frames, CW_US(35));
}

static struct nap streaming(void)
{
    struct nap n = {.span = CW_US(30)};
    now = (cw_time){CW_SEC(5).ns};
    turn(&n, 0, CW_NS(0));
    for (unsigned i = 1; i < NAP_LEAST; i++) {
        ck_assert(!turn(&n, NAP_MANY, CW_US(10)));
    }
    ck_assert(turn(&n, NAP_MANY, CW_US(10)));
    return n;
}

START_TEST(a_stream_naps_until_it_ends)
{
    struct nap n = streaming();
    for (unsigned i = 1; i <= 100; i++) {
        SUITE_HOLDS(nap_and_turn(&n, i % 10 == 0 ? NAP_FEW - 1 : NAP_MANY + i), "turn %u", i);
    }
    ck_assert_uint_eq(n.count, 100);
    ck_assert(!nap_and_turn(&n, 0));
    ck_assert(!turn(&n, NAP_MANY, CW_US(1)));
}
END_TEST

START_TEST(a_stream_that_dwindles_has_no_more_naps)
{
    struct nap n = streaming();
    unsigned naps = 0;
    while (nap_and_turn(&n, NAP_FEW - 1)) {
        SUITE_HOLDS(++naps < NAP_MOST, "%u naps", naps);
    }
    n = streaming();
    for (unsigned i = 0; i < 100; i++) { /* neither many nor few: as it was */
        SUITE_HOLDS(nap_and_turn(&n, NAP_FEW), "turn %u", i);
    }
}
END_TEST

/* Bursts of 32 frames, in as many turns as they can have, however close to each other: and one that waits between. */
START_TEST(bursts_are_no_stream)
{
    struct nap n = {.span = CW_US(30)};
    for (unsigned i = 0; i < 1000; i++) {
        bool due = turn(&n, NAP_MANY, CW_US(121));
        for (unsigned j = 1; j < 4; j++) {
            due = turn(&n, NAP_MANY, CW_US(1)) || due;
        }
        SUITE_HOLDS(!due, "burst %u", i);
    }
}
END_TEST

/* Sixteen that wait for answers: their frames come one by one, and sometimes together. */
START_TEST(a_conversation_is_no_stream)
{
    struct nap n = {.span = CW_US(30)};
    for (unsigned i = 0; i < 1000; i++) {
        SUITE_HOLDS(!turn(&n, i % 3 == 0 ? 16 : 1, CW_US(5)), "turn %u", i);
    }
}
END_TEST

START_TEST(a_long_rest_ends_a_stream)
{
    struct nap n = streaming();
    ck_assert(turn(&n, NAP_MANY, CW_US(NAP_GAP * 30)));
    ck_assert(!turn(&n, NAP_MANY, CW_US(NAP_GAP * 30 + 1)));
}
END_TEST

START_TEST(without_a_span_there_is_none)
{
    struct nap n = {.span = CW_NS(0)};
    for (unsigned i = 0; i < 100; i++) {
        SUITE_HOLDS(!turn(&n, 100, CW_NS(0)), "turn %u", i);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_stream_naps_until_it_ends), SUITE_TEST(a_stream_that_dwindles_has_no_more_naps),
    SUITE_TEST(bursts_are_no_stream),        SUITE_TEST(a_conversation_is_no_stream),
    SUITE_TEST(a_long_rest_ends_a_stream),   SUITE_TEST(without_a_span_there_is_none),
};
SUITE_MAIN("nap", tests)
