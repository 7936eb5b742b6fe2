/* SPDX-License-Identifier: Apache-2.0 */
/* test_modules.c - services come and go on all servers at once. */
#include "daemon/host/internal.h"
#include "daemon_town.h"
#include "suite.h"

#include <errno.h>

static const char torus[] = "torus { dims = 2x2x1; coordinate = all }";

START_TEST(built_in_ones_run_everywhere)
{
    struct host *h = town_open(torus);
    ck_assert_ptr_nonnull(host_service_find(h, "ping"));
    ck_assert_ptr_nonnull(host_service_find(h, "bench"));
    ck_assert_ptr_null(host_service_find(h, "kv"));
    unsigned count = host_service_count(h);
    ck_assert_str_eq(host_service_at(h, 0)->table->name, "ping");
    char why[HOST_WHY];
    ck_assert_int_eq(host_service_load(h, "ping", NULL, NULL, why), -EEXIST);
    ck_assert_ptr_nonnull(strstr(why, "runs already"));
    ck_assert_uint_eq(host_service_count(h), count);
    ck_assert_int_eq(host_service_unload(h, "bench", why), 0);
    ck_assert_int_eq(host_service_unload(h, "bench", why), -ENOENT);
    ck_assert_uint_eq(host_service_count(h), count - 1);
    town_settle(h, 4);
    ck_assert_int_eq(host_service_load(h, "bench", "", NULL, why), 0);
    host_close(h);
}
END_TEST

START_TEST(some_are_switched_off_and_some_are_heavy)
{
    struct host *h = town_open(
        "torus { dims = 2x2x1; coordinate = all } service bench { enabled = no } service ping { weight = 77 }");
    ck_assert_ptr_null(host_service_find(h, "bench"));
    ck_assert_uint_eq(host_service_find(h, "ping")->policy.weight, 77);
    struct node_service_policy policy = host_service_find(h, "ping")->policy;
    char why[HOST_WHY];
    policy.weight = 5;
    ck_assert_int_eq(host_service_policy(h, "ping", &policy, why), 0);
    ck_assert_uint_eq(host_service_find(h, "ping")->policy.weight, 5);
    policy.weight = 0;
    ck_assert_int_eq(host_service_policy(h, "ping", &policy, why), -EINVAL);
    ck_assert_int_eq(host_service_policy(h, "kv", &policy, why), -ENOENT);
    ck_assert_uint_eq(host_service_find(h, "ping")->policy.weight, 5);
    host_close(h);
}
END_TEST

START_TEST(what_cannot_be_loaded_is_said)
{
    struct host *h = town_open(torus);
    char why[HOST_WHY];
    unsigned count = host_service_count(h);
    ck_assert_int_eq(host_service_load(h, "kv", NULL, NULL, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "kv: no service of this name is built in"));
    ck_assert_int_eq(host_service_load(h, NULL, "/nowhere/kv.so", NULL, why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why, "/nowhere/kv.so"));
    ck_assert_int_lt(host_service_load(h, NULL, NULL, NULL, why), 0);
    ck_assert_uint_eq(host_service_count(h), count);
    host_close(h);
}
END_TEST

/* By the table of the module, or by the name that the configuration gives it. */
START_TEST(a_module_has_no_name_of_a_built_in_one)
{
    struct host *h = town_open(torus);
    char why[HOST_WHY];
    struct host_service_about about;
    unsigned count = host_service_count(h);
    ck_assert_int_eq(host_service_load(h, NULL, MODULES "/builtin_name.so", NULL, why), -ENOEXEC);
    ck_assert_str_eq(why, MODULES "/builtin_name.so: its service is called ping, as one that is built in: give it "
                                  "another name");
    ck_assert_int_eq(host_service_check(h, NULL, MODULES "/builtin_name.so", true, &about, why), -ENOEXEC);
    ck_assert_int_eq(host_service_load(h, "ping", MODULES "/hitcount.so", NULL, why), -EINVAL);
    ck_assert_str_eq(why, MODULES "/hitcount.so: its service is called hitcount, not ping: name it so");
    ck_assert_uint_eq(host_service_count(h), count);
    ck_assert_str_eq(host_service_find(h, "ping")->file, ""); /* the built-in one still runs */
    host_close(h);
}
END_TEST

START_TEST(options_reach_their_service)
{
    struct config_option good = {"timeout_us", "5000"}, bad = {"timeout_us", "never"},
                         strange[] = {good, {"colour", "red"}};
    struct host *h =
        town_open("torus { dims = 2x2x1; coordinate = all } service ping { options { timeout_us = 7000 } }");
    char why[HOST_WHY];
    ck_assert_str_eq(host_option(h, "ping", "timeout_us"), "7000");
    ck_assert_ptr_null(host_option(h, "ping", "colour"));
    ck_assert_ptr_null(host_option(h, "bench", "timeout_us"));
    ck_assert_ptr_null(host_option(h, "nobody", "timeout_us"));
    ck_assert_int_eq(host_service_unload(h, "ping", why), 0);
    unsigned count = host_service_count(h);
    ck_assert_int_eq(host_service_load_with(h, "ping", NULL, NULL, strange, 2, why), -EINVAL);
    ck_assert_str_eq(why, "service ping: it has no option colour");
    struct config_option misspelt = {"timeout_su", "5000"};
    ck_assert_int_eq(host_service_load_with(h, "ping", NULL, NULL, &misspelt, 1, why), -EINVAL);
    ck_assert_str_eq(why, "service ping: it has no option timeout_su; did you mean timeout_us?");
    ck_assert_int_eq(host_service_load_with(h, "ping", NULL, NULL, &bad, 1, why), -EINVAL);
    ck_assert_int_eq(host_service_load_with(h, "bench", NULL, NULL, NULL, 0, why), -EEXIST);
    ck_assert_uint_eq(host_service_count(h), count);
    ck_assert_int_eq(host_service_load_with(h, "ping", NULL, NULL, &good, 1, why), 0);
    const char *value = host_option(h, "ping", "timeout_us");
    ck_assert_str_eq(value, "5000");
    /* A service may keep it, whatever others come and go. */
    ck_assert_int_eq(host_service_unload(h, "bench", why), 0);
    ck_assert_int_eq(host_service_load(h, "bench", NULL, NULL, why), 0);
    ck_assert_ptr_eq(host_option(h, "ping", "timeout_us"), value);
    /* A server that starts again asks again. */
    ck_assert_int_eq(host_fail(host_server(h, 1)), 0);
    ck_assert_int_eq(host_restore(host_server(h, 1)), 0);
    town_settle(h, 4);
    host_close(h);
}
END_TEST

/* A service that another one has found outlives that one. */
START_TEST(who_is_used_stays)
{
    struct host *h = town_open(torus);
    char why[HOST_WHY];
    town_settle(h, 4);
    ck_assert_int_eq(host_service_unload(h, "multicast", why), -EBUSY);
    ck_assert_str_eq(why, "multicast: the service aggregate uses it: unload aggregate first");
    ck_assert_ptr_nonnull(host_service_find(h, "multicast"));
    ck_assert_int_eq(host_service_unload(h, "aggregate", why), 0);
    ck_assert_int_eq(host_service_unload(h, "multicast", why), 0);
    ck_assert_int_eq(host_service_load(h, "aggregate", NULL, NULL, why), 0);
    ck_assert_int_eq(host_service_load(h, "multicast", NULL, NULL, why), 0);
    town_settle(h, 4);
    host_close(h); /* aggregate, which came first, closes first */
}
END_TEST

static void reload(struct host *h, const char *file, int rc)
{
    struct host_service_about was, is;
    char why[HOST_WHY];
    int got = host_service_reload(h, file, &was, &is, why);
    ck_assert_msg(got == rc, "%s: %d %s", file, got, why);
}

/* "0.2" runs, and "0.1" would run after an undo. */
static void undo(struct host *h, bool taken_back, const char *from, const char *to)
{
    struct host_service_about was, is;
    char why[HOST_WHY];
    ck_assert_msg(host_service_check_undo(h, "builds", &was, &is, why) == 0, "%s", why);
    ck_assert_str_eq(is.version, to);
    ck_assert_str_eq(host_service_find(h, "builds")->table->version, from);
    ck_assert_msg(host_service_undo(h, "builds", taken_back, &was, &is, why) == 0, "%s", why);
    ck_assert_str_eq(was.version, from);
    ck_assert_str_eq(is.version, to);
    ck_assert_str_eq(host_service_find(h, "builds")->table->version, to);
}

/* A build that is refused, here or by another daemon, does not count for what an undo puts back. */
START_TEST(an_undo_goes_back_before_what_was_refused)
{
    struct host *h = town_open(torus);
    struct host_service_about was, is;
    char why[HOST_WHY];
    ck_assert_int_eq(host_service_load(h, NULL, BUILDS "/build1.so", NULL, why), 0);
    ck_assert_int_eq(host_service_undo(h, "builds", false, &was, &is, why), -ENOENT);
    reload(h, BUILDS "/build2.so", 0);
    reload(h, BUILDS "/build3.so", -EIO); /* one server refuses */
    undo(h, false, "0.2", "0.1");
    undo(h, false, "0.1", "0.2");
    reload(h, BUILDS "/build4.so", 0);
    undo(h, true, "0.4", "0.2"); /* another daemon has refused it */
    undo(h, false, "0.2", "0.1");
    undo(h, false, "0.1", "0.2");
    reload(h, BUILDS "/build1.so", 0);
    undo(h, true, "0.1", "0.2");
    reload(h, BUILDS "/build4.so", 0);
    ck_assert_int_eq(host_service_unload(h, "builds", why), 0);
    ck_assert_int_eq(host_service_load(h, NULL, BUILDS "/build1.so", NULL, why), 0);
    reload(h, BUILDS "/build2.so", 0);
    undo(h, true, "0.2", "0.1");
    ck_assert_int_eq(host_service_check_undo(h, "builds", &was, &is, why), -ENOENT);
    ck_assert_int_eq(host_service_undo(h, "builds", false, &was, &is, why), -ENOENT);
    host_close(h);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_module_has_no_name_of_a_built_in_one),
    SUITE_TEST(an_undo_goes_back_before_what_was_refused),
    SUITE_TEST(options_reach_their_service),
    SUITE_TEST(who_is_used_stays),
    SUITE_TEST(built_in_ones_run_everywhere),
    SUITE_TEST(some_are_switched_off_and_some_are_heavy),
    SUITE_TEST(what_cannot_be_loaded_is_said),
};
SUITE_MAIN("modules", tests)
