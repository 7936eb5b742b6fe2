/* SPDX-License-Identifier: Apache-2.0 */
/* What --uplink takes. That it leads outside is seen in a lab: tests/net/lab/test_gateways.py. */
#include "testbed/cwlab/outlet.h"

#include "suite.h"

#include <stdlib.h>
#include <string.h>

START_TEST(what_it_takes)
{
    struct lab lab = {.driver = LAB_PROCESS};
    ck_assert_int_eq(outlet_choose(&command_up, &lab), EXIT_USAGE);
    lab.driver = LAB_NETNS;
    setenv("SLIRP4NETNS", "/nowhere/slirp4netns", 1);
    ck_assert_int_eq(outlet_choose(&command_up, &lab), EXIT_USAGE);
    ck_assert_str_eq(lab.gateways, "");
    setenv("SLIRP4NETNS", "/bin/true", 1);
    setenv("NFT", "/bin/true", 1);
    ck_assert_int_eq(outlet_choose(&command_up, &lab), PROGRAM_GO);
    ck_assert_msg(strstr(lab.uplink, "true") != NULL, "%s", lab.uplink);
    ck_assert_str_eq(lab.gateways, "0");
    strcpy(lab.gateways, "4 1");
    ck_assert_int_eq(outlet_choose(&command_up, &lab), PROGRAM_GO);
    ck_assert_str_eq(lab.gateways, "4 1");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_it_takes)};
SUITE_MAIN("outlet", tests)
