/* SPDX-License-Identifier: Apache-2.0 */
#include "ether.h"

#include "netns.h"
#include "shim/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void ether_address(const char *interface, uint8_t mac[6])
{
    struct ifreq request = {0};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    ck_assert_int_eq(ioctl(fd, SIOCGIFHWADDR, &request), 0);
    memcpy(mac, request.ifr_hwaddr.sa_data, 6);
    close(fd);
}

void ether_send(const char *interface, const uint8_t to[6], uint16_t ethertype, const void *bytes, size_t length)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(ethertype),
                                  .sll_ifindex = (int)if_nametoindex(interface),
                                  .sll_halen = 6};
    memcpy(address.sll_addr, to, 6);
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ssize_t sent = sendto(fd, bytes, length, 0, (struct sockaddr *)&address, sizeof address);
    ck_assert_int_eq(sent, (ssize_t)length);
    close(fd);
}

void ether_strangers(const struct cable *c)
{
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static bool third;
    static const char text[100] = "not for you";
    uint8_t mac[6];
    (void)c;
    if (!third) {
        netns_veth("third", "fourth", 1500, -1);
        third = true;
    }
    ether_address("left", mac);
    ether_send("right", all, 0x88b7, text, sizeof text);
    ether_send("right", mac, 0x0800, text, sizeof text);
    ether_send("right", mac, PORT_ETHERTYPE, text, 0);
    ether_send("right", mac, WIRE_ETHERTYPE_CONTROL, text, 0);
    ether_send("fourth", all, PORT_ETHERTYPE, text, sizeof text);
    ether_send("left", all, PORT_ETHERTYPE, text, 0); /* leaves by our own interface */
}

void ether_try_others(ether_open_fn *open)
{
    static const uint8_t nobody[6] = {2, 3, 4, 5, 6, 7};
    static const char text[100] = "not for you";
    uint8_t memory[MEMORY_BYTES];
    struct port_options options = {.interface = "left"};
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    netns_promiscuous("left", true);
    ether_address("right", options.destination);
    struct shim *in = ether_open(open, &options);
    struct shim *out = ether_open(open, &(struct port_options){.interface = "right"});
    ether_send("right", nobody, WIRE_ETHERTYPE, text, sizeof text);
    ether_send("right", nobody, WIRE_ETHERTYPE_CONTROL, text, sizeof text);
    ck_assert_uint_eq(cable_receive(in, memory, 20), 0);
    cable_send(out, 1, 100);
    ck_assert_uint_eq(cable_receive(in, memory, 1000), 100);
    shim_close(in);
    shim_close(out);
}

struct shim *ether_open(ether_open_fn *open, const struct port_options *options)
{
    struct shim *s = NULL;
    char why[SHIM_WHY_BYTES] = "";
    int rc = open(&s, options, why);
    ck_assert_msg(rc == 0, "%d %s", rc, why);
    return s;
}

void ether_open_fails(ether_open_fn *open, const struct port_options *options, int rc, const char *words)
{
    struct shim *s = NULL;
    char why[SHIM_WHY_BYTES] = "";
    ck_assert_int_eq(open(&s, options, why), rc);
    ck_assert_msg(strstr(why, words) != NULL, "\"%s\" has not \"%s\"", why, words);
    ck_assert_msg(strncmp(why, options->interface, strnlen(options->interface, 16)) == 0, "\"%s\" names no interface",
                  why);
    ck_assert_ptr_null(s);
}

void ether_drop_capabilities(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    ck_assert_int_eq(syscall(SYS_capset, &head, none), 0);
}

/* In a child, without any capability. */
static void try_without_permission(ether_open_fn *open)
{
    pid_t child = fork();
    if (child == 0) {
        ether_drop_capabilities();
        ether_open_fails(open, &(struct port_options){.interface = "left"}, -EPERM, "permission");
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void ether_try_errors(ether_open_fn *open)
{
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    ether_open_fails(open, &(struct port_options){.interface = "absent"}, -ENODEV, "no such interface");
    ether_open_fails(open, &(struct port_options){.interface = ""}, -ENAMETOOLONG, "name");
    ether_open_fails(open, &(struct port_options){.interface = "much-too-long-a-name"}, -ENAMETOOLONG, "name");
    ether_open_fails(open, &(struct port_options){.interface = "lo"}, -EPROTOTYPE, "not an Ethernet interface");
    ether_open_fails(open, &(struct port_options){.interface = "left", .mtu = 9000}, -EMSGSIZE, "its mtu is 1500");
    try_without_permission(open);

    struct shim *first = ether_open(open, &(struct port_options){.interface = "left"});
    ether_open_fails(open, &(struct port_options){.interface = "left"}, -EADDRINUSE, "another process");
    for (unsigned lane = 0; lane < LANES; lane++) { /* one of the two is enough to be in the way */
        struct port_options beside = {.interface = "left", .ethertype = lane == 0 ? 0x88b4 : 0x88b6};
        ether_open_fails(open, &beside, -EADDRINUSE, "another process");
    }
    ether_open_fails(open,
                     &(struct port_options){.interface = "left", .ethertype = 0x9001, .ethertype_control = 0x9001},
                     -EINVAL, "two EtherTypes");
    netns_up("right", true);
    struct shim *other_type = ether_open(open, &(struct port_options){.interface = "left", .ethertype = 0x9001});
    struct shim *second = ether_open(open, &(struct port_options){.interface = "right", .mtu = 1000});
    struct shim_info info;
    shim_info(first, &info);
    ck_assert_uint_eq(info.mtu, 1500); /* the interface's */
    ck_assert_str_eq(info.name, "left");
    ck_assert_uint_eq(info.overhead, 38);
    ck_assert_uint_eq(info.bits_per_second, 0); /* what veth says of its speed is made up */
    shim_info(second, &info);
    ck_assert_uint_eq(info.mtu, 1000);
    shim_close(first);
    shim_close(second);
    shim_close(other_type);
    first = ether_open(open, &(struct port_options){.interface = "left", .bits_per_second = 20000000});
    shim_info(first, &info);
    ck_assert_uint_eq(info.bits_per_second, 20000000);
    shim_close(first);
}

void ether_try_drops(ether_open_fn *open)
{
    enum { FRAMES = 2000, LENGTH = 9000 };
    struct shim_counters counters;
    uint8_t memory[MEMORY_BYTES];
    uint64_t seen = 0;
    netns_enter();
    netns_veth("left", "right", LENGTH, -1);
    struct shim *out = ether_open(open, &(struct port_options){.interface = "left"});
    struct shim *in = ether_open(open, &(struct port_options){.interface = "right"});
    for (uint32_t i = 0; i < FRAMES; i++) {
        cable_send(out, i, LENGTH);
    }
    while (cable_receive(in, memory, 20) > 0) {
        seen++;
    }
    for (int i = 0; i < 2; i++) { /* reading does not count twice */
        shim_counters(in, &counters);
        ck_assert_uint_eq(counters.rx_frames, seen);
        ck_assert_uint_gt(counters.rx_dropped, 0);
        ck_assert_uint_eq(seen + counters.rx_dropped, FRAMES);
    }
    shim_close(out);
    shim_close(in);
}

static void try_shaped(ether_open_fn *open, uint32_t length, uint64_t told)
{
    enum { FRAMES = 200, RATE = 40000000 };
    uint8_t memory[SHIM_HEADROOM + MEMORY_BYTES];
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = length};
    struct shim_counters counters;
    uint32_t sent = 0;
    uint32_t seen = 0;
    uint32_t waiting_most = 0;
    netns_veth("left", "right", length, -1);
    netns_tbf("left", RATE, 2 * length, 1000000);
    struct shim *out = ether_open(open, &(struct port_options){.interface = "left", .bits_per_second = told});
    struct shim *in = ether_open(open, &(struct port_options){.interface = "right"});
    cw_time start = clock_now();
    while (seen < FRAMES) {
        if (sent < FRAMES && shim_room(out) > 0) {
            frame_fill(frame.bytes, sent, length);
            ck_assert_int_eq(shim_send(out, &frame, 1), 1);
            sent++;
        }
        uint8_t got[MEMORY_BYTES];
        while (cable_receive(in, got, sent < FRAMES && shim_room(out) > 0 ? 0 : 1) > 0) {
            ck_assert(frame_is(got, seen, length));
            seen++;
        }
        waiting_most = sent - seen > waiting_most ? sent - seen : waiting_most;
    }
    int64_t took = cw_time_since(clock_now(), start).ns;
    int64_t least = (int64_t)(FRAMES - 30) * length * 8 * 1000000000 / RATE;
    ck_assert_int_ge(took, least);                        /* it was shaped */
    ck_assert_uint_le(waiting_most, told != 0 ? 12 : 60); /* and what waited was not in the kernel */
    shim_counters(out, &counters);
    ck_assert_uint_eq(counters.tx_refused + counters.tx_errors, 0);
    shim_close(out);
    shim_close(in);
    netns_delete("left");
}

void ether_try_shaped(ether_open_fn *open)
{
    netns_enter();
    try_shaped(open, 1500, 40000000);
    try_shaped(open, 1500, 0);
    try_shaped(open, 9000, 0);
}

void ether_try_refusing(ether_open_fn *open)
{
    enum { RATE = 40000000, BURST = 3000, TRIED_MS = 300 };
    uint8_t memory[SHIM_HEADROOM + MEMORY_BYTES];
    struct shim_frame frame = {.bytes = memory + SHIM_HEADROOM, .length = 1000};
    struct shim_counters counters;
    netns_enter();
    netns_veth("left", "right", 1500, -1);
    netns_tbf("left", RATE, BURST, 1); /* its queue has room for a byte */
    struct shim *out = ether_open(open, &(struct port_options){.interface = "left"});
    cw_time end = cw_time_add(clock_now(), CW_MS(TRIED_MS)), until;
    frame_fill(frame.bytes, 0, frame.length);
    while (cw_time_before(clock_now(), end)) {
        ck_assert(shim_room(out) == 0 || shim_send(out, &frame, 1) == 0);
        ck_assert_int_eq(shim_wait(out, &until), SHIM_WAIT_TIME);
    }
    shim_counters(out, &counters);
    ck_assert_uint_ge(counters.tx_refused, 4);
    ck_assert_uint_le(counters.tx_refused, 60); /* 8 pauses that double, then one in 6.4 ms */
    ck_assert_uint_eq(counters.tx_refused_row, counters.tx_refused);
    netns_tbf("left", RATE, BURST, 30000);
    end = cw_time_add(clock_now(), CW_SEC(5));
    while (shim_room(out) == 0 || shim_send(out, &frame, 1) == 0) {
        ck_assert(cw_time_before(clock_now(), end));
    }
    shim_counters(out, &counters);
    ck_assert_uint_eq(counters.tx_refused_row, 0);
    ck_assert_uint_eq(counters.tx_frames, 1);
    shim_close(out);
    netns_delete("left");
}
