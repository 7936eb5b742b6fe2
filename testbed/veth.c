/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* namespaces */
#include "testbed/veth.h"

#include "testbed/loss.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/pkt_cls.h>

enum {
    LOOPBACK_INDEX = 1, /* in every namespace */
    /* The interface index of px; mx, py and so on follow. A cable joins px to mx, so its ends never have equal ones. */
    INDEX_FIRST = 10,
    BATCH_BYTES = 8192,
    SHAPED_OVERHEAD = 24, /* preamble, check sequence and gap: what a frame costs beyond what the kernel counts */
    /*
     * tbf's queue, at least in frames and in bytes: it must have room for the frames that a server which knows its rate
     * leaves in the kernel (shim/outq.h). At high rates it holds 1/QUEUES_PER_SEC seconds, and a burst
     * 1/BURSTS_PER_SEC.
     */
    QUEUE_FRAMES = 8,
    QUEUE_BYTES_LEAST = 64 * 1024,
    QUEUES_PER_SEC = 500,
    BURSTS_PER_SEC = 1000,
    ADDRESS_FIRST = 0x0a000000, /* 10.0.0.0: four addresses a cable, the second and third are used */
};

struct room {
    int ns;
    int ipv6; /* the file that lets devices to come have IPv6; -1: none is to have it */
    struct mnl_socket *netlink;
    uint32_t port;
};

struct veth {
    struct veth_plan plan;
    struct torus torus;
    struct room *room;
    uint32_t sequence;
};

struct batch {
    char bytes[BATCH_BYTES];
    size_t used;
    uint32_t count;
};

const char *veth_device(cw_link link)
{
    static const char *const names[CW_LINK_COUNT] = {"px", "mx", "py", "my", "pz", "mz"};
    return names[link];
}

static unsigned device_index(cw_link link)
{
    return INDEX_FIRST + link;
}

uint32_t veth_address(cw_server s, cw_link link, const struct torus *torus)
{
    bool plus = (link & 1) == 0;
    cw_server owner = plus ? s : torus_neighbour(torus, s, link);
    return (uint32_t)ADDRESS_FIRST + (owner * CW_AXES + link / 2) * 4 + (plus ? 1 : 2);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static struct nlmsghdr *begin(struct veth *v, struct batch *b, uint16_t type, uint16_t flags)
{
    struct nlmsghdr *m = mnl_nlmsg_put_header(b->bytes + b->used);
    m->nlmsg_type = type;
    m->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
    m->nlmsg_seq = ++v->sequence;
    return m;
}

static void end(struct batch *b, const struct nlmsghdr *m)
{
    b->used += NLMSG_ALIGN(m->nlmsg_len);
    b->count++;
}

/* Sends the batch in the server's namespace and reads an answer to each message. Returns the first failure's -errno. */
static int carry_out(struct veth *v, cw_server s, struct batch *b)
{
    struct room *r = &v->room[s];
    char answer[BATCH_BYTES];
    int failed = 0;
    if (b->count == 0) {
        return 0;
    }
    if (mnl_socket_sendto(r->netlink, b->bytes, b->used) < 0) {
        return -errno;
    }
    while (b->count > 0) {
        ssize_t length = mnl_socket_recvfrom(r->netlink, answer, sizeof answer);
        if (length < 0) {
            return -errno;
        }
        int left = (int)length;
        for (const struct nlmsghdr *m = (const void *)answer; mnl_nlmsg_ok(m, left); m = mnl_nlmsg_next(m, &left)) {
            if (m->nlmsg_type == NLMSG_ERROR) {
                const struct nlmsgerr *e = mnl_nlmsg_get_payload(m);
                failed = failed == 0 ? e->error : failed;
                b->count--;
            }
        }
    }
    b->used = 0;
    return failed;
}

static void put_device(const struct veth *v, struct nlmsghdr *m, cw_server s, cw_link link)
{
    const uint8_t mac[6] = {0x02, link, (uint8_t)(s >> 24), (uint8_t)(s >> 16), (uint8_t)(s >> 8), (uint8_t)s};
    mnl_attr_put_strz(m, IFLA_IFNAME, veth_device(link));
    mnl_attr_put_u32(m, IFLA_MTU, v->plan.mtu);
    mnl_attr_put(m, IFLA_ADDRESS, sizeof mac, mac);
}

static void put_ifinfo(struct nlmsghdr *m, unsigned index, unsigned flags, unsigned change)
{
    struct ifinfomsg *i = mnl_nlmsg_put_extra_header(m, sizeof *i);
    i->ifi_family = AF_UNSPEC;
    i->ifi_index = (int)index;
    i->ifi_flags = flags;
    i->ifi_change = change;
}

/* Makes a cable at its plus end and sets that end up. The other end can be set up only once the pair exists. */
static void add_cable(struct veth *v, struct batch *b, cw_server s, cw_link link)
{
    cw_server far = torus_neighbour(&v->torus, s, link);
    cw_link back = cw_link_opposite(link);
    struct nlmsghdr *m = begin(v, b, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
    put_ifinfo(m, device_index(link), IFF_UP, IFF_UP);
    put_device(v, m, s, link);
    struct nlattr *info = mnl_attr_nest_start(m, IFLA_LINKINFO);
    mnl_attr_put_strz(m, IFLA_INFO_KIND, "veth");
    struct nlattr *data = mnl_attr_nest_start(m, IFLA_INFO_DATA);
    struct nlattr *peer = mnl_attr_nest_start(m, VETH_INFO_PEER);
    put_ifinfo(m, device_index(back), 0, 0);
    put_device(v, m, far, back);
    mnl_attr_put_u32(m, IFLA_NET_NS_FD, (uint32_t)v->room[far].ns);
    mnl_attr_nest_end(m, peer);
    mnl_attr_nest_end(m, data);
    mnl_attr_nest_end(m, info);
    end(b, m);
}

static struct tcmsg *put_tc(struct nlmsghdr *m, cw_link link, uint32_t parent, uint32_t handle)
{
    struct tcmsg *t = mnl_nlmsg_put_extra_header(m, sizeof *t);
    t->tcm_family = AF_UNSPEC;
    t->tcm_ifindex = (int)device_index(link);
    t->tcm_parent = parent;
    t->tcm_handle = handle;
    return t;
}

/* The queue discipline of a device as it is when nothing is wrong: tbf, or none. */
static void add_shaper(struct veth *v, struct batch *b, cw_link link)
{
    uint64_t bytes = v->plan.bits_per_second / 8;
    uint32_t frame = v->plan.mtu + ETH_HLEN;
    uint64_t limit = frame * QUEUE_FRAMES > QUEUE_BYTES_LEAST ? frame * QUEUE_FRAMES : QUEUE_BYTES_LEAST;
    limit = bytes / QUEUES_PER_SEC > limit ? bytes / QUEUES_PER_SEC : limit;
    /*
     * The burst makes up for wake-ups that come late, above all those of tbf's own timer. With a smaller burst a sender
     * does not reach the rate of the cable.
     */
    uint64_t burst = bytes / BURSTS_PER_SEC > 2 * frame ? bytes / BURSTS_PER_SEC : 2 * frame;
    struct tc_tbf_qopt options = {
        .rate = {.rate = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
                 .overhead = SHAPED_OVERHEAD,
                 .linklayer = TC_LINKLAYER_ETHERNET},
        .limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX,
    };
    struct nlmsghdr *m = begin(v, b, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
    put_tc(m, link, TC_H_ROOT, 0);
    mnl_attr_put_strz(m, TCA_KIND, "tbf");
    struct nlattr *nest = mnl_attr_nest_start(m, TCA_OPTIONS);
    mnl_attr_put(m, TCA_TBF_PARMS, sizeof options, &options);
    mnl_attr_put_u32(m, TCA_TBF_BURST, (uint32_t)burst);
    if (bytes >= UINT32_MAX) {
        mnl_attr_put_u64(m, TCA_TBF_RATE64, bytes);
    }
    mnl_attr_nest_end(m, nest);
    end(b, m);
}

static void add_address(struct veth *v, struct batch *b, cw_server s, cw_link link)
{
    uint32_t address = htonl(veth_address(s, link, &v->torus));
    struct nlmsghdr *m = begin(v, b, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL);
    struct ifaddrmsg *a = mnl_nlmsg_put_extra_header(m, sizeof *a);
    a->ifa_family = AF_INET;
    a->ifa_prefixlen = 30;
    a->ifa_index = device_index(link);
    mnl_attr_put_u32(m, IFA_LOCAL, address);
    mnl_attr_put_u32(m, IFA_ADDRESS, address);
    end(b, m);
}

static void add_index_up(struct veth *v, struct batch *b, unsigned index, bool up)
{
    struct nlmsghdr *m = begin(v, b, RTM_NEWLINK, 0);
    put_ifinfo(m, index, up ? IFF_UP : 0, IFF_UP);
    end(b, m);
}

static void add_up(struct veth *v, struct batch *b, cw_link link, bool up)
{
    add_index_up(v, b, device_index(link), up);
}

/* ---- Namespaces -------------------------------------------------------------------------------------------------- */

/*
 * Turns IPv6 off in this thread's namespace. A kernel without IPv6 has no such file. later: only for the devices that
 * come from here on; the descriptor that is given turns it on again for those that come after "0" is written to it.
 */
static int silence_ipv6(bool later)
{
    static const char *const files[] = {"/proc/sys/net/ipv6/conf/default/disable_ipv6",
                                        "/proc/sys/net/ipv6/conf/all/disable_ipv6"};
    int keep = -1;
    for (size_t i = 0; i < (later ? 1 : 2); i++) {
        int fd = open(files[i], O_WRONLY | O_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        (void)!write(fd, "1", 1);
        keep = later ? fd : -1;
        if (!later) {
            close(fd);
        }
    }
    return keep;
}

/* All cables are there, without IPv6: devices that daemons make may have it. */
static void allow_ipv6(struct veth *v)
{
    for (cw_server s = 0; s < v->torus.servers; s++) {
        struct room *r = &v->room[s];
        if (r->ipv6 >= 0) {
            (void)!pwrite(r->ipv6, "0", 1, 0);
            close(r->ipv6);
            r->ipv6 = -1;
        }
    }
}

/* Moves this thread into a new network namespace, which r then describes. */
static int make_room(struct room *r, bool ipv6)
{
    if (unshare(CLONE_NEWNET) < 0) {
        return -errno;
    }
    r->ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (r->ns < 0) {
        return -errno;
    }
    r->ipv6 = silence_ipv6(ipv6);
    r->netlink = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
    if (r->netlink == NULL || mnl_socket_bind(r->netlink, 0, MNL_SOCKET_AUTOPID) < 0) {
        return -errno;
    }
    r->port = mnl_socket_get_portid(r->netlink);
    return 0;
}

static void tell(const struct veth *v, const char *what, uint32_t done, uint32_t each)
{
    if (v->plan.progress != NULL) {
        v->plan.progress(v->plan.context, what, done * each, v->torus.servers * each);
    }
}

static int make_rooms(struct veth *v, char *why)
{
    int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), rc = home < 0 ? -errno : 0;
    for (cw_server s = 0; s < v->torus.servers && rc == 0; s++) {
        rc = make_room(&v->room[s], v->plan.ipv6);
        tell(v, "namespaces", s + 1, 1);
    }
    if (rc < 0) {
        snprintf(why, VETH_WHY, "no network namespace can be made: %s", strerror(-rc));
    }
    if (home >= 0 && setns(home, CLONE_NEWNET) < 0 && rc == 0) {
        rc = -errno;
        snprintf(why, VETH_WHY, "the way back into the own network namespace: %s", strerror(errno));
    }
    if (home >= 0) {
        close(home);
    }
    return rc;
}

static int make_cables(struct veth *v, char *why)
{
    struct batch b = {.used = 0};
    cw_links links = torus_links(&v->torus);
    for (cw_server s = 0; s < v->torus.servers; s++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link += 2) {
            if (links & cw_links_of(link)) {
                add_cable(v, &b, s, link);
            }
        }
        int rc = carry_out(v, s, &b);
        if (rc < 0) {
            snprintf(why, VETH_WHY, "the veth pairs of server %u cannot be made: %s", s, strerror(-rc));
            return rc;
        }
        tell(v, "cables", s + 1, (uint32_t)__builtin_popcount(links) / 2);
    }
    return 0;
}

/* Sets up, once both ends of each cable exist, everything that either end needs. */
static int finish_ends(struct veth *v, char *why)
{
    struct batch b = {.used = 0};
    cw_links links = torus_links(&v->torus);
    for (cw_server s = 0; s < v->torus.servers; s++) {
        add_index_up(v, &b, LOOPBACK_INDEX, true); /* daemons and their clients meet there */
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if (!(links & cw_links_of(link))) {
                continue;
            }
            if ((link & 1) && !v->plan.dark) {
                add_up(v, &b, link, true);
            }
            if (v->plan.bits_per_second > 0) {
                add_shaper(v, &b, link);
            }
            if (v->plan.addresses) {
                add_address(v, &b, s, link);
            }
        }
        int rc = carry_out(v, s, &b);
        if (rc < 0) {
            snprintf(why, VETH_WHY, "the links of server %u cannot be brought up%s: %s", s,
                     v->plan.bits_per_second > 0 ? " with a rate (tbf)" : "", strerror(-rc));
            return rc;
        }
    }
    return 0;
}

int veth_open(struct veth **out, const struct veth_plan *plan, char why[static VETH_WHY])
{
    struct veth *v = calloc(1, sizeof *v);
    *out = NULL;
    if (v == NULL || (v->room = calloc(plan->torus->servers, sizeof *v->room)) == NULL) {
        free(v);
        snprintf(why, VETH_WHY, "no memory");
        return -ENOMEM;
    }
    v->plan = *plan;
    v->torus = *plan->torus;
    for (cw_server s = 0; s < v->torus.servers; s++) {
        v->room[s].ns = v->room[s].ipv6 = -1;
    }
    int rc = make_rooms(v, why);
    if (rc == 0) {
        rc = make_cables(v, why);
    }
    if (rc == 0) {
        rc = finish_ends(v, why);
    }
    if (rc < 0) {
        veth_close(v);
        return rc;
    }
    allow_ipv6(v);
    *out = v;
    return 0;
}

int veth_light(struct veth *v)
{
    cw_links minus = torus_links(&v->torus) & (cw_links)0x2a;
    int rc = 0;
    for (cw_server s = 0; s < v->torus.servers && rc == 0; s++) {
        struct batch b = {.used = 0};
        for (cw_links left = minus; left != 0; left &= (cw_links)(left - 1)) {
            add_up(v, &b, (cw_link)__builtin_ctz(left), true);
        }
        rc = carry_out(v, s, &b);
    }
    return rc;
}

void veth_close(struct veth *v)
{
    if (v == NULL) {
        return;
    }
    for (cw_server s = 0; s < v->torus.servers; s++) {
        if (v->room[s].netlink != NULL) {
            mnl_socket_close(v->room[s].netlink);
        }
        if (v->room[s].ns >= 0) {
            close(v->room[s].ns);
        }
        if (v->room[s].ipv6 >= 0) {
            close(v->room[s].ipv6);
        }
    }
    free(v->room);
    free(v);
}

int veth_namespace(const struct veth *v, cw_server s)
{
    return v->room[s].ns;
}

/* ---- Harm -------------------------------------------------------------------------------------------------------- */

static bool has_cable(const struct veth *v, cw_server s, cw_link link)
{
    return s < v->torus.servers && link < CW_LINK_COUNT && (torus_links(&v->torus) & cw_links_of(link)) != 0;
}

int veth_set_up(struct veth *v, cw_server s, cw_link link, bool up)
{
    struct batch b = {.used = 0};
    if (!has_cable(v, s, link)) {
        return -ENODEV;
    }
    add_up(v, &b, link, up);
    return carry_out(v, s, &b);
}

/* Takes a qdisc away; there may be none. */
static int remove_qdisc(struct veth *v, cw_server s, cw_link link, uint32_t parent)
{
    struct batch b = {.used = 0};
    struct nlmsghdr *m = begin(v, &b, RTM_DELQDISC, 0);
    put_tc(m, link, parent, 0);
    end(&b, m);
    int rc = carry_out(v, s, &b);
    return rc == -ENOENT || rc == -EINVAL ? 0 : rc;
}

static int lose_all(struct veth *v, cw_server s, cw_link link)
{
    struct batch b = {.used = 0};
    struct nlmsghdr *m = begin(v, &b, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
    put_tc(m, link, TC_H_ROOT, 0);
    mnl_attr_put_strz(m, TCA_KIND, "blackhole");
    end(&b, m);
    return carry_out(v, s, &b);
}

static int lose_some(struct veth *v, cw_server s, cw_link link, uint32_t ppm)
{
    struct batch b = {.used = 0};
    int program = loss_program(ppm);
    if (program < 0) {
        return program;
    }
    struct nlmsghdr *m = begin(v, &b, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL);
    put_tc(m, link, TC_H_CLSACT, TC_H_MAKE(TC_H_CLSACT, 0));
    mnl_attr_put_strz(m, TCA_KIND, "clsact");
    end(&b, m);
    m = begin(v, &b, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
    struct tcmsg *t = put_tc(m, link, TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS), 0);
    t->tcm_info = TC_H_MAKE(1u << 16, htons(ETH_P_ALL));
    mnl_attr_put_strz(m, TCA_KIND, "bpf");
    struct nlattr *nest = mnl_attr_nest_start(m, TCA_OPTIONS);
    mnl_attr_put_u32(m, TCA_BPF_FD, (uint32_t)program);
    mnl_attr_put_strz(m, TCA_BPF_NAME, "loss");
    mnl_attr_put_u32(m, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
    mnl_attr_nest_end(m, nest);
    end(&b, m);
    int rc = carry_out(v, s, &b);
    close(program);
    return rc;
}

int veth_set_loss(struct veth *v, cw_server s, cw_link link, uint32_t ppm)
{
    if (!has_cable(v, s, link)) {
        return -ENODEV;
    }
    int rc = remove_qdisc(v, s, link, TC_H_CLSACT);
    if (rc == 0 && ppm >= VETH_MILLION) {
        return lose_all(v, s, link);
    }
    if (rc == 0) {
        rc = remove_qdisc(v, s, link, TC_H_ROOT);
    }
    if (rc == 0 && v->plan.bits_per_second > 0) {
        struct batch b = {.used = 0};
        add_shaper(v, &b, link);
        rc = carry_out(v, s, &b);
    }
    return rc == 0 && ppm > 0 ? lose_some(v, s, link, ppm) : rc;
}
