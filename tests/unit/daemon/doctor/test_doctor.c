/* SPDX-License-Identifier: Apache-2.0 */
/* test_doctor.c - nothing is found where nothing is wrong, and a link that is not up has a cause. */
#include "daemon/doctor/doctor_cables.h"

#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"
#include "wire/hello.h"

static struct rows_said said;

/* With notes, which are no findings. */
static unsigned look_for_all(struct host *h, unsigned server)
{
    const struct rows_reader reader = rows_said_reader(&said);
    return doctor_look(host_server(h, server), &reader);
}

static unsigned look(struct host *h, unsigned server)
{
    unsigned found = look_for_all(h, server), rows = 0;
    for (unsigned i = 0; i < said.count; i++) {
        rows += strstr(said.row[i], "part=rests") == NULL;
    }
    ck_assert_uint_eq(rows, found + 1);
    return found;
}

static void turn(struct host *h, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        host_turn(h, CW_MS(1));
    }
}

START_TEST(a_sound_torus_has_no_findings)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    for (unsigned i = 0; i < 9; i++) {
        ck_assert_msg(look(h, i) == 0, "%s", said.row[1]);
    }
    ck_assert_ptr_nonnull(strstr(said.row[0], "server=2,2,0 part=about version="));
    host_close(h);
}
END_TEST

START_TEST(a_cable_that_is_out)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    ck_assert_int_eq(host_cut(host_server(h, 0), CW_LINK_XP, true), 0);
    turn(h, 20);
    ck_assert_uint_eq(look(h, 0), 1);
    ck_assert_ptr_nonnull(rows_said_find(&said, "severity=2 cause=no-carrier link=+x expected=1,0,0 expected_port=-x"));
    ck_assert_ptr_nonnull(rows_said_find(
        &said, "text=the cable of +x to -x of 1,0,0 is cut (cwctl cut) do=cwctl --server 0,0,0 mend +x"));
    host_close(h);
}
END_TEST

START_TEST(a_server_that_is_down)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    ck_assert_int_eq(host_fail(host_server(h, 1)), 0);
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 8; i++) {
        turn(h, 1);
    }
    ck_assert_uint_eq(look(h, 0), 1);
    const char *row = rows_said_find(&said, "cause=server-down");
    ck_assert_ptr_nonnull(row);
    ck_assert_msg(strstr(row, "0,1,0 is not heard, and no other server reaches it") != NULL, "%s", row);
    ck_assert_ptr_nonnull(strstr(row, "do=cwctl --server 0,1,0 restore"));
    host_close(h);
}
END_TEST

/* Its links have lost carrier, each of them: that is one server, and not so many cables. */
START_TEST(a_machine_that_is_off)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    ck_assert_int_eq(host_fail(host_server(h, 1)), 0);
    for (cw_link link = CW_LINK_XP; link <= CW_LINK_YM; link++) {
        ck_assert_int_eq(host_cut(host_server(h, 1), link, true), 0);
    }
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 8; i++) {
        turn(h, 1);
    }
    turn(h, 20);
    ck_assert_uint_eq(look(h, 0), 1);
    const char *row = rows_said_find(&said, "cause=server-down link=+y");
    ck_assert_ptr_nonnull(row);
    ck_assert_msg(strstr(row, "the cable of +y is cut (cwctl cut), and no other server reaches 0,1,0: it is down, or "
                              "all its cables are cut") != NULL,
                  "%s", row);
    host_close(h);
}
END_TEST

/* All others are dead, or this one is cut off: it cannot know which, and accuses nobody. */
START_TEST(a_server_that_reaches_nobody)
{
    struct host *h = town_open("torus { dims = 3x1x1; coordinate = all }");
    town_settle(h, 3);
    ck_assert_int_eq(host_fail(host_server(h, 1)), 0);
    ck_assert_int_eq(host_fail(host_server(h, 2)), 0);
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 1; i++) {
        turn(h, 1);
    }
    ck_assert_uint_eq(look(h, 0), 1);
    ck_assert_ptr_nonnull(rows_said_find(&said, "severity=1 cause=cut-off text=this server reaches no other one, and "
                                                "hears nothing from 1,0,0 2,0,0: it stood still"));
    ck_assert_ptr_nonnull(rows_said_find(&said, "silent=1,0,0 2,0,0"));
    host_close(h);
}
END_TEST

/* Longer than hold less dead without a processor: told for as long as the daemon runs, and soon as a note. */
START_TEST(a_daemon_that_was_kept_waiting)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    h->turn_longest = (cw_span){h->config.timers.hold.ns - h->config.timers.dead.ns};
    ck_assert_uint_eq(look(h, 0), 0);
    h->turn_longest = CW_NS(CW_SEC(2).ns + 1);
    h->turn_waited = (cw_time){host_now(h).ns - CW_SEC(70).ns};
    const struct rows_reader reader = rows_said_reader(&said);
    ck_assert_uint_eq(doctor_look(host_server(h, 0), &reader), 0);
    ck_assert_ptr_nonnull(rows_said_find(&said, "severity=4 cause=waited"));
    h->turn_waited = (cw_time){host_now(h).ns - CW_SEC(3).ns};
    ck_assert_uint_eq(look(h, 0), 1);
    const char *row = rows_said_find(&said, "severity=3 cause=waited");
    ck_assert_ptr_nonnull(row);
    ck_assert_msg(
        strstr(row, "the daemon had no processor for up to 2s in the middle of its work, the last time 3s ago") != NULL,
        "%s", row);
    host_close(h);
}
END_TEST

START_TEST(a_neighbour_of_another_wire_version)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    ck_assert_int_eq(host_fail(host_server(h, 1)), 0);
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 8; i++) {
        turn(h, 1);
    }
    ls_foreign_frame(node_linkstate(host_server(h, 0)->node), CW_LINK_YP, 7, host_now(h));
    ck_assert_uint_eq(look(h, 0), 1);
    const char *row = rows_said_find(&said, "cause=version link=+y");
    ck_assert_ptr_nonnull(row);
    ck_assert_msg(strstr(row, "what comes over +y is version 7 of the wire, and this server speaks version ") != NULL,
                  "%s", row);
    ck_assert_ptr_nonnull(strstr(row, "do=on 0,1,0: cubewayd --version"));
    host_close(h);
}
END_TEST

static void hello_of_before(struct host *h, cw_server from, cw_link link)
{
    const struct torus *t = host_torus(h);
    struct hello hello = {
        .session = 77,
        .cluster = h->config.cluster,
        .config_hash = h->config_hash + 1,
        .server = torus_coord(t, from),
        .port = cw_link_opposite(link),
        .incarnation = 1,
        .clock = {1},
    };
    uint8_t bytes[HELLO_BYTES];
    hello_encode(&hello, bytes);
    ck_assert_int_eq(ls_control(node_linkstate(host_server(h, 0)->node), link, bytes, sizeof bytes, host_now(h)), 0);
}

/*
 * The neighbour had other settings, was started again with the right ones, and is in view by other ways now; over this
 * link nothing was heard since. What it said in its life before is no fault of now.
 */
START_TEST(settings_of_an_earlier_life)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all } timers { damp = 1ms }");
    town_settle(h, 9);
    ck_assert_int_eq(host_fail(host_server(h, 1)), 0);
    for (unsigned i = 0; i < 2000 && town_reach(h, 0) != 8; i++) {
        turn(h, 1);
    }
    hello_of_before(h, 1, CW_LINK_YP);
    (void)look_for_all(h, 0);
    ck_assert_ptr_nonnull(rows_said_find(&said, "cause=settings link=+y")); /* which is true now */
    ck_assert_int_eq(host_cut(host_server(h, 0), CW_LINK_YP, true), 0);
    ck_assert_int_eq(host_restore(host_server(h, 1)), 0);
    town_settle(h, 9);
    ls_carrier(node_linkstate(host_server(h, 0)->node), CW_LINK_YP, true, host_now(h)); /* and no frame passes */
    host_server(h, 0)->link[CW_LINK_YP].carrier = true;
    (void)look_for_all(h, 0);
    ck_assert_ptr_null(rows_said_find(&said, "cause=settings"));
    ck_assert_ptr_nonnull(rows_said_find(&said, "link=+y"));
    host_close(h);
}
END_TEST

/* A link that rests, as a link is found on which server 0 of a settled torus heard somebody last at that time. */
static void rest(struct host *h, int64_t heard_ago_ms, cw_links stood, cw_links bad)
{
    const struct rows_reader reader = rows_said_reader(&said);
    struct doctor d = {.s = host_server(h, 0), .out = &reader, .self = "0,0,0", .stood = stood, .bad = bad};
    d.ls = node_linkstate(d.s->node);
    struct ls_link_info *info = &d.info[CW_LINK_XP];
    ls_link_info(d.ls, CW_LINK_XP, info);
    info->committed = false;
    info->state = "damped";
    info->since = (cw_time){host_now(h).ns - CW_SEC(5).ns};
    info->heard.any = true;
    info->heard.at = (cw_time){host_now(h).ns - CW_MS(heard_ago_ms).ns};
    doctor_rest(&d, CW_LINK_XP);
}

/* Whatever the neighbour did before: a link that rests and over which nothing is heard is told. */
START_TEST(a_link_that_is_damped)
{
    struct host *h = town_open("torus { dims = 3x3x1; coordinate = all }");
    town_settle(h, 9);
    rest(h, 60000, CW_LINKS_NONE, CW_LINKS_NONE);
    ck_assert_ptr_nonnull(rows_said_find(&said, "severity=2 cause=damped link=+x"));
    ck_assert_ptr_nonnull(
        rows_said_find(&said, "the link +x to 1,0,0 rests (damped), and 1,0,0 was not heard over it since"));
    rest(h, 60000, cw_links_of(CW_LINK_XP), CW_LINKS_NONE); /* it was down before this server stood still */
    ck_assert_ptr_nonnull(rows_said_find(&said, "cause=damped"));
    rest(h, 60000, CW_LINKS_NONE, cw_links_of(CW_LINK_XP)); /* told already */
    ck_assert_uint_eq(said.count, 0);
    rest(h, 0, CW_LINKS_NONE, CW_LINKS_NONE);
    ck_assert_ptr_nonnull(rows_said_find(&said, "severity=4 cause=damped link=+x"));
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_sound_torus_has_no_findings),
    SUITE_TEST(a_cable_that_is_out),
    SUITE_TEST(a_server_that_is_down),
    SUITE_TEST(a_machine_that_is_off),
    SUITE_TEST(a_server_that_reaches_nobody),
    SUITE_TEST(a_daemon_that_was_kept_waiting),
    SUITE_TEST(a_neighbour_of_another_wire_version),
    SUITE_TEST(settings_of_an_earlier_life),
    SUITE_TEST(a_link_that_is_damped),
};
SUITE_MAIN("doctor", tests)
