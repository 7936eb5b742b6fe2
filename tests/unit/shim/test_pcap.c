/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pcap.h"

#include "conformance.h"
#include "ether.h"
#include "netns.h"

#include <errno.h>

enum { MTU = 9000 };

static void set_up(void)
{
    netns_enter();
    netns_veth("left", "right", MTU, -1);
}

static void open_both(struct cable *c, uint32_t mtu)
{
    c->end[0] = ether_open(pcap_shim_open, &(struct port_options){.interface = "left", .mtu = mtu});
    c->end[1] = ether_open(pcap_shim_open, &(struct port_options){.interface = "right", .mtu = mtu});
}

static void cut(struct cable *c, bool is_cut)
{
    (void)c;
    netns_up("right", !is_cut);
}

static const struct conformance_kind kind = {
    .name = "pcap",
    .mtu = MTU,
    .set_up = set_up,
    .open = open_both,
    .cut = cut,
    .stranger = ether_strangers,
    .has_last_words = true,
    .needs_namespace = true,
    .shortest = 1,
};

START_TEST(errors_are_named)
{
    ether_try_errors(pcap_shim_open);
    netns_up("left", false);
    ether_open_fails(pcap_shim_open, &(struct port_options){.interface = "left"}, -ENETDOWN, "the interface is down");
}
END_TEST

START_TEST(what_the_kernel_drops_is_counted)
{
    ether_try_drops(pcap_shim_open);
}
END_TEST

START_TEST(a_shaped_device_keeps_few)
{
    ether_try_shaped(pcap_shim_open);
}
END_TEST

START_TEST(a_deleted_interface_stays_gone)
{
    struct shim_info info;
    set_up();
    struct shim *s = ether_open(pcap_shim_open, &(struct port_options){.interface = "left"});
    netns_delete("left");
    ck_assert(cable_carrier(s, false, 1000));
    uint8_t memory[MEMORY_BYTES];
    ck_assert_uint_eq(cable_receive(s, memory, 5), 0);
    ck_assert(!cable_await(s, 5)); /* nothing that would keep a pump busy */
    netns_veth("left", "right", MTU, -1);
    ck_assert(!cable_carrier(s, true, 100));
    shim_info(s, &info);
    ck_assert_str_ne(info.state, "up");
    shim_close(s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(errors_are_named),
    SUITE_TEST(what_the_kernel_drops_is_counted),
    SUITE_TEST(a_shaped_device_keeps_few),
    SUITE_TEST(a_deleted_interface_stays_gone),
};

int main(void)
{
    return conformance_run(&kind, tests, sizeof tests / sizeof *tests);
}
