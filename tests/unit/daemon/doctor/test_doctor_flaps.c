/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doctor_flaps.c - links that went down lately: a server is said to have stood still only if all its links went
 * down at one instant and it was kept waiting then; what a neighbour did is told of that neighbour, once.
 */
#include "daemon/doctor/doctor_flaps.h"

#include "base/quantity.h"
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

enum { LIFE = 1000, FENCED = 1000000, FIRST_MS = 100000 };

static struct rows_said said;
static struct rows_reader reader;
static struct host *h;

/* Server 0,0,0 of a torus that has these dims; all its links are up and never went down. */
static struct doctor begin(const char *torus)
{
    h = town_open(torus);
    reader = rows_said_reader(&said);
    struct doctor d = {.s = host_server(h, 0), .out = &reader, .self = "0,0,0"};
    d.ls = node_linkstate(d.s->node);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        d.s->link[link].carrier = true;
        ls_link_info(d.ls, link, &d.info[link]);
        d.info[link].state = "up";
        d.info[link].committed = true;
        d.info[link].heard = (struct ls_heard){.any = true, .server = d.info[link].expected, .incarnation = LIFE};
        d.info[link].heard.at = (cw_time){CW_SEC(1000).ns};
    }
    return d;
}

static cw_time at_ms(int64_t ms)
{
    return (cw_time){CW_MS(FIRST_MS + ms).ns};
}

/* The link went down once more, of the neighbour's life `life`; `after`: its life when the link was up again. */
static void fall_once(struct doctor *d, cw_link link, int64_t ms, uint64_t life, uint64_t after, enum falls_why why)
{
    struct falls *falls = &host_pump_server(d->s)->viewlog.falls[link];
    falls_note(falls, at_ms(ms), life, why);
    if (after != 0) {
        falls_up(falls, after);
    }
    d->info[link].flaps++;
    d->info[link].flapped = at_ms(ms);
    d->info[link].flapped_life = life;
    d->info[link].heard.incarnation = after != 0 ? after : d->info[link].heard.incarnation;
}

/* The link went down so often, last at that time, and is up again; the neighbour lived on. */
static void fall(struct doctor *d, cw_link link, unsigned flaps, int64_t ms)
{
    host_pump_server(d->s)->viewlog.falls[link] = (struct falls){.count = 0};
    d->info[link].flaps = 0;
    for (unsigned i = 1; i <= flaps; i++) {
        fall_once(d, link, ms - 1000 * (int64_t)(flaps - i), LIFE, LIFE, FALLS_SILENT);
    }
}

static void fall_all(struct doctor *d, unsigned flaps, int64_t ms, int64_t apart_ms)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        fall(d, link, flaps, ms + link * apart_ms);
    }
}

/* The daemon was kept waiting; that ended then. */
static void wait_until(int64_t ms)
{
    h->stalls.at[h->stalls.count++ % HOST_STALLS_KEPT] = at_ms(ms);
}

/* A service held the thread for 6 s; that ended then. */
static void hold_until(int64_t ms)
{
    struct host_hold hold = {at_ms(ms), CW_SEC(6), 0, "bug", "on_command"};
    ck_assert(holds_note(&h->holds, &hold, CW_MS(50), 0));
}

/* Looks as doctor_look() does; gives how many findings there are. */
static unsigned look(struct doctor *d)
{
    doctor_stall(d);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        doctor_flapped(d, link);
    }
    doctor_flaps(d);
    doctor_hold(d);
    host_close(h);
    return d->found;
}

static void expect(const char *text)
{
    ck_assert_msg(rows_said_find(&said, text) != NULL, "not '%s' but '%s'", text, said.row[0]);
}

static const char cube[] = "torus { dims = 3x3x3; coordinate = all } timers { hello = 10ms; dead = 50ms }";
static const char pair[] = "torus { dims = 2x2x2; coordinate = all } timers { hello = 10ms; dead = 50ms }";

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
    expect("do=ip -s link show memory");
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
    expect("memory (+x) lost its carrier 2 times lately, and has it now: plugs were moved, or the interface at 1,0,0");
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
    ck_assert_uint_eq(look(&d), 1);
    expect("severity=3 cause=carrier-lost link=+y");
    expect("severity=4 cause=switched-off");
    expect("interfaces of this server were switched off, taken out or changed lately, and are well now: memory (+x) "
           "links_off=+x");
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

static const struct suite_test tests[] = {
    SUITE_TEST(who_stood_still),
    SUITE_TEST(who_stood_still_before_a_switch),
    SUITE_TEST(within_one_dead),
    SUITE_TEST(who_fell_once_is_listed),
    SUITE_TEST(a_service_that_held_the_thread),
    SUITE_TEST(a_hold_that_cost_no_link),
    SUITE_TEST(who_rests_now_delivers_nothing),
    SUITE_TEST(neighbours_that_died_one_by_one),
    SUITE_TEST(many_stalls_are_no_bad_cables),
    SUITE_TEST(a_link_that_may_rest_says_nothing_of_its_cable),
    SUITE_TEST(who_ran_did_not_stand_still),
    SUITE_TEST(a_link_that_stayed_up_is_a_witness),
    SUITE_TEST(a_link_that_was_down_is_none),
    SUITE_TEST(what_a_stall_does_not_explain),
    SUITE_TEST(one_cable_that_is_bad),
    SUITE_TEST(a_neighbour_that_begins_anew),
    SUITE_TEST(a_cable_and_a_restart),
    SUITE_TEST(a_life_that_others_tell_of),
    SUITE_TEST(a_neighbour_that_counted_itself_out),
    SUITE_TEST(two_links_at_one_moment),
    SUITE_TEST(a_death_is_counted_once),
    SUITE_TEST(a_goodbye_is_no_crash),
    SUITE_TEST(what_somebody_switched),
    SUITE_TEST(a_lost_carrier_is_no_bad_cable),
};
SUITE_MAIN("doctor_flaps", tests)
