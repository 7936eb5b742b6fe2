/* SPDX-License-Identifier: Apache-2.0 */
/* test_lint.c - links that are left out, timers without room and services that cannot be loaded are told. */
#include "daemon/config/lint.h"
#include "daemon_said.h"
#include "suite.h"

#define STATIC "torus { dims = 3x3x1; coordinate = '0,0,0' }\n"
#define LINK(name, interface) name " { shim = raw; interface = " interface " }\n"

static unsigned lint(const char *text, struct said *said)
{
    struct daemon_config c;
    ck_assert_msg(try_config(text, &c, said) == 0, "%s: %s", text, said->text[0]);
    unsigned count = lint_links(&c, say, said);
    ck_assert_uint_eq(count, said->count);
    return count;
}

START_TEST(links_that_are_left_out)
{
    struct said said;
    ck_assert_uint_eq(lint(STATIC "links {" LINK("+x", "a") "}", &said), 3);
    ck_assert(was_said(&said, "links.-x: not configured: there will be no link to +x of 2,0,0"));
    ck_assert(was_said(&said, "links.+y: not configured: there will be no link to -y of 0,1,0"));
    ck_assert(was_said(&said, "links.-y: not configured: there will be no link to +y of 0,2,0"));
    ck_assert_uint_eq(lint(STATIC "links {" LINK("+x", "a") LINK("-x", "b") LINK("+y", "c") LINK("-y", "d") "}", &said),
                      0);
    ck_assert_uint_eq(lint("torus { dims = 3x3x3; coordinate = all }", &said), 0);
    /* One that was left out on purpose is not missing, whatever else stands there. */
    ck_assert_uint_eq(lint(STATIC "links {" LINK("+x", "a") LINK("-x", "b") LINK("+y", "c") "-y { shim = none; "
                                                                                            "interface = d } }",
                           &said),
                      0);
}
END_TEST

START_TEST(ports_that_are_too_few)
{
    struct said said;
    ck_assert_uint_eq(lint("torus { coordinate = auto }", &said), 1);
    ck_assert(was_said(&said, "links: none is configured: this server hears nobody"));
    ck_assert_uint_eq(lint("torus { coordinate = auto } links {" LINK("port0", "a") "}", &said), 0);
    ck_assert_uint_eq(lint("torus { dims = 3x3x3; coordinate = auto } links {" LINK("port0", "a") "}", &said), 1);
    ck_assert(was_said(&said, "links: 1 configured, and a server of this torus has 6"));
}
END_TEST

START_TEST(services_that_cannot_be_loaded)
{
    struct said said;
    struct daemon_config c;
    ck_assert_int_eq(try_config(STATIC "service gone { file = /nowhere/gone.so }\n"
                                       "service off { file = /nowhere/off.so; enabled = no }\n"
                                       "service ping { weight = 3 }",
                                &c, &said),
                     0);
    ck_assert_int_eq(lint_services(&c, say, &said), -EINVAL);
    ck_assert_uint_eq(said.count, 1);
    ck_assert_msg(strncmp(said.text[0], "service \"gone\": /nowhere/gone.so", 32) == 0, "%s", said.text[0]);
}
END_TEST

START_TEST(timers_without_room)
{
    struct said said;
    struct daemon_config c;
    ck_assert_int_eq(try_config(STATIC "timers { hello = 20ms }", &c, &said), 0);
    ck_assert_uint_eq(lint_timers(&c, say, &said), 1);
    ck_assert_msg(strstr(said.text[0], "timers: dead is less than 3 hello") != NULL, "%s", said.text[0]);
    ck_assert_int_eq(try_config(STATIC "timers { profile = fast }", &c, &said), 0);
    ck_assert_uint_eq(lint_timers(&c, say, &said), 0);
    c.transit = CONFIG_TRANSIT_KERNEL; /* that was refused before */
    c.timers.hello = CW_MS(6);
    ck_assert_uint_eq(lint_timers(&c, say, &said), 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(links_that_are_left_out),
    SUITE_TEST(ports_that_are_too_few),
    SUITE_TEST(timers_without_room),
    SUITE_TEST(services_that_cannot_be_loaded),
};
SUITE_MAIN("lint", tests)
