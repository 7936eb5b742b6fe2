/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/carrier.h"

#include "ether.h"
#include "netns.h"
#include "suite.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>

/* Until the state is what it should be: each change is told by the descriptor. */
static void await(struct carrier *c, enum carrier_state state)
{
    struct pollfd one = {.fd = carrier_fd(c), .events = POLLIN};
    while (c->state != state) {
        ck_assert_int_eq(poll(&one, 1, 2000), 1);
        carrier_service(c);
    }
}

static void set_up(struct carrier *c)
{
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    ck_assert_int_eq(carrier_open(c, "left"), 0);
}

START_TEST(what_is_there_at_first)
{
    struct carrier c;
    uint8_t mac[6];
    set_up(&c);
    ether_address("left", mac);
    ck_assert_int_eq(c.state, CARRIER_UP);
    ck_assert_str_eq(c.name, "left");
    ck_assert_uint_eq(c.mtu, 1500);
    ck_assert_uint_eq(c.index, if_nametoindex("left"));
    ck_assert_mem_eq(c.mac, mac, 6);
    ck_assert(c.ethernet);
    ck_assert_uint_eq(carrier_speed(&c), 0);
    ck_assert(!carrier_service(&c));
    carrier_close(&c);
    ck_assert_int_eq(carrier_open(&c, "lo"), 0);
    ck_assert(!c.ethernet);
    carrier_close(&c);
    ck_assert_int_eq(carrier_open(&c, "absent"), -ENODEV);
    ck_assert_int_eq(carrier_open(&c, ""), -ENAMETOOLONG);
    ck_assert_int_eq(carrier_open(&c, "0123456789abcdef"), -ENAMETOOLONG);
}
END_TEST

START_TEST(every_change_is_told)
{
    struct carrier c;
    set_up(&c);
    uint32_t index = c.index;
    netns_up("right", false);
    await(&c, CARRIER_NONE);
    netns_up("left", false);
    await(&c, CARRIER_DOWN);
    netns_up("left", true);
    await(&c, CARRIER_NONE);
    netns_up("right", true);
    await(&c, CARRIER_UP);
    netns_mtu("left", 1400);
    ck_assert(carrier_service(&c));
    ck_assert_uint_eq(c.mtu, 1400);
    netns_rename("left", "linke");
    ck_assert(carrier_service(&c));
    ck_assert_str_eq(c.name, "linke");
    ck_assert_str_eq(c.wanted, "left");
    ck_assert_uint_eq(c.index, index);
    netns_mtu("right", 1300); /* somebody else's */
    ck_assert(!carrier_service(&c) || c.state == CARRIER_UP);
    ck_assert_uint_eq(c.mtu, 1400);
    ck_assert_uint_eq(c.generation, 1);
    carrier_close(&c);
}
END_TEST

START_TEST(the_name_comes_back)
{
    struct carrier c;
    set_up(&c);
    uint32_t index = c.index;
    netns_delete("left");
    await(&c, CARRIER_GONE);
    ck_assert_uint_eq(c.index, 0);
    netns_veth("other", "another", 1500, -1);
    carrier_service(&c);
    ck_assert_int_eq(c.state, CARRIER_GONE);
    netns_rename("other", "left"); /* by whatever way */
    await(&c, CARRIER_UP);
    ck_assert_uint_ne(c.index, index);
    ck_assert_uint_eq(c.generation, 2);
    /* Away and back before anybody looked. */
    ck_assert_uint_eq(c.outages, 1);
    netns_delete("left");
    netns_veth("left", "right", 9000, -1);
    ck_assert(carrier_service(&c));
    await(&c, CARRIER_UP);
    ck_assert_uint_eq(c.outages, 2);
    ck_assert_int_ne(c.outage, CARRIER_NONE);
    netns_up("left", false);
    netns_up("left", true);
    carrier_service(&c);
    await(&c, CARRIER_UP);
    ck_assert_uint_eq(c.outages, 3);
    ck_assert_int_eq(c.outage, CARRIER_DOWN);
    ck_assert_uint_eq(c.generation, 3);
    ck_assert_uint_eq(c.mtu, 9000);
    ck_assert_uint_eq(c.index, if_nametoindex("left"));
    carrier_close(&c);
}
END_TEST

/* A device of ours was renamed, and another got its name: ours is still the same cable. */
START_TEST(the_device_is_followed_not_the_name)
{
    struct carrier c;
    set_up(&c);
    uint32_t index = c.index;
    netns_rename("left", "linke");
    netns_veth("left", "rechts", 1500, -1);
    carrier_service(&c);
    ck_assert_uint_eq(c.index, index);
    ck_assert_str_eq(c.name, "linke");
    netns_delete("linke"); /* now the other takes the place */
    carrier_service(&c);
    ck_assert_uint_eq(c.index, if_nametoindex("left"));
    ck_assert_int_eq(c.state, CARRIER_UP);
    carrier_close(&c);
}
END_TEST

/* More notices than the socket holds: the state is right all the same. */
START_TEST(lost_notices_are_made_good)
{
    struct carrier c;
    set_up(&c);
    for (uint32_t i = 0; i < 1500; i++) {
        netns_mtu("right", 1000 + i % 2);
    }
    netns_mtu("left", 1450);
    netns_up("left", false);
    carrier_service(&c);
    ck_assert_int_eq(c.state, CARRIER_DOWN);
    ck_assert_uint_eq(c.mtu, 1450);
    netns_up("left", true);
    await(&c, CARRIER_UP);
    for (uint32_t i = 0; i < 1500; i++) {
        netns_mtu("right", 1000 + i % 2);
    }
    netns_delete("left");
    carrier_service(&c);
    ck_assert_int_eq(c.state, CARRIER_GONE);
    carrier_close(&c);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_there_at_first),     SUITE_TEST(every_change_is_told),
    SUITE_TEST(the_name_comes_back),        SUITE_TEST(the_device_is_followed_not_the_name),
    SUITE_TEST(lost_notices_are_made_good),
};

int main(void)
{
    return netns_can() ? suite_run("carrier", tests, sizeof tests / sizeof *tests) : SUITE_SKIP;
}
