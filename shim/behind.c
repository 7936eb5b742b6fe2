/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/behind.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_BYTES = 32768 };

struct sum {
    uint32_t index;
    uint64_t frames;
};

/* An attribute of a device's answer: adds what the device itself has dropped. */
static int add_device(const struct nlattr *attribute, void *data)
{
    struct sum *sum = data;
    struct rtnl_link_stats64 stats = {.tx_dropped = 0}; /* kernels differ in how many counts they have */
    size_t length = mnl_attr_get_payload_len(attribute);
    if (mnl_attr_get_type(attribute) == IFLA_STATS64) {
        memcpy(&stats, mnl_attr_get_payload(attribute), length < sizeof stats ? length : sizeof stats);
        sum->frames += stats.tx_dropped;
    }
    return MNL_CB_OK;
}

static int take_device(const struct nlmsghdr *message, void *data)
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
        sum->frames += stats.drops;
    }
    return MNL_CB_OK;
}

static int find_counts(const struct nlattr *attribute, void *data)
{
    return mnl_attr_get_type(attribute) == TCA_STATS2 ? mnl_attr_parse_nested(attribute, add_queue, data) : MNL_CB_OK;
}

/* The word of a queueing discipline of any device. The root counts what those below it drop, too. */
static int take_queue(const struct nlmsghdr *message, void *data)
{
    const struct sum *sum = data;
    const struct tcmsg *queue = mnl_nlmsg_get_payload(message);
    if ((uint32_t)queue->tcm_ifindex != sum->index || queue->tcm_parent != TC_H_ROOT) {
        return MNL_CB_OK;
    }
    return mnl_attr_parse(message, sizeof *queue, find_counts, data);
}

/* Asks one question, whose head behind the netlink header is `head`, and gives each answer to `take`. */
static int ask(struct mnl_socket *netlink, uint16_t type, uint16_t flags, const void *head, size_t bytes, mnl_cb_t take,
               struct sum *sum)
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
        rc = size < 0 ? -errno : mnl_cb_run(memory, (size_t)size, type, mnl_socket_get_portid(netlink), take, sum);
        rc = rc < 0 && size >= 0 ? -errno : rc;
    }
    return rc;
}

int behind_lost(uint32_t index, uint64_t *frames)
{
    struct sum sum = {.index = index};
    const struct ifinfomsg device = {.ifi_family = AF_UNSPEC, .ifi_index = (int)index};
    const struct tcmsg queue = {.tcm_family = AF_UNSPEC, .tcm_ifindex = (int)index};
    struct mnl_socket *netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (netlink == NULL) {
        return -errno;
    }
    int rc = mnl_socket_bind(netlink, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
    rc = rc < 0 ? rc : ask(netlink, RTM_GETLINK, NLM_F_ACK, &device, sizeof device, take_device, &sum);
    rc = rc < 0 ? rc : ask(netlink, RTM_GETQDISC, NLM_F_DUMP, &queue, sizeof queue, take_queue, &sum);
    mnl_socket_close(netlink);
    *frames = rc < 0 ? 0 : sum.frames;
    return rc < 0 ? rc : 0;
}
