/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_device.h"

#include "services/tunnel/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Of Linux 6.2, which the headers that this is built with need not know. */
enum { USO4 = 0x20, USO6 = 0x40 };
enum { BYTES = 1024, PREFIX6 = 48, WHOLE4 = 32, WHOLE6 = 128 };

__attribute__((format(printf, 3, 4))) static int refuse(char why[static TUN_DEVICE_WHY], int rc, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, TUN_DEVICE_WHY, format, args);
    va_end(args);
    return rc;
}

/* ---- Netlink ----------------------------------------------------------------------------------------------------- */

/* Sends one message and reads what the kernel says of it. */
static int ask(struct nlmsghdr *m)
{
    char answer[BYTES];
    struct mnl_socket *s = mnl_socket_open(NETLINK_ROUTE);
    int rc = -ENOTCONN;
    if (s == NULL) {
        return -errno;
    }
    m->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    m->nlmsg_seq = 1;
    if (mnl_socket_bind(s, 0, MNL_SOCKET_AUTOPID) < 0 || mnl_socket_sendto(s, m, m->nlmsg_len) < 0) {
        rc = -errno;
    } else {
        ssize_t length = mnl_socket_recvfrom(s, answer, sizeof answer);
        const struct nlmsghdr *a = (const void *)answer;
        if (length < 0) {
            rc = -errno;
        } else if (mnl_nlmsg_ok(a, (int)length) && a->nlmsg_type == NLMSG_ERROR) {
            rc = ((const struct nlmsgerr *)mnl_nlmsg_get_payload(a))->error;
        }
    }
    mnl_socket_close(s);
    return rc;
}

static int set_link(unsigned index, uint32_t mtu)
{
    char bytes[BYTES] = {0};
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    m->nlmsg_type = RTM_NEWLINK;
    struct ifinfomsg *i = mnl_nlmsg_put_extra_header(m, sizeof *i);
    i->ifi_family = AF_UNSPEC;
    i->ifi_index = (int)index;
    i->ifi_flags = i->ifi_change = IFF_UP;
    mnl_attr_put_u32(m, IFLA_MTU, mtu);
    return ask(m);
}

static size_t bytes_of(const struct ip_address *a)
{
    return a->version == 4 ? 4 : 16;
}

static int add_address(unsigned index, const struct ip_address *a)
{
    char bytes[BYTES] = {0};
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    m->nlmsg_type = RTM_NEWADDR;
    m->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
    struct ifaddrmsg *i = mnl_nlmsg_put_extra_header(m, sizeof *i);
    i->ifa_family = a->version == 4 ? AF_INET : AF_INET6;
    i->ifa_prefixlen = a->version == 4 ? WHOLE4 : WHOLE6;
    i->ifa_flags = a->version == 6 ? IFA_F_NODAD : 0; /* nobody else can have it */
    i->ifa_index = index;
    mnl_attr_put(m, IFA_LOCAL, bytes_of(a), a->b);
    mnl_attr_put(m, IFA_ADDRESS, bytes_of(a), a->b);
    return ask(m);
}

static struct ip_address subnet_of(const struct ip_address *own, uint8_t length)
{
    struct ip_address subnet = *own;
    for (unsigned bit = length; bit < 8 * bytes_of(own); bit++) {
        subnet.b[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
    }
    return subnet;
}

/* A route to the subnet by the device. */
static struct nlmsghdr *route(char bytes[static BYTES], unsigned index, const struct ip_address *own, uint8_t length)
{
    const struct ip_address subnet = subnet_of(own, length);
    memset(bytes, 0, BYTES);
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    struct rtmsg *r = mnl_nlmsg_put_extra_header(m, sizeof *r);
    r->rtm_family = own->version == 4 ? AF_INET : AF_INET6;
    r->rtm_dst_len = length;
    r->rtm_table = RT_TABLE_MAIN;
    r->rtm_protocol = RTPROT_BOOT;
    r->rtm_scope = own->version == 4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
    r->rtm_type = RTN_UNICAST;
    mnl_attr_put(m, RTA_DST, bytes_of(own), subnet.b);
    mnl_attr_put_u32(m, RTA_OIF, index);
    return m;
}

/*
 * The subnet goes by the device, from the server's own address, with ECN. -EEXIST: another device has a route to that
 * subnet, which is not ours to take. A persistent device may have one of an earlier run, which goes first.
 */
static int add_route(unsigned index, const struct ip_address *own, uint8_t length)
{
    char bytes[BYTES];
    struct nlmsghdr *m = route(bytes, index, own, length);
    m->nlmsg_type = RTM_DELROUTE;
    (void)ask(m);
    m = route(bytes, index, own, length);
    m->nlmsg_type = RTM_NEWROUTE;
    m->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    mnl_attr_put(m, RTA_PREFSRC, bytes_of(own), own->b);
    struct nlattr *metrics = mnl_attr_nest_start(m, RTA_METRICS);
    mnl_attr_put_u32(m, RTAX_FEATURES, RTAX_FEATURE_ECN);
    mnl_attr_nest_end(m, metrics);
    return ask(m);
}

/* ---- The device -------------------------------------------------------------------------------------------------- */

static int set_offload(int fd, bool *udp)
{
    int size = TUNNEL_VNET_BYTES, little = 1;
    unsigned tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
    if (ioctl(fd, TUNSETVNETHDRSZ, &size) < 0 || ioctl(fd, TUNSETVNETLE, &little) < 0) {
        return -errno;
    }
    *udp = ioctl(fd, TUNSETOFFLOAD, (unsigned long)(tcp | USO4 | USO6)) == 0;
    return *udp || ioctl(fd, TUNSETOFFLOAD, (unsigned long)tcp) == 0 ? 0 : -errno;
}

static int open_tun(const char *name, bool *udp, char why[static TUN_DEVICE_WHY])
{
    struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return refuse(why, -errno,
                      "device %s: /dev/net/tun cannot be opened (%s); under systemd it takes the drop-in "
                      "/usr/share/doc/cubeway/examples/tunnel.conf",
                      name, strerror(errno));
    }
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (ioctl(fd, TUNSETIFF, &r) < 0) {
        int rc = -errno;
        close(fd);
        const char *what = rc == -EPERM ? "it takes CAP_NET_ADMIN" : rc == -EBUSY ? "another process has it" : NULL;
        return refuse(why, rc, "device %s cannot be had: %s", name,
                      what != NULL ? what : "an interface of this name is there, and is no such tun");
    }
    int rc = set_offload(fd, udp);
    if (rc < 0) {
        close(fd);
        return refuse(why, rc, "device %s: its kernel has no offload for tun: %s", name, strerror(-rc));
    }
    return fd;
}

static int refuse_route(const char *name, const struct ip_address *own, uint8_t length, const char *option,
                        char why[static TUN_DEVICE_WHY])
{
    const struct ip_address subnet = subnet_of(own, length);
    char text[ADDRESS_TEXT_BYTES];
    return refuse(why, -EEXIST,
                  "device %s: this machine has another route to %s/%u already: remove that route, or set the option %s "
                  "on all servers",
                  name, address_text(&subnet, text), length, option);
}

static int set_up(const char *name, const struct tunnel_place *place, bool *six, char why[static TUN_DEVICE_WHY])
{
    unsigned index = if_nametoindex(name);
    int rc = set_link(index, place->mtu);
    if (rc < 0) {
        return refuse(why, rc, "device %s: the MTU %u cannot be set: %s", name, place->mtu, strerror(-rc));
    }
    rc = add_address(index, &place->own4);
    rc = rc < 0 ? rc : add_route(index, &place->own4, place->length4);
    if (rc == -EEXIST) {
        return refuse_route(name, &place->own4, place->length4, "subnet", why);
    }
    if (rc < 0) {
        return refuse(why, rc, "device %s: its IPv4 address or route cannot be set: %s", name, strerror(-rc));
    }
    rc = add_address(index, &place->own6);
    rc = rc < 0 ? rc : add_route(index, &place->own6, PREFIX6);
    if (rc == -EEXIST) {
        return refuse_route(name, &place->own6, PREFIX6, "subnet6", why);
    }
    *six = rc == 0;
    return 0;
}

int tun_device_open(const char *name, const struct tunnel_place *place, bool *udp, bool *six,
                    char why[static TUN_DEVICE_WHY])
{
    if (name[0] == '\0' || strlen(name) >= IFNAMSIZ || strpbrk(name, "/ %") != NULL) {
        return refuse(why, -EINVAL, "device \"%s\": expected a name of 1 to %d letters and digits", name, IFNAMSIZ - 1);
    }
    int fd = open_tun(name, udp, why);
    if (fd < 0) {
        return fd;
    }
    int rc = set_up(name, place, six, why);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    return fd;
}
