/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/carrier.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool.h>
#include <linux/gen_stats.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_BYTES = 32768 };

static void become(struct carrier *c, enum carrier_state state)
{
    if (c->state == CARRIER_UP && state != CARRIER_UP) {
        c->outages++;
        c->outage = state;
    }
    c->state = state;
}

static void gone(struct carrier *c)
{
    become(c, CARRIER_GONE);
    c->index = 0;
}

static void take(struct carrier *c, const struct ifinfomsg *link, struct nlattr *const *found)
{
    if (c->index != (uint32_t)link->ifi_index) {
        c->index = (uint32_t)link->ifi_index;
        c->generation++;
    }
    unsigned carries = link->ifi_flags & IFF_LOWER_UP;
    become(c, !(link->ifi_flags & IFF_UP) ? CARRIER_DOWN : carries ? CARRIER_UP : CARRIER_NONE);
    c->ethernet = link->ifi_type == ARPHRD_ETHER;
    if (found[IFLA_IFNAME] != NULL) {
        snprintf(c->name, sizeof c->name, "%s", mnl_attr_get_str(found[IFLA_IFNAME]));
    }
    if (found[IFLA_MTU] != NULL) {
        c->mtu = mnl_attr_get_u32(found[IFLA_MTU]);
    }
    if (found[IFLA_ADDRESS] != NULL && mnl_attr_get_payload_len(found[IFLA_ADDRESS]) == sizeof c->mac) {
        memcpy(c->mac, mnl_attr_get_payload(found[IFLA_ADDRESS]), sizeof c->mac);
    }
}

static int pick(const struct nlattr *attribute, void *data)
{
    const struct nlattr **found = data;
    uint16_t type = mnl_attr_get_type(attribute);
    bool sound = type != IFLA_IFNAME || mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) == 0;
    if (type == IFLA_MTU && mnl_attr_validate(attribute, MNL_TYPE_U32) < 0) {
        sound = false;
    }
    if (sound && (type == IFLA_IFNAME || type == IFLA_MTU || type == IFLA_ADDRESS)) {
        found[type] = attribute;
    }
    return MNL_CB_OK;
}

/* One message about a link: ours by index, or, while ours is gone, by name. */
static int heard(const struct nlmsghdr *message, void *data)
{
    struct carrier *c = data;
    struct nlattr *found[IFLA_MTU + 1] = {NULL};
    if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK) {
        return MNL_CB_OK;
    }
    if (mnl_nlmsg_get_payload_len(message) < sizeof(struct ifinfomsg)) {
        return MNL_CB_OK;
    }
    const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);
    if (link->ifi_family != AF_UNSPEC) {
        return MNL_CB_OK; /* a bridge's word on its port: says nothing of the device */
    }
    mnl_attr_parse(message, sizeof *link, pick, found);
    if (message->nlmsg_type == RTM_DELLINK) {
        if ((uint32_t)link->ifi_index == c->index) {
            gone(c);
        }
        return MNL_CB_OK;
    }
    bool ours = c->index != 0
                    ? (uint32_t)link->ifi_index == c->index
                    : found[IFLA_IFNAME] != NULL && strcmp(mnl_attr_get_str(found[IFLA_IFNAME]), c->wanted) == 0;
    if (ours) {
        take(c, link, found);
    }
    return MNL_CB_OK;
}

/*
 * Asks for the interface on a socket of its own, so that answers and notices do not mix. 0, or -ENODEV: then it is
 * gone. By index while it is known, else by name.
 */
static int ask(struct carrier *c)
{
    struct mnl_socket *netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (netlink == NULL) {
        return -errno;
    }
    _Alignas(struct nlmsghdr) char bytes[ANSWER_BYTES];
    struct nlmsghdr *request = mnl_nlmsg_put_header(bytes);
    request->nlmsg_type = RTM_GETLINK;
    request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    request->nlmsg_seq = 1;
    struct ifinfomsg *link = mnl_nlmsg_put_extra_header(request, sizeof *link);
    link->ifi_family = AF_UNSPEC;
    link->ifi_index = (int)c->index;
    if (c->index == 0) {
        mnl_attr_put_strz(request, IFLA_IFNAME, c->wanted);
    }
    int rc = mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) < 0 ||
                     mnl_socket_sendto(netlink, request, request->nlmsg_len) < 0
                 ? -errno
                 : 1;
    while (rc == 1) {
        ssize_t size = mnl_socket_recvfrom(netlink, bytes, sizeof bytes);
        rc = size < 0 ? -errno : mnl_cb_run(bytes, (size_t)size, 1, mnl_socket_get_portid(netlink), heard, c);
        rc = rc < 0 && size >= 0 ? -errno : rc;
    }
    mnl_socket_close(netlink);
    return rc;
}

static int watch(struct carrier *c, const char *interface, bool await)
{
    *c = (struct carrier){.state = CARRIER_GONE};
    size_t length = strlen(interface);
    if (length == 0 || length >= sizeof c->wanted) {
        return -ENAMETOOLONG;
    }
    memcpy(c->wanted, interface, length);
    memcpy(c->name, interface, length);
    /* Listens first, asks then: what changes between is heard. */
    c->netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (c->netlink == NULL) {
        return -errno;
    }
    int rc = mnl_socket_bind(c->netlink, RTMGRP_LINK, MNL_SOCKET_AUTOPID) < 0 ? -errno : ask(c);
    if (rc == -ENODEV && await) {
        gone(c);
        return 0;
    }
    if (rc < 0) {
        carrier_close(c);
    }
    return rc;
}

int carrier_open(struct carrier *c, const char *interface)
{
    return watch(c, interface, false);
}

int carrier_await(struct carrier *c, const char *interface)
{
    return watch(c, interface, true);
}

void carrier_close(struct carrier *c)
{
    if (c->netlink != NULL) {
        mnl_socket_close(c->netlink);
    }
    c->netlink = NULL;
}

int carrier_fd(const struct carrier *c)
{
    return mnl_socket_get_fd(c->netlink);
}

bool carrier_service(struct carrier *c)
{
    struct carrier before = *c;
    _Alignas(struct nlmsghdr) char bytes[ANSWER_BYTES];
    bool missed = false;
    for (;;) {
        ssize_t size = mnl_socket_recvfrom(c->netlink, bytes, sizeof bytes);
        if (size < 0 && errno == ENOBUFS) {
            missed = true; /* more links changed at once than the socket holds */
            continue;
        }
        if (size <= 0) {
            break;
        }
        bool was = c->index != 0;
        mnl_cb_run(bytes, (size_t)size, 0, 0, heard, c);
        missed = missed || (was && c->index == 0);
    }
    /* Gone, or notices lost: an interface of the name may be there already, its notice read before the other's end. */
    if (missed && ask(c) == -ENODEV) {
        gone(c);
        (void)ask(c);
    }
    return c->state != before.state || c->index != before.index || c->mtu != before.mtu ||
           strcmp(c->name, before.name) != 0 || memcmp(c->mac, before.mac, sizeof c->mac) != 0;
}

const char *carrier_text(enum carrier_state state)
{
    static const char *const text[] = {"up", "no carrier", "interface is down", "interface is gone"};
    return text[state];
}

static bool ethtool(const struct carrier *c, int fd, void *command)
{
    struct ifreq request = {.ifr_data = command};
    memcpy(request.ifr_name, c->name, sizeof request.ifr_name);
    return ioctl(fd, SIOCETHTOOL, &request) == 0;
}

uint64_t carrier_speed(const struct carrier *c)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return 0;
    }
    struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
    struct ethtool_cmd speed = {.cmd = ETHTOOL_GSET};
    bool told = ethtool(c, fd, &driver) && ethtool(c, fd, &speed);
    close(fd);
    uint32_t megabits = ethtool_cmd_speed(&speed);
    if (!told || strcmp(driver.driver, "veth") == 0 || strcmp(driver.driver, "tun") == 0 ||
        megabits == (uint32_t)SPEED_UNKNOWN) {
        return 0;
    }
    return (uint64_t)megabits * 1000000;
}

/* ---- What is lost behind us -------------------------------------------------------------------------------------- */

/* What the answers to a question are about. */
struct sum {
    struct carrier_loss *losses;
    unsigned count;
    struct carrier_loss *now; /* whose answer is read */
};

/* An attribute of a device's answer: adds what the device itself has dropped. */
static int add_device(const struct nlattr *attribute, void *data)
{
    struct sum *sum = data;
    struct rtnl_link_stats64 stats = {.tx_dropped = 0}; /* kernels differ in how many counts they have */
    size_t length = mnl_attr_get_payload_len(attribute);
    if (mnl_attr_get_type(attribute) == IFLA_STATS64) {
        memcpy(&stats, mnl_attr_get_payload(attribute), length < sizeof stats ? length : sizeof stats);
        sum->now->frames += stats.tx_dropped;
        sum->now->known = true;
    }
    return MNL_CB_OK;
}

static int count_device(const struct nlmsghdr *message, void *data)
{
    return mnl_attr_parse(message, sizeof(struct ifinfomsg), add_device, data);
}

/* An attribute of the counts of a queueing discipline. */
static int add_queue(const struct nlattr *attribute, void *data)
{
    struct sum *sum = data;
    struct gnet_stats_queue stats;
    if (mnl_attr_get_type(attribute) == TCA_STATS_QUEUE && mnl_attr_get_payload_len(attribute) >= sizeof stats) {
        memcpy(&stats, mnl_attr_get_payload(attribute), sizeof stats);
        sum->now->frames += stats.drops;
    }
    return MNL_CB_OK;
}

static int find_counts(const struct nlattr *attribute, void *data)
{
    return mnl_attr_get_type(attribute) == TCA_STATS2 ? mnl_attr_parse_nested(attribute, add_queue, data) : MNL_CB_OK;
}

/* The word of a queueing discipline of any device. The root counts what those below it drop, too. */
static int count_queue(const struct nlmsghdr *message, void *data)
{
    struct sum *sum = data;
    const struct tcmsg *queue = mnl_nlmsg_get_payload(message);
    for (unsigned i = 0; i < sum->count && queue->tcm_parent == TC_H_ROOT; i++) {
        sum->now = &sum->losses[i];
        if ((uint32_t)queue->tcm_ifindex == sum->now->index && sum->now->known &&
            mnl_attr_parse(message, sizeof *queue, find_counts, data) < 0) {
            return MNL_CB_ERROR;
        }
    }
    return MNL_CB_OK;
}

/* Asks one question, whose head behind the netlink header is `head`, and gives each answer to `count`. */
static int ask_all(struct mnl_socket *netlink, uint16_t type, uint16_t flags, const void *head, size_t bytes,
                   mnl_cb_t count, struct sum *sum)
{
    _Alignas(struct nlmsghdr) char memory[ANSWER_BYTES];
    struct nlmsghdr *request = mnl_nlmsg_put_header(memory);
    request->nlmsg_type = type;
    request->nlmsg_flags = NLM_F_REQUEST | flags;
    request->nlmsg_seq = type;
    memcpy(mnl_nlmsg_put_extra_header(request, bytes), head, bytes);
    int rc = mnl_socket_sendto(netlink, request, request->nlmsg_len) < 0 ? -errno : 1;
    while (rc == 1) {
        ssize_t size = mnl_socket_recvfrom(netlink, memory, sizeof memory);
        rc = size < 0 ? -errno : mnl_cb_run(memory, (size_t)size, type, mnl_socket_get_portid(netlink), count, sum);
        rc = rc < 0 && size >= 0 ? -errno : rc;
    }
    return rc;
}

int carrier_lost(struct carrier_loss *losses, unsigned count)
{
    struct sum sum = {.losses = losses, .count = count};
    const struct tcmsg queue = {.tcm_family = AF_UNSPEC};
    struct mnl_socket *netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    int rc = netlink == NULL || mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
    for (unsigned i = 0; i < count; i++) {
        const struct ifinfomsg device = {.ifi_family = AF_UNSPEC, .ifi_index = (int)losses[i].index};
        losses[i] = (struct carrier_loss){.index = losses[i].index};
        sum.now = &losses[i];
        if (rc >= 0 && losses[i].index != 0) {
            rc = ask_all(netlink, RTM_GETLINK, NLM_F_ACK, &device, sizeof device, count_device, &sum);
            rc = rc == -ENODEV ? 0 : rc;
        }
    }
    rc = rc < 0 ? rc : ask_all(netlink, RTM_GETQDISC, NLM_F_DUMP, &queue, sizeof queue, count_queue, &sum);
    if (netlink != NULL) {
        mnl_socket_close(netlink);
    }
    for (unsigned i = 0; i < count && rc < 0; i++) {
        losses[i] = (struct carrier_loss){.index = losses[i].index};
    }
    return rc < 0 ? rc : 0;
}
