/* SPDX-License-Identifier: Apache-2.0 */
/* What raw and pcap do with a port is tested with them (ether.h); here, what it is by itself. */
#include "shim/port.h"

#include "ether.h"
#include "netns.h"
#include "suite.h"
#include "wire/control.h"
#include "wire/packet.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* A hello has the EtherType of control; a goodbye, and what is no frame at all, that of data. */
static void header_follows_the_lane(const struct port *p)
{
    uint8_t bytes[PORT_HEADER + 64] = {0}, *frame = bytes + PORT_HEADER;
    for (unsigned type = 0; type <= CONTROL_GOODBYE; type++) {
        frame_encode(&(struct frame_head){.packets = 1}, frame);
        frame[FRAME_HEAD_BYTES] = WIRE_VERSION_NOW << 4 | PACKET_CONTROL;
        frame[FRAME_HEAD_BYTES + 1] = (uint8_t)type;
        enum frame_lane lane = type == CONTROL_HELLO ? FRAME_CONTROL : FRAME_DATA;
        ck_assert_ptr_eq(port_frame(p, frame, 64), bytes);
        ck_assert_mem_eq(bytes, p->header[lane], PORT_HEADER);
    }
}

START_TEST(the_header_is_that_of_our_frames)
{
    struct port p;
    uint8_t mac[6];
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct port_options o = {.interface = "left"};
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    ether_address("left", mac);
    ck_assert_int_eq(port_open(&p, &o), 0);
    for (unsigned lane = 0; lane < LANES; lane++) {
        ck_assert_mem_eq(p.header[lane], broadcast, 6);
        ck_assert_mem_eq(p.header[lane] + 6, mac, 6);
        ck_assert_uint_eq(p.header[lane][12], 0x88);
        ck_assert_uint_eq(p.header[lane][13], lane == FRAME_DATA ? 0xb5 : 0xb6);
    }
    ck_assert(p.alone && port_carrier(&p));
    header_follows_the_lane(&p);
    port_close(&p);
    ether_address("right", o.destination);
    o.ethertype = 0x9123;
    o.mtu = 1400;
    ck_assert_int_eq(port_open(&p, &o), 0);
    ck_assert(!p.alone);
    ck_assert_mem_eq(p.header[FRAME_CONTROL], o.destination, 6);
    ck_assert_mem_eq(p.header[FRAME_DATA] + 12, ((const uint8_t[]){0x91, 0x23}), 2);
    ck_assert_mem_eq(p.header[FRAME_CONTROL] + 12, ((const uint8_t[]){0x91, 0x24}), 2);
    ck_assert_uint_eq(p.mtu, 1400);
    port_close(&p);
    o.ethertype_control = 0x8888;
    ck_assert_int_eq(port_open(&p, &o), 0);
    ck_assert_mem_eq(p.header[FRAME_CONTROL] + 12, ((const uint8_t[]){0x88, 0x88}), 2);
    port_close(&p);
    o.ethertype_control = o.ethertype;
    ck_assert_int_eq(port_open(&p, &o), -EINVAL);
    port_close(&p);
}
END_TEST

START_TEST(another_device_is_told_once)
{
    struct port p;
    struct shim_info info = {.kind = "test"};
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    ck_assert_int_eq(port_open(&p, &(struct port_options){.interface = "left"}), 0);
    ck_assert(!port_service(&p));
    netns_delete("left");
    ck_assert(!port_service(&p));
    ck_assert(!port_carrier(&p));
    netns_veth("left", "right", 1500, -1);
    ck_assert(port_service(&p));
    struct pollfd one = {.fd = carrier_fd(&p.carrier), .events = POLLIN};
    while (!port_carrier(&p)) {
        ck_assert_int_eq(poll(&one, 1, 2000), 1);
        ck_assert(!port_service(&p));
    }
    port_release(&p); /* it could not be bound to */
    ck_assert(!port_carrier(&p));
    port_info(&p, &info);
    ck_assert_str_ne(info.state, "up");
    ck_assert(port_service(&p)); /* and is tried again */
    port_info(&p, &info);
    ck_assert_str_eq(info.state, "up");
    ck_assert_str_eq(info.name, "left");
    port_close(&p);
}
END_TEST

START_TEST(every_error_has_a_sentence)
{
    static const int errors[] = {ENODEV,     ENAMETOOLONG, EPROTOTYPE, EMSGSIZE, EPERM,
                                 EADDRINUSE, EINVAL,       ENETDOWN,   ENOMEM,   EIO};
    struct port p = {.generation = 0};
    struct port_options o = {.interface = "eth3", .mtu = 9000};
    char first[SHIM_WHY_BYTES] = "";
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        char why[SHIM_WHY_BYTES] = "";
        ck_assert_int_eq(port_explain(&p, &o, -errors[i], why), -errors[i]);
        ck_assert_int_eq(strncmp(why, "eth3: ", 6), 0);
        ck_assert_str_ne(why, first);
        memcpy(first, why, sizeof first);
    }
    char why[SHIM_WHY_BYTES];
    ck_assert_int_eq(port_explain(&p, &o, -EACCES, why), -EPERM);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_header_is_that_of_our_frames),
    SUITE_TEST(another_device_is_told_once),
    SUITE_TEST(every_error_has_a_sentence),
};

int main(void)
{
    return netns_can() ? suite_run("port", tests, sizeof tests / sizeof *tests) : SUITE_SKIP;
}
