/* SPDX-License-Identifier: Apache-2.0 */
/* What would keep the device of a network from being made is told in advance, with its line. */
#include "daemon/listeners/tun_check.h"

#include "daemon_said.h"
#include "netns.h"
#include "suite.h"

#include <net/if.h>
#include <stdlib.h>
#include <unistd.h>

#define HERE "torus { dims = 3x3x3; coordinate = '0,0,0' }\n"

/* What is said of a file with this text. */
static struct preflight look(const char *text, struct said *said)
{
    struct daemon_config c;
    char file[] = "/tmp/cubeway-tun-check-XXXXXX";
    struct preflight p = {.mistake = say, .warning = say, .context = said};
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    *said = (struct said){.count = 0};
    ck_assert_int_eq(config_load_most(file, &c, say, said), 0);
    tun_check(&c, &p);
    unlink(file);
    return p;
}

static void expect(const char *text, const char *line, const char *says)
{
    struct said said;
    struct preflight p = look(text, &said);
    ck_assert_msg(p.mistakes == 1 && said.count == 1, "%u of %s", p.mistakes, says);
    ck_assert_msg(strstr(said.text[0], line) != NULL, "%s", said.text[0]);
    ck_assert_msg(strstr(said.text[0], says) != NULL, "%s", said.text[0]);
}

START_TEST(nothing_is_wrong)
{
    struct said said;
    netns_enter();
    ck_assert_uint_eq(look(HERE, &said).mistakes, 0);
    ck_assert_uint_eq(look(HERE "service ip { enabled = no; options { device = 'a b' } }\n", &said).mistakes, 0);
    if (access("/dev/net/tun", R_OK | W_OK) == 0) {
        struct preflight p = look(HERE "service ip { }\n", &said);
        ck_assert_msg(p.mistakes + p.warnings == 0, "%s", said.text[0]);
        ck_assert_uint_eq(if_nametoindex("cw0"), 0); /* nothing was made */
    }
    /* What is wrong with the options by themselves is said elsewhere. */
    ck_assert_uint_eq(look(HERE "service ip { options { subnet = x } }\n", &said).mistakes, 0);
}
END_TEST

START_TEST(what_is_wrong)
{
    netns_enter();
    expect(HERE "network ip { netns = nowhere }\n", ":2: network \"ip\".netns: ", "make it (ip netns add)");
    expect(HERE "network ip { netns = 'a/b' }\n", ":2: network \"ip\".netns: ", "expected a name");
    expect(HERE "network ip { netns = '/proc/self/status' }\n", ":2: network \"ip\".netns: ", "no network namespace");
    expect("torus { dims = 3x3x3; coordinate = all }\nservice ip { }\n", ":2: service \"ip\": ", "has no devices");
    expect(HERE "service ip {\n options {\n device = 'a b' }\n}\n",
           ":4: service \"ip\".options.device: ", "expected a name");
    netns_veth("taken", "far", 1500, -1);
    netns_address("taken", "10.70.0.1", 16);
    expect(HERE "service ip {\n options {\n device = taken }\n}\n", ":4: ", "set the option device to another name");
    expect(HERE "service ip { }\n", ":2: service \"ip\": ", "another route to 10.70.0.0/16 by taken");
    expect(HERE "service ip {\n options {\n subnet = 10.64.0.0/12 }\n}\n",
           ":4: service \"ip\".options.subnet: ", "set the option subnet on all servers, or set force = yes");
    struct said said;
    ck_assert_uint_eq(look(HERE "service ip { options { force = yes } }\n", &said).mistakes,
                      access("/dev/net/tun", R_OK | W_OK) == 0 ? 0 : 1);
    ck_assert_uint_eq(look(HERE "service ip { options { subnet = 10.80.0.0/12 } }\n", &said).mistakes,
                      access("/dev/net/tun", R_OK | W_OK) == 0 ? 0 : 1);
}
END_TEST

/* A route around the subnet is told, and is no mistake. */
START_TEST(what_is_worth_a_warning)
{
    struct said said;
    netns_enter();
    netns_veth("vpn", "far", 1500, -1);
    netns_address("vpn", "10.1.0.1", 8);
    if (access("/dev/net/tun", R_OK | W_OK) != 0) {
        return; /* that would be told, and nothing else */
    }
    struct preflight p = look(HERE "service ip { }\n", &said);
    ck_assert_uint_eq(p.mistakes, 0);
    ck_assert_uint_eq(p.warnings, 1);
    ck_assert_msg(strstr(said.text[0],
                         ":2: warning: service \"ip\": device cw0: this machine has another route to 10.0.0.0/8 by "
                         "vpn, out of which the network takes 10.64.0.0/12") != NULL,
                  "%s", said.text[0]);
    p = look(HERE "service ip { options { force = yes } }\n", &said);
    ck_assert_uint_eq(p.mistakes + p.warnings, 0);
}
END_TEST

#define BLUE "network blue { job = 5003; subnet = 10.80.0.0/12 }\n"

/* Each network is looked at, and whether they are in one another's way. */
START_TEST(several_networks)
{
    struct said said;
    netns_enter();
    if (access("/dev/net/tun", R_OK | W_OK) != 0) {
        return; /* that would be told of each */
    }
    struct preflight p = look(HERE "network ip { }\n" BLUE, &said);
    ck_assert_msg(p.mistakes + p.warnings == 0, "%s", said.text[0]);
    expect(HERE BLUE "network red {\n job = 5004\n subnet = 10.95.0.0/16 }\n", ":5: network \"red\".subnet: ",
           "10.95.0.0/16 overlaps with 10.80.0.0/12 of network \"blue\": choose another subnet");
    expect(HERE "network blue { job = 5003; subnet = 10.80.0.0/12; subnet6 = 'fd01::/48' }\n"
                "network red { job = 5004; subnet = 10.96.0.0/12;\n subnet6 = 'fd01::/48' }\n",
           ":4: network \"red\".subnet6: ", "the same IPv6 subnet");
    expect(HERE "network a-long-name-it-is { job = 5003; subnet = 10.80.0.0/12 }\n",
           ":2: network \"a-long-name-it-is\"", "expected a name");
    netns_veth("cw-blue", "far", 1500, -1);
    expect(HERE BLUE, ":2: network \"blue\"", "set the option device to another name");
    /* A server that is not in the network has no device. */
    p = look(HERE "network blue { job = 5003; subnet = 10.80.0.0/12; servers = 1-5 }\n", &said);
    ck_assert_uint_eq(p.mistakes + p.warnings, 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(several_networks), SUITE_TEST(nothing_is_wrong),
                                          SUITE_TEST(what_is_wrong), SUITE_TEST(what_is_worth_a_warning)};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    return suite_run("tun_check", tests, sizeof tests / sizeof *tests);
}
