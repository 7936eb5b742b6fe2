/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of this machine that are in the way of a network's subnets, and those that are not. */
#include "daemon/listeners/tun_routes.h"

#include "netns.h"
#include "suite.h"

#include <net/if.h>
#include <string.h>

static struct tun_routes_found found;

static struct tun_routes_place place_of(const char *own, uint8_t length, uint8_t each, unsigned index)
{
    struct tun_routes_place p = {.length = length, .each = each, .index = index};
    ck_assert_int_eq(address_read(own, &p.own), 0);
    return p;
}

/* With one interface that has this address and so a route to its prefix. */
static int find_beside(const char *address, unsigned prefix, const struct tun_routes_place *place)
{
    netns_veth("other", "far", 1500, -1);
    netns_address("other", address, prefix);
    int rc = tun_routes_find(place, &found);
    netns_delete("other");
    return rc;
}

START_TEST(which_routes_are_in_the_way)
{
    static const struct {
        const char *address;
        unsigned prefix;
        int rc;
        const char *says, *around;
    } cases[] = {
        {"10.64.7.7", 12, 1, "10.64.0.0/12 by other", ""},
        {"10.70.1.1", 24, 1, "10.70.1.0/24 by other", ""},
        {"10.1.1.1", 8, 0, "", "10.0.0.0/8 by other"},
        {"10.80.0.1", 12, 0, "", ""},
        {"192.168.1.1", 16, 0, "", ""},
        {"10.64.5.200", 24, 0, "", ""}, /* this server's containers */
        {"10.64.5.129", 25, 0, "", ""},
        {"10.64.4.1", 23, 1, "10.64.4.0/23 by other", ""},
    };
    netns_enter();
    const struct tun_routes_place place = place_of("10.64.5.1", 12, 24, 0);
    ck_assert_int_eq(tun_routes_find(&place, &found), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = find_beside(cases[i].address, cases[i].prefix, &place);
        SUITE_HOLDS(rc == cases[i].rc, "case %zu: %d %s", i, rc, found.inside);
        SUITE_HOLDS(strcmp(found.inside, cases[i].says) == 0, "case %zu: %s", i, found.inside);
        SUITE_HOLDS(strcmp(found.around, cases[i].around) == 0, "case %zu: %s", i, found.around);
    }
    netns_blackhole("10.0.0.0", 8);
    netns_blackhole("10.70.0.0", 16);
    ck_assert_int_eq(tun_routes_find(&place, &found), 0);
    ck_assert_str_eq(found.around, "");
}
END_TEST

START_TEST(own_routes_are_not)
{
    netns_enter();
    netns_veth("own", "far", 1500, -1);
    netns_address("own", "10.64.0.1", 12);
    const struct tun_routes_place place = place_of("10.64.0.1", 12, 24, if_nametoindex("own"));
    ck_assert_int_eq(tun_routes_find(&place, &found), 0);
    const struct tun_routes_place six = place_of("fd00::1", 48, 64, 0);
    ck_assert_int_eq(tun_routes_find(&six, &found), 0); /* fe80::/64 of both interfaces */
}
END_TEST

START_TEST(subnets)
{
    struct ip_address a, b;
    char text[ADDRESS_TEXT_BYTES];
    ck_assert_int_eq(address_read("10.79.255.255", &a), 0);
    b = tun_routes_subnet(&a, 12);
    ck_assert_str_eq(address_text(&b, text), "10.64.0.0");
    ck_assert_uint_eq(tun_routes_bytes(&a), 4);
    ck_assert_int_eq(address_read("fd12:3456:789a:ffff::1", &a), 0);
    b = tun_routes_subnet(&a, 48);
    ck_assert_str_eq(address_text(&b, text), "fd12:3456:789a::");
    ck_assert_uint_eq(tun_routes_bytes(&a), 16);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(which_routes_are_in_the_way), SUITE_TEST(own_routes_are_not),
                                          SUITE_TEST(subnets)};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    return suite_run("tun_routes", tests, sizeof tests / sizeof *tests);
}
