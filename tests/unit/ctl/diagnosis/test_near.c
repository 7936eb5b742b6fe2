/* SPDX-License-Identifier: Apache-2.0 */
/* test_near.c - what the far end of a cable says is told in the place of what was found from here. */
#include "ctl/diagnosis/near.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

static struct rows here, all;

/* Fields as "name=value;name=value". */
static void add(struct rows *rows, const char *fields)
{
    char text[600], *save = NULL;
    struct message *m = message_open();
    snprintf(text, sizeof text, "%s", fields);
    for (char *f = strtok_r(text, ";", &save); f != NULL; f = strtok_r(NULL, ";", &save)) {
        char *value = strchr(f, '=');
        *value++ = '\0';
        if (strcmp(f, "severity") == 0) {
            message_integer(m, f, atoi(value));
        } else {
            message_text(m, f, value);
        }
    }
    rows_add(rows, m);
}

static void deaf(const char *cause)
{
    char row[200];
    snprintf(row, sizeof row,
             "severity=2;cause=%s;server=0,1,1;link=-x;expected=1,1,1;expected_port=+x;text=the cable is dead", cause);
    add(&here, row);
}

static void expect(const char *server, const char *cause, const char *what)
{
    ck_assert_uint_eq(here.count, 1);
    ck_assert_str_eq(message_get_text(here.row[0], "server", ""), server);
    ck_assert_str_eq(message_get_text(here.row[0], "cause", ""), cause);
    ck_assert_str_eq(message_get_text(here.row[0], "do", ""), what);
    rows_clear(&here);
    rows_clear(&all);
}

START_TEST(a_short_mtu_at_the_far_end)
{
    deaf("deaf");
    add(&all, "severity=2;cause=mtu;server=1,1,1;link=+x;text=px has mtu 1500;do=ip link set px mtu 3000;where=1,1,1");
    ck_assert(diagnose_near_doubts(&here));
    diagnose_near(&here, &all);
    expect("1,1,1", "mtu", "on 1,1,1: ip link set px mtu 3000");
}
END_TEST

START_TEST(an_interface_that_was_switched)
{
    deaf("flapping");
    add(&all, "severity=4;cause=switched-off;server=1,1,1;links_off=+x -y;text=px;do=cwctl events;where=1,1,1");
    diagnose_near(&here, &all);
    ck_assert_int_eq(message_get_integer(here.row[0], "severity", 0), 4);
    expect("1,1,1", "switched-off", "on 1,1,1: cwctl events");
}
END_TEST

START_TEST(what_it_says_of_another_port)
{
    deaf("damped");
    add(&all, "severity=2;cause=interface-down;server=1,1,1;link=-x;text=mx is off;do=ip;where=1,1,1");
    add(&all, "severity=4;cause=switched-off;server=1,1,1;links_off=-y;text=px;do=cwctl events;where=1,1,1");
    diagnose_near(&here, &all);
    expect("0,1,1", "damped", "");
}
END_TEST

START_TEST(one_server_is_told_once)
{
    deaf("flapping");
    add(&here, "severity=2;cause=flapping;server=0,1,1;link=+x;expected=1,1,1;expected_port=-x;text=other");
    add(&all, "severity=4;cause=switched-off;server=1,1,1;links_off=+x -x;text=px mx;do=cwctl events;where=1,1,1");
    diagnose_near(&here, &all);
    expect("1,1,1", "switched-off", "on 1,1,1: cwctl events");
}
END_TEST

/* The end that rests answers nothing: that is no half cable, asked of one server or of all. */
START_TEST(a_far_end_that_rests)
{
    deaf("half");
    ck_assert(diagnose_near_doubts(&here));
    add(&all, "part=rests;server=1,1,1;link=-x;expected=0,1,1;expected_port=+x");
    diagnose_near(&here, &all);
    ck_assert_str_eq(message_get_text(here.row[0], "cause", ""), "half"); /* another port rests */
    add(&all, "part=rests;server=1,1,1;link=+x;expected=0,1,1;expected_port=-x");
    diagnose_near(&here, &all);
    ck_assert_str_eq(message_get_text(here.row[0], "text", ""),
                     "the link -x to 1,1,1 is coming up: +x of 1,1,1 rests (damped) after it went down several times");
    ck_assert_int_eq(message_get_integer(here.row[0], "severity", 0), 4);
    expect("0,1,1", "coming-up", "cwctl links -x");
}
END_TEST

START_TEST(who_is_refused)
{
    add(&all, "severity=2;cause=cluster;server=0,1,1;link=-x;expected=1,1,1;text=another cluster");
    add(&all, "severity=2;cause=server-down;server=0,1,1;link=-y;expected=1,0,1;text=not heard");
    ck_assert(!diagnose_near_doubts(&all));
    ck_assert_str_eq(diagnose_refused(&all, "1,1,1"), "another cluster");
    ck_assert_ptr_null(diagnose_refused(&all, "1,0,1"));
    rows_clear(&all);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_short_mtu_at_the_far_end),   SUITE_TEST(an_interface_that_was_switched),
    SUITE_TEST(what_it_says_of_another_port), SUITE_TEST(one_server_is_told_once),
    SUITE_TEST(a_far_end_that_rests),         SUITE_TEST(who_is_refused),
};
SUITE_MAIN("diagnosis_near", tests)
