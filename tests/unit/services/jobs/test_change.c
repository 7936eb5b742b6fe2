/* SPDX-License-Identifier: Apache-2.0 */
#include "services/jobs/change.h"

#include "suite.h"

enum { SERVERS = 5, TICKET = 42 };
static const struct jobs_mark mark = {9, false, 1, 3, 100};
static const struct jobs_mark older = {9, false, 1, 2, 900}, newer = {9, true, 1, 3, 1}, other = {8, false, 1, 3, 100};
static struct change c;

static cw_time at(int64_t ms)
{
    return (cw_time){ms * 1000000};
}

static void open_change(void)
{
    ck_assert_int_eq(change_open(&c, SERVERS, &mark, TICKET, at(0)), 0);
    for (cw_server s = 0; s < SERVERS - 1; s++) {
        change_reach(&c, s, true, at(0));
    }
}

START_TEST(complete_when_all_have_said_so)
{
    open_change();
    ck_assert(change_ack(&c, 0, TICKET, &mark, CHANGE_KEPT, at(1)));
    ck_assert(change_ack(&c, 1, TICKET, &newer, CHANGE_CLOSED, at(2)));
    ck_assert(!change_ack(&c, 2, TICKET, &older, CHANGE_KEPT, at(2)));
    ck_assert(!change_ack(&c, 2, TICKET, &other, CHANGE_KEPT, at(2)));
    ck_assert(!change_ack(&c, 2, TICKET + 1, &mark, CHANGE_KEPT, at(2)));
    ck_assert(!change_ack(&c, 4, TICKET, &mark, CHANGE_KEPT, at(2))); /* not in reach: it may be anybody's old word */
    ck_assert(!change_ack(&c, SERVERS, TICKET, &mark, CHANGE_KEPT, at(2)));
    ck_assert(!change_complete(&c));
    ck_assert(change_ack(&c, 2, TICKET, &mark, CHANGE_KEPT, at(3)));
    ck_assert(change_ack(&c, 2, TICKET, &mark, CHANGE_KEPT, at(9))); /* again: still of the first instant */
    ck_assert(change_ack(&c, 3, TICKET, &mark, CHANGE_KEPT, at(4)));
    ck_assert(change_complete(&c));
    ck_assert_int_eq(c.server[0].state, CHANGE_ACKED);
    ck_assert_int_eq(c.server[1].state, CHANGE_SUPERSEDED);
    ck_assert(!c.server[1].kept && c.server[1].closed);
    ck_assert(c.server[0].kept && !c.server[0].closed);
    ck_assert_int_eq(c.server[2].after.ns, 3000000);
    ck_assert_int_eq(c.server[4].state, CHANGE_ABSENT);
    change_close(&c);
}
END_TEST

START_TEST(fenced_counts_and_who_returns_must_say_it_again)
{
    open_change();
    for (cw_server s = 0; s < 3; s++) {
        ck_assert(change_ack(&c, s, TICKET, &mark, CHANGE_KEPT, at(1)));
    }
    change_reach(&c, 3, true, at(2)); /* nothing new */
    ck_assert(!change_complete(&c));
    change_reach(&c, 3, false, at(60));
    ck_assert(change_complete(&c));
    ck_assert_int_eq(c.server[3].state, CHANGE_FENCED);
    change_reach(&c, 3, true, at(70));
    change_reach(&c, 4, true, at(71));
    ck_assert_uint_eq(c.waiting, 2);
    ck_assert(change_ack(&c, 3, TICKET, &mark, CHANGE_KEPT, at(72)));
    ck_assert(change_ack(&c, 4, TICKET, &mark, CHANGE_KEPT, at(72)));
    ck_assert(change_complete(&c));
    /* It left the view, its fence time runs: what it said is void. */
    change_doubt(&c, 2, at(80));
    ck_assert(!change_complete(&c));
    change_reach(&c, 2, false, at(140));
    change_doubt(&c, 2, at(150)); /* is fenced already */
    ck_assert(change_complete(&c));
    change_close(&c);
}
END_TEST

START_TEST(the_silent_are_asked_less_and_less_often)
{
    open_change();
    for (cw_server s = 1; s < SERVERS; s++) {
        ck_assert(s == 4 || change_ack(&c, s, TICKET, &mark, CHANGE_KEPT, at(1)));
    }
    int64_t gaps[6], last = 0;
    unsigned asks = 0;
    for (int64_t ms = 0; asks < 6; ms++) {
        cw_server from = 0;
        ck_assert(cw_time_before(at(ms - 1), change_wake(&c)));
        if (change_ask(&c, &from, at(ms)) == 0) {
            gaps[asks++] = ms - last;
            last = ms;
            ck_assert_uint_eq(change_ask(&c, &from, at(ms)), CW_SERVER_NONE);
        }
    }
    static const int64_t are[6] = {30, 60, 120, 240, 480, 480};
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_int_eq(gaps[i], are[i]);
    }
    ck_assert(change_ack(&c, 0, TICKET, &mark, CHANGE_KEPT, at(5000)));
    ck_assert_int_eq(change_wake(&c).ns, CW_NEVER.ns);
    change_close(&c);
}
END_TEST

START_TEST(states_have_names)
{
    for (unsigned i = CHANGE_ABSENT; i <= CHANGE_FENCED; i++) {
        ck_assert(strlen(change_state_name(i)) > 4);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(complete_when_all_have_said_so),
    SUITE_TEST(fenced_counts_and_who_returns_must_say_it_again),
    SUITE_TEST(the_silent_are_asked_less_and_less_often),
    SUITE_TEST(states_have_names),
};
SUITE_MAIN("change", tests)
