/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "lab_place.h"
#include "testbed/veth.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

/* This process (a test's own child) may make namespaces from here on; false: not on this machine. */
static bool place_namespaces(void)
{
    return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static const struct torus *torus_of(uint16_t x, uint16_t y, uint16_t z)
{
    static struct torus torus;
    ck_assert_int_eq(torus_init(&torus, (cw_dims){x, y, z}), 0);
    return &torus;
}

/* Flags, MTU and index of a device in the namespace; flags -1: there is none. */
struct device {
    int flags, mtu;
    unsigned index;
};

static struct device look(const struct veth *v, cw_server s, const char *name)
{
    struct ifreq r = {0};
    struct device d = {.flags = -1};
    int home = open("/proc/self/ns/net", O_RDONLY);
    ck_assert_int_eq(setns(veth_namespace(v, s), CLONE_NEWNET), 0);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    strcpy(r.ifr_name, name);
    if (ioctl(fd, SIOCGIFFLAGS, &r) == 0) {
        d.flags = (unsigned short)r.ifr_flags;
        ck_assert_int_eq(ioctl(fd, SIOCGIFMTU, &r), 0);
        d.mtu = r.ifr_mtu;
        d.index = if_nametoindex(name);
    }
    close(fd);
    ck_assert_int_eq(setns(home, CLONE_NEWNET), 0);
    close(home);
    return d;
}

/* The kernel tells the loss and return of carrier a moment later: waits for it, for a while. */
static bool carrier_becomes(const struct veth *v, cw_server s, const char *name, bool carrier)
{
    for (int i = 0; i < 400; i++) {
        struct device d = look(v, s, name);
        if (d.flags >= 0 && ((d.flags & IFF_RUNNING) != 0) == carrier) {
            return true;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    return false;
}

START_TEST(a_torus)
{
    struct veth *v;
    char why[VETH_WHY];
    const struct veth_plan plan = {.torus = torus_of(3, 3, 3), .mtu = 9000};
    if (!place_namespaces()) {
        printf("namespaces cannot be made here\n");
        return;
    }
    int rc = veth_open(&v, &plan, why);
    ck_assert_msg(rc == 0, "%s", why);
    for (cw_server s = 0; s < 27; s++) {
        ck_assert(look(v, s, "lo").flags & IFF_UP);
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            struct device d = look(v, s, veth_device(link));
            struct device far = look(v, torus_neighbour(plan.torus, s, link), veth_device(cw_link_opposite(link)));
            ck_assert(d.mtu == 9000 && (d.flags & IFF_UP) && carrier_becomes(v, s, veth_device(link), true));
            ck_assert_uint_ne(d.index, far.index);
        }
    }
    ck_assert_int_eq(veth_set_up(v, 0, CW_LINK_XP, false), 0);
    ck_assert(carrier_becomes(v, torus_neighbour(plan.torus, 0, CW_LINK_XP), "mx", false));
    ck_assert_int_eq(veth_set_up(v, 0, CW_LINK_XP, true), 0);
    ck_assert(carrier_becomes(v, torus_neighbour(plan.torus, 0, CW_LINK_XP), "mx", true));
    ck_assert_int_eq(veth_set_loss(v, 0, CW_LINK_XP, VETH_MILLION), 0);
    ck_assert_int_eq(veth_set_loss(v, 0, CW_LINK_XP, 0), 0);
    ck_assert_int_eq(veth_set_loss(v, 0, CW_LINK_XP, 0), 0);
    rc = veth_set_loss(v, 0, CW_LINK_XP, 1000);
    ck_assert(rc == 0 || rc == -EPERM);
    ck_assert_int_eq(veth_set_up(v, 27, CW_LINK_XP, true), -ENODEV);
    veth_close(v);
    veth_close(NULL);
}
END_TEST

START_TEST(shaped_dark_and_with_addresses)
{
    struct veth *v;
    char why[VETH_WHY];
    const struct veth_plan plan = {
        .torus = torus_of(2, 2, 1), .mtu = 1500, .bits_per_second = 10000000, .addresses = true, .dark = true};
    if (!place_namespaces()) {
        return;
    }
    int rc = veth_open(&v, &plan, why);
    ck_assert_msg(rc == 0, "%s", why);
    ck_assert_int_eq(look(v, 0, "pz").flags, -1);
    ck_assert(carrier_becomes(v, 0, "px", false));
    ck_assert_int_eq(veth_light(v), 0);
    ck_assert(carrier_becomes(v, 0, "px", true) && carrier_becomes(v, 0, "my", true));
    ck_assert_int_eq(veth_set_loss(v, 0, CW_LINK_XP, VETH_MILLION), 0);
    ck_assert_int_eq(veth_set_loss(v, 0, CW_LINK_XP, 0), 0);
    ck_assert_int_eq(veth_set_up(v, 0, CW_LINK_ZP, true), -ENODEV);
    veth_close(v);
}
END_TEST

START_TEST(addresses_of_a_cable)
{
    const struct torus *t = torus_of(3, 3, 3);
    for (cw_server s = 0; s < 27; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            uint32_t far = veth_address(torus_neighbour(t, s, link), cw_link_opposite(link), t);
            ck_assert_uint_eq(veth_address(s, link, t) ^ 3, far);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(a_torus), SUITE_TEST(shaped_dark_and_with_addresses),
                                          SUITE_TEST(addresses_of_a_cable)};
SUITE_MAIN("veth", tests)
