/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/edge.h"
#include "suite.h"

static const struct cast_holding all = {0, 1000, {0, 0}};
static cw_time now;

static struct cast_head ack(const struct cast_edge *e, uint32_t echo, uint32_t base, uint64_t have)
{
    return (struct cast_head){.kind = CAST_ACK,
                              .edge = e->id,
                              .length = e->length,
                              .order = echo,
                              .index = base,
                              .serial = (uint64_t)now.ns,
                              .have = {have, 0}};
}

static struct cast_edge heard(uint32_t pieces)
{
    struct cast_edge e;
    uint32_t index;
    now = (cw_time){1000};
    cast_edge_init(&e, 7, 0, now);
    e.length = pieces;
    ck_assert(cast_edge_due(&e, now) && !cast_edge_complete(&e) &&
              !cast_edge_next(&e, &all, &index)); /* first it is asked what it has */
    uint32_t order = cast_edge_probed(&e, now);
    struct cast_head a = ack(&e, order, 0, 0);
    ck_assert(cast_edge_acked(&e, &a, now));
    return e;
}

START_TEST(a_window_then_nothing)
{
    struct cast_edge e = heard(1000);
    uint32_t index;
    for (uint32_t i = 0; i < CAST_WINDOW; i++) {
        ck_assert(cast_edge_next(&e, &all, &index) && index == i);
        cast_edge_sent(&e, index, now);
    }
    ck_assert(!cast_edge_next(&e, &all, &index));
    struct cast_head a = ack(&e, e.order, 5, ~UINT64_C(0)); /* all came, five may go */
    ck_assert(cast_edge_acked(&e, &a, now));
    ck_assert(cast_edge_next(&e, &all, &index) &&
              index == 69); /* 5 + 64: not said to be there, and all were seen: lost */
    ck_assert_uint_eq(e.repeated, 0);
    cast_edge_sent(&e, index, now);
    ck_assert_uint_eq(e.repeated, 1);
}
END_TEST

/* A parent that has let go of everything does not know of a new child that it has everything. */
START_TEST(complete_when_it_says_so)
{
    struct cast_edge e;
    now = (cw_time){1000};
    cast_edge_init(&e, 7, 10, now);
    e.length = 10;
    ck_assert(!cast_edge_complete(&e) && cast_edge_due(&e, now));
    struct cast_head a = ack(&e, cast_edge_probed(&e, now), 3, 0);
    uint32_t index;
    ck_assert(cast_edge_acked(&e, &a, now) && !cast_edge_complete(&e) && cast_edge_next(&e, &all, &index) &&
              index == 3);
}
END_TEST

START_TEST(what_is_late_is_lost)
{
    struct cast_edge e = heard(1000);
    uint32_t index;
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert(cast_edge_next(&e, &all, &index));
        cast_edge_sent(&e, index, now);
    }
    struct cast_head a = ack(&e, e.order - 3, 1, 2); /* the third has been seen: two before it are not late enough */
    ck_assert(cast_edge_acked(&e, &a, now));
    ck_assert(cast_edge_next(&e, &all, &index) && index == 6);
    a = ack(&e, e.order - 1, 1, 0xe); /* 0 and 2..4 there, 1 is missing, 3 behind the newest */
    ck_assert(cast_edge_acked(&e, &a, now));
    ck_assert(cast_edge_next(&e, &all, &index) && index == 1);
    cast_edge_sent(&e, index, now);
    ck_assert(cast_edge_next(&e, &all, &index) && index == 6); /* the last is still under way */
    uint32_t order = cast_edge_probed(&e, now);
    a = ack(&e, order, 5, 0); /* the answer to a probe tells: 1 is there now, 5 was lost */
    ck_assert(cast_edge_acked(&e, &a, now));
    ck_assert(cast_edge_next(&e, &all, &index) && index == 5);
}
END_TEST

START_TEST(only_what_the_parent_has)
{
    struct cast_edge e = heard(10);
    uint32_t index;
    struct cast_holding mine = {0, 0, {8, 0}}; /* one piece, from above a hole */
    ck_assert(cast_edge_next(&e, &mine, &index) && index == 3);
    mine.have[0] = 0;
    ck_assert(!cast_edge_next(&e, &mine, &index));
    mine = (struct cast_holding){4, 7, {2, 0}}; /* has let go of what is before 4 */
    ck_assert(cast_edge_next(&e, &mine, &index) && index == 4);
    struct cast_head a = ack(&e, e.order, 7, 0);
    ck_assert(cast_edge_acked(&e, &a, now) && cast_edge_next(&e, &mine, &index) && index == 8);
    mine = (struct cast_holding){500, 500, {1, 0}}; /* far ahead of the child: nothing it could take */
    ck_assert(!cast_edge_next(&e, &mine, &index));
}
END_TEST

START_TEST(answers_that_are_none)
{
    struct cast_edge e = heard(10);
    struct cast_head a = ack(&e, e.order + 1, 0, 0); /* seen what was never sent */
    ck_assert(!cast_edge_acked(&e, &a, now));
    a = ack(&e, e.order, 11, 0);
    ck_assert(!cast_edge_acked(&e, &a, now));
    a = ack(&e, e.order, 1, 0);
    a.edge++;
    ck_assert(!cast_edge_acked(&e, &a, now));
    a = ack(&e, e.order, 1, 0);
    a.serial = 1;
    ck_assert(!cast_edge_acked(&e, &a, now)); /* older than what was heard */
    a = ack(&e, e.order, 10, 0);
    ck_assert(cast_edge_acked(&e, &a, now) && cast_edge_complete(&e) && !cast_edge_due(&e, CW_NEVER));
}
END_TEST

/*
 * Asked again after ever longer times, never more than a quarter of a second, and a child that counts anew is heard
 * after a few.
 */
START_TEST(asked_again)
{
    struct cast_edge e = heard(10);
    int64_t last = 0;
    for (int i = 0; i < 12; i++) {
        ck_assert(!cast_edge_due(&e, now));
        now = e.alarm;
        ck_assert(cast_edge_due(&e, now));
        cast_edge_probed(&e, now);
        int64_t after = cw_time_since(e.alarm, now).ns;
        ck_assert(after >= last && after <= CW_MS(250).ns);
        last = after;
    }
    ck_assert(last == CW_MS(250).ns);
    cast_edge_sent(&e, 0, now); /* the pause is over: what leaves now is asked for soon */
    ck_assert_int_lt(cw_time_since(e.alarm, now).ns, CW_MS(3).ns);
    struct cast_head a = ack(&e, e.order, 0, 0);
    a.serial = 1;
    ck_assert(cast_edge_acked(&e, &a, now));
}
END_TEST

START_TEST(told_of_the_end_at_once)
{
    struct cast_edge e = heard(CAST_OPEN_ENDED);
    ck_assert(!cast_edge_due(&e, now));
    cast_edge_ends(&e, 7, now);
    ck_assert(cast_edge_due(&e, now));
    struct cast_head a = ack(&e, cast_edge_probed(&e, now), 7, 0);
    a.length = CAST_OPEN_ENDED;
    ck_assert(cast_edge_acked(&e, &a, now) && !cast_edge_complete(&e)); /* it keeps all until it knows */
    a = ack(&e, cast_edge_probed(&e, now), 7, 0);
    ck_assert(cast_edge_acked(&e, &a, now) && cast_edge_complete(&e));
    e = heard(CAST_OPEN_ENDED);
    cast_edge_ends(&e, 7, now);
    a = ack(&e, e.order, 3, 0);
    a.length = CAST_OPEN_ENDED; /* news that crossed it do not put it off */
    ck_assert(cast_edge_acked(&e, &a, now) && cast_edge_due(&e, now));
}
END_TEST

/* Who does not take what is there is put out after its time; who takes a little goes on. */
START_TEST(put_out)
{
    struct cast_edge e = heard(1000);
    const cw_span patience = CW_SEC(2);
    e.height = 4;
    ck_assert(!cast_edge_watch(&e, 100, patience, now));
    for (uint32_t base = 0; base < 80; base += CAST_PACE) {
        now = cw_time_add(now, CW_MS(2900));
        ck_assert(!cast_edge_watch(&e, 100, patience, now));
        struct cast_head a = ack(&e, e.order, base + CAST_PACE, 0);
        ck_assert(cast_edge_acked(&e, &a, now));
        ck_assert(!cast_edge_watch(&e, 100, patience, now));
    }
    now = cw_time_add(now, CW_MS(2999));
    ck_assert(!cast_edge_watch(&e, 100, patience, now));
    now = cw_time_add(now, CW_MS(1));
    ck_assert(cast_edge_watch(&e, 100, patience, now) && e.out);
    ck_assert(!cast_edge_watch(&e, 100, patience, now)); /* once */
    e.out = false;
    now = cw_time_add(now, CW_SEC(100));
    ck_assert(!cast_edge_watch(&e, 80, patience, now)); /* there is nothing that it lacks */
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_window_then_nothing),   SUITE_TEST(complete_when_it_says_so),
                                          SUITE_TEST(what_is_late_is_lost),    SUITE_TEST(only_what_the_parent_has),
                                          SUITE_TEST(answers_that_are_none),   SUITE_TEST(asked_again),
                                          SUITE_TEST(told_of_the_end_at_once), SUITE_TEST(put_out)};
SUITE_MAIN("cast_edge", tests)
