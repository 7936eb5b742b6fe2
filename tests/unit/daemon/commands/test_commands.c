/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/commands/commands.h"

#include "daemon_operator.h"
#include "suite.h"

#include <errno.h>
#include <unistd.h>

static struct operator d;

#define DONE(rc) "\"done\":true,\"rc\":" #rc

START_TEST(scopes)
{
    operator_open(&d, "torus { dims = 3x1x1; coordinate = all }");
    town_settle(d.host, 3);
    operator_says(&d, "\"command\":\"status\"", "\"server\":\"0,0,0\",\"state\":\"serving\"");
    operator_says(&d, "\"command\":\"status\",\"server\":\"2,0,0\"", "\"server\":\"2,0,0\"");
    operator_says(&d, "\"command\":\"status\",\"server\":\"all\"", "\"server\":\"1,0,0\"");
    operator_says(&d, "\"command\":\"status\",\"server\":\"3,0,0\"", "is no server of this torus of 3x1x1");
    operator_says(&d, "\"command\":\"servers\",\"server\":\"all\"", "name it as x,y,z");
    operator_says(&d, "\"command\":\"links\",\"args\":[\"+q\"]", "is no link");
    operator_says(&d, "\"command\":\"links\",\"args\":[\"+y\"]", "\"state\":\"none\"");
    operator_says(&d, "\"command\":\"fail\"", "say which server");
    operator_says(&d, "\"command\":\"fail\",\"server\":\"0,0,0\"", DONE(0));
    operator_says(&d, "\"command\":\"fail\",\"server\":\"0,0,0\"", DONE(0));
    operator_says(&d, "\"command\":\"status\",\"server\":\"0,0,0\"", "has failed");
    operator_says(&d, "\"command\":\"status\"", "\"server\":\"1,0,0\""); /* the first that runs */
    ck_assert_ptr_null(strstr(operator_ask(&d, "\"command\":\"status\",\"server\":\"all\""), "\"server\":\"0,0,0\""));
    operator_says(&d, "\"command\":\"restore\",\"server\":\"0,0,0\"", DONE(0));
    operator_says(&d, "\"command\":\"cut\",\"args\":[\"+y\"],\"server\":\"0,0,0\"", DONE(-19));
    operator_close(&d);
}
END_TEST

static void info_of_none(const struct shim *s, struct shim_info *out)
{
    (void)s;
    *out = (struct shim_info){.kind = "raw", .mtu = 1500};
    snprintf(out->name, sizeof out->name, "eth9");
    snprintf(out->state, sizeof out->state, "no such interface");
}

static void counters_of_none(struct shim *s, struct shim_counters *out)
{
    (void)s;
    *out = (struct shim_counters){.tx_frames = 0};
}

/* The words of links that no state of an adjacency has (test_adjacency.c has those). */
START_TEST(states_of_links)
{
    static const struct shim_ops ops = {.info = info_of_none, .counters = counters_of_none};
    struct shim absent = {.ops = &ops};
    operator_open(&d, "torus { dims = 3x1x1; coordinate = all }");
    town_settle(d.host, 3);
    struct host_link *link = &host_server(d.host, 0)->link[CW_LINK_XP], was = *link;
    const char *ask = "\"command\":\"links\",\"args\":[\"+x\"],\"server\":\"0,0,0\"";
    operator_says(&d, ask, "\"state\":\"up\"");
    link->shim = NULL;
    operator_says(&d, ask, "\"state\":\"no-interface\"");
    link->shim = &absent;
    link->carrier = false;
    operator_says(&d, ask, "\"state\":\"awaited\"");
    *link = was;
    operator_says(&d, "\"command\":\"links\",\"args\":[\"+z\"],\"server\":\"0,0,0\"", "\"state\":\"none\"");
    operator_close(&d);
}
END_TEST

START_TEST(options)
{
    operator_open(&d, "torus { dims = 2x1x1; coordinate = all }");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"heirs\":0}",
                  "option heirs is a whole number from 1 to 4096");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"heirs\":\"2\"}", DONE(-22));
    operator_says(&d, "\"command\":\"drops\",\"options\":{\"all\":1}", "option all is true or false");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"job\":\"kv\"}", "no service 'kv'");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"job\":77}", DONE(0));
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"dead\":[\"7,7,7\"]}",
                  "is no server");
    operator_close(&d);
}
END_TEST

/* The network runs only where the configuration names it: whoever asks for it learns how to switch it on. */
START_TEST(a_service_that_is_switched_off)
{
    operator_open(&d, "torus { dims = 1x1x1; coordinate = all }");
    operator_says(&d, "\"command\":\"service\",\"args\":[\"ip\",\"status\"]", "section service ip { }");
    operator_says(&d, "\"command\":\"service\",\"args\":[\"ip\",\"status\"]", DONE(-2));
    operator_says(&d, "\"command\":\"service\",\"args\":[\"ipp\",\"status\"]", "did you mean ip?");
    operator_close(&d);
}
END_TEST

/* All forms of a key, against the keyspace. */
START_TEST(keys)
{
    operator_open(&d, "torus { dims = 3x3x3; coordinate = all }");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"000000000000000000000000ffffffffffffffff\"]",
                  "\"home\":\"2,2,2\"");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"1,2,0\"]", "\"home\":\"1,2,0\",\"place\":\"0\"");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"1,2,0:77\"]", "\"home\":\"1,2,0\",\"place\":\"77\"");
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"1,2,0:18446744073709551615\"]", DONE(-34));
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"heirs\":100}", DONE(0));
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"a\"],\"options\":{\"heirs\":5000}", DONE(-22));
    operator_says(&d, "\"command\":\"key-explain\",\"args\":[\"1,2,0:x\"]", DONE(0)); /* a name like any other */
    operator_close(&d);
}
END_TEST

START_TEST(over_a_socket)
{
    char folder[] = "/tmp/cubeway-test-XXXXXX", config[300], path[100], why[CONTROL_WHY];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/d.sock", folder);
    snprintf(config, sizeof config, "torus { dims = 2x1x1; coordinate = all } control { socket = \"%s\"; mode = 0600 }",
             path);
    operator_open(&d, config);
    struct control *control, *second;
    ck_assert_int_eq(commands_open(&control, d.host, &d.commands, why), 0);
    ck_assert_ptr_nonnull(control);
    ck_assert_int_eq(commands_open(&second, d.host, &d.commands, why), -EADDRINUSE);
    control_close(control);
    operator_close(&d);
    ck_assert_int_eq(rmdir(folder), 0);
    operator_open(&d, "torus { dims = 2x1x1; coordinate = all } control { socket = \"\" }");
    ck_assert_int_eq(commands_open(&control, d.host, &d.commands, why), 0);
    ck_assert_ptr_null(control);
    control_close(control);
    operator_close(&d);
}
END_TEST

/*
 * A client goes away while a service works for it, and the answer is heard by nobody; then the host closes with one
 * under way.
 */
START_TEST(nobody_listens)
{
    static const char ask[] =
        "{\"id\":1,\"command\":\"ping\",\"args\":[\"to\",\"1,0,0\"],\"options\":{\"count\":3,\"interval_us\":20000}}";
    operator_open(&d, "torus { dims = 2x1x1; coordinate = all }");
    town_settle(d.host, 2);
    request_take(&d.port, &d.commands, ask, sizeof ask - 1);
    ck_assert_uint_eq(d.port.count, 1);
    request_port_leave(&d.port);
    town_run(d.host, CW_MS(100));
    ck_assert_str_eq(d.said, "");
    request_take(&d.port, &d.commands, ask, sizeof ask - 1);
    operator_close(&d);
    ck_assert_str_eq(d.said, "");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(scopes),        SUITE_TEST(states_of_links),
                                          SUITE_TEST(options),       SUITE_TEST(a_service_that_is_switched_off),
                                          SUITE_TEST(keys),          SUITE_TEST(over_a_socket),
                                          SUITE_TEST(nobody_listens)};
SUITE_MAIN("commands", tests)
