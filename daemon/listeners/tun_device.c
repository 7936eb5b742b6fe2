/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listeners/tun_device.h"

#include "daemon/listeners/tun_netns.h"
#include "daemon/listeners/tun_routes.h"
#include "services/tunnel/neighbour.h"
#include "services/tunnel/packet/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of Linux 6.2, which the headers that this is built with need not know. */
enum { USO4 = 0x20, USO6 = 0x40 };
/* Above what other programs give their routes (NetworkManager 100 and on, the kernel 1,024 to those of IPv6). */
enum { OUTSIDE_METRIC = 4096 };
/* Lengths of prefixes: of the network's IPv6 subnet, of what each server has of the subnets, of one address. */
enum { BYTES = 1024, PREFIX6 = 48, EACH4 = 24, EACH6 = 64, WHOLE4 = 32, WHOLE6 = 128 };
/* The host of a server's subnets that is the server (address.h). */
enum { OWN_HOST = 1 };

__attribute__((format(printf, 3, 4))) static int refuse(char why[static TUN_DEVICE_WHY], int rc, const char *format,
                                                        ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, TUN_DEVICE_WHY, format, args);
    va_end(args);
    return rc;
}

const char *tun_fault_option(enum tun_fault fault)
{
    static const char *const names[] = {[TUN_FAULT_DEVICE] = "device",
                                        [TUN_FAULT_SUBNET] = "subnet",
                                        [TUN_FAULT_SUBNET6] = "subnet6",
                                        [TUN_FAULT_NETNS] = "netns"};
    return names[fault];
}

/* ---- Netlink ----------------------------------------------------------------------------------------------------- */

/* Sends one message and reads what the kernel says of it. */
static int ask(struct nlmsghdr *m)
{
    char answer[BYTES];
    struct mnl_socket *s = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
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

/* The beginning of a message that changes the link. */
static struct nlmsghdr *change_link(char bytes[static BYTES], unsigned index, unsigned flags)
{
    memset(bytes, 0, BYTES);
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    m->nlmsg_type = RTM_NEWLINK;
    struct ifinfomsg *i = mnl_nlmsg_put_extra_header(m, sizeof *i);
    i->ifi_family = AF_UNSPEC;
    i->ifi_index = (int)index;
    i->ifi_flags = i->ifi_change = flags;
    return m;
}

/*
 * The device needs no link-local address: with one, the kernel would send router solicitations and the like, which
 * nobody answers. A machine without IPv6 refuses this, and does none of that.
 */
static void silence(unsigned index)
{
    char bytes[BYTES];
    struct nlmsghdr *m = change_link(bytes, index, 0);
    struct nlattr *families = mnl_attr_nest_start(m, IFLA_AF_SPEC), *six = mnl_attr_nest_start(m, AF_INET6);
    mnl_attr_put_u8(m, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);
    mnl_attr_nest_end(m, six);
    mnl_attr_nest_end(m, families);
    (void)ask(m);
}

/* mac: NULL, the device has none. */
static int set_link(unsigned index, uint32_t mtu, const uint8_t *mac)
{
    char bytes[BYTES];
    struct nlmsghdr *m = change_link(bytes, index, IFF_UP);
    mnl_attr_put_u32(m, IFLA_MTU, mtu);
    if (mac != NULL) {
        mnl_attr_put(m, IFLA_ADDRESS, ETHER_MAC, mac);
    }
    return ask(m);
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
    mnl_attr_put(m, IFA_LOCAL, tun_routes_bytes(a), a->b);
    mnl_attr_put(m, IFA_ADDRESS, tun_routes_bytes(a), a->b);
    return ask(m);
}

/* Where a route leads, and from which address of ours. */
struct way {
    const struct ip_address *to, *own;
    uint8_t length;
    /* Of routes to one prefix that with the least goes first; 0: as the kernel chooses. */
    uint32_t metric;
};

static struct nlmsghdr *route(char bytes[static BYTES], unsigned index, const struct way *way)
{
    const struct ip_address subnet = tun_routes_subnet(way->to, way->length);
    memset(bytes, 0, BYTES);
    struct nlmsghdr *m = mnl_nlmsg_put_header(bytes);
    struct rtmsg *r = mnl_nlmsg_put_extra_header(m, sizeof *r);
    r->rtm_family = way->to->version == 4 ? AF_INET : AF_INET6;
    r->rtm_dst_len = way->length;
    r->rtm_table = RT_TABLE_MAIN;
    r->rtm_protocol = RTPROT_BOOT;
    r->rtm_scope = way->to->version == 4 ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
    r->rtm_type = RTN_UNICAST;
    if (way->length > 0) {
        mnl_attr_put(m, RTA_DST, tun_routes_bytes(way->to), subnet.b);
    }
    if (way->metric > 0) {
        mnl_attr_put_u32(m, RTA_PRIORITY, way->metric);
    }
    mnl_attr_put_u32(m, RTA_OIF, index);
    return m;
}

/* Adds it. A persistent device may have one of an earlier run, which goes first. */
static int put_route(unsigned index, const struct way *way, bool ecn, bool cubic)
{
    char bytes[BYTES];
    struct nlmsghdr *m = route(bytes, index, way);
    m->nlmsg_type = RTM_DELROUTE;
    (void)ask(m);
    m = route(bytes, index, way);
    m->nlmsg_type = RTM_NEWROUTE;
    m->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    mnl_attr_put(m, RTA_PREFSRC, tun_routes_bytes(way->own), way->own->b);
    if (ecn) {
        struct nlattr *metrics = mnl_attr_nest_start(m, RTA_METRICS);
        mnl_attr_put_u32(m, RTAX_FEATURES, RTAX_FEATURE_ECN);
        if (cubic) {
            mnl_attr_put_strz(m, RTAX_CC_ALGO, "cubic");
        }
        mnl_attr_nest_end(m, metrics);
    }
    return ask(m);
}

/*
 * What is behind gateways goes by the device, too, where the machine has no better way: any route to the same prefix
 * goes first. Where it cannot be had, as a second one, there is none.
 */
static void add_outside(unsigned index, const struct tunnel_place *place)
{
    for (unsigned i = 0; i < place->prefixes; i++) {
        const struct address_prefix *p = &place->prefix[i];
        const struct way way = {&p->base, p->base.version == 4 ? &place->own4 : &place->own6, p->length,
                                OUTSIDE_METRIC};
        (void)put_route(index, &way, false, false);
    }
}

/* True where TCP connections would use BBR, which does not listen to marks. */
static bool ignores_marks(void)
{
    char name[16] = "";
    int fd = open("/proc/sys/net/ipv4/tcp_congestion_control", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name - 1);
    if (fd >= 0) {
        close(fd);
    }
    return n >= 3 && strncmp(name, "bbr", 3) == 0;
}

/*
 * The subnet goes by the device, from the server's own address, with ECN. -EEXIST: another device has a route to that
 * subnet, which is not ours to take. A kernel without CUBIC refuses the route that asks for it.
 */
static int add_route(unsigned index, const struct ip_address *own, uint8_t length)
{
    const struct way way = {own, own, length, 0};
    int rc = ignores_marks() ? put_route(index, &way, true, true) : -EINVAL;
    return rc == -EINVAL ? put_route(index, &way, true, false) : rc;
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

static int refuse_file(const char *name, int error, char why[static TUN_DEVICE_WHY])
{
    struct stat st;
    if (error == EACCES && stat("/dev/net/tun", &st) == 0) {
        return refuse(why, -error,
                      "device %s: /dev/net/tun cannot be opened (%s; its mode is %04o): start the daemon as root, and "
                      "name whom it is to become by the key user, or chmod 0666 /dev/net/tun, as udev does",
                      name, strerror(error), (unsigned)(st.st_mode & 07777));
    }
    return refuse(why, -error,
                  "device %s: /dev/net/tun cannot be opened (%s): load the module (modprobe tun); under systemd it "
                  "takes the drop-in /usr/share/doc/cubeway/examples/tunnel.conf, and in a container the device",
                  name, strerror(error));
}

static int refuse_taken(const char *name, char why[static TUN_DEVICE_WHY])
{
    return refuse(why, -EINVAL,
                  "device %s cannot be had: an interface of this name is there, and is no such tun: set the option "
                  "device to another name",
                  name);
}

static int open_tun(const struct tun_wish *wish, bool *udp, char why[static TUN_DEVICE_WHY])
{
    const char *name = wish->name;
    struct ifreq r = {.ifr_flags = (short)((wish->ethernet ? IFF_TAP : IFF_TUN) | IFF_NO_PI | IFF_VNET_HDR)};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return refuse_file(name, errno, why);
    }
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (ioctl(fd, TUNSETIFF, &r) < 0) {
        int rc = -errno;
        close(fd);
        if (rc == -EPERM) {
            return refuse(why, rc,
                          "device %s cannot be had: it takes CAP_NET_ADMIN: start the daemon as root, and name "
                          "whom it is to become by the key user",
                          name);
        }
        if (rc == -EBUSY) {
            return refuse(why, rc,
                          "device %s cannot be had: another process has it: set the option device to another "
                          "name",
                          name);
        }
        return refuse_taken(name, why);
    }
    int rc = set_offload(fd, udp);
    if (rc < 0) {
        close(fd);
        return refuse(why, rc, "device %s: its kernel has no offload for tun: %s", name, strerror(-rc));
    }
    return fd;
}

/* Are the network's subnets free on this machine? 0: why[], which is "" before, may be a warning. */
static int check_routes(const struct tun_wish *wish, unsigned index, enum tun_fault *fault,
                        char why[static TUN_DEVICE_WHY])
{
    const struct ip_address *const own[] = {&wish->place->own4, &wish->place->own6};
    const uint8_t length[] = {wish->place->length4, PREFIX6}, each[] = {EACH4, EACH6};
    for (unsigned i = 0; i < 2 && !wish->force; i++) {
        struct tun_routes_found found;
        char text[ADDRESS_TEXT_BYTES];
        const enum tun_fault which = i == 0 ? TUN_FAULT_SUBNET : TUN_FAULT_SUBNET6;
        const struct tun_routes_place place = {*own[i], length[i], each[i], index};
        const struct ip_address subnet = tun_routes_subnet(own[i], length[i]);
        int rc = tun_routes_find(&place, &found);
        if (rc == 1) {
            *fault = which;
            return refuse(why, -EEXIST,
                          "device %s: this machine has another route to %s, which overlaps with the network's %s/%u: "
                          "remove that route, set the option %s on all servers, or set force = yes",
                          wish->name, found.inside, address_text(&subnet, text), length[i], tun_fault_option(which));
        }
        if (why[0] == '\0' && rc < 0) {
            (void)refuse(why, 0,
                         "device %s: whether another route overlaps with the network's %s/%u cannot be told: %s",
                         wish->name, address_text(&subnet, text), length[i], strerror(-rc));
        } else if (why[0] == '\0' && found.around[0] != '\0') {
            (void)refuse(why, 0,
                         "device %s: this machine has another route to %s, out of which the network takes %s/%u: set "
                         "the option %s on all servers if these addresses are needed there",
                         wish->name, found.around, address_text(&subnet, text), length[i], tun_fault_option(which));
        }
    }
    return 0;
}

static int refuse_route(const struct tun_wish *wish, enum tun_fault *fault, enum tun_fault which,
                        char why[static TUN_DEVICE_WHY])
{
    *fault = which;
    return refuse(why, -EEXIST,
                  "device %s: this machine has another route to the network's subnet: remove that route, or set the "
                  "option %s on all servers",
                  wish->name, tun_fault_option(which));
}

static int set_up(const struct tun_wish *wish, bool *six, enum tun_fault *fault, char why[static TUN_DEVICE_WHY])
{
    const struct tunnel_place *place = wish->place;
    const char *name = wish->name;
    unsigned index = if_nametoindex(name);
    int rc = check_routes(wish, index, fault, why);
    if (rc < 0) {
        return rc;
    }
    uint8_t mac[ETHER_MAC];
    neighbour_mac(place->self, OWN_HOST, mac);
    if (!wish->ethernet) {
        silence(index);
    }
    rc = set_link(index, place->mtu, wish->ethernet ? mac : NULL);
    if (rc < 0) {
        return refuse(why, rc, "device %s: the MTU %u cannot be set: %s", name, place->mtu, strerror(-rc));
    }
    rc = add_address(index, &place->own4);
    rc = rc < 0 ? rc : add_route(index, &place->own4, place->length4);
    if (rc == -EEXIST) {
        return refuse_route(wish, fault, TUN_FAULT_SUBNET, why);
    }
    if (rc < 0) {
        return refuse(why, rc, "device %s: its IPv4 address or route cannot be set: %s", name, strerror(-rc));
    }
    rc = add_address(index, &place->own6);
    rc = rc < 0 ? rc : add_route(index, &place->own6, PREFIX6);
    if (rc == -EEXIST) {
        return refuse_route(wish, fault, TUN_FAULT_SUBNET6, why);
    }
    *six = rc == 0;
    add_outside(index, place);
    return 0;
}

static int check_name(const char *name, char why[static TUN_DEVICE_WHY])
{
    why[0] = '\0';
    if (name[0] == '\0' || strlen(name) >= IFNAMSIZ || strpbrk(name, "/ %") != NULL) {
        return refuse(why, -EINVAL, "device \"%s\": expected a name of 1 to %d letters and digits", name, IFNAMSIZ - 1);
    }
    return 0;
}

static int open_here(struct tun_device *out, const struct tun_wish *wish, enum tun_fault *fault,
                     char why[static TUN_DEVICE_WHY])
{
    *fault = TUN_FAULT_DEVICE;
    int rc, fd = open_tun(wish, &out->udp, why);
    if (fd < 0) {
        return fd;
    }
    rc = set_up(wish, &out->six, fault, why);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    out->fd = fd;
    return 0;
}

/* Enters the namespace that is wished for. -errno, and *fault and why[]. */
static int enter(struct tun_netns *n, const struct tun_wish *wish, enum tun_fault *fault,
                 char why[static TUN_DEVICE_WHY])
{
    char problem[TUN_NETNS_WHY];
    int rc = tun_netns_enter(n, wish->netns, problem);
    if (rc < 0) {
        *fault = TUN_FAULT_NETNS;
        return refuse(why, rc, "device %s: %s", wish->name, problem);
    }
    return 0;
}

int tun_device_open(struct tun_device *out, const struct tun_wish *wish, enum tun_fault *fault,
                    char why[static TUN_DEVICE_WHY])
{
    struct tun_netns n;
    *out = (struct tun_device){.fd = -1};
    *fault = TUN_FAULT_DEVICE;
    int rc = check_name(wish->name, why);
    rc = rc < 0 ? rc : enter(&n, wish, fault, why);
    if (rc < 0) {
        return rc;
    }
    rc = open_here(out, wish, fault, why);
    tun_netns_leave(&n);
    return rc;
}

/* Is the interface a tun, or a tap where one is wanted? */
static bool is_tun(const char *name, bool ethernet)
{
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq r = {.ifr_data = (void *)&driver};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool asked = fd >= 0 && ioctl(fd, SIOCETHTOOL, &r) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return asked && strcmp(driver.driver, "tun") == 0 && strcmp(driver.bus_info, ethernet ? "tap" : "tun") == 0;
}

/* May devices be changed here? Asks for a change of one that there is not, which the kernel refuses in any case. */
static bool may_change(void)
{
    char bytes[BYTES];
    struct nlmsghdr *m = change_link(bytes, INT_MAX, 0);
    m->nlmsg_type = RTM_SETLINK;
    return ask(m) != -EPERM;
}

static int check_here(const struct tun_wish *wish, enum tun_fault *fault, char why[static TUN_DEVICE_WHY])
{
    int rc;
    unsigned index = if_nametoindex(wish->name);
    if (index != 0 && !is_tun(wish->name, wish->ethernet)) {
        return refuse_taken(wish->name, why);
    }
    rc = wish->place == NULL ? 0 : check_routes(wish, index, fault, why);
    int fd = rc < 0 ? rc : open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (rc == 0 && fd < 0) {
        return refuse_file(wish->name, errno, why);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rc == 0 && why[0] == '\0' && geteuid() == 0 && !may_change()) {
        (void)refuse(why, 0,
                     "device %s: whoever asks is root without CAP_NET_ADMIN, and a daemon that is started so cannot "
                     "make it: in a container, add that right (--cap-add NET_ADMIN)",
                     wish->name);
    }
    return rc;
}

int tun_device_check(const struct tun_wish *wish, enum tun_fault *fault, char why[static TUN_DEVICE_WHY])
{
    struct tun_netns n;
    *fault = TUN_FAULT_DEVICE;
    int rc = check_name(wish->name, why);
    rc = rc < 0 ? rc : enter(&n, wish, fault, why);
    if (rc < 0) {
        return rc == -EPERM ? -EACCES : rc; /* whoever asks has not the daemon's rights */
    }
    rc = check_here(wish, fault, why);
    tun_netns_leave(&n);
    return rc;
}
