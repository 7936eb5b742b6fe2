/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/address.h"

#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

START_TEST(addresses_of_four_and_six)
{
    struct sockaddr_storage s;
    char text[INET6_ADDRSTRLEN];
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)&s;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&s;
    ck_assert_int_eq(address_parse("10.0.200.1:7001", &s), sizeof *four);
    ck_assert_int_eq(s.ss_family, AF_INET);
    ck_assert_int_eq(ntohs(four->sin_port), 7001);
    ck_assert_str_eq(inet_ntop(AF_INET, &four->sin_addr, text, sizeof text), "10.0.200.1");
    ck_assert_int_eq(address_parse("[fd00::12]:65535", &s), sizeof *six);
    ck_assert_int_eq(s.ss_family, AF_INET6);
    ck_assert_int_eq(ntohs(six->sin6_port), 65535);
    ck_assert_str_eq(inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text), "fd00::12");
    ck_assert_int_eq(address_parse("[fe80::1%lo]:1", &s), sizeof *six);
    ck_assert_uint_eq(six->sin6_scope_id, 1);
    ck_assert_int_eq(address_parse("[::]:00080", &s), sizeof *six);
    ck_assert_int_eq(ntohs(six->sin6_port), 80);
}
END_TEST

START_TEST(what_is_no_address)
{
    static const char *const texts[] = {
        "",
        ":",
        "10.0.0.1",
        "10.0.0.1:",
        "10.0.0.1:0",
        "10.0.0.1:65536",
        "10.0.0.1:x",
        "10.0.0.1:-1",
        "10.0.0.1: 1",
        "10.0.0.1:1 ",
        "10.0.0:1:1",
        "10.0.0.256:1",
        "fd00::1:80",
        "[fd00::1]80",
        "[fd00::1]",
        "[fd00::1:80",
        "[10.0.0.1]:80",
        "[]:80",
        ":7001",
        "localhost:80",
        "example.org:1",
        "10.0.0.1:000080",
        "[::1]]:80",
        "10.0.0.1:99999999999",
        "[1]:1",
        "0x0a000001:1x",
        "[fd00::1%nosuchinterface]:1",
        "[0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000::1]:1",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sockaddr_storage s;
        ck_assert_msg(address_parse(texts[i], &s) == -EINVAL, "\"%s\" was taken", texts[i]);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(addresses_of_four_and_six),
    SUITE_TEST(what_is_no_address),
};

SUITE_MAIN("address", tests)
