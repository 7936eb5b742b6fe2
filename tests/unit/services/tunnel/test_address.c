/* SPDX-License-Identifier: Apache-2.0 */
#include "services/tunnel/address.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static char why[ADDRESS_WHY_BYTES];
static struct address_plan plan;

static enum address_fault fault;

static int make_for(const char *subnet4, const char *subnet6, cw_dims dims, uint32_t cluster, cw_job job)
{
    const struct address_wish wish = {
        .subnet4 = subnet4, .subnet6 = subnet6, .cluster = cluster, .dims = dims, .job = job};
    return address_plan_make(&plan, &wish, &fault, why);
}

static int make(const char *subnet4, const char *subnet6, uint16_t servers)
{
    return make_for(subnet4, subnet6, (cw_dims){servers, 1, 1}, 0x12345678, 9);
}

static struct ip_address at(const char *text)
{
    struct ip_address a;
    ck_assert_msg(address_read(text, &a) == 0, "%s", text);
    return a;
}

static cw_server server_at(const char *text)
{
    struct ip_address a = at(text);
    return address_server(&plan, &a);
}

START_TEST(usual_plan)
{
    char text[ADDRESS_TEXT_BYTES];
    struct ip_address a;
    ck_assert_int_eq(make(NULL, NULL, 27), 0);
    address_of(&plan, 0, 4, &a);
    ck_assert_str_eq(address_text(&a, text), "10.64.0.1");
    address_of(&plan, 26, 4, &a);
    ck_assert_str_eq(address_text(&a, text), "10.64.26.1");
    ck_assert_uint_eq(server_at("10.64.11.1"), 11);
    ck_assert_uint_eq(server_at("10.64.11.254"), 11);
    ck_assert_uint_eq(server_at("10.64.11.255"), CW_SERVER_NONE);
    ck_assert_uint_eq(server_at("10.64.11.0"), CW_SERVER_NONE);
    ck_assert_uint_eq(server_at("10.64.27.1"), CW_SERVER_NONE); /* there are 27: 0..26 */
    ck_assert_uint_eq(server_at("10.80.0.1"), CW_SERVER_NONE);
    ck_assert_uint_eq(server_at("10.63.255.1"), CW_SERVER_NONE);
    address_of_tunnel(&plan, 26, 4, &a);
    ck_assert_str_eq(address_text(&a, text), "10.64.26.0");
    ck_assert_uint_eq(address_server(&plan, &a), CW_SERVER_NONE);
    a = at("10.64.27.1");
    ck_assert(address_inside(&plan, &a));
    a = at("10.80.0.1");
    ck_assert(!address_inside(&plan, &a));
}
END_TEST

START_TEST(plan_of_ipv6)
{
    char text[ADDRESS_TEXT_BYTES];
    struct ip_address a, b;
    ck_assert_int_eq(make(NULL, NULL, 4096), 0);
    address_of(&plan, 4095, 6, &a);
    ck_assert_uint_eq(a.b[0], 0xfd);
    ck_assert_uint_eq(address_server(&plan, &a), 4095);
    address_of_tunnel(&plan, 4095, 6, &b);
    ck_assert(memcmp(a.b, b.b, 15) == 0 && b.b[15] == 0);
    memset(a.b + 8, 0x77, 8);
    ck_assert_uint_eq(address_server(&plan, &a), 4095);
    memset(a.b + 8, 0, 8);
    ck_assert_uint_eq(address_server(&plan, &a), CW_SERVER_NONE);
    /* Other clusters and other networks have other prefixes. */
    struct address_plan first = plan;
    address_of(&first, 1, 6, &a);
    ck_assert_int_eq(make_for(NULL, NULL, (cw_dims){4096, 1, 1}, 0x12345679, 9), 0);
    address_of(&plan, 1, 6, &b);
    ck_assert(memcmp(a.b, b.b, 6) != 0);
    ck_assert_int_eq(make_for(NULL, NULL, (cw_dims){4096, 1, 1}, 0x12345678, 5003), 0);
    address_of(&plan, 1, 6, &b);
    ck_assert(memcmp(a.b, b.b, 6) != 0);
    ck_assert_int_eq(make_for(NULL, NULL, (cw_dims){1, 4096, 1}, 0x12345678, 9), 0);
    address_of(&plan, 1, 6, &b);
    ck_assert(memcmp(a.b, b.b, 6) != 0);
    ck_assert_int_eq(make(NULL, "fd12:3456:789a::/48", 27), 0);
    address_of(&plan, 26, 6, &a);
    ck_assert_str_eq(address_text(&a, text), "fd12:3456:789a:1a::1");
}
END_TEST

START_TEST(every_server_has_its_own)
{
    ck_assert_int_eq(make("172.16.0.0/14", NULL, 1024), 0);
    for (cw_server s = 0; s < 1024; s++) {
        for (unsigned version = 4; version <= 6; version += 2) {
            struct ip_address a;
            address_of(&plan, s, (uint8_t)version, &a);
            SUITE_HOLDS(address_server(&plan, &a) == s && !address_is_many(&plan, &a), "%u", s);
        }
    }
}
END_TEST

START_TEST(to_many)
{
    ck_assert_int_eq(make(NULL, NULL, 27), 0);
    static const char *const many[] = {"224.0.0.251", "239.255.255.250", "255.255.255.255", "10.79.255.255", "ff02::1"};
    static const char *const one[] = {"10.64.0.255", "10.64.0.1", "223.255.255.255", "fe80::1", "10.79.255.254"};
    for (unsigned i = 0; i < 5; i++) {
        struct ip_address a = at(many[i]), b = at(one[i]);
        SUITE_HOLDS(address_is_many(&plan, &a), "%s", many[i]);
        SUITE_HOLDS(!address_is_many(&plan, &b), "%s", one[i]);
    }
}
END_TEST

START_TEST(bad_subnets_are_explained)
{
    static const struct {
        const char *subnet4, *subnet6;
        uint16_t servers;
        enum address_fault fault;
        const char *says;
    } cases[] = {
        {"10.64.0.0", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet, for example 10.64.0.0/12"},
        {"10.64.0.0/", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet"},
        {"10.64.0.0/12x", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet"},
        {"10.64.0.0/ 12", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet"},
        {"10.64.0/12", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet"},
        {"fd00::/48", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet"},
        {"", NULL, 27, ADDRESS_OF_SUBNET, "an IPv4 subnet"},
        {"10.64.0.0/25", NULL, 1, ADDRESS_OF_SUBNET, "/8 to /24"},
        {"0.0.0.0/0", NULL, 1, ADDRESS_OF_SUBNET, "/8 to /24"},
        {"10.64.1.0/12", NULL, 27, ADDRESS_OF_SUBNET, "a host in it: write 10.64.0.0/12"},
        {"127.0.0.0/8", NULL, 27, ADDRESS_OF_SUBNET, "in which hosts have addresses"},
        {"224.0.0.0/8", NULL, 27, ADDRESS_OF_SUBNET, "in which hosts have addresses"},
        {"0.0.0.0/8", NULL, 27, ADDRESS_OF_SUBNET, "in which hosts have addresses"},
        {"10.64.0.0/20", NULL, 27, ADDRESS_OF_SUBNET, "/19 or shorter, since 27 servers need a /24 each"},
        {"10.64.0.0/12", NULL, 4097, ADDRESS_OF_SUBNET, "a subnet of /11 or shorter"},
        {NULL, "fd12:3456::/32", 27, ADDRESS_OF_SUBNET6, "with the length /48"},
        {NULL, "10.64.0.0/12", 27, ADDRESS_OF_SUBNET6, "an IPv6 subnet"},
        {NULL, "fd12:3456:789a:1::/48", 27, ADDRESS_OF_SUBNET6, "no bits behind the 48th"},
        {NULL, "ff02::/48", 27, ADDRESS_OF_SUBNET6, "a unique local subnet"},
        {NULL, "fe80::/48", 27, ADDRESS_OF_SUBNET6, "a unique local subnet"},
        {NULL, "::/48", 27, ADDRESS_OF_SUBNET6, "a unique local subnet"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = make(cases[i].subnet4, cases[i].subnet6, cases[i].servers);
        SUITE_HOLDS(rc == -EINVAL, "case %zu", i);
        SUITE_HOLDS(fault == cases[i].fault, "case %zu", i);
        SUITE_HOLDS(strstr(why, cases[i].says) != NULL, "case %zu: %s", i, why);
    }
    ck_assert_int_eq(make_for(NULL, NULL, (cw_dims){70, 100, 10}, 1, 9), -EINVAL);
    ck_assert(fault == ADDRESS_OF_TORUS && strstr(why, "70000 servers") != NULL);
    ck_assert_int_eq(make("10.64.0.0/19", NULL, 27), 0);
    ck_assert_str_eq(why, "");
    ck_assert_int_eq(make("10.64.0.0/24", NULL, 1), 0);
}
END_TEST

START_TEST(no_such_server)
{
    struct ip_address a;
    ck_assert_int_eq(make(NULL, NULL, 27), 0);
    address_of(&plan, 27, 4, &a);
}
END_TEST

START_TEST(members_and_gateways)
{
    static const struct {
        const char *servers, *gateways, *outside, *option, *says;
    } cases[] = {
        {"", NULL, NULL, "servers", "numbers of servers below 27"},
        {"0-27", NULL, NULL, "servers", "numbers of servers below 27"},
        {NULL, "27", NULL, "gateway_servers", "below 27"},
        {"0-3", "0 4", NULL, "gateway_servers", "and 4 is none"},
        {NULL, "0", "", "gateway_for", "prefixes with spaces between them"},
        {NULL, "0", "10.0.0.0", "gateway_for", "for example 0.0.0.0/0 ::/0"},
        {NULL, "0", "10.0.0.0/33", "gateway_for", "prefixes"},
        {NULL, "0", "fd00::/129", "gateway_for", "prefixes"},
        {NULL, "0", "0.0.0.0/0 x", "gateway_for", "prefixes"},
        {NULL, "0",
         "1.0.0.0/8 2.0.0.0/8 3.0.0.0/8 4.0.0.0/8 5.0.0.0/8 6.0.0.0/8 7.0.0.0/8 8.0.0.0/8 9.0.0.0/8 "
         "1.0.0.0/8 2.0.0.0/8 3.0.0.0/8 4.0.0.0/8 5.0.0.0/8 6.0.0.0/8 7.0.0.0/8 8.0.0.0/8",
         "gateway_for", "at most 16 prefixes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct address_wish wish = {.dims = {27, 1, 1},
                                          .job = 9,
                                          .servers = cases[i].servers,
                                          .gateways = cases[i].gateways,
                                          .outside = cases[i].outside};
        SUITE_HOLDS(address_plan_make(&plan, &wish, &fault, why) == -EINVAL, "case %zu", i);
        SUITE_HOLDS(strcmp(address_fault_option(fault), cases[i].option) == 0, "case %zu", i);
        SUITE_HOLDS(strstr(why, cases[i].says) != NULL, "case %zu: %s", i, why);
    }
    const struct address_wish good = {.dims = {27, 1, 1}, .job = 9, .servers = "0-9", .gateways = "2 9"};
    ck_assert_int_eq(address_plan_make(&plan, &good, &fault, why), 0);
    ck_assert(address_is_member(&plan, 9) && !address_is_member(&plan, 10));
    ck_assert(address_is_gateway(&plan, 9) && !address_is_gateway(&plan, 3));
    ck_assert_uint_eq(server_at("10.64.9.1"), 9);
    ck_assert_uint_eq(server_at("10.64.10.1"), CW_SERVER_NONE);
    static const char *const outside[] = {"8.8.8.8", "192.168.1.1", "2001:db8::1"};
    static const char *const not_outside[] = {"10.64.10.1", "127.0.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
                                              "::1",        "::",        "fe80::1", "ff02::1"};
    for (unsigned i = 0; i < 9; i++) {
        struct ip_address a = at(outside[i % 3]), b = at(not_outside[i]);
        SUITE_HOLDS(address_is_outside(&plan, &a) && !address_is_outside(&plan, &b), "%s", not_outside[i]);
    }
}
END_TEST

START_TEST(overlaps)
{
    static const struct {
        const char *one, *one6, *two, *two6;
        bool overlap;
    } cases[] = {
        {"10.64.0.0/12", "fd01::/48", "10.80.0.0/12", "fd02::/48", false},
        {"10.64.0.0/12", "fd01::/48", "10.79.0.0/16", "fd02::/48", true},
        {"10.79.0.0/16", "fd01::/48", "10.64.0.0/12", "fd02::/48", true},
        {"10.64.0.0/12", "fd01::/48", "10.80.0.0/12", "fd01::/48", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(make(cases[i].one, cases[i].one6, 27), 0);
        const struct address_plan one = plan;
        ck_assert_int_eq(make(cases[i].two, cases[i].two6, 27), 0);
        SUITE_HOLDS(address_overlap(&one, &plan) == cases[i].overlap, "case %zu", i);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(members_and_gateways),
    SUITE_TEST(overlaps),
    SUITE_TEST(usual_plan),
    SUITE_TEST(plan_of_ipv6),
    SUITE_TEST(every_server_has_its_own),
    SUITE_TEST(to_many),
    SUITE_TEST(bad_subnets_are_explained),
    SUITE_ABORTS(no_such_server),
};
SUITE_MAIN("address", tests)
