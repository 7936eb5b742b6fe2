/* SPDX-License-Identifier: Apache-2.0 */
/* test_links.c - the words of a configuration become shims, or one sentence that names the link. */
#include "daemon/machine/links.h"
#include "daemon_said.h"
#include "suite.h"

#define TORUS "torus { dims = 3x3x3; coordinate = '0,0,0' }\n"

static struct daemon_config config_of(const char *text)
{
    struct daemon_config c;
    struct said said;
    ck_assert_msg(try_config(text, &c, &said) == 0, "%s", said.text[0]);
    return c;
}

START_TEST(udp_with_a_fault_around_it)
{
    struct daemon_config c =
        config_of(TORUS "mtu = 1500; links { +y { shim = udp; local = 127.0.0.1:46464; remote = 127.0.0.1:9;"
                        " rate = 1mbit; fault { loss = 100% } } }");
    struct shim *shims[CW_LINK_COUNT];
    struct shim_info info;
    char why[LINKS_WHY];
    ck_assert_msg(links_open_all(&c, shims, why) == 0, "%s", why);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ck_assert_int_eq(shims[link] != NULL, link == CW_LINK_YP);
    }
    shim_info(shims[CW_LINK_YP], &info);
    ck_assert_uint_eq(info.mtu, 1500);
    links_close_all(shims);
    ck_assert_ptr_null(shims[CW_LINK_YP]);
}
END_TEST

START_TEST(a_link_may_have_a_thread)
{
    static const char *const ways[] = {"mtu = 1500; links { +y { shim = udp; local = 127.0.0.1:46464;"
                                       " remote = 127.0.0.1:9; io_thread = yes; fault { loss = 1% } } }",
                                       "mtu = 1500; pump { io_threads = yes } links { +y { shim = udp;"
                                       " local = 127.0.0.1:46464; remote = 127.0.0.1:9 } }"};
    for (size_t i = 0; i < 2; i++) {
        char text[512], why[LINKS_WHY];
        struct shim *shim;
        struct shim_info info;
        snprintf(text, sizeof text, TORUS "%s", ways[i]);
        struct daemon_config c = config_of(text);
        ck_assert_msg(links_open(&c, CW_LINK_YP, &shim, why) == 0, "%s", why);
        shim_info(shim, &info);
        ck_assert_ptr_nonnull(strstr(info.name, "on a thread"));
        shim_close(shim);
    }
}
END_TEST

START_TEST(all_that_fail_are_named)
{
    struct daemon_config c =
        config_of(TORUS "links { +x { shim = pcap; interface = cwnone0 } -z { shim = pcap; interface = cwnone1 }"
                        " +y { shim = udp; local = 127.0.0.1:46464; remote = 127.0.0.1:9 } }");
    struct shim *shims[CW_LINK_COUNT];
    char why[LINKS_WHY];
    ck_assert_int_lt(links_open_all(&c, shims, why), 0);
    ck_assert_msg(strstr(why, "+x: cwnone0: ") != NULL && strstr(why, "-z: cwnone1: ") != NULL, "%s", why);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        ck_assert_ptr_null(shims[link]);
    }
}
END_TEST

START_TEST(a_port_in_use_is_said)
{
    struct daemon_config c =
        config_of(TORUS "links { +x { shim = udp; local = 127.0.0.1:46463; remote = 127.0.0.1:9 } }");
    struct shim *first, *second;
    char why[LINKS_WHY];
    ck_assert_msg(links_open(&c, CW_LINK_XP, &first, why) == 0, "%s", why);
    ck_assert_int_eq(links_open(&c, CW_LINK_XP, &second, why), -EADDRINUSE);
    ck_assert_msg(strstr(why, "+x: ") == why, "%s", why);
    shim_close(first);
}
END_TEST

START_TEST(no_fault_no_wrapper)
{
    struct config_fault none = {.seed = 4};
    struct shim *shim = NULL;
    char why[LINKS_WHY];
    ck_assert_int_eq(links_wrap(&shim, &none, 1, why), 0);
    ck_assert_ptr_null(shim);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(udp_with_a_fault_around_it), SUITE_TEST(a_link_may_have_a_thread), SUITE_TEST(all_that_fail_are_named),
    SUITE_TEST(a_port_in_use_is_said),      SUITE_TEST(no_fault_no_wrapper),
};
SUITE_MAIN("links", tests)
