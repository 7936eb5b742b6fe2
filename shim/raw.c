/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include "shim/raw.h"

#include "base/bytes.h"
#include "base/container.h"
#include "shim/carrier.h"
#include "shim/claim.h"
#include "shim/clock.h"
#include "shim/outq.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RECEIVE_QUEUE_BYTES = 4 << 20, /* charged as in outq.h: some 250 jumbo frames, what arrives in 2 ms at 10 Gb/s */
    FULL_PAUSE_US = 50,            /* after a device dropped for want of room, and no writability will tell of any */
};

struct raw {
    struct shim shim;
    int fd;
    int claim; /* -1 while the interface is gone, or somebody else was quicker to claim the new one */
    struct carrier carrier;
    uint32_t generation; /* of the device that fd is bound to; 0: of none */
    struct outq queue;
    uint32_t mtu;
    uint64_t bits_per_second;
    cw_time full_until;
    uint8_t header[ETH_HLEN];
    struct shim_counters counters;
    struct iovec vectors[SHIM_BATCH];
    struct mmsghdr messages[SHIM_BATCH];
};

static struct raw *raw_of(struct shim *s)
{
    return container_of(s, struct raw, shim);
}

static const struct raw *raw_of_const(const struct shim *s)
{
    return container_of_const(s, struct raw, shim);
}

static bool raw_carrier(const struct shim *s)
{
    const struct raw *r = raw_of_const(s);
    return r->carrier.state == CARRIER_UP && r->carrier.mtu >= r->mtu && r->generation == r->carrier.generation;
}

/* Messages i from frame i; returns how many of the frames are sound, from the first on. */
static unsigned line_up(struct raw *r, const struct shim_frame *frames, unsigned count)
{
    unsigned sound = 0;
    while (sound < count && 1 <= frames[sound].length && frames[sound].length <= r->mtu) {
        uint8_t *header = frames[sound].bytes - ETH_HLEN;
        memcpy(header, r->header, ETH_HLEN);
        r->vectors[sound] = (struct iovec){header, frames[sound].length + ETH_HLEN};
        sound++;
    }
    return sound;
}

/* What an error of the first frame of a call means: 0 for "later". */
static int send_error(struct raw *r, int error)
{
    if (error == ENOBUFS) {
        r->full_until = cw_time_add(clock_now(), CW_US(FULL_PAUSE_US));
    }
    if (error == EAGAIN || error == ENOBUFS || error == EINTR) {
        r->counters.tx_refused++;
        return 0;
    }
    if (error == ENETDOWN || error == ENXIO || error == ENODEV) {
        return -ENETDOWN; /* netlink is about to say so */
    }
    return -error;
}

static int raw_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct raw *r = raw_of(s);
    if (!raw_carrier(s)) {
        return -ENETDOWN;
    }
    unsigned sound = line_up(r, frames, count);
    if (sound == 0) {
        return -EMSGSIZE;
    }
    int sent = sendmmsg(r->fd, r->messages, sound, MSG_DONTWAIT);
    if (sent < 0) {
        return send_error(r, errno);
    }
    for (int i = 0; i < sent; i++) {
        r->counters.tx_bytes += frames[i].length;
    }
    r->counters.tx_frames += (unsigned)sent;
    return sent;
}

/* Moves what was received past frames that were not ours, so that those given come first. */
static unsigned close_ranks(struct raw *r, struct shim_frame *frames, unsigned received)
{
    unsigned given = 0;
    for (unsigned i = 0; i < received; i++) {
        uint32_t size = r->messages[i].msg_len;
        uint32_t length = size - ETH_HLEN;
        if (size <= ETH_HLEN || length > frames[i].room || length > frames[given].room) {
            r->counters.rx_strange++;
            continue;
        }
        if (given != i) {
            memcpy(frames[given].bytes, frames[i].bytes, length);
        }
        frames[given++].length = length;
        r->counters.rx_bytes += length;
    }
    r->counters.rx_frames += given;
    return given;
}

static int raw_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct raw *r = raw_of(s);
    for (unsigned i = 0; i < count; i++) {
        r->vectors[i] = (struct iovec){frames[i].bytes - ETH_HLEN, frames[i].room + ETH_HLEN};
    }
    unsigned given = 0;
    do {
        /* MSG_TRUNC: the length that it had, not the length that found room. */
        int received = recvmmsg(r->fd, r->messages, count, MSG_DONTWAIT | MSG_TRUNC, NULL);
        if (received <= 0) {
            /* An interface that went down is said once here, and by netlink. */
            bool nothing = received == 0 || errno == EAGAIN || errno == EINTR || errno == ENETDOWN || errno == ENXIO;
            return nothing ? 0 : -errno;
        }
        given = close_ranks(r, frames, (unsigned)received);
    } while (given == 0);
    return (int)given;
}

static unsigned raw_room(struct shim *s)
{
    struct raw *r = raw_of(s);
    if (!raw_carrier(s)) {
        return 0;
    }
    if (r->full_until.ns != 0) {
        if (!cw_time_due(r->full_until, clock_now())) {
            return 0;
        }
        r->full_until.ns = 0;
    }
    return outq_room(&r->queue);
}

static enum shim_wait raw_wait(struct shim *s, cw_time *until)
{
    const struct raw *r = raw_of(s);
    if (r->full_until.ns != 0) {
        *until = r->full_until;
        return SHIM_WAIT_TIME;
    }
    return SHIM_WAIT_WRITABLE;
}

static int raw_data_fd(const struct shim *s)
{
    return raw_of_const(s)->fd;
}

static int raw_event_fd(const struct shim *s)
{
    return carrier_fd(&raw_of_const(s)->carrier);
}

/* The device has come, or another in its place: claims it and binds to it. 0 or -errno; then it is bound to none. */
static int settle(struct raw *r)
{
    if (r->claim >= 0) {
        close(r->claim);
    }
    r->generation = 0;
    r->claim = claim_interface(r->carrier.index, get_be16(r->header + 2 * ETH_ALEN));
    if (r->claim < 0) {
        return r->claim;
    }
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_protocol = htons(get_be16(r->header + 2 * ETH_ALEN)),
                                  .sll_ifindex = (int)r->carrier.index};
    if (bind(r->fd, (const struct sockaddr *)&address, sizeof address) < 0) {
        return -errno;
    }
    r->generation = r->carrier.generation;
    return 0;
}

static void raw_service_events(struct shim *s)
{
    struct raw *r = raw_of(s);
    carrier_service(&r->carrier);
    memcpy(r->header + ETH_ALEN, r->carrier.mac, ETH_ALEN);
    if (r->carrier.index != 0 && r->carrier.generation != r->generation) {
        (void)settle(r); /* without it there is no carrier, and info() says why */
    }
}

static void raw_info(const struct shim *s, struct shim_info *out)
{
    const struct raw *r = raw_of_const(s);
    *out = (struct shim_info){
        .kind = "raw", .mtu = r->mtu, .overhead = RAW_OVERHEAD, .bits_per_second = r->bits_per_second};
    memcpy(out->name, r->carrier.name, sizeof r->carrier.name);
    if (r->carrier.state == CARRIER_UP && r->carrier.mtu < r->mtu) {
        snprintf(out->state, sizeof out->state, "interface's mtu is %u now, %u are needed", r->carrier.mtu, r->mtu);
    } else if (r->carrier.state == CARRIER_UP && !raw_carrier(s)) {
        snprintf(out->state, sizeof out->state, "another process is on this interface");
    } else {
        snprintf(out->state, sizeof out->state, "%s", carrier_text(r->carrier.state));
    }
}

static void raw_counters(struct shim *s, struct shim_counters *out)
{
    struct raw *r = raw_of(s);
    struct tpacket_stats statistics; /* since the last reading */
    socklen_t size = sizeof statistics;
    if (getsockopt(r->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0) {
        r->counters.rx_dropped += statistics.tp_drops;
    }
    *out = r->counters;
}

static int raw_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    const struct raw *r = raw_of_const(s);
    uint8_t *header = bytes - ETH_HLEN;
    memcpy(header, r->header, ETH_HLEN);
    return send(r->fd, header, length + ETH_HLEN, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void raw_close(struct shim *s)
{
    struct raw *r = raw_of(s);
    if (r->fd >= 0) {
        close(r->fd);
    }
    if (r->claim >= 0) {
        close(r->claim);
    }
    carrier_close(&r->carrier);
    free(r);
}

static const struct shim_ops raw_ops = {
    .send = raw_send,
    .receive = raw_receive,
    .room = raw_room,
    .carrier = raw_carrier,
    .data_fd = raw_data_fd,
    .event_fd = raw_event_fd,
    .service_events = raw_service_events,
    .wait = raw_wait,
    .info = raw_info,
    .counters = raw_counters,
    .last_words = raw_last_words,
    .close = raw_close,
};

/* Only what was sent to us or to all: not what the interface shows because somebody made it promiscuous. */
static int filter_strangers(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, PACKET_OTHERHOST, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/* Everything is set before the socket is bound to a protocol: until then it hears nothing. */
static int open_socket(struct raw *r)
{
    r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->fd < 0) {
        return -errno;
    }
    int one = 1;
    int bytes = RECEIVE_QUEUE_BYTES / 2; /* the kernel doubles it */
    if (filter_strangers(r->fd) < 0 || setsockopt(r->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0) {
        return -errno;
    }
    if (setsockopt(r->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0) {
        (void)setsockopt(r->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); /* as much as the system allows */
    }
    return outq_open(&r->queue, r->fd, r->mtu + ETH_HLEN, r->bits_per_second);
}

static int explain(int rc, const struct raw *r, const struct raw_options *o, char why[static SHIM_WHY_BYTES])
{
    switch (-rc) {
    case ENODEV:
        snprintf(why, SHIM_WHY_BYTES, "%s: no such interface", o->interface);
        break;
    case ENAMETOOLONG:
        snprintf(why, SHIM_WHY_BYTES, "%s: not a name of an interface (1 to %d letters)", o->interface, IFNAMSIZ - 1);
        break;
    case EPROTOTYPE:
        snprintf(why, SHIM_WHY_BYTES, "%s: not an Ethernet interface", o->interface);
        break;
    case EMSGSIZE:
        snprintf(why, SHIM_WHY_BYTES, "%s: frames of %u bytes are asked for, its mtu is %u (ip link set %s mtu %u)",
                 o->interface, o->mtu, r->carrier.mtu, o->interface, o->mtu);
        break;
    case EPERM:
    case EACCES:
        snprintf(why, SHIM_WHY_BYTES, "%s: no permission to open a raw socket (needs CAP_NET_RAW)", o->interface);
        return -EPERM;
    case EADDRINUSE:
        snprintf(why, SHIM_WHY_BYTES, "%s: another process is on this interface", o->interface);
        break;
    default:
        snprintf(why, SHIM_WHY_BYTES, "%s: %s", o->interface, strerror(-rc));
        break;
    }
    return rc;
}

static void fill_header(struct raw *r, const struct raw_options *o)
{
    static const uint8_t none[ETH_ALEN];
    memcpy(r->header, o->destination, ETH_ALEN);
    if (memcmp(o->destination, none, ETH_ALEN) == 0) {
        memset(r->header, 0xff, ETH_ALEN);
    }
    memcpy(r->header + ETH_ALEN, r->carrier.mac, ETH_ALEN);
    put_be16(r->header + 2 * ETH_ALEN, o->ethertype != 0 ? o->ethertype : RAW_ETHERTYPE);
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        r->messages[i].msg_hdr = (struct msghdr){.msg_iov = &r->vectors[i], .msg_iovlen = 1};
    }
}

static int prepare(struct raw *r, const struct raw_options *o)
{
    int rc = carrier_open(&r->carrier, o->interface);
    if (rc < 0) {
        return rc;
    }
    if (!r->carrier.ethernet) {
        return -EPROTOTYPE;
    }
    if (o->mtu > r->carrier.mtu) {
        return -EMSGSIZE;
    }
    r->mtu = o->mtu != 0 ? o->mtu : r->carrier.mtu;
    r->bits_per_second = o->bits_per_second != 0 ? o->bits_per_second : carrier_speed(&r->carrier);
    fill_header(r, o);
    rc = open_socket(r);
    return rc < 0 ? rc : settle(r);
}

int raw_open(struct shim **out, const struct raw_options *options, char why[static SHIM_WHY_BYTES])
{
    struct raw *r = calloc(1, sizeof *r);
    if (r == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "%s: out of memory", options->interface);
        return -ENOMEM;
    }
    *r = (struct raw){.shim.ops = &raw_ops, .fd = -1, .claim = -1};
    int rc = prepare(r, options);
    if (rc < 0) {
        rc = explain(rc, r, options, why);
        raw_close(&r->shim);
        return rc;
    }
    *out = &r->shim;
    return 0;
}
