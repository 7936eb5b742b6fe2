/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/judge.h"

#include "base/bytes.h"
#include "suite.h"

#include <string.h>

enum { SELF = 3, SERVERS = 27 };

static struct address_plan plan;
static uint8_t bytes[40];

static struct ip_packet make(const char *from, const char *to)
{
    struct ip_address a, b;
    ck_assert_int_eq(address_read(from, &a), 0);
    ck_assert_int_eq(address_read(to, &b), 0);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes + (a.version == 4 ? 12 : 8), a.b, a.version == 4 ? 4 : 16);
    memcpy(bytes + (a.version == 4 ? 16 : 24), b.b, a.version == 4 ? 4 : 16);
    char why[ADDRESS_WHY_BYTES];
    const struct address_wish wish = {.subnet6 = "fd00:0:1::/48", .dims = {SERVERS, 1, 1}, .job = 9};
    enum address_fault fault;
    ck_assert_int_eq(address_plan_make(&plan, &wish, &fault, why), 0);
    return (struct ip_packet){.bytes = bytes, .length = 40, .version = a.version};
}

START_TEST(what_is_read)
{
    static const struct {
        const char *from, *to;
        enum tunnel_cause cause;
        cw_server server;
    } cases[] = {
        {"10.64.3.1", "10.64.4.1", TUNNEL_GOOD, 4},
        {"10.64.3.254", "10.64.26.200", TUNNEL_GOOD, 26},
        {"10.64.4.1", "10.64.5.1", TUNNEL_SOURCE, CW_SERVER_NONE},
        {"10.64.3.0", "10.64.4.1", TUNNEL_SOURCE, CW_SERVER_NONE},
        {"127.0.0.1", "10.64.4.1", TUNNEL_SOURCE, CW_SERVER_NONE},
        {"0.0.0.0", "10.64.4.1", TUNNEL_SOURCE, CW_SERVER_NONE},
        {"10.64.3.1", "10.64.27.1", TUNNEL_OUTSIDE, CW_SERVER_NONE},
        {"10.64.3.1", "10.64.4.255", TUNNEL_OUTSIDE, CW_SERVER_NONE},
        {"10.64.3.1", "8.8.8.8", TUNNEL_OUTSIDE, CW_SERVER_NONE},
        {"10.64.3.1", "10.64.3.9", TUNNEL_UNREACHABLE, CW_SERVER_NONE},
        {"10.64.3.1", "224.0.0.251", TUNNEL_MULTICAST, CW_SERVER_NONE},
        {"10.64.9.1", "10.79.255.255", TUNNEL_MULTICAST, CW_SERVER_NONE},
        {"fd00:0:1:3::1", "fd00:0:1:1a::7", TUNNEL_GOOD, 26},
        {"fd00:0:1:4::1", "fd00:0:1:5::1", TUNNEL_SOURCE, CW_SERVER_NONE},
        {"fe80::1", "fd00:0:1:5::1", TUNNEL_SOURCE, CW_SERVER_NONE},
        {"fe80::1", "ff02::2", TUNNEL_MULTICAST, CW_SERVER_NONE},
        {"fd00:0:1:3::1", "fd00:0:2:5::1", TUNNEL_OUTSIDE, CW_SERVER_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ip_packet p = make(cases[i].from, cases[i].to);
        cw_server to = 77;
        SUITE_HOLDS(judge_read(&plan, SELF, &p, &to) == cases[i].cause, "case %zu", i);
        SUITE_HOLDS(to == cases[i].server, "case %zu", i);
    }
}
END_TEST

START_TEST(what_came)
{
    static const struct {
        const char *from, *to;
        cw_server sender;
        enum tunnel_cause cause;
    } cases[] = {
        {"10.64.4.1", "10.64.3.1", 4, TUNNEL_GOOD},         {"10.64.4.9", "10.64.3.77", 4, TUNNEL_GOOD},
        {"10.64.4.1", "10.64.3.1", 5, TUNNEL_SOURCE},       {"10.64.3.1", "10.64.3.1", 4, TUNNEL_SOURCE},
        {"8.8.8.8", "10.64.3.1", 4, TUNNEL_SOURCE},         {"10.64.4.1", "10.64.5.1", 4, TUNNEL_NOT_HERE},
        {"10.64.4.1", "127.0.0.1", 4, TUNNEL_NOT_HERE},     {"10.64.4.1", "224.0.0.1", 4, TUNNEL_NOT_HERE},
        {"fd00:0:1:4::1", "fd00:0:1:3::1", 4, TUNNEL_GOOD}, {"fd00:0:1:5::1", "fd00:0:1:3::1", 4, TUNNEL_SOURCE},
        {"10.64.4.1", "10.64.3.255", 4, TUNNEL_NOT_HERE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ip_packet p = make(cases[i].from, cases[i].to);
        SUITE_HOLDS(judge_came(&plan, SELF, cases[i].sender, &p) == cases[i].cause, "case %zu", i);
    }
}
END_TEST

/* Servers 3 and 5 are gateways to most of IPv4, and 7 is not in the network at all. */
START_TEST(gateways)
{
    static const struct {
        const char *from, *to;
        cw_server self; /* reads it; or it came from there to server 3 */
        enum tunnel_cause read, came;
    } cases[] = {
        {"10.64.4.1", "8.8.8.8", 4, TUNNEL_GOOD, TUNNEL_GOOD},
        {"8.8.8.8", "10.64.4.1", 5, TUNNEL_GOOD, TUNNEL_NOT_HERE},
        {"8.8.8.8", "10.64.3.1", 5, TUNNEL_GOOD, TUNNEL_GOOD},
        {"8.8.8.8", "10.64.3.1", 4, TUNNEL_SOURCE, TUNNEL_SOURCE}, /* no gateway */
        {"10.64.4.1", "10.64.3.1", 5, TUNNEL_SOURCE, TUNNEL_SOURCE},
        {"10.64.5.1", "8.8.8.8", 5, TUNNEL_OUTSIDE, TUNNEL_GOOD}, /* a gateway's kernel knows the way */
        {"10.64.4.1", "127.0.0.1", 4, TUNNEL_OUTSIDE, TUNNEL_NOT_HERE},
        {"10.64.4.1", "0.0.0.0", 4, TUNNEL_OUTSIDE, TUNNEL_NOT_HERE},
        {"127.0.0.1", "10.64.3.1", 5, TUNNEL_SOURCE, TUNNEL_SOURCE},
        {"224.0.0.1", "10.64.3.1", 5, TUNNEL_SOURCE, TUNNEL_SOURCE},
        {"10.64.4.1", "200.1.1.1", 4, TUNNEL_OUTSIDE, TUNNEL_NOT_HERE}, /* in no prefix */
        {"fd00:0:1:4::1", "2001:db8::1", 4, TUNNEL_OUTSIDE, TUNNEL_NOT_HERE},
        {"10.64.7.1", "10.64.3.1", 7, TUNNEL_SOURCE, TUNNEL_SOURCE},
        {"10.64.4.1", "10.64.7.1", 4, TUNNEL_OUTSIDE, TUNNEL_NOT_HERE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ip_packet p = make(cases[i].from, cases[i].to);
        char why[ADDRESS_WHY_BYTES];
        enum address_fault fault;
        const struct address_wish wish = {.subnet6 = "fd00:0:1::/48",
                                          .dims = {SERVERS, 1, 1},
                                          .job = 9,
                                          .servers = "0-6, 8-26",
                                          .gateways = "3 5",
                                          .outside = "0.0.0.0/1 128.0.0.0/2"};
        ck_assert_msg(address_plan_make(&plan, &wish, &fault, why) == 0, "%s", why);
        cw_server to;
        SUITE_HOLDS(judge_read(&plan, cases[i].self, &p, &to) == cases[i].read, "case %zu", i);
        SUITE_HOLDS(judge_came(&plan, SELF, cases[i].self, &p) == cases[i].came, "case %zu", i);
    }
}
END_TEST

START_TEST(what_is_to_many)
{
    static const struct {
        const char *from, *to;
        enum tunnel_cause cause;
    } cases[] = {
        {"10.64.3.1", "224.0.0.251", TUNNEL_GOOD},           {"10.64.3.7", "255.255.255.255", TUNNEL_GOOD},
        {"10.64.4.1", "224.0.0.251", TUNNEL_SOURCE},         {"10.64.3.1", "10.64.4.1", TUNNEL_NOT_HERE},
        {"fd00:0:1:3::1", "ff02::fb", TUNNEL_GOOD},          {"fe80::1", "ff02::fb", TUNNEL_SOURCE},
        {"fd00:0:1:3::1", "fd00:0:1:5::1", TUNNEL_NOT_HERE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ip_packet p = make(cases[i].from, cases[i].to);
        SUITE_HOLDS(judge_many(&plan, SELF, &p) == cases[i].cause, "case %zu", i);
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_to_many), SUITE_TEST(what_is_read), SUITE_TEST(what_came),
                                          SUITE_TEST(gateways)};
SUITE_MAIN("judge", tests)
