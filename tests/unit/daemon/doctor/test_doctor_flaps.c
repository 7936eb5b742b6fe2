/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doctor_flaps.c - links that went down lately: what a neighbour did is told of that neighbour, once; what
 * somebody switched is told of the switch; and what is left, of the cable.
 */
#include "flaps_look.h"

START_TEST(one_cable_that_is_bad)
{
    struct doctor d = begin(cube);
    fall(&d, CW_LINK_XP, 1, 0);
    ck_assert_uint_eq(look(&d), 0); /* once is nothing, since it is up again */
    d = begin(cube);
    fall(&d, CW_LINK_XP, 7, 0);
    d.info[CW_LINK_XP].committed = false;
    d.info[CW_LINK_XP].state = "damped";
    d.info[CW_LINK_XP].heard.at = at_ms(-1); /* nobody knows whether it lived on */
    ck_assert_uint_eq(look(&d), 1);
    expect("cause=flapping link=+x");
    expect("went down 7 times lately, and rests now: its cable is bad, or 1,0,0 is restarting");
    expect("do=cwctl --server 0,0,0 links +x");
}
END_TEST

/* Two links lead to the same neighbour, which was killed twice: one finding, about the neighbour. */
START_TEST(a_neighbour_that_begins_anew)
{
    struct doctor d = begin(pair);
    for (cw_link link = CW_LINK_XP; link <= CW_LINK_XM; link++) {
        fall_once(&d, link, 0, LIFE, 2 * (uint64_t)FENCED, FALLS_SILENT);
        fall_once(&d, link, 900, 2 * (uint64_t)FENCED, 4 * (uint64_t)FENCED, FALLS_SILENT);
    }
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=3 cause=restarts link=+x expected=1,0,0");
    expect("1,0,0 was lost 2 times lately, and was started again: its daemon was killed or crashed; the cables are not "
           "the cause");
    expect("do=on 1,0,0: cwctl doctor; journalctl -u cubewayd");
}
END_TEST

/* The cable lost the link twice, and was pulled; besides, the neighbour was killed: all of it is said. */
START_TEST(a_cable_and_a_restart)
{
    struct doctor d = begin(cube);
    fall_once(&d, CW_LINK_XM, 0, LIFE, LIFE, FALLS_SILENT);
    fall_once(&d, CW_LINK_XM, 400, LIFE, LIFE, FALLS_CARRIER);
    fall_once(&d, CW_LINK_XM, 900, LIFE, LIFE, FALLS_SILENT);
    fall_once(&d, CW_LINK_XM, 1800, LIFE, 2 * (uint64_t)FENCED, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 1);
    expect("the link -x to 2,0,0 went down 2 times lately, and is up now: the cable is bad, for 2,0,0 lived on; "
           "besides, it went down 1 time because 2,0,0 was started again (its daemon was killed or crashed); "
           "1 time more its carrier was lost: plugs were moved, or one is loose");
    d = begin(cube);
    fall_once(&d, CW_LINK_XM, 0, LIFE, LIFE, FALLS_CARRIER);
    fall_once(&d, CW_LINK_XM, 1800, LIFE, 2 * (uint64_t)FENCED, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 0); /* once each: nothing is wrong */
}
END_TEST

/* Nothing was heard over this link since, and the view knows by other ways that the neighbour is in another life. */
START_TEST(a_life_that_others_tell_of)
{
    struct doctor d = begin("torus { dims = 3x1x1; coordinate = all } timers { hello = 10ms; dead = 50ms }");
    ck_assert_uint_eq(doctor_life(&d, CW_LINK_XM), LIFE); /* heard here */
    town_settle(h, 3);
    d.info[CW_LINK_XM].heard.incarnation = 0;
    fall_once(&d, CW_LINK_XM, 0, 0, 0, FALLS_CARRIER);
    falls_up(&host_pump_server(d.s)->viewlog.falls[CW_LINK_XM], 0);
    fall_once(&d, CW_LINK_XM, 900, 0, 0, FALLS_SILENT);
    d.info[CW_LINK_XM].committed = false;
    d.info[CW_LINK_XM].state = "damped";
    ck_assert_uint_ge(doctor_life(&d, CW_LINK_XM), LIFE);
    ck_assert_uint_eq(look(&d), 0);
    ck_assert_ptr_null(rows_said_find(&said, "cause=flapping"));
}
END_TEST

/* The same process goes on, with the next incarnation: it was not killed. */
START_TEST(a_neighbour_that_counted_itself_out)
{
    struct doctor d = begin(cube);
    fall_once(&d, CW_LINK_XP, 0, LIFE, LIFE + 1, FALLS_SILENT);
    fall_once(&d, CW_LINK_XP, 900, LIFE + 1, LIFE + 2, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 1);
    expect("cause=stalls link=+x expected=1,0,0");
    expect("1,0,0 was lost 2 times lately, and came back by itself: it stood still, or nobody heard it");
    d = begin(cube);
    fall_once(&d, CW_LINK_XP, 0, LIFE, LIFE + 1, FALLS_SILENT);
    fall_once(&d, CW_LINK_XP, 900, LIFE + 1, LIFE + 2, FALLS_SILENT);
    fall_once(&d, CW_LINK_XP, 1800, LIFE + 2, FENCED, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 1);
    expect("1,0,0 was lost 2 times lately, and came back by itself (besides, its daemon was killed or crashed, and "
           "started again): it stood still");
}
END_TEST

START_TEST(two_links_at_one_moment)
{
    struct doctor d = begin(pair);
    fall(&d, CW_LINK_XP, 3, 0);
    fall(&d, CW_LINK_XM, 2, 20);
    ck_assert_uint_eq(look(&d), 1);
    expect("the links +x -x to 1,0,0 went down at the same moment, 3 times lately: look at 1,0,0, or at what these "
           "cables share");
    d = begin(pair);
    fall(&d, CW_LINK_XP, 3, 0);
    fall(&d, CW_LINK_XM, 2, 900);
    ck_assert_uint_eq(look(&d), 2);
}
END_TEST

/* Whatever else its links went through: a server that died twice is said to have died twice. */
START_TEST(a_death_is_counted_once)
{
    struct doctor d = begin(pair);
    for (cw_link link = CW_LINK_XP; link <= CW_LINK_XM; link++) {
        fall_once(&d, link, 0, LIFE, LIFE, FALLS_SILENT);
        fall_once(&d, link, 900, LIFE, FENCED, FALLS_SILENT);
        fall_once(&d, link, 1800, FENCED, FENCED, FALLS_CARRIER);
        fall_once(&d, link, 2700, FENCED, 0, FALLS_SILENT);
        d.info[link].heard.incarnation = 2 * (uint64_t)FENCED; /* the link is not up yet */
    }
    ck_assert_uint_eq(look(&d), 1);
    expect("1,0,0 was lost 2 times lately, and was started again");
}
END_TEST

/* The link went down twice, was up again, and then the neighbour left in order and was started again. */
START_TEST(a_goodbye_is_no_crash)
{
    struct doctor d = begin(cube);
    fall_once(&d, CW_LINK_XP, 0, LIFE, LIFE, FALLS_CARRIER);
    fall_once(&d, CW_LINK_XP, 900, LIFE, LIFE, FALLS_CARRIER);
    d.info[CW_LINK_XP].heard.incarnation = FENCED;
    ck_assert_uint_eq(look(&d), 0);
    expect("severity=4 cause=carrier-lost link=+x");
    expect("the cable of +x to 1,0,0 was cut and mended 2 times lately (cwctl cut, cwctl mend), and is well now");
    d = begin(cube);
    fall_once(&d, CW_LINK_XP, 0, LIFE, LIFE, FALLS_SILENT);
    fall_once(&d, CW_LINK_XP, 900, LIFE, 0, FALLS_SILENT); /* and the neighbour left meanwhile */
    falls_left(&host_pump_server(d.s)->viewlog.falls[CW_LINK_XP]);
    falls_up(&host_pump_server(d.s)->viewlog.falls[CW_LINK_XP], FENCED);
    d.info[CW_LINK_XP].heard.incarnation = FENCED;
    ck_assert_uint_eq(look(&d), 1);
    expect("cause=flapping link=+x");
}
END_TEST

/* Who switches an interface off and on has no bad cable; who does it again and again has a loose plug at most. */
START_TEST(what_somebody_switched)
{
    struct doctor d = begin(cube);
    for (int64_t i = 0; i < 5; i++) {
        fall_once(&d, CW_LINK_XP, 900 * i, LIFE, LIFE, FALLS_OWN);
        fall_once(&d, CW_LINK_YP, 900 * i + 400, LIFE, LIFE, FALLS_CARRIER);
    }
    ck_assert_uint_eq(look(&d), 0);
    expect("severity=4 cause=carrier-lost link=+y");
    expect("severity=4 cause=switched-off");
    expect("interfaces of this server were switched off, taken out or changed lately, and are well now: memory (+x) "
           "links_off=+x");
}
END_TEST

/*
 * Interfaces towards one server were switched off until that one counted itself out: it did not stand still, and the
 * switch is what was seen here.
 */
START_TEST(who_was_switched_off_did_not_stand_still)
{
    struct doctor d = begin(pair);
    for (cw_link link = CW_LINK_XP; link <= CW_LINK_XM; link++) {
        fall_once(&d, link, 0, LIFE, LIFE + 1, FALLS_OWN);
        fall_once(&d, link, 9000, LIFE + 1, LIFE + 2, FALLS_CARRIER); /* and then its own were */
    }
    ck_assert_uint_eq(look(&d), 0);
    expect("severity=4 cause=switched-off");
    expect("and are well now: memory memory (+x -x)");
    expect("part=switched link=+x");
    expect("part=switched link=-x");
    ck_assert_ptr_null(rows_said_find(&said, "cause=stalls"));
}
END_TEST

/* All interfaces of this server, once each; before that those of its neighbours, which took the carrier here. */
START_TEST(all_interfaces_once)
{
    struct doctor d = begin(pair);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        fall_once(&d, link, 0, LIFE, LIFE, FALLS_CARRIER);
        fall_once(&d, link, 9000, LIFE, LIFE, FALLS_OWN);
    }
    ck_assert_uint_eq(look(&d), 0);
    expect("severity=4 cause=switched-off");
    expect("links_off=+x -x +y -y +z -z");
}
END_TEST

/* Plugs were moved, and once nothing was heard besides: that is no bad cable before it happens again. */
START_TEST(a_lost_carrier_is_no_bad_cable)
{
    struct doctor d = begin(cube);
    fall_once(&d, CW_LINK_XP, 0, LIFE, LIFE, FALLS_CARRIER);
    fall_once(&d, CW_LINK_XP, 900, LIFE, LIFE, FALLS_CARRIER);
    fall_once(&d, CW_LINK_XP, 1800, LIFE, LIFE, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 0);
    expect("severity=4 cause=carrier-lost link=+x");
}
END_TEST

/* No finding: who asks several servers makes a note of it. A death, and a switch, are no falls of that kind. */
START_TEST(who_fell_once_is_listed)
{
    struct doctor d = begin(cube);
    fall(&d, 2, 1, 0);
    fall_once(&d, 3, 0, LIFE, FENCED, FALLS_SILENT);
    fall_once(&d, 4, 0, LIFE, LIFE, FALLS_OWN);
    ck_assert_uint_eq(look(&d), 0);
    ck_assert_uint_eq(said.count, 2);
    expect("server=0,0,0 part=fell link=+y expected=0,1,0 expected_port=-y times=1 ago_s=");
    expect("server=0,0,0 part=switched link=+z");
}
END_TEST

/* In a torus inside one process cwctl fail ends a life: its neighbours have lost it twice, and know why. */
START_TEST(a_neighbour_that_was_told_to_fail)
{
    struct doctor d = begin(pair);
    struct ended *ended = &host_pump_server(host_server(h, torus_id(host_torus(h), (cw_coord){1, 0, 0})))->ended;
    *ended = (struct ended){.count = 2, .life = {LIFE, LIFE + 1}};
    for (cw_link link = CW_LINK_XP; link <= CW_LINK_XM; link++) {
        fall_once(&d, link, 0, LIFE, LIFE + 1, FALLS_SILENT);
        fall_once(&d, link, 9000, LIFE + 1, LIFE + 2, FALLS_SILENT);
    }
    ck_assert_uint_eq(look(&d), 0);
    ck_assert_uint_eq(said.count, 0);
    d = begin(pair); /* another one was told to, and what this one went through is told as ever */
    ended = &host_pump_server(host_server(h, torus_id(host_torus(h), (cw_coord){0, 1, 0})))->ended;
    *ended = (struct ended){.count = 2, .life = {LIFE, LIFE + 1}};
    fall_once(&d, CW_LINK_XP, 0, LIFE, LIFE + 1, FALLS_SILENT);
    fall_once(&d, CW_LINK_XP, 9000, LIFE + 1, LIFE + 2, FALLS_SILENT);
    ck_assert_uint_eq(look(&d), 1);
    expect("cause=stalls");
}
END_TEST

/* And the server itself says what it was told, for as long as its neighbours might wonder. */
START_TEST(who_was_told_to_fail_says_so)
{
    struct doctor d = begin(pair);
    ck_assert_int_eq(host_fail(d.s), 0);
    ck_assert_int_eq(host_restore(d.s), 0);
    d.ls = node_linkstate(d.s->node);
    ck_assert_uint_eq(look(&d), 0);
    expect("severity=4 cause=ended");
    expect("this server was taken out 1 time lately by cwctl fail, and brought back by cwctl restore");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(one_cable_that_is_bad),
    SUITE_TEST(a_neighbour_that_begins_anew),
    SUITE_TEST(a_cable_and_a_restart),
    SUITE_TEST(a_life_that_others_tell_of),
    SUITE_TEST(a_neighbour_that_counted_itself_out),
    SUITE_TEST(two_links_at_one_moment),
    SUITE_TEST(a_death_is_counted_once),
    SUITE_TEST(a_goodbye_is_no_crash),
    SUITE_TEST(what_somebody_switched),
    SUITE_TEST(who_was_switched_off_did_not_stand_still),
    SUITE_TEST(all_interfaces_once),
    SUITE_TEST(a_neighbour_that_was_told_to_fail),
    SUITE_TEST(who_was_told_to_fail_says_so),
    SUITE_TEST(a_lost_carrier_is_no_bad_cable),
    SUITE_TEST(who_fell_once_is_listed),
};
SUITE_MAIN("doctor_flaps", tests)
