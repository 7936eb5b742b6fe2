/* SPDX-License-Identifier: Apache-2.0 */
/* test_module_options.c - what operators set for a service, and why it refuses. */
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "suite.h"

#include <errno.h>

static const char torus[] = "torus { dims = 2x2x1; coordinate = all }";

/* bench knows the option "source"; multicast refuses a bad value of "folder" in its log. */
START_TEST(options_are_told_as_they_were_given)
{
    struct host *h = town_open(torus);
    char why[HOST_WHY], text[HOST_WHY];
    const struct config_option given = {.name = "folder", .value = "/tmp"};
    ck_assert_str_eq(host_service_options(host_service_at(h, 0), text, sizeof text), "");
    ck_assert_int_eq(host_service_unload(h, "multicast", why), 0);
    ck_assert_int_eq(host_service_load_with(h, "multicast", NULL, NULL, &given, 1, why), 0);
    ck_assert_str_eq(host_service_options(host_service_find(h, "multicast"), text, sizeof text), "folder=/tmp");
    ck_assert_str_eq(host_service_options(host_service_find(h, "multicast"), text, 5), "fold");
    ck_assert_str_eq(host_option(h, "multicast", "folder"), "/tmp");
    ck_assert_ptr_null(host_option(h, "multicast", "colour"));
    host_close(h);
}
END_TEST

START_TEST(a_refusal_is_the_services_own_sentence)
{
    struct host *h = town_open(torus);
    char why[HOST_WHY];
    const struct config_option bad = {.name = "part_age", .value = "blue"};
    unsigned count = host_service_count(h);
    ck_assert_int_eq(host_service_unload(h, "multicast", why), 0);
    ck_assert_int_eq(host_service_load_with(h, "multicast", NULL, NULL, &bad, 1, why), -EINVAL);
    ck_assert_msg(strstr(why, "service multicast: option part_age") == why, "%s", why);
    ck_assert_uint_eq(host_service_count(h), count - 1);
    host_note_refusal(h, "ping", CW_LOG_ERROR, "nobody is being opened");
    ck_assert_ptr_null(strstr(h->refusal, "nobody"));
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(options_are_told_as_they_were_given),
    SUITE_TEST(a_refusal_is_the_services_own_sentence),
};
SUITE_MAIN("module_options", tests)
