/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_doctor_boot.c - the row about a server, and a bootstrap that has found nothing. Servers without a place take
 * cables: net.lab.cmd_doctor has them.
 */
#include "daemon/doctor/doctor_boot.h"

#include "daemon_town.h"
#include "rows_said.h"
#include "suite.h"

static struct rows_said said;

START_TEST(about_the_server)
{
    struct host *h = town_open("torus { dims = 2x2x2; coordinate = all }");
    struct rows_reader reader = rows_said_reader(&said);
    doctor_about(h, &reader, "0,0,0");
    ck_assert_uint_eq(said.count, 1);
    ck_assert(rows_said_find(&said, "server=0,0,0 part=about version=") != NULL);
    host_close(h);
}
END_TEST

START_TEST(who_does_not_search_has_found_nothing)
{
    struct host *h = town_open("torus { dims = 2x2x2; coordinate = all }");
    struct rows_reader reader = rows_said_reader(&said);
    ck_assert_uint_eq(doctor_search(h, &reader), 0);
    ck_assert_uint_eq(said.count, 1);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(about_the_server),
    SUITE_TEST(who_does_not_search_has_found_nothing),
};
SUITE_MAIN("doctor_boot", tests)
