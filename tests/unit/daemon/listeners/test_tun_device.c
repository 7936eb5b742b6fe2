/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* unshare */
#include "daemon/listeners/tun_device.h"

#include "base/bytes.h"
#include "netns.h"
#include "services/tunnel/packet/checksum.h"
#include "services/tunnel/packet/ip.h"
#include "services/tunnel/packet/limits.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MTU = 4000, WAIT_MS = 2000 };

static char why[TUN_DEVICE_WHY];
static enum tun_fault fault;

static struct tunnel_place place(void)
{
    struct tunnel_place p = {.length4 = 12, .mtu = MTU};
    ck_assert_int_eq(address_read("10.64.1.1", &p.own4), 0);
    ck_assert_int_eq(address_read("fd12:3456:789a:1::1", &p.own6), 0);
    return p;
}

static int open_with(const char *name, bool force)
{
    struct tunnel_place p = place();
    struct tun_device d;
    const struct tun_wish wish = {.name = name, .place = &p, .force = force};
    int rc = tun_device_open(&d, &wish, &fault, why);
    return rc < 0 ? rc : d.fd;
}

static int open_device(const char *name)
{
    return open_with(name, false);
}

static uint32_t mtu_of(const char *name)
{
    struct ifreq r = {0};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    ck_assert_int_eq(ioctl(fd, SIOCGIFMTU, &r), 0);
    close(fd);
    return (uint32_t)r.ifr_mtu;
}

/* The next IPv4 packet from the device; the kernel sends some of IPv6 unasked. */
static size_t read_ip4(int fd, uint8_t *out, size_t size)
{
    for (;;) {
        struct pollfd ready = {fd, POLLIN, 0};
        ck_assert_msg(poll(&ready, 1, WAIT_MS) == 1, "nothing comes");
        ssize_t n = read(fd, out, size);
        ck_assert_int_gt(n, TUNNEL_VNET_BYTES);
        if (out[TUNNEL_VNET_BYTES] >> 4 == 4) {
            return (size_t)n;
        }
    }
}

/* An echo request from another server of the subnet is answered by the kernel, through the device. */
START_TEST(packets_go_both_ways)
{
    uint8_t echo[TUNNEL_VNET_BYTES + 36] = {0}, answer[9000], *ip = echo + TUNNEL_VNET_BYTES;
    netns_enter();
    int fd = open_device("cw0");
    ck_assert_msg(fd >= 0, "%s", why);
    ck_assert_uint_eq(mtu_of("cw0"), MTU);
    ip[0] = 0x45;
    ip[IP4_TTL] = 64;
    ip[IP4_PROTOCOL] = IP_ICMP;
    put_be32(ip + 12, 0x0a400201);
    put_be32(ip + 16, 0x0a400101);
    ip[20] = 8;
    memcpy(ip + 28, "cubeway!", 8);
    ip_set_length(ip, 20, 36);
    checksum_complete(ip, 36, 20, 2);
    ck_assert_int_eq(write(fd, echo, sizeof echo), sizeof echo);
    ck_assert_uint_eq(read_ip4(fd, answer, sizeof answer), sizeof echo);
    struct ip_packet p;
    ck_assert_int_eq(ip_read(answer + TUNNEL_VNET_BYTES, 36, &p), TUNNEL_GOOD);
    ck_assert_uint_eq(p.bytes[20], 0);
    ck_assert_uint_eq(get_be32(p.bytes + 16), 0x0a400201);
    ck_assert_mem_eq(p.bytes + 28, "cubeway!", 8);
    close(fd);
    ck_assert_uint_eq(if_nametoindex("cw0"), 0); /* it goes with its descriptor */
}
END_TEST

/* A tap: the MAC address names the server, and what is read are frames: the kernel asks who has the address. */
START_TEST(ethernet)
{
    static uint8_t bytes[9000];
    struct tunnel_place p = place();
    struct tun_device d;
    p.self = 1;
    netns_enter();
    const struct tun_wish wish = {.name = "cw0", .place = &p, .ethernet = true};
    ck_assert_msg(tun_device_open(&d, &wish, &fault, why) == 0, "%s", why);
    struct ifreq r = {.ifr_name = "cw0"};
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    ck_assert_int_eq(ioctl(s, SIOCGIFHWADDR, &r), 0);
    ck_assert_mem_eq(r.ifr_hwaddr.sa_data, ((const uint8_t[]){0x02, 0xcb, 0, 0, 1, 1}), 6);
    ck_assert_uint_eq(mtu_of("cw0"), MTU);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(7), .sin_addr.s_addr = htonl(0x0a400201)};
    ck_assert_int_eq(sendto(s, "abc", 3, 0, (struct sockaddr *)&to, sizeof to), 3);
    const uint8_t *frame = bytes + TUNNEL_VNET_BYTES;
    do {
        struct pollfd ready = {d.fd, POLLIN, 0};
        ck_assert_msg(poll(&ready, 1, WAIT_MS) == 1, "nothing comes");
        ck_assert_int_gt(read(d.fd, bytes, sizeof bytes), TUNNEL_VNET_BYTES + 14);
    } while (get_be16(frame + 12) != 0x0806);
    ck_assert_uint_eq(get_be32(frame + 38), 0x0a400201);
    /* A device that is there is no obstacle to a daemon that looks in advance, and a tun is no tap. */
    ck_assert_msg(tun_device_check(&wish, &fault, why) == 0, "%s", why);
    const struct tun_wish tun = {.name = "cw0", .place = &p};
    ck_assert_int_lt(tun_device_check(&tun, &fault, why), 0);
    close(s);
    close(d.fd);
}
END_TEST

/* What a program sends into the subnet comes out with the server's own address, its checksum left to us. */
START_TEST(routes)
{
    static uint8_t bytes[9000];
    netns_enter();
    int fd = open_device("cw0");
    ck_assert_msg(fd >= 0, "%s", why);
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x0a4f0001)}};
    ck_assert_int_eq(sendto(s, "abc", 3, 0, (struct sockaddr *)&to, sizeof to), 3);
    size_t n = read_ip4(fd, bytes, sizeof bytes) - TUNNEL_VNET_BYTES;
    struct ip_packet p;
    struct offload o;
    ck_assert_int_eq(ip_read(bytes + TUNNEL_VNET_BYTES, n, &p), TUNNEL_GOOD);
    ck_assert_uint_eq(get_be32(p.bytes + 12), 0x0a400101);
    ck_assert_int_eq(vnet_read(bytes, bytes + TUNNEL_VNET_BYTES, &p, &o), TUNNEL_GOOD);
    ck_assert(o.partial && o.gso_size == 0);
    to.sin_addr.s_addr = htonl(0x0a500001); /* beyond the subnet */
    ck_assert_int_lt(sendto(s, "abc", 3, 0, (struct sockaddr *)&to, sizeof to), 0);
    close(s);
    close(fd);
}
END_TEST

START_TEST(what_cannot_be_had)
{
    netns_enter();
    netns_veth("taken", "other", 1500, -1);
    ck_assert_int_lt(open_device("taken"), 0);
    ck_assert_msg(strstr(why, "device taken cannot be had") != NULL, "%s", why);
    static const char *const names[] = {"", "a/b", "a b", "sixteen-letters-", "cw%d"};
    for (unsigned i = 0; i < 5; i++) {
        SUITE_HOLDS(open_device(names[i]) == -EINVAL && strstr(why, "expected a name") != NULL, "%s", why);
    }
    int fd = open_device("cw0");
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(open_device("cw0"), -EBUSY);
    ck_assert_msg(strstr(why, "another process has it") != NULL, "%s", why);
    close(fd);
}
END_TEST

/*
 * Somebody else's route to the subnet stays, and so does one into it or around it unless the operator says so; a route
 * of an earlier run, at a persistent device, is no obstacle.
 */
START_TEST(routes_of_others)
{
    netns_enter();
    netns_veth("other", "far", 1500, -1);
    netns_address("other", "10.64.7.7", 12);
    ck_assert_int_eq(open_device("cw0"), -EEXIST);
    ck_assert_msg(strstr(why, "another route to 10.64.0.0/12") != NULL && strstr(why, "option subnet") != NULL, "%s",
                  why);
    ck_assert_str_eq(tun_fault_option(fault), "subnet");
    ck_assert_uint_eq(if_nametoindex("cw0"), 0);
    ck_assert_int_eq(open_with("cw0", true), -EEXIST); /* the very same route cannot be had twice */
    netns_delete("other");
    netns_veth("other", "far", 1500, -1);
    netns_address("other", "10.70.0.1", 24);
    ck_assert_int_eq(open_device("cw0"), -EEXIST);
    ck_assert_msg(strstr(why, "10.70.0.0/24 by other") != NULL && strstr(why, "force = yes") != NULL, "%s", why);
    int fd = open_with("cw0", true);
    ck_assert_msg(fd >= 0, "%s", why);
    close(fd);
    netns_delete("other");
    netns_veth("other", "far", 1500, -1);
    netns_address("other", "10.1.0.1", 8);
    fd = open_device("cw0");
    ck_assert_msg(fd >= 0 && strstr(why, "another route to 10.0.0.0/8 by other") != NULL, "%s", why);
    close(fd);
    netns_delete("other");
    fd = open_device("cw0");
    ck_assert_msg(fd >= 0 && why[0] == '\0', "%s", why);
    ck_assert_int_eq(ioctl(fd, TUNSETPERSIST, 1), 0);
    close(fd);
    ck_assert_uint_ne(if_nametoindex("cw0"), 0);
    fd = open_device("cw0");
    ck_assert_msg(fd >= 0, "%s", why);
    close(fd);
}
END_TEST

/* The algorithm of connections by the device, where the machine's default is this one. */
static void expect_algorithm(const char *usual, const char *expected)
{
    char used[16] = "";
    socklen_t length = sizeof used;
    int fd = open("/proc/sys/net/ipv4/tcp_congestion_control", O_WRONLY);
    if (fd < 0 || write(fd, usual, strlen(usual)) < 0) {
        close(fd);
        return; /* the kernel has it not */
    }
    close(fd);
    int device = open_device("cw0"), s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_msg(device >= 0, "%s", why);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x0a4f0001)}};
    ck_assert_int_eq(connect(s, (struct sockaddr *)&to, sizeof to), -1);
    ck_assert_int_eq(errno, EINPROGRESS);
    ck_assert_int_eq(getsockopt(s, IPPROTO_TCP, TCP_CONGESTION, used, &length), 0);
    ck_assert_str_eq(used, expected);
    close(s);
    close(device);
}

/* BBR does not listen to marks; any other algorithm is the operator's choice. */
START_TEST(congestion_control)
{
    netns_enter();
    expect_algorithm("bbr", "cubic");
    expect_algorithm("reno", "reno");
}
END_TEST

/* What TCP sends first asks for ECN, on the network's routes alone: the machine's setting is to answer only. */
START_TEST(ecn_by_the_route)
{
    static uint8_t bytes[9000];
    netns_enter();
    int device = open_device("cw0"), s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_msg(device >= 0, "%s", why);
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x0a4f0001)}};
    ck_assert_int_eq(connect(s, (const struct sockaddr *)&to, sizeof to), -1);
    (void)read_ip4(device, bytes, sizeof bytes);
    const uint8_t *tcp = bytes + TUNNEL_VNET_BYTES + 20;
    ck_assert_uint_eq(tcp[13] & 0x02, 0x02); /* SYN */
    ck_assert_uint_eq(tcp[13] & 0xc0, 0xc0); /* ECE and CWR: RFC 3168, 6.1.1 */
    close(s);
    close(device);
}
END_TEST

/* ---- Rights ------------------------------------------------------------------------------------------------------ */

/* The process loses a right that it has. */
static void lose(unsigned right)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct sets[2];
    ck_assert_int_eq(syscall(SYS_capget, &head, sets), 0);
    sets[right / 32].effective &= ~(1U << right % 32);
    ck_assert_int_eq(syscall(SYS_capset, &head, sets), 0);
}

/* Whose kernel gives no device to programs without CAP_NET_ADMIN is told so, and root in advance. */
START_TEST(without_the_right)
{
    struct tunnel_place p = place();
    const struct tun_wish wish = {.name = "cw0", .place = &p};
    netns_enter();
    lose(CAP_NET_ADMIN);
    ck_assert_int_eq(open_device("cw0"), -EPERM);
    ck_assert_msg(strstr(why, "it takes CAP_NET_ADMIN: start the daemon as root") != NULL, "%s", why);
    ck_assert_int_eq(tun_device_check(&wish, &fault, why), 0);
    ck_assert_msg(strstr(why, "root without CAP_NET_ADMIN") != NULL, "%s", why);
}
END_TEST

/* Hides the devices behind an empty folder, for this process. False: no file system may be mounted here. */
static bool hide_devices(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", "/dev/net", "tmpfs", 0, "mode=0755") == 0;
}

/* No module, or a file that is not for everybody. */
START_TEST(file_that_cannot_be_opened)
{
    struct tunnel_place p = place();
    const struct tun_wish wish = {.name = "cw0", .place = &p};
    netns_enter();
    if (!hide_devices()) {
        puts("no file system may be mounted here: not tried");
        return;
    }
    ck_assert_int_eq(open_device("cw0"), -ENOENT);
    ck_assert_msg(strstr(why, "modprobe tun") != NULL && strstr(why, "tunnel.conf") != NULL, "%s", why);
    ck_assert_int_eq(tun_device_check(&wish, &fault, why), -ENOENT);
    int fd = open("/dev/net/tun", O_WRONLY | O_CREAT | O_EXCL, 0066);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, 0066), 0);
    close(fd);
    lose(CAP_DAC_OVERRIDE);
    ck_assert_int_eq(open_device("cw0"), -EACCES);
    ck_assert_msg(strstr(why, "its mode is 0066") != NULL && strstr(why, "chmod 0666") != NULL, "%s", why);
    ck_assert_int_eq(tun_device_check(&wish, &fault, why), -EACCES);
}
END_TEST

START_TEST(checked_in_advance)
{
    struct tunnel_place p = place();
    netns_enter();
    const struct tun_wish wish = {.name = "cw0", .place = &p, .force = false},
                          bad = {.name = "a b", .place = &p, .force = false},
                          taken = {.name = "taken", .place = &p, .force = false};
    ck_assert_msg(tun_device_check(&wish, &fault, why) == 0, "%s", why);
    ck_assert_uint_eq(if_nametoindex("cw0"), 0);
    ck_assert_int_eq(tun_device_check(&bad, &fault, why), -EINVAL);
    netns_veth("taken", "far", 1500, -1);
    ck_assert_int_eq(tun_device_check(&taken, &fault, why), -EINVAL);
    ck_assert(fault == TUN_FAULT_DEVICE && strstr(why, "another name") != NULL);
    int fd = open_device("cw0");
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(tun_device_check(&wish, &fault, why), 0); /* a daemon that runs is no mistake */
    close(fd);
    netns_address("taken", "10.1.2.3", 8);
    ck_assert_msg(tun_device_check(&wish, &fault, why) == 0 && strstr(why, "10.0.0.0/8 by taken") != NULL, "%s", why);
    netns_address("taken", "10.65.2.3", 16);
    ck_assert_int_eq(tun_device_check(&wish, &fault, why), -EEXIST);
    ck_assert(fault == TUN_FAULT_SUBNET);
}
END_TEST

/* What is behind a gateway goes by the device, unless the machine has a way of its own. */
START_TEST(routes_outside)
{
    static uint8_t bytes[9000];
    struct tunnel_place p = place();
    struct tun_device d;
    const struct tun_wish wish = {.name = "cw0", .place = &p, .force = false};
    netns_enter();
    p.prefixes = 2;
    p.prefix[0] = (struct address_prefix){{.version = 4}, 0};
    p.prefix[1] = (struct address_prefix){{.version = 6}, 0};
    ck_assert_msg(tun_device_open(&d, &wish, &fault, why) == 0, "%s", why);
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr = {htonl(0x08080808)}};
    ck_assert_int_eq(sendto(s, "abc", 3, 0, (const struct sockaddr *)&to, sizeof to), 3);
    (void)read_ip4(d.fd, bytes, sizeof bytes);
    ck_assert_uint_eq(get_be32(bytes + TUNNEL_VNET_BYTES + 12), 0x0a400101); /* from the server's own address */
    ck_assert_uint_eq(get_be32(bytes + TUNNEL_VNET_BYTES + 16), 0x08080808);
    close(d.fd);
    ck_assert_int_lt(sendto(s, "abc", 3, 0, (const struct sockaddr *)&to, sizeof to), 0);
    close(s);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(routes_outside),     SUITE_TEST(packets_go_both_ways),      SUITE_TEST(routes),
    SUITE_TEST(ethernet),           SUITE_TEST(what_cannot_be_had),        SUITE_TEST(routes_of_others),
    SUITE_TEST(congestion_control), SUITE_TEST(ecn_by_the_route),          SUITE_TEST(without_the_right),
    SUITE_TEST(checked_in_advance), SUITE_TEST(file_that_cannot_be_opened)};

int main(void)
{
    if (!netns_can()) {
        return SUITE_SKIP;
    }
    if (access("/dev/net/tun", R_OK | W_OK) != 0) {
        puts("there is no /dev/net/tun to open here");
        return SUITE_SKIP;
    }
    return suite_run("tun_device", tests, sizeof tests / sizeof *tests);
}
