/* SPDX-License-Identifier: Apache-2.0 */
/* test_host.c - opening: a torus of one process, one server on given links, and what is refused. */
#include "daemon_town.h"
#include "shim/pair.h"
#include "suite.h"

#include <errno.h>

/* Two hosts of one server each, joined by cables inside this process, as two daemons are by real ones. */
static struct host *open_one(const char *text, struct shim *xp, struct shim *xm)
{
    struct daemon_config config = town_config(text);
    struct shim *shims[CW_LINK_COUNT] = {xp, xm};
    struct host_options options = {.config = &config, .incarnation = 1000, .shim = shims};
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_msg(host_open(&h, &options, why) == 0, "%s", why);
    return h;
}

START_TEST(two_hosts_on_given_links)
{
    struct shim *a[2], *b[2];
    ck_assert_int_eq(pair_open(a, "a", 3000, PAIR_DEPTH), 0);
    ck_assert_int_eq(pair_open(b, "b", 2000, PAIR_DEPTH), 0);
    struct host *left = open_one("torus { dims = 2x1x1; coordinate = '0,0,0' }", a[0], b[0]);
    struct host *right = open_one("torus { dims = 2x1x1; coordinate = '1,0,0' }", b[1], a[1]);
    ck_assert_uint_eq(host_mtu(left), 2000); /* of the narrower */
    cw_time end = cw_time_add(clock_now(), CW_SEC(10));
    while (!town_is_whole(left, 2) || !town_is_whole(right, 2)) {
        ck_assert(cw_time_before(clock_now(), end));
        host_turn(left, CW_NS(0));
        host_turn(right, CW_NS(0));
    }
    ck_assert_int_eq(host_fail(host_server(left, 0)), -EOPNOTSUPP);
    ck_assert_int_eq(host_cut(host_server(left, 0), CW_LINK_XP, true), -EOPNOTSUPP);
    ck_assert_ptr_eq(host_find(left, (cw_coord){0, 0, 0}), host_server(left, 0));
    ck_assert_ptr_null(host_find(left, (cw_coord){1, 0, 0}));
    host_close(left);
    host_close(right);
}
END_TEST

START_TEST(a_link_that_is_too_narrow)
{
    struct shim *ends[2];
    struct daemon_config config = town_config("torus { dims = 2x1x1; coordinate = '0,0,0' } mtu = 5000");
    ck_assert_int_eq(pair_open(ends, "thin", 1500, PAIR_DEPTH), 0);
    struct shim *shims[CW_LINK_COUNT] = {ends[0]};
    struct host_options options = {.config = &config, .incarnation = 1, .shim = shims};
    struct host *h = NULL;
    char why[HOST_WHY];
    ck_assert_int_eq(host_open(&h, &options, why), -EMSGSIZE);
    ck_assert_str_eq(why, "thin: its mtu is 1500, at least 5000 is needed");
    shim_close(ends[0]); /* still the caller's */
    shim_close(ends[1]);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(two_hosts_on_given_links), SUITE_TEST(a_link_that_is_too_narrow)};
SUITE_MAIN("host", tests)
