/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/raw.h"

#include "conformance.h"
#include "ether.h"
#include "netns.h"
#include "wire/control.h"
#include "wire/frame.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MTU = 9000, FRAME_BYTES = FRAME_HEAD_BYTES + HELLO_BYTES };

static struct shim *open_on(const char *interface, uint32_t mtu)
{
    struct shim *s;
    char why[SHIM_WHY_BYTES] = "";
    int rc = raw_open(&s, &(struct port_options){.interface = interface, .mtu = mtu}, why);
    ck_assert_msg(rc == 0, "%d %s", rc, why);
    return s;
}

static void set_up(void)
{
    netns_enter();
    netns_veth("left", "right", MTU, -1);
}

static void open_raw(struct cable *c, uint32_t mtu)
{
    c->end[0] = open_on("left", mtu);
    c->end[1] = open_on("right", mtu);
}

/* One end down: the other has no carrier. */
static void cut(struct cable *c, bool is_cut)
{
    (void)c;
    netns_up("right", !is_cut);
}

static const struct conformance_kind kind = {
    .name = "raw",
    .mtu = MTU,
    .set_up = set_up,
    .open = open_raw,
    .cut = cut,
    .stranger = ether_strangers,
    .has_last_words = true,
    .needs_namespace = true,
    .shortest = 1,
};

START_TEST(errors_are_named)
{
    ether_try_errors(raw_open);
}
END_TEST

START_TEST(others_frames_are_not_given)
{
    ether_try_others(raw_open);
}
END_TEST

START_TEST(what_the_kernel_drops_is_counted)
{
    ether_try_drops(raw_open);
}
END_TEST

START_TEST(a_device_that_refuses_is_left_alone)
{
    ether_try_refusing(raw_open);
}
END_TEST

START_TEST(a_shaped_device_keeps_few)
{
    ether_try_shaped(raw_open);
}
END_TEST

START_TEST(a_renamed_interface_is_the_same_cable)
{
    struct cable c;
    struct shim_info info;
    uint8_t memory[MEMORY_BYTES];
    cable_open(&c);
    netns_rename("left", "linke");
    shim_service_events(c.end[0]);
    ck_assert(shim_carrier(c.end[0]));
    shim_info(c.end[0], &info);
    ck_assert_str_eq(info.name, "linke");
    cable_send(c.end[0], 1, 100);
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), 100);
    cable_close(&c);
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

/*
 * Privileges are needed to open, and not to come back: one process makes interfaces, the other has the shims and no
 * right to anything.
 */
START_TEST(no_privilege_is_needed_afterwards)
{
    struct cable c;
    uint8_t memory[MEMORY_BYTES];
    int seen[2];
    char byte = 0;
    cable_open(&c);
    ck_assert_int_eq(pipe(seen), 0);
    pid_t child = fork();
    if (child == 0) {
        netns_delete("left");
        (void)!read(seen[0], &byte, 1);
        netns_veth("left", "right", MTU, -1);
        _exit(0);
    }
    ether_drop_capabilities();
    for (int i = 0; i < 2; i++) {
        ck_assert(cable_carrier(c.end[i], false, 5000));
    }
    ck_assert_int_eq(write(seen[1], &byte, 1), 1);
    for (int i = 0; i < 2; i++) {
        ck_assert(cable_carrier(c.end[i], true, 10000));
    }
    cable_send(c.end[0], 1, 200);
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), 200);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(seen[0]);
    close(seen[1]);
    cable_close(&c);
}
END_TEST

/* While the cable was away, somebody else took the new one. */
START_TEST(a_new_interface_may_be_claimed_by_another)
{
    struct cable c;
    struct shim_info info;
    cable_open(&c);
    netns_delete("left");
    netns_veth("left", "right", MTU, -1);
    struct shim *quicker = open_on("left", MTU);
    ck_assert(!cable_carrier(c.end[0], true, 50));
    shim_info(c.end[0], &info);
    ck_assert_ptr_nonnull(strstr(info.state, "another process"));
    ck_assert(cable_carrier(c.end[1], true, 1000));
    cable_send(c.end[1], 1, 100);
    uint8_t memory[MEMORY_BYTES];
    ck_assert_uint_eq(cable_receive(quicker, memory, 1000), 100);
    ck_assert_uint_eq(cable_receive(c.end[0], memory, 5),
                      0); /* it gave way: it hears nothing, and is in nobody's way */
    shim_close(quicker);
    shim_close(open_on("left", MTU));
    netns_mtu("left", MTU - 1); /* any word about the link makes it try again */
    netns_mtu("left", MTU);
    ck_assert(cable_carrier(c.end[0], true, 1000));
    cable_close(&c);
}
END_TEST

START_TEST(an_interface_may_be_down_at_first)
{
    struct cable c;
    struct shim_info info;
    uint8_t memory[MEMORY_BYTES];
    set_up();
    netns_up("left", false);
    open_raw(&c, MTU);
    ck_assert(!shim_carrier(c.end[0]));
    ck_assert(!shim_carrier(c.end[1]));
    shim_info(c.end[0], &info);
    ck_assert_str_eq(info.state, "interface is down");
    shim_info(c.end[1], &info);
    ck_assert_str_eq(info.state, "no carrier");
    netns_up("left", true);
    ck_assert(cable_carrier(c.end[0], true, 1000));
    ck_assert(cable_carrier(c.end[1], true, 1000));
    cable_send(c.end[1], 4, 100);
    ck_assert_uint_eq(cable_receive(c.end[0], memory, 1000), 100);
    cable_close(&c);
}
END_TEST

START_TEST(a_device_that_narrows_carries_nothing)
{
    struct cable c;
    struct shim_info info;
    cable_open(&c);
    netns_mtu("left", 1500);
    ck_assert(cable_carrier(c.end[0], false, 1000));
    shim_info(c.end[0], &info);
    ck_assert_ptr_nonnull(strstr(info.state, "1500"));
    ck_assert_uint_eq(info.mtu, MTU);
    netns_mtu("left", MTU);
    ck_assert(cable_carrier(c.end[0], true, 1000));
    cable_close(&c);
}
END_TEST

START_TEST(frames_go_to_whom_they_are_sent)
{
    uint8_t mac[6];
    uint8_t memory[MEMORY_BYTES];
    set_up();
    ether_address("right", mac);
    struct port_options options = {.interface = "left"};
    memcpy(options.destination, mac, sizeof mac);
    struct shim *out = ether_open(raw_open, &options);
    struct shim *in = open_on("right", 0);
    cable_send(out, 1, 100);
    ck_assert_uint_eq(cable_receive(in, memory, 1000), 100);
    shim_close(out);
    options.destination[5] ^= 1; /* somebody else, on a cable that ends here */
    out = ether_open(raw_open, &options);
    shim_close(in);
    in = ether_open(raw_open, &(struct port_options){.interface = "right", .destination = {2, 0, 0, 0, 0, 1}});
    cable_send(out, 1, 100);
    ck_assert_uint_eq(cable_receive(in, memory, 20), 0);
    shim_close(out);
    shim_close(in);
}
END_TEST

/* What loopback and some devices allow. */
START_TEST(frames_may_be_longer_than_jumbo)
{
    uint8_t memory[MEMORY_BYTES];
    netns_enter();
    netns_veth("left", "right", 16000, -1);
    struct shim *out = open_on("left", 0);
    struct shim *in = open_on("right", 0);
    cable_send(out, 1, 16000);
    ck_assert_uint_eq(cable_receive(in, memory, 1000), 16000);
    ck_assert(frame_is(memory, 1, 16000));
    shim_close(out);
    shim_close(in);
}
END_TEST

/* A hello as the wire has it, with its head. */
static void make_hello(uint8_t frame[static FRAME_BYTES])
{
    frame_fill(frame, 1, FRAME_BYTES);
    frame_encode(&(struct frame_head){.packets = 1, .session = 7}, frame);
    control_encode(&(struct control_head){.type = CONTROL_HELLO, .length = HELLO_BYTES, .session = 7},
                   frame + FRAME_HEAD_BYTES);
}

/* More data than the queue holds, and a hello behind it: the hello is there, and is told by a descriptor of its own. */
START_TEST(control_does_not_wait_behind_data)
{
    struct cable c;
    struct shim_counters counters;
    uint8_t hello[SHIM_HEADROOM + FRAME_BYTES], memory[MEMORY_BYTES];
    cable_open(&c);
    ck_assert(!cable_poll(shim_urgent_fd(c.end[1]), POLLIN, 0));
    make_hello(hello + SHIM_HEADROOM);
    for (unsigned flood = 0; flood < 2; flood++) {
        do {
            cable_send(c.end[0], 1, 1000);
            shim_counters(c.end[1], &counters);
        } while (counters.rx_dropped == flood);
        struct shim_frame frame = {.bytes = hello + SHIM_HEADROOM, .length = FRAME_BYTES};
        ck_assert_int_eq(shim_send(c.end[0], &frame, 1), 1);
        ck_assert(cable_poll(shim_urgent_fd(c.end[1]), POLLIN, 1000));
        unsigned before = 0;
        while (cable_receive(c.end[1], memory, 1000) != FRAME_BYTES) {
            before++;
        }
        ck_assert_mem_eq(memory, hello + SHIM_HEADROOM, FRAME_BYTES);
        ck_assert_uint_le(before, SHIM_BATCH);
        ck_assert(!cable_poll(shim_urgent_fd(c.end[1]), POLLIN, 0));
    }
    cable_close(&c);
}
END_TEST

enum { PLACES = 4, PLACE_BYTES = 1500 };

/* As a pump receives: with room for more than comes. The lengths of what came. */
static int receive_with_room(struct shim *s, uint32_t length[static PLACES])
{
    static uint8_t memory[PLACES][SHIM_HEADROOM + PLACE_BYTES];
    struct shim_frame in[PLACES];
    for (unsigned i = 0; i < PLACES; i++) {
        in[i] = (struct shim_frame){.bytes = memory[i] + SHIM_HEADROOM, .room = PLACE_BYTES};
    }
    int got = shim_receive(s, in, PLACES);
    for (int i = 0; i < got; i++) {
        length[i] = in[i].length;
    }
    return got;
}

/*
 * Control that an attentive owner has not been told of comes when there is no data, or within a batch of it; told, with
 * the next call.
 */
START_TEST(control_is_looked_for_when_it_is_told)
{
    struct cable c;
    uint8_t hello[SHIM_HEADROOM + FRAME_BYTES];
    uint32_t length[PLACES];
    struct shim_frame frame = {.bytes = hello + SHIM_HEADROOM, .length = FRAME_BYTES};
    cable_open(&c);
    make_hello(frame.bytes);
    c.end[1]->attentive = true;
    for (unsigned told = 0; told < 2; told++) {
        c.end[1]->urgent = told;
        ck_assert_int_eq(shim_send(c.end[0], &frame, 1), 1);
        cable_send(c.end[0], 2, 1000);
        ck_assert(cable_poll(shim_data_fd(c.end[1]), POLLIN, 1000));
        ck_assert(cable_poll(shim_urgent_fd(c.end[1]), POLLIN, 1000));
        ck_assert_int_eq(receive_with_room(c.end[1], length), told ? 2 : 1);
        ck_assert_uint_eq(length[0], 1000);
        if (!told) {
            ck_assert_int_eq(receive_with_room(c.end[1], length), 1); /* no data: it is looked for */
            ck_assert_uint_eq(length[0], FRAME_BYTES);
        }
        ck_assert(!c.end[1]->urgent);
        ck_assert(!cable_poll(shim_urgent_fd(c.end[1]), POLLIN, 0));
    }
    ck_assert_int_eq(shim_send(c.end[0], &frame, 1), 1);
    unsigned before = 0;
    int got;
    do {
        cable_send(c.end[0], 3, 1000);
        ck_assert(cable_poll(shim_data_fd(c.end[1]), POLLIN, 1000));
        got = receive_with_room(c.end[1], length);
        ck_assert_uint_eq(length[0], 1000);
    } while (got == 1 && before++ < SHIM_BATCH);
    ck_assert_int_eq(got, 2);
    ck_assert_uint_eq(length[1], FRAME_BYTES);
    cable_close(&c);
}
END_TEST

/* Frames one by one, then many at once: however they are asked for, all come, each once and in order. */
START_TEST(conversations_and_bursts)
{
    struct cable c;
    uint8_t memory[MEMORY_BYTES];
    uint32_t number = 0;
    cable_open(&c);
    for (unsigned round = 0; round < 40; round++) {
        unsigned burst = round % 10 == 9 ? 20 : 1;
        for (unsigned i = 0; i < burst; i++) {
            cable_send(c.end[0], number + i, 500 + i);
        }
        for (unsigned i = 0; i < burst; i++) {
            ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), 500 + i);
            ck_assert(frame_is(memory, number + i, 500 + i));
        }
        number += burst;
    }
    cable_close(&c);
}
END_TEST

/* Goodbyes are data: what was sent before one is given before it. */
START_TEST(a_goodbye_waits_for_its_turn)
{
    struct cable c;
    uint8_t bytes[SHIM_HEADROOM + FRAME_HEAD_BYTES + GOODBYE_BYTES] = {0}, memory[MEMORY_BYTES];
    struct shim_frame frame = {.bytes = bytes + SHIM_HEADROOM, .length = FRAME_HEAD_BYTES + GOODBYE_BYTES};
    cable_open(&c);
    frame_encode(&(struct frame_head){.packets = 1, .session = 7}, frame.bytes);
    control_encode(&(struct control_head){.type = CONTROL_GOODBYE, .length = GOODBYE_BYTES, .session = 7},
                   frame.bytes + FRAME_HEAD_BYTES);
    cable_send(c.end[0], 1, 1000);
    ck_assert_int_eq(shim_send(c.end[0], &frame, 1), 1);
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), 1000);
    ck_assert_uint_eq(cable_receive(c.end[1], memory, 1000), frame.length);
    cable_close(&c);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(control_does_not_wait_behind_data),
    SUITE_TEST(control_is_looked_for_when_it_is_told),
    SUITE_TEST(conversations_and_bursts),
    SUITE_TEST(a_goodbye_waits_for_its_turn),
    SUITE_TEST(errors_are_named),
    SUITE_TEST(others_frames_are_not_given),
    SUITE_TEST(what_the_kernel_drops_is_counted),
    SUITE_TEST(a_shaped_device_keeps_few),
    SUITE_TEST(a_device_that_refuses_is_left_alone),
    SUITE_TEST(a_renamed_interface_is_the_same_cable),
    SUITE_TEST(a_deleted_interface_comes_back_by_its_name),
    SUITE_TEST(no_privilege_is_needed_afterwards),
    SUITE_TEST(a_new_interface_may_be_claimed_by_another),
    SUITE_TEST(an_interface_may_be_down_at_first),
    SUITE_TEST(a_device_that_narrows_carries_nothing),
    SUITE_TEST(frames_go_to_whom_they_are_sent),
    SUITE_TEST(frames_may_be_longer_than_jumbo),
};

int main(void)
{
    return conformance_run(&kind, tests, sizeof tests / sizeof *tests);
}
