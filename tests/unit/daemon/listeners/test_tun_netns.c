/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_netns.h"

#include "daemon/listeners/tun_device.h"
#include "netns.h"
#include "suite.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Another namespace than the one that the test is in afterwards: its descriptor, and a path to it. */
static int other_namespace(char path[static 40])
{
    netns_enter();
    int other = netns_here();
    snprintf(path, 40, "/proc/self/fd/%d", other);
    netns_enter();
    return other;
}

START_TEST(names_and_paths)
{
    static const struct {
        const char *netns, *path;
    } cases[] = {{"blue", "/run/netns/blue"},
                 {"/proc/7/ns/net", "/proc/7/ns/net"},
                 {"", NULL},
                 {"a/b", NULL},
                 {".", NULL},
                 {"..", NULL}};
    char out[TUN_NETNS_PATH], longest[400];
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rc = tun_netns_path(cases[i].netns, out);
        SUITE_HOLDS(rc == (cases[i].path == NULL ? -EINVAL : 0) &&
                        (cases[i].path == NULL || strcmp(out, cases[i].path) == 0),
                    "%s: %d %s", cases[i].netns, rc, out);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(tun_netns_path(longest, out), -EINVAL);
}
END_TEST

START_TEST(there_and_back)
{
    char path[40], why[TUN_NETNS_WHY];
    struct tun_netns n;
    int other = other_namespace(path);
    netns_veth("here", "here2", 1500, -1);
    ck_assert_int_eq(tun_netns_enter(&n, path, why), 0);
    ck_assert_uint_eq(if_nametoindex("here"), 0);
    tun_netns_leave(&n);
    ck_assert_uint_ne(if_nametoindex("here"), 0);
    ck_assert_int_eq(tun_netns_enter(&n, NULL, why), 0);
    ck_assert_uint_ne(if_nametoindex("here"), 0);
    tun_netns_leave(&n);
    ck_assert_uint_ne(if_nametoindex("here"), 0);
    close(other);
}
END_TEST

START_TEST(what_cannot_be_entered)
{
    char why[TUN_NETNS_WHY];
    struct tun_netns n;
    netns_enter();
    netns_veth("here", "here2", 1500, -1);
    ck_assert_int_eq(tun_netns_enter(&n, "nowhere", why), -ENOENT);
    ck_assert_msg(strstr(why, "/run/netns/nowhere") != NULL && strstr(why, "ip netns add") != NULL, "%s", why);
    ck_assert_int_eq(tun_netns_enter(&n, "/proc/self/ns/mnt", why), -EINVAL);
    ck_assert_msg(strstr(why, "is no network namespace") != NULL, "%s", why);
    ck_assert_int_eq(tun_netns_enter(&n, "a/b", why), -EINVAL);
    ck_assert_msg(strstr(why, "expected a name") != NULL, "%s", why);
    ck_assert_uint_ne(if_nametoindex("here"), 0);
}
END_TEST

/* The device, its addresses and routes are there, and this namespace has nothing of them, nor is in their way. */
START_TEST(a_device_elsewhere)
{
    char path[40], why[TUN_DEVICE_WHY];
    enum tun_fault fault;
    struct tun_device d, e;
    struct tunnel_place p = {.length4 = 12, .mtu = 4000};
    if (access("/dev/net/tun", R_OK | W_OK) < 0) {
        return;
    }
    ck_assert_int_eq(address_read("10.64.1.1", &p.own4), 0);
    ck_assert_int_eq(address_read("fd12:3456:789a:1::1", &p.own6), 0);
    int other = other_namespace(path), here = netns_here();
    const struct tun_wish wish = {.name = "cw0", .place = &p, .netns = path}, own = {.name = "cw0", .place = &p};
    ck_assert_msg(tun_device_open(&d, &wish, &fault, why) == 0, "%s", why);
    ck_assert_uint_eq(if_nametoindex("cw0"), 0);
    ck_assert_msg(tun_device_open(&e, &own, &fault, why) == 0, "%s", why); /* of the same name, here */
    netns_go(other);
    ck_assert_uint_ne(if_nametoindex("cw0"), 0);
    netns_go(here);
    close(e.fd);
    const struct tun_wish wrong = {.name = "cw0", .place = &p, .netns = "nowhere"};
    ck_assert_int_eq(tun_device_open(&e, &wrong, &fault, why), -ENOENT);
    ck_assert_str_eq(tun_fault_option(fault), "netns");
    ck_assert_msg(strstr(why, "device cw0: the network namespace /run/netns/nowhere") != NULL, "%s", why);
    close(d.fd);
    close(other);
    close(here);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names_and_paths),
    SUITE_TEST(there_and_back),
    SUITE_TEST(what_cannot_be_entered),
    SUITE_TEST(a_device_elsewhere),
};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    return suite_run("tun_netns", tests, sizeof tests / sizeof *tests);
}
