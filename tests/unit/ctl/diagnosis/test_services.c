/* SPDX-License-Identifier: Apache-2.0 */
/* test_services.c - a server that lacks a service is named, with the command that loads it. */
#include "ctl/diagnosis/diagnosis.h"
#include "ctl/diagnosis/services.h"

#include "suite.h"

#include <string.h>

static struct rows rows;

static void about(const char *server)
{
    struct message *m = message_open();
    message_text(m, "part", "about");
    message_text(m, "server", server);
    message_text(m, "version", "1.0");
    rows_add(&rows, m);
}

static void runs(const char *server, const char *build, const char *options)
{
    struct message *m = message_open();
    message_text(m, "part", "service");
    message_text(m, "server", server);
    message_text(m, "service", "lock");
    message_text(m, "build", build);
    message_text(m, "file", "/b/lock.so");
    message_text(m, "options", options);
    rows_add(&rows, m);
}

/* Of servers 0,0,0 to 3,0,0 all but the last one run it alike. */
static void begin(const char *build, const char *options)
{
    static const char *const servers[] = {"0,0,0", "1,0,0", "2,0,0", "3,0,0"};
    rows_clear(&rows);
    for (size_t i = 0; i < 4; i++) {
        about(servers[i]);
        if (i < 3) {
            runs(servers[i], build, options);
        }
    }
}

static void expect(const char *text, const char *action)
{
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_str_eq(message_get_text(rows.row[0], "server", ""), "3,0,0");
    ck_assert_str_eq(message_get_text(rows.row[0], "text", ""), text);
    ck_assert_str_eq(message_get_text(rows.row[0], "do", ""), action);
    rows_clear(&rows);
}

/* What runs is the network that is built in, and no service from a file. */
static void make_networks(void)
{
    for (size_t i = 0; i < rows.count; i++) {
        if (message_has(rows.row[i], "file")) {
            message_text(rows.row[i], "service", "ip");
            message_text(rows.row[i], "file", "");
        }
    }
}

/* Networks are built in, so nobody loads them, and a server may have none; with other subnets it is apart. */
START_TEST(a_network_apart)
{
    begin("", "");
    make_networks();
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 0);
    begin("", "");
    runs("3,0,0", "", "subnet=10.80.0.0/12");
    make_networks();
    expect("network ip of 3,0,0 (subnet=10.80.0.0/12) is not that of 3 of 4 servers (none): where its addresses "
           "are others, too, their programs cannot speak with one another",
           "on 3,0,0: write the same options into network ip { } of cubewayd.conf, then: systemctl restart cubewayd");
}
END_TEST

START_TEST(one_that_lacks_it)
{
    begin("aa", "");
    expect("service lock does not run on 3,0,0, and runs on 3 of 4 servers: what is sent to it there is dropped",
           "on 3,0,0: cwctl services load /b/lock.so");
    begin("aa", "term_ms=50 naive=no");
    expect("service lock does not run on 3,0,0, and runs on 3 of 4 servers: what is sent to it there is dropped",
           "on 3,0,0: cwctl services load /b/lock.so --option term_ms=50 --option naive=no");
}
END_TEST

START_TEST(one_that_differs)
{
    begin("aa", "");
    runs("3,0,0", "bb", "");
    expect("service lock on 3,0,0 is build bb, and build aa on 3 of 4 servers",
           "on 3,0,0: cwctl services reload /b/lock.so");
    begin("aa", "");
    runs("3,0,0", "aa", "naive=yes");
    expect("service lock on 3,0,0 runs with other options (naive=yes) than on 3 of 4 servers (none)",
           "on 3,0,0: cwctl services unload lock; the doctor then says how to load it");
}
END_TEST

/* The share of the links is part of how a service runs. */
START_TEST(one_with_another_share)
{
    begin("aa", "a=b");
    for (size_t i = 0; i < rows.count; i++) {
        message_integer(rows.row[i], "weight", 20);
        message_text(rows.row[i], "class", "background");
    }
    expect("service lock does not run on 3,0,0, and runs on 3 of 4 servers: what is sent to it there is dropped",
           "on 3,0,0: cwctl services load /b/lock.so --weight 20 --background --option a=b");
    begin("aa", "");
    runs("3,0,0", "aa", "");
    message_integer(rows.row[rows.count - 1], "weight", 7);
    expect("service lock on 3,0,0 has weight 7, and weight 10 on 3 of 4 servers",
           "on 3,0,0: cwctl services weight lock 10");
    begin("aa", "");
    runs("3,0,0", "aa", "");
    message_text(rows.row[rows.count - 1], "class", "background");
    expect("service lock on 3,0,0 has weight 10 in the background, and weight 10 on 3 of 4 servers",
           "on 3,0,0: cwctl services unload lock; the doctor then says how to load it");
}
END_TEST

START_TEST(all_alike_or_few)
{
    begin("aa", "");
    runs("3,0,0", "aa", "");
    diagnose_services(&rows);
    ck_assert_uint_eq(rows.count, 8);
    rows_clear(&rows);
    about("0,0,0");
    about("1,0,0");
    runs("1,0,0", "aa", ""); /* on half of them: it may be meant so */
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 0);
    diagnose(&rows);
    ck_assert_uint_eq(rows.count, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(one_that_lacks_it),      SUITE_TEST(a_network_apart),  SUITE_TEST(one_that_differs),
    SUITE_TEST(one_with_another_share), SUITE_TEST(all_alike_or_few),
};
SUITE_MAIN("diagnosis_services", tests)
