/* SPDX-License-Identifier: Apache-2.0 */
/* The services that a configuration names run when the host has loaded them: networks each with a job of its own. */
#include "daemon_town.h"
#include "suite.h"

#include <errno.h>

#define TORUS "torus { dims = 2x1x1; coordinate = all }\n"

static char why[HOST_WHY];

static cw_job job_of(struct host *h, const char *name)
{
    const struct host_service *s = host_service_find(h, name);
    return s != NULL ? s->table->job : 0;
}

START_TEST(networks)
{
    struct host *h = town_open(TORUS "network ip { } network blue { job = 5003; subnet = 10.80.0.0/12 }\n"
                                     "network red { job = 5004; subnet = 10.96.0.0/12; enabled = no }");
    ck_assert_uint_eq(job_of(h, "ip"), 9);
    ck_assert_uint_eq(job_of(h, "blue"), 5003);
    ck_assert_uint_eq(job_of(h, "red"), 0);
    ck_assert(host_service_find(h, "blue")->table != host_service_find(h, "ip")->table);
    ck_assert_str_eq(host_option(h, "blue", "subnet"), "10.80.0.0/12");
    ck_assert_ptr_null(host_option(h, "ip", "subnet"));
    /* They come and go as others do. */
    ck_assert_int_eq(host_service_unload(h, "blue", why), 0);
    ck_assert_uint_eq(job_of(h, "blue"), 0);
    const struct config_option subnet = {"subnet", "10.80.0.0/12"};
    ck_assert_int_eq(host_service_load_with(h, "blue", NULL, NULL, &subnet, 1, why), 0);
    ck_assert_uint_eq(job_of(h, "blue"), 5003);
    host_close(h);
}
END_TEST

START_TEST(what_is_switched_off)
{
    struct host *h = town_open(TORUS "service bench { enabled = no } service ping { weight = 3 }");
    ck_assert_ptr_null(host_service_find(h, "bench"));
    ck_assert_uint_eq(host_service_find(h, "ping")->policy.weight, 3);
    ck_assert_ptr_nonnull(host_service_find(h, "trace")); /* it is not spoken of */
    ck_assert_ptr_null(host_service_find(h, "ip"));
    host_close(h);
}
END_TEST

START_TEST(what_cannot_be_had)
{
    struct daemon_config config = town_config(TORUS "network blue { job = 5003 }");
    struct host_options options = {.config = &config, .incarnation = 1000};
    struct host *h = NULL;
    ck_assert_msg(host_open(&h, &options, why) == 0, "%s", why);
    ck_assert_int_lt(host_load_configured(h, why), 0); /* a network has a subnet */
    ck_assert_ptr_nonnull(strstr(why, "blue"));
    ck_assert_int_eq(host_service_load(h, "green", NULL, NULL, why), -ENOENT);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(networks), SUITE_TEST(what_is_switched_off),
                                          SUITE_TEST(what_cannot_be_had)};
SUITE_MAIN("configured", tests)
