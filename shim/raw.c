/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include "shim/raw.h"

#include "base/container.h"
#include "shim/clock.h"
#include "shim/outq.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RECEIVE_QUEUE_BYTES = 4 << 20, /* charged as in outq.h: some 250 jumbo frames, what arrives in 2 ms at 10 Gb/s */
    FULL_PAUSE_US = 50,            /* after a device dropped for want of room, and no writability will tell of any */
};

struct raw {
    struct shim shim;
    int fd;
    struct port port;
    struct outq queue;
    unsigned
        promised; /* frames that there was room for when last asked, less those sent: only our own sends use it up */
    cw_time full_until; /* 0: nothing of that kind */
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
    return port_carrier(&raw_of_const(s)->port);
}

/* Messages i from frame i; returns how many of the frames are sound, from the first on. */
static unsigned line_up(struct raw *r, const struct shim_frame *frames, unsigned count)
{
    unsigned sound = 0;
    while (sound < count && 1 <= frames[sound].length && frames[sound].length <= r->port.mtu) {
        uint8_t *header = frames[sound].bytes - ETH_HLEN;
        memcpy(header, r->port.header, ETH_HLEN);
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
    r->promised = 0;
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
    if (sent < 0 && errno == ENETDOWN) {
        sent = sendmmsg(r->fd, r->messages, sound, MSG_DONTWAIT); /* that it had been down was still to be said */
    }
    if (sent < 0) {
        return send_error(r, errno);
    }
    for (int i = 0; i < sent; i++) {
        r->counters.tx_bytes += frames[i].length;
    }
    r->counters.tx_frames += (unsigned)sent;
    r->promised -= (unsigned)sent < r->promised ? (unsigned)sent : r->promised;
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
    unsigned given = 0, batches = 0;
    do {
        /* MSG_TRUNC: the length that it had, not the length that found room. */
        int received = recvmmsg(r->fd, r->messages, count, MSG_DONTWAIT | MSG_TRUNC, NULL);
        if (received <= 0) {
            /* An interface that went down is said once here, and by netlink. */
            bool nothing = received == 0 || errno == EAGAIN || errno == EINTR || errno == ENETDOWN || errno == ENXIO;
            return nothing ? 0 : -errno;
        }
        given = close_ranks(r, frames, (unsigned)received);
    } while (given == 0 && ++batches < SHIM_STRANGE_BATCHES);
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
    /* A system call is worth it when little is left of what was promised, not for every frame of a conversation. */
    if (r->promised <= r->queue.limit / r->queue.each / 2) {
        r->promised = outq_room(&r->queue);
    }
    return r->promised;
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
    return carrier_fd(&raw_of_const(s)->port.carrier);
}

static int bind_to(const struct raw *r)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(r->port.ethertype), .sll_ifindex = (int)r->port.carrier.index};
    return bind(r->fd, (const struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

static void raw_service_events(struct shim *s)
{
    struct raw *r = raw_of(s);
    if (port_service(&r->port) && (bind_to(r) < 0 || port_claim(&r->port, &r->fd, 1) < 0)) {
        port_release(&r->port); /* gone again, and netlink is about to say so; or another's */
    }
}

static void raw_info(const struct shim *s, struct shim_info *out)
{
    *out = (struct shim_info){.kind = "raw"};
    port_info(&raw_of_const(s)->port, out);
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
    memcpy(header, r->port.header, ETH_HLEN);
    return send(r->fd, header, length + ETH_HLEN, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void raw_close(struct shim *s)
{
    struct raw *r = raw_of(s);
    if (r->fd >= 0) {
        close(r->fd);
    }
    port_close(&r->port);
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
    return outq_open(&r->queue, r->fd, r->port.mtu + ETH_HLEN, r->port.bits_per_second);
}

static int prepare(struct raw *r, const struct port_options *options)
{
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        r->messages[i].msg_hdr = (struct msghdr){.msg_iov = &r->vectors[i], .msg_iovlen = 1};
    }
    int rc = port_open(&r->port, options);
    rc = rc < 0 ? rc : open_socket(r);
    rc = rc < 0 ? rc : bind_to(r);
    return rc < 0 ? rc : port_claim(&r->port, &r->fd, 1);
}

int raw_open(struct shim **out, const struct port_options *options, char why[static SHIM_WHY_BYTES])
{
    struct raw *r = calloc(1, sizeof *r);
    if (r == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "%s: out of memory", options->interface);
        return -ENOMEM;
    }
    *r = (struct raw){.shim.ops = &raw_ops, .fd = -1};
    int rc = prepare(r, options);
    if (rc < 0) {
        rc = port_explain(&r->port, options, rc, why);
        raw_close(&r->shim);
        return rc;
    }
    *out = &r->shim;
    return 0;
}
