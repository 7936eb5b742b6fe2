/* SPDX-License-Identifier: Apache-2.0 */
/* test_doctor_cables.c - what is heard at the ends of cables, and what that means. */
#include "daemon/doctor/doctor_cables.h"

#include "base/quantity.h"
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

static struct rows_said said;
static struct rows_reader reader;
static struct host *h;

/* Server 0,0,0, all of whose links are up, of a torus of three by three by three. */
static struct doctor begin(void)
{
    h = town_open("torus { dims = 3x3x3; coordinate = all } name = one");
    reader = rows_said_reader(&said);
    struct doctor d = {.s = host_server(h, 0), .out = &reader, .self = "0,0,0"};
    d.ls = node_linkstate(d.s->node);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ls_link_info(d.ls, link, &d.info[link]);
        d.info[link].committed = true;
    }
    return d;
}

static void end(struct doctor *d)
{
    doctor_cables(d);
    host_close(h);
}

/* Over that link somebody else is heard. */
static void hear(struct doctor *d, cw_link link, cw_coord server, cw_link port)
{
    struct ls_link_info *i = &d->info[link];
    i->committed = false;
    i->miswired = true;
    i->heard = (struct ls_heard){.any = true, .server = server, .port = port, .cluster = 1};
    i->heard.config_hash = h->config_hash;
    doctor_stranger(d, link);
}

static void expect(const char *text)
{
    ck_assert_msg(rows_said_find(&said, text) != NULL, "not '%s' but '%s'", text, said.row[0]);
}

START_TEST(plugs_that_are_exchanged)
{
    struct doctor d = begin();
    hear(&d, CW_LINK_XP, (cw_coord){0, 2, 0}, CW_LINK_YP);
    hear(&d, CW_LINK_YM, (cw_coord){1, 0, 0}, CW_LINK_XM);
    end(&d);
    ck_assert_uint_eq(said.count, 1);
    expect("cause=swapped");
    expect("the cables in +x and -y of this server are exchanged: +x leads to +y of 0,2,0, and -y to -x of 1,0,0");
    expect("do=on 0,0,0: exchange the plugs in +x and -y, then: cwctl wiring");
}
END_TEST

START_TEST(a_place_by_its_cables)
{
    struct doctor d = begin();
    /* The six neighbours of 0,0,1. */
    hear(&d, CW_LINK_XP, (cw_coord){1, 0, 1}, CW_LINK_XM);
    hear(&d, CW_LINK_XM, (cw_coord){2, 0, 1}, CW_LINK_XP);
    hear(&d, CW_LINK_YP, (cw_coord){0, 1, 1}, CW_LINK_YM);
    hear(&d, CW_LINK_YM, (cw_coord){0, 2, 1}, CW_LINK_YP);
    hear(&d, CW_LINK_ZP, (cw_coord){0, 0, 2}, CW_LINK_ZM);
    hear(&d, CW_LINK_ZM, (cw_coord){0, 0, 0}, CW_LINK_ZP);
    end(&d);
    ck_assert_uint_eq(said.count, 1);
    expect("severity=1 cause=place");
    expect("this server is configured as 0,0,0, and by its cables it is 0,0,1");
    expect("do=set torus.coordinate = \"0,0,1\" in town, then: systemctl restart cubewayd");
}
END_TEST

/* Its place was found once, and is kept in the file: which is another server's. */
START_TEST(a_state_file_that_was_copied)
{
    struct doctor d = begin();
    h->config.place = CONFIG_AUTO;
    snprintf(h->config.state_dir, sizeof h->config.state_dir, "/var/lib/cubeway");
    hear(&d, CW_LINK_XP, (cw_coord){1, 0, 1}, CW_LINK_XM);
    hear(&d, CW_LINK_XM, (cw_coord){2, 0, 1}, CW_LINK_XP);
    for (cw_link link = CW_LINK_YP; link < CW_LINK_COUNT; link++) {
        d.info[link].committed = false;
    }
    doctor_cables(&d);
    h->config.place = CONFIG_WHOLE;
    host_close(h);
    ck_assert_uint_eq(said.count, 1);
    expect("severity=1 cause=place");
    expect("the state file of this server says that it is 0,0,0, and by its cables it is 0,0,1: the file is a copy of "
           "another server's, or the cables were moved");
    expect("do=systemctl stop cubewayd; rm /var/lib/cubeway/one.state; systemctl start cubewayd");
}
END_TEST

START_TEST(one_cable_is_only_a_cable)
{
    struct doctor d = begin();
    hear(&d, CW_LINK_XP, (cw_coord){1, 1, 0}, CW_LINK_XM);
    end(&d);
    ck_assert_uint_eq(said.count, 1);
    expect("cause=cable link=+x expected=1,0,0 expected_port=-x seen=1,1,0 seen_port=-x");
    expect("the cable in +x leads to -x of 1,1,0, and should lead to -x of 1,0,0");
}
END_TEST

START_TEST(another_cluster)
{
    struct doctor d = begin();
    d.info[CW_LINK_XP].heard.cluster = 9;
    doctor_stranger(&d, CW_LINK_XP);
    end(&d);
    expect("(port +x) of cluster 9, and this one belongs to cluster 1");
}
END_TEST

/* Most links lead to servers that agree: this one is odd, and is not told to change the others. */
START_TEST(the_odd_one)
{
    struct doctor d = begin();
    struct daemon_config other = h->config;
    other.timers.hello = CW_MS(4);
    for (cw_link link = 0; link < 4; link++) {
        d.info[link].committed = false;
        d.info[link].heard = (struct ls_heard){.any = true, .server = d.info[link].expected, .cluster = 9};
    }
    doctor_stranger(&d, CW_LINK_XP);
    expect("cause=cluster");
    expect("do=set cluster = 9 in ");
    for (cw_link link = 0; link < 4; link++) {
        d.info[link].heard.cluster = 1;
        d.info[link].heard.config_hash = config_hash(&other, torus_dims(&h->torus), h->mtu);
    }
    doctor_stranger(&d, CW_LINK_XM);
    expect("do=set timers.hello = 4ms in ");
    d.info[3].committed = true; /* three of six are no majority */
    doctor_stranger(&d, CW_LINK_YP);
    expect("do=on the machine at 0,1,0: set timers.hello = 10ms in ");
    end(&d);
}
END_TEST

START_TEST(another_configuration)
{
    struct doctor d = begin();
    struct daemon_config other = h->config;
    struct ls_heard heard = {.any = true, .server = {1, 0, 0}, .port = CW_LINK_XM, .cluster = 1};
    d.info[CW_LINK_XP].miswired = true;
    heard.config_hash = config_hash(&h->config, torus_dims(&h->torus), 1500);
    d.info[CW_LINK_XP].heard = heard;
    doctor_stranger(&d, CW_LINK_XP);
    expect("cause=mtu");
    expect("frames of this server (memory, +x) have 9000 bytes, and those of 1,0,0 have 1500");
    other.timers = ls_timers_fast();
    heard.config_hash = config_hash(&other, torus_dims(&h->torus), h->mtu);
    d.info[CW_LINK_XP].heard = heard;
    doctor_stranger(&d, CW_LINK_XP);
    expect("1,0,0 has timers { profile = fast }, and 0,0,0 has others");
    other = h->config;
    other.timers.hello = CW_MS(4);
    heard.config_hash = config_hash(&other, torus_dims(&h->torus), h->mtu);
    d.info[CW_LINK_XP].heard = heard;
    doctor_stranger(&d, CW_LINK_XP);
    expect("1,0,0 has timers.hello = 4ms, and 0,0,0 has 10ms");
    expect("do=on the machine at 1,0,0: set timers.hello = 10ms in its daemon's file, then: systemctl restart");
    heard.server =
        (cw_coord){1, 0, 2}; /* with other dims even a right cable seems to be wrong: not the cable is told */
    heard.config_hash = config_hash(&h->config, (cw_dims){3, 3, 2}, h->mtu);
    d.info[CW_LINK_XP].heard = heard;
    doctor_stranger(&d, CW_LINK_XP); /* a look seeks one number: each takes a millisecond */
    expect("1,0,2 has another configuration than 0,0,0: torus.dims, timers or mtu differ");
    d.sought = false;
    doctor_stranger(&d, CW_LINK_XP);
    expect("1,0,2 has torus.dims = 3x3x2, and 0,0,0 has 3x3x3");
    ck_assert_uint_eq(d.wrong, CW_LINKS_NONE);
    heard.server = (cw_coord){1, 0, 0};
    heard.config_hash = 12345;
    d.info[CW_LINK_XP].heard = heard;
    doctor_stranger(&d, CW_LINK_XP);
    expect("1,0,0 has another configuration than 0,0,0: torus.dims, timers or mtu differ");
    end(&d);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(plugs_that_are_exchanged),
    SUITE_TEST(a_place_by_its_cables),
    SUITE_TEST(a_state_file_that_was_copied),
    SUITE_TEST(one_cable_is_only_a_cable),
    SUITE_TEST(another_cluster),
    SUITE_TEST(another_configuration),
    SUITE_TEST(the_odd_one),
};
SUITE_MAIN("doctor_cables", tests)
