/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no right: which links may have a relay, and what is said where none is. */
#include "daemon/machine/transit.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static struct shim *const none[CW_LINK_COUNT];

static struct daemon_config config_of(enum config_transit transit)
{
    struct daemon_config config = config_default();
    config.transit = transit;
    config.link[CW_LINK_XP].shim = CONFIG_UDP;
    return config;
}

START_TEST(user_space_by_choice)
{
    struct daemon_config config = config_of(CONFIG_TRANSIT_USER);
    struct transit *t;
    char why[TRANSIT_WHY];
    ck_assert_int_eq(transit_open(&t, &config, none, NULL, why), 0);
    ck_assert_str_eq(why, "");
    ck_assert_uint_eq(transit_links(t), 0);
    ck_assert_ptr_null(transit_state(t));
    ck_assert_str_eq(transit_missing(t), "transit = user");
    ck_assert_str_eq(transit_why(t, NULL, CW_LINK_XP), "its shim is not raw");
    ck_assert_str_eq(transit_why(t, NULL, CW_LINK_XM), "it has no interface");
    ck_assert(!transit_turn(t));
    transit_close(t);
}
END_TEST

START_TEST(no_link_is_fit)
{
    struct daemon_config config = config_of(CONFIG_TRANSIT_AUTO);
    struct transit *t;
    char why[TRANSIT_WHY];
    config.link[CW_LINK_YP] = (struct config_link){.shim = CONFIG_RAW, .io_thread = true};
    config.link[CW_LINK_YM] = (struct config_link){.shim = CONFIG_RAW, .fault = {.loss_ppm = 1}};
    ck_assert_int_eq(transit_open(&t, &config, none, NULL, why), 0);
    ck_assert_str_ne(transit_missing(t), "");
    ck_assert_str_eq(transit_why(t, NULL, CW_LINK_YP), "it has a thread of its own");
    ck_assert_str_eq(transit_why(t, NULL, CW_LINK_YM), "a fault is injected there");
    ck_assert(transit_is_on(t));
    transit_switch(t, false);
    ck_assert(!transit_is_on(t));
    transit_close(t);
}
END_TEST

START_TEST(the_kernel_or_nothing)
{
    struct daemon_config config = config_of(CONFIG_TRANSIT_KERNEL);
    struct transit *t;
    char why[TRANSIT_WHY];
    ck_assert_int_eq(transit_open(&t, &config, none, NULL, why), -EOPNOTSUPP);
    ck_assert_ptr_nonnull(strstr(why, "raw shim"));
}
END_TEST

/* Nothing is loaded for a torus that the program has no room for, so that transit = kernel does not start. */
START_TEST(a_torus_that_is_too_large)
{
    struct transit *t;
    char why[TRANSIT_WHY];
    struct shim *const shims[CW_LINK_COUNT] = {[CW_LINK_YP] = (struct shim *)why}; /* only looked at for NULL */
    struct daemon_config config = config_of(CONFIG_TRANSIT_KERNEL);
    config.link[CW_LINK_YP] = (struct config_link){.shim = CONFIG_RAW};
    config.dims = (cw_dims){17, 16, 16};
    ck_assert_int_eq(transit_open(&t, &config, shims, NULL, why), -E2BIG);
    ck_assert_ptr_nonnull(strstr(why, "the torus has more than 4096 servers"));
    config.transit = CONFIG_TRANSIT_AUTO;
    ck_assert_int_eq(transit_open(&t, &config, shims, NULL, why), 0);
    ck_assert_ptr_null(transit_state(t));
    ck_assert_ptr_nonnull(strstr(transit_missing(t), "the torus has more than 4096 servers"));
    ck_assert_str_eq(transit_why(t, NULL, CW_LINK_YP), transit_missing(t));
    transit_close(t);
}
END_TEST

START_TEST(inside_one_process_there_is_none)
{
    ck_assert_ptr_null(transit_state(NULL));
    ck_assert(!transit_turn(NULL));
    transit_begin(NULL, NULL);
    transit_carrier(NULL, CW_LINK_XP, true);
    transit_sent(NULL, CW_LINK_XP, 100, (cw_time){1});
    ck_assert_uint_eq(transit_publish(NULL, NULL, NULL, (cw_time){1}), 0);
    ck_assert_str_ne(transit_why(NULL, NULL, CW_LINK_XP), "kernel");
    transit_close(NULL);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(user_space_by_choice),
    SUITE_TEST(no_link_is_fit),
    SUITE_TEST(the_kernel_or_nothing),
    SUITE_TEST(a_torus_that_is_too_large),
    SUITE_TEST(inside_one_process_there_is_none),
};
SUITE_MAIN("daemon/host/transit", tests)
