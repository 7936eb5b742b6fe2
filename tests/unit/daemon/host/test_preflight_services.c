/* SPDX-License-Identifier: Apache-2.0 */
/* test_preflight_services.c - options of services are tried, each by itself. */
#include "daemon/host/preflight_services.h"

#include "preflight_look.h"

START_TEST(options_are_tried)
{
    struct said said;
    struct preflight p = look(WHOLE "service kvcache {\n"
                                    "  options {\n"
                                    "    lisen = none\n"
                                    "    connections = many\n"
                                    "    idle_s = never\n"
                                    "  }\n"
                                    "}\n"
                                    "service ping { options { timeout_us = x } }\n"
                                    "service bench { enabled = no; options { whatever = 1 } }\n",
                              &said);
    expect(&said, "F:5: service \"kvcache\".options.lisen: it has no option lisen; did you mean listen?");
    ck_assert_uint_eq(p.mistakes, 4);
    ck_assert_uint_eq(p.warnings, 0);
}
END_TEST

/* The size of the torus and of its frames are those that are configured. */
START_TEST(options_are_tried_on_the_torus_that_is_meant)
{
    struct said said;
    struct preflight p = look(WHOLE "service ip { options { subnet = 10.1.0.0/24 } }\n", &said);
    expect(&said, "F:3: service \"ip\".options.subnet: '10.1.0.0/24': expected a subnet of /19 or shorter, since 27 "
                  "servers need a /24 each");
    ck_assert_uint_eq(p.mistakes, 1);
    p = look(WHOLE "mtu = 2000\nservice ip { options { mtu = 2000 } }\n", &said);
    ck_assert_msg(strstr(said.text[0], "service \"ip\".options.mtu: '2000': expected auto, or 1280 to 19") != NULL,
                  "%s", said.text[0]);
    ck_assert_uint_eq(p.mistakes, 1);
    p = look("torus { dims = 1x1x1; coordinate = all }\ncontrol { socket = '' }\n"
             "service ip { options { subnet = 10.1.0.0/24 } }\n",
             &said);
    ck_assert_msg(p.mistakes == 0, "%s", said.text[0]);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(options_are_tried),
                                          SUITE_TEST(options_are_tried_on_the_torus_that_is_meant)};
SUITE_MAIN("preflight_services", tests)
