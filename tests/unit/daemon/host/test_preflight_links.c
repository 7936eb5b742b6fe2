/* SPDX-License-Identifier: Apache-2.0 */
/* test_preflight_links.c - interfaces that will not carry what they should are told of in advance. */
#include "daemon/host/preflight_links.h"

#include "netns.h"
#include "preflight_look.h"

/* Interfaces that are there, and will not do: one is switched off, one carries shorter frames than the other. */
START_TEST(interfaces_that_are_off_or_narrow)
{
    static const char links[] = "torus { dims = 3x1x1; coordinate = '0,0,0' }\n"
                                "control { socket = '' } state_dir = /tmp\n"
                                "links {\n"
                                "  +x { shim = raw; interface = wide }\n"
                                "  -x { shim = raw; interface = thin }\n"
                                "}\n";
    char text[400];
    struct said said;
    if (!netns_can()) {
        return; /* and says why */
    }
    netns_enter();
    netns_veth("wide", "wide-far", 9000, -1);
    netns_veth("thin", "thin-far", 1500, -1);
    struct preflight p = look(links, &said);
    expect(&said, "F:5: warning: links.-x.interface: thin: its mtu is 1500, and others here have 9000: all frames are "
                  "cut to 1500, and neighbours with longer ones refuse this server (ip link set thin mtu 9000)");
    ck_assert_uint_eq(p.mistakes, 0);
    ck_assert_uint_eq(p.warnings, 1);
    netns_mtu("thin", 9000);
    netns_up("thin", false);
    p = look(links, &said);
    expect(&said, "F:5: warning: links.-x.interface: thin: the interface is switched off (ip link set thin up)");
    ck_assert_uint_eq(p.warnings, 1);
    netns_up("thin", true);
    netns_mtu("thin", 1500);
    snprintf(text, sizeof text, "%smtu = 1500\n", links); /* then nothing is cut by surprise */
    p = look(text, &said);
    ck_assert_msg(p.mistakes + p.warnings == 0, "%s", said.text[0]);
    snprintf(text, sizeof text, "%smtu = 9000\n", links);
    p = look(text, &said);
    ck_assert_uint_ge(p.mistakes, 1);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(interfaces_that_are_off_or_narrow)};
SUITE_MAIN("preflight_links", tests)
