/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pcap.h"

#include "conformance.h"
#include "ether.h"
#include "netns.h"
#include "wire/control.h"
#include "wire/frame.h"

#include <errno.h>
#include <poll.h>

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

START_TEST(others_frames_are_not_given)
{
    ether_try_others(pcap_shim_open);
}
END_TEST

/* A capture of each lane: a hello is told by a descriptor of its own. */
START_TEST(control_has_a_lane_of_its_own)
{
    enum { LENGTH = FRAME_HEAD_BYTES + HELLO_BYTES };
    struct cable c;
    uint8_t hello[SHIM_HEADROOM + LENGTH] = {0}, memory[MEMORY_BYTES];
    struct shim_frame frame = {.bytes = hello + SHIM_HEADROOM, .length = LENGTH};
    cable_open(&c);
    frame_encode(&(struct frame_head){.packets = 1, .session = 7}, frame.bytes);
    control_encode(&(struct control_head){.type = CONTROL_HELLO, .length = HELLO_BYTES, .session = 7},
                   frame.bytes + FRAME_HEAD_BYTES);
    cable_send(c.end[0], 1, 1000);
    ck_assert_int_eq(shim_send(c.end[0], &frame, 1), 1);
    ck_assert(cable_poll(shim_data_fd(c.end[1]), POLLIN, 1000));
    ck_assert(cable_poll(shim_urgent_fd(c.end[1]), POLLIN, 1000));
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), 1000);
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), LENGTH);
    ck_assert_mem_eq(memory, frame.bytes, LENGTH);
    cable_close(&c);
}
END_TEST

START_TEST(what_the_kernel_drops_is_counted)
{
    ether_try_drops(pcap_shim_open);
}
END_TEST

START_TEST(a_device_that_refuses_is_left_alone)
{
    ether_try_refusing(pcap_shim_open);
}
END_TEST

START_TEST(a_shaped_device_keeps_few)
{
    ether_try_shaped(pcap_shim_open);
}
END_TEST

START_TEST(a_deleted_interface_comes_back_by_its_name)
{
    struct cable c;
    struct shim_info info;
    uint8_t memory[MEMORY_BYTES];
    cable_open(&c);
    for (uint32_t round = 0; round < 3; round++) {
        netns_delete("left");
        for (int i = 0; i < 2; i++) {
            ck_assert(cable_carrier(c.end[i], false, 1000));
            shim_info(c.end[i], &info);
            ck_assert_str_eq(info.state, "interface is gone");
            ck_assert_uint_eq(cable_receive(c.end[i], memory, 5), 0);
            ck_assert(!cable_await(c.end[i], 5)); /* nothing that would keep a pump busy */
        }
        netns_veth("left", "right", MTU, -1);
        for (int i = 0; i < 2; i++) {
            ck_assert(cable_carrier(c.end[i], true, 1000));
        }
        for (uint32_t i = 0; i < 2; i++) {
            cable_send(c.end[i], round, 200);
            ck_assert_uint_eq(cable_receive(c.end[1 - i], memory, 1000), 200);
            ck_assert(frame_is(memory, round, 200));
        }
    }
    cable_close(&c);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(errors_are_named),
    SUITE_TEST(others_frames_are_not_given),
    SUITE_TEST(control_has_a_lane_of_its_own),
    SUITE_TEST(what_the_kernel_drops_is_counted),
    SUITE_TEST(a_shaped_device_keeps_few),
    SUITE_TEST(a_device_that_refuses_is_left_alone),
    SUITE_TEST(a_deleted_interface_comes_back_by_its_name),
};

int main(void)
{
    return conformance_run(&kind, tests, sizeof tests / sizeof *tests);
}
