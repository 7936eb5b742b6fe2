/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* unshare, setns */
#include "netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 8192 };

struct message {
    _Alignas(struct nlmsghdr) char bytes[MESSAGE_BYTES];
    struct nlmsghdr *head;
};

static void fail(const char *what, const char *on, int error)
{
    fprintf(stderr, "netns: %s %s: %s\n", what, on, strerror(error));
    exit(EXIT_FAILURE);
}

static void ask(struct message *m, const char *what, const char *on)
{
    struct mnl_socket *netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    m->head->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
    m->head->nlmsg_seq = 1;
    if (netlink == NULL || mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) < 0 ||
        mnl_socket_sendto(netlink, m->head, m->head->nlmsg_len) < 0) {
        fail(what, on, errno);
    }
    char answer[MESSAGE_BYTES];
    ssize_t size = mnl_socket_recvfrom(netlink, answer, sizeof answer);
    if (size < 0 || mnl_cb_run(answer, (size_t)size, 1, mnl_socket_get_portid(netlink), NULL, NULL) < 0) {
        fail(what, on, errno);
    }
    mnl_socket_close(netlink);
}

static struct ifinfomsg *link_message(struct message *m, uint16_t type, const char *name)
{
    m->head = mnl_nlmsg_put_header(m->bytes);
    m->head->nlmsg_type = type;
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(m->head, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = name != NULL ? (int)if_nametoindex(name) : 0;
    if (name != NULL && link->ifi_index == 0) {
        fail("find", name, errno);
    }
    return link;
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : write(fd, text, strlen(text));
    if (fd >= 0) {
        close(fd);
    }
    return size == (ssize_t)strlen(text);
}

/* Enters a network namespace of our own, inside a user namespace where we have no privileges. */
static int unshare_net(void)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWNET) == 0) {
        return 0;
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0) {
        return -errno;
    }
    char users[64];
    char groups[64];
    snprintf(users, sizeof users, "0 %u 1", user);
    snprintf(groups, sizeof groups, "0 %u 1", group);
    bool mapped = write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", users) &&
                  write_file("/proc/self/gid_map", groups);
    return mapped ? 0 : -EPERM;
}

bool netns_can(void)
{
    pid_t child = fork();
    if (child == 0) {
        int rc = unshare_net();
        if (rc < 0) {
            printf("no network namespace can be had here: %s\n", strerror(-rc));
            fflush(stdout);
            _exit(EXIT_FAILURE);
        }
        netns_veth("probe0", "probe1", 1500, -1);
        _exit(EXIT_SUCCESS);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

void netns_enter(void)
{
    int rc = unshare_net();
    if (rc < 0) {
        fail("make", "a namespace", -rc);
    }
    netns_up("lo", true);
}

int netns_here(void)
{
    int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (ns < 0) {
        fail("open", "the namespace", errno);
    }
    return ns;
}

void netns_go(int ns)
{
    if (setns(ns, CLONE_NEWNET) < 0) {
        fail("enter", "a namespace", errno);
    }
}

/*
 * Interface indexes count up in each namespace. Without a gap the two ends of a pair could get the same index, and the
 * kernel would then report a loss of carrier late (testbed/veth.h).
 */
static void make_veth(const char *a, const char *b, uint32_t mtu, int ns)
{
    static const int peer_index = 7000;
    static int made;
    struct message m;
    link_message(&m, RTM_NEWLINK, NULL);
    m.head->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    mnl_attr_put_strz(m.head, IFLA_IFNAME, a);
    mnl_attr_put_u32(m.head, IFLA_MTU, mtu);
    struct nlattr *info = mnl_attr_nest_start(m.head, IFLA_LINKINFO);
    mnl_attr_put_strz(m.head, IFLA_INFO_KIND, "veth");
    struct nlattr *data = mnl_attr_nest_start(m.head, IFLA_INFO_DATA);
    struct nlattr *peer = mnl_attr_nest_start(m.head, VETH_INFO_PEER);
    struct ifinfomsg *other = mnl_nlmsg_put_extra_header(m.head, sizeof *other);
    other->ifi_index = peer_index + made++;
    mnl_attr_put_strz(m.head, IFLA_IFNAME, b);
    mnl_attr_put_u32(m.head, IFLA_MTU, mtu);
    if (ns >= 0) {
        mnl_attr_put_u32(m.head, IFLA_NET_NS_FD, (uint32_t)ns);
    }
    mnl_attr_nest_end(m.head, peer);
    mnl_attr_nest_end(m.head, data);
    mnl_attr_nest_end(m.head, info);
    ask(&m, "make a pair with", a);
}

void netns_veth(const char *a, const char *b, uint32_t mtu, int ns)
{
    make_veth(a, b, mtu, ns);
    netns_up(a, true); /* one by one: an end cannot be set up before the pair exists */
    if (ns >= 0) {
        int here = netns_here();
        netns_go(ns);
        netns_up(b, true);
        netns_go(here);
        close(here);
    } else {
        netns_up(b, true);
    }
}

static void set_flag(const char *name, unsigned flag, bool on)
{
    struct message m;
    struct ifinfomsg *link = link_message(&m, RTM_NEWLINK, name);
    link->ifi_change = flag;
    link->ifi_flags = on ? flag : 0;
    ask(&m, "set flags of", name);
}

void netns_up(const char *name, bool up)
{
    set_flag(name, IFF_UP, up);
}

void netns_promiscuous(const char *name, bool on)
{
    set_flag(name, IFF_PROMISC, on);
}

void netns_mtu(const char *name, uint32_t mtu)
{
    struct message m;
    link_message(&m, RTM_NEWLINK, name);
    mnl_attr_put_u32(m.head, IFLA_MTU, mtu);
    ask(&m, "set mtu of", name);
}

void netns_rename(const char *name, const char *to)
{
    struct message m;
    link_message(&m, RTM_NEWLINK, name);
    mnl_attr_put_strz(m.head, IFLA_IFNAME, to);
    ask(&m, "rename", name);
}

void netns_delete(const char *name)
{
    struct message m;
    link_message(&m, RTM_DELLINK, name);
    ask(&m, "delete", name);
}

void netns_address(const char *name, const char *address, unsigned prefix)
{
    struct message m;
    struct in_addr bytes;
    m.head = mnl_nlmsg_put_header(m.bytes);
    m.head->nlmsg_type = RTM_NEWADDR;
    m.head->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    struct ifaddrmsg *body = mnl_nlmsg_put_extra_header(m.head, sizeof *body);
    body->ifa_family = AF_INET;
    body->ifa_prefixlen = (uint8_t)prefix;
    body->ifa_index = if_nametoindex(name);
    if (inet_pton(AF_INET, address, &bytes) != 1 || body->ifa_index == 0) {
        fail("give an address to", name, EINVAL);
    }
    mnl_attr_put(m.head, IFA_LOCAL, sizeof bytes, &bytes);
    mnl_attr_put(m.head, IFA_ADDRESS, sizeof bytes, &bytes);
    ask(&m, "give an address to", name);
}

void netns_blackhole(const char *to, unsigned prefix)
{
    struct message m;
    struct in_addr bytes;
    m.head = mnl_nlmsg_put_header(m.bytes);
    m.head->nlmsg_type = RTM_NEWROUTE;
    m.head->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
    struct rtmsg *body = mnl_nlmsg_put_extra_header(m.head, sizeof *body);
    body->rtm_family = AF_INET;
    body->rtm_dst_len = (uint8_t)prefix;
    body->rtm_table = RT_TABLE_MAIN;
    body->rtm_protocol = RTPROT_STATIC;
    body->rtm_scope = RT_SCOPE_UNIVERSE;
    body->rtm_type = RTN_BLACKHOLE;
    if (inet_pton(AF_INET, to, &bytes) != 1) {
        fail("make a route to", to, EINVAL);
    }
    mnl_attr_put(m.head, RTA_DST, sizeof bytes, &bytes);
    ask(&m, "make a route to", to);
}

/* The time that bytes take at the rate, in the kernel's ticks for queueing: 64 ns each since Linux 2.6.31. */
static uint32_t ticks(uint64_t bits_per_second, uint32_t bytes)
{
    return (uint32_t)((uint64_t)bytes * 8 * 1000000000 / bits_per_second / 64);
}

void netns_tbf(const char *name, uint64_t bits_per_second, uint32_t burst, uint32_t limit)
{
    struct message m;
    m.head = mnl_nlmsg_put_header(m.bytes);
    m.head->nlmsg_type = RTM_NEWQDISC;
    m.head->nlmsg_flags = NLM_F_CREATE | NLM_F_REPLACE;
    struct tcmsg *body = mnl_nlmsg_put_extra_header(m.head, sizeof *body);
    body->tcm_ifindex = (int)if_nametoindex(name);
    body->tcm_parent = TC_H_ROOT;
    body->tcm_handle = 1 << 16;
    struct tc_tbf_qopt options = {.limit = limit, .buffer = ticks(bits_per_second, burst)};
    options.rate.rate = (uint32_t)(bits_per_second / 8);
    options.rate.linklayer = TC_LINKLAYER_ETHERNET;
    options.rate.mpu = 0;
    mnl_attr_put_strz(m.head, TCA_KIND, "tbf");
    struct nlattr *nest = mnl_attr_nest_start(m.head, TCA_OPTIONS);
    mnl_attr_put(m.head, TCA_TBF_PARMS, sizeof options, &options);
    mnl_attr_put_u32(m.head, TCA_TBF_BURST, burst);
    mnl_attr_nest_end(m.head, nest);
    ask(&m, "shape", name);
}
