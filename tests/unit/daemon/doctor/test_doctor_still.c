/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doctor_still.c - a server is said to have stood still only if all its links went down at one instant and it was
 * kept waiting then; and a service that held its thread is named.
 */
#include "flaps_look.h"

START_TEST(who_stood_still)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    wait_until(0);
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=3 cause=stalled");
    expect("all 6 links of this server went down at the same moment lately: not its cables, but the server itself "
           "stood still for longer than timers.dead (50ms)");
}
END_TEST

/* A cable that was switched off and on since then, and one that fell by itself, do not hide why all of them fell. */
START_TEST(who_stood_still_before_a_switch)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    wait_until(0);
    fall_once(&d, CW_LINK_XP, 5000, LIFE, LIFE, FALLS_OWN);
    fall_once(&d, CW_LINK_YP, 9000, LIFE, LIFE, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=3 cause=stalled");
    expect("all 6 links of this server went down at the same moment lately: not its cables");
    expect("part=switched link=+x");
    expect("part=fell link=+y expected=0,1,0 expected_port=-y times=1 ");
    ck_assert_uint_eq(said.count, 3);
}
END_TEST

/* The links are let go one by one, as hellos of the neighbours tell of it. */
START_TEST(within_one_dead)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 10);
    wait_until(-20);
    ck_assert_uint_eq(look(&d), 1);
    expect("cause=stalled");
    d = begin(cube);
    fall_all(&d, 1, 0, 11);
    wait_until(0);
    ck_assert_uint_eq(look(&d), 0);
}
END_TEST

/* The service is named, and not the machine, though the loop was late as well. */
START_TEST(a_service_that_held_the_thread)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    wait_until(2);
    hold_until(1);
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=3 cause=stalled");
    expect("not its cables, and not this machine: service bug held the thread for 6s in on_command");
    expect("do=tell the author of bug: ");
    d = begin(cube);
    fall_all(&d, 1, 0, 0);
    wait_until(2);
    hold_until(-5000);
    ck_assert_uint_eq(look(&d), 1);
    expect("but the server itself stood still");
}
END_TEST

START_TEST(who_rests_now_delivers_nothing)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    wait_until(0);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        d.info[link].state = "damped";
        d.info[link].committed = false;
    }
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=1 cause=stalled");
    expect("went down at the same moment and rest now: not its cables");
}
END_TEST

/* Its three neighbours were killed one after the other, each with two links: that was not this server. */
START_TEST(neighbours_that_died_one_by_one)
{
    struct doctor d = begin(pair);
    static const int64_t when[CW_LINK_COUNT] = {0, 0, 293, 293, 570, 570};
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        fall(&d, link, 1, when[link]);
        d.info[link].heard.incarnation = 2 * (uint64_t)LIFE;
    }
    wait_until(0);
    ck_assert_uint_eq(look(&d), 0);
}
END_TEST

/* It stood still five times, and some links lived through some of these, as they rested. */
static struct doctor begin_restless(void)
{
    struct doctor d = begin(cube);
    for (int64_t i = 0; i < 5; i++) {
        wait_until(600 * i);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (i == 4 || i != (int64_t)link) {
                fall_once(&d, link, 600 * i, LIFE, LIFE, FALLS_SILENT);
            }
        }
    }
    return d;
}

START_TEST(many_stalls_are_no_bad_cables)
{
    struct doctor d = begin_restless();
    ck_assert_uint_eq(look(&d), 1);
    expect("cause=stalled");
    /* Two falls of one link more, while the server ran, are its own. */
    d = begin_restless();
    fall_once(&d, CW_LINK_YP, 9000, LIFE, LIFE, FALLS_SILENT);
    fall_once(&d, CW_LINK_YP, 9900, LIFE, LIFE, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 2);
    expect("cause=stalled");
    expect("cause=flapping link=+y");
    expect("the link +y to 0,1,0 went down 2 times lately");
}
END_TEST

START_TEST(a_link_that_may_rest_says_nothing_of_its_cable)
{
    struct doctor d = begin(cube);
    cw_time now = host_now(h);
    ck_assert(!doctor_rests(&d, CW_LINK_XP));
    d.info[CW_LINK_XP].flaps = 4;
    d.info[CW_LINK_XP].flapped = (cw_time){now.ns - CW_MS(1000).ns};
    d.info[CW_LINK_XP].rest = (cw_time){now.ns - CW_MS(200).ns}; /* 800 ms here, and perhaps 1.6 s there */
    ck_assert(doctor_rests(&d, CW_LINK_XP));
    d.info[CW_LINK_XP].flapped = (cw_time){now.ns - CW_MS(2000).ns};
    d.info[CW_LINK_XP].rest = (cw_time){now.ns - CW_MS(1200).ns};
    ck_assert(!doctor_rests(&d, CW_LINK_XP));
    h->stalls.last = (cw_time){now.ns - CW_MS(2000).ns};
    h->stalls.count = 1;
    ck_assert(doctor_rests(&d, CW_LINK_XP) && doctor_rests(&d, CW_LINK_ZM));
    host_close(h);
}
END_TEST

/* All at one instant, but the daemon ran all the while: so all neighbours did something, or a switch between them. */
START_TEST(who_ran_did_not_stand_still)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    wait_until(-5000);
    wait_until(5000);
    ck_assert_uint_eq(look(&d), 0);
}
END_TEST

START_TEST(a_link_that_stayed_up_is_a_witness)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    d.info[CW_LINK_YM].flaps = 0;
    wait_until(0);
    ck_assert_uint_eq(look(&d), 0);
}
END_TEST

/* Nor does a link say anything that was down before, for its neighbour is dead; five others went down. */
START_TEST(a_link_that_was_down_is_none)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    fall(&d, CW_LINK_YM, 1, -9000);
    d.info[CW_LINK_YM].committed = false;
    d.info[CW_LINK_YM].state = "down";
    wait_until(0);
    doctor_stall(&d);
    host_close(h);
    ck_assert_uint_eq(d.found, 1);
    expect("all 5 links of this server that were up went down");
}
END_TEST

/* A bad cable is told although the server stood still, too. */
START_TEST(what_a_stall_does_not_explain)
{
    struct doctor d = begin(cube);
    fall_all(&d, 1, 0, 0);
    fall(&d, CW_LINK_ZP, 4, 3);
    wait_until(0);
    ck_assert_uint_eq(look(&d), 2);
    expect("cause=stalled");
    expect("the link +z to 0,0,1 went down 3 times lately, and is up now: the cable is bad, for 0,0,1 lived on");
}
END_TEST

static void hold_before(int64_t s)
{
    struct host_hold hold = {{host_now(h).ns - CW_SEC(s).ns}, CW_SEC(6), 0, "bug", "on_command"};
    ck_assert(holds_note(&h->holds, &hold, CW_MS(50), 0));
}

/* As in a process with all servers, or where the links were up again when somebody asked. */
START_TEST(a_hold_that_cost_no_link)
{
    struct doctor d = begin(cube);
    hold_before(3);
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=3 cause=held");
    expect("service bug held the thread for 6s in on_command, ");
    expect("do=tell the author of bug: ");
    d = begin(cube);
    hold_before(3600);
    ck_assert_uint_eq(look(&d), 0); /* that was long ago */
    d = begin(cube);
    fall_all(&d, 1, 0, 0);
    hold_until(1);
    ck_assert_uint_eq(look(&d), 1); /* and is told once */
    expect("cause=stalled");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(who_stood_still),
    SUITE_TEST(who_stood_still_before_a_switch),
    SUITE_TEST(within_one_dead),
    SUITE_TEST(a_service_that_held_the_thread),
    SUITE_TEST(who_rests_now_delivers_nothing),
    SUITE_TEST(neighbours_that_died_one_by_one),
    SUITE_TEST(many_stalls_are_no_bad_cables),
    SUITE_TEST(a_link_that_may_rest_says_nothing_of_its_cable),
    SUITE_TEST(who_ran_did_not_stand_still),
    SUITE_TEST(a_link_that_stayed_up_is_a_witness),
    SUITE_TEST(a_link_that_was_down_is_none),
    SUITE_TEST(what_a_stall_does_not_explain),
    SUITE_TEST(a_hold_that_cost_no_link),
};
SUITE_MAIN("doctor_still", tests)
