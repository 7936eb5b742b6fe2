/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include "shim/raw.h"

#include "base/container.h"
#include "shim/clock.h"
#include "shim/lane.h"
#include "shim/outq.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    RECEIVE_QUEUE_BYTES = 4 << 20, /* charged as in outq.h: some 250 jumbo frames, what arrives in 2 ms at 10 Gb/s */
    CONTROL_QUEUE_BYTES = 1 << 20, /* some 450 frames of 1,500 bytes: four whole databases of 4,096 servers */
    ALONE_LEAST = 2,               /* frames that came alone, one after another: so will the next */
    ALONE_LOOK = 8,                /* but of so many the first ALONE_LEAST are received as if there could be more */
};

struct raw {
    struct shim shim;
    int send_fd;   /* hears nothing: who watches for frames is not told of every frame that has left */
    int fd[LANES]; /* hear a lane each (lane.h) */
    struct lane_turns turns;
    struct port port;
    struct outq queue;
    uint32_t promised; /* charge that there was room for when last asked, less what was sent: nobody else uses it up */
    unsigned expected[LANES]; /* frames of a receive of each lane, by the last one */
    unsigned alone;           /* receives in a row that gave one frame of data */
    struct port_full full;
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
        uint8_t *header = port_frame(&r->port, frames[sound].bytes, frames[sound].length);
        r->vectors[sound] = (struct iovec){header, frames[sound].length + ETH_HLEN};
        sound++;
    }
    return sound;
}

/* What an error of the first frame of a call means: 0 for "later". */
static int send_error(struct raw *r, int error)
{
    if (error == ENOBUFS) {
        port_full_note(&r->full, clock_now());
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

/* How many were sent, or -1 and errno. One frame is cheaper by a call that is for one: 50 of 600 ns. */
static int send_lined_up(struct raw *r, unsigned count)
{
    if (count > 1) {
        return sendmmsg(r->send_fd, r->messages, count, MSG_DONTWAIT);
    }
    return send(r->send_fd, r->vectors[0].iov_base, r->vectors[0].iov_len, MSG_DONTWAIT) < 0 ? -1 : 1;
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
    int sent = send_lined_up(r, sound);
    if (sent < 0 && errno == ENETDOWN) {
        sent = send_lined_up(r, sound); /* that it had been down was still to be said */
    }
    if (sent < 0) {
        return send_error(r, errno);
    }
    uint32_t charge = 0;
    r->full.row = 0;
    for (int i = 0; i < sent; i++) {
        r->counters.tx_bytes += frames[i].length;
        charge += outq_charge(frames[i].length + ETH_HLEN);
    }
    r->counters.tx_frames += (unsigned)sent;
    r->promised -= charge < r->promised ? charge : r->promised;
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

/* Receives into frames from..below; how many, or -errno. */
static int receive_some(struct raw *r, int fd, const struct shim_frame *frames, unsigned from, unsigned below)
{
    for (unsigned i = from; i < below; i++) {
        r->vectors[i] = (struct iovec){frames[i].bytes - ETH_HLEN, frames[i].room + ETH_HLEN};
    }
    /* MSG_TRUNC: the length that it had, not the length that found room. */
    int received = recvmmsg(fd, r->messages + from, below - from, MSG_DONTWAIT | MSG_TRUNC, NULL);
    return received < 0 ? -errno : received;
}

/* One frame into the first place, by a call that is for one: it need not look for a second. 1 or -errno. */
static int receive_alone(struct raw *r, const struct shim_frame *frame)
{
    ssize_t length = recv(r->fd[FRAME_DATA], frame->bytes - ETH_HLEN, frame->room + ETH_HLEN, MSG_DONTWAIT | MSG_TRUNC);
    r->messages[0].msg_len = (unsigned)length;
    return length < 0 ? -errno : 1;
}

static int receive_lane(struct shim *s, enum frame_lane lane, struct shim_frame *frames, unsigned count)
{
    struct raw *r = raw_of(s);
    unsigned *expected = &r->expected[lane]; /* how many came the last time */
    unsigned given = 0, batches = 0;
    int fd = r->fd[lane];
    do {
        /*
         * One more than last time, then all: to line up memory for many frames where one comes is a fifth of the pump's
         * own work.
         */
        unsigned few = *expected + 1 < count ? *expected + 1 : count;
        bool conversation = lane == FRAME_DATA && r->alone % ALONE_LOOK >= ALONE_LEAST;
        int received = conversation ? receive_alone(r, frames) : receive_some(r, fd, frames, 0, few);
        if (!conversation && received == (int)few && few < count) {
            int more = receive_some(r, fd, frames, few, count);
            received += more > 0 ? more : 0; /* an error comes again */
        }
        if (received <= 0) {
            /* An interface that went down is said once here, and by netlink. */
            bool nothing = received == 0 || received == -EAGAIN || received == -EINTR || received == -ENETDOWN ||
                           received == -ENXIO;
            return nothing ? 0 : received;
        }
        *expected = (unsigned)received;
        if (lane == FRAME_DATA) {
            r->alone = received == 1 ? r->alone + 1 : 0;
        }
        given = close_ranks(r, frames, (unsigned)received);
    } while (given == 0 && ++batches < SHIM_STRANGE_BATCHES);
    return (int)given;
}

static int raw_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    return lane_receive(s, &raw_of(s)->turns, receive_lane, frames, count);
}

static unsigned raw_room(struct shim *s)
{
    struct raw *r = raw_of(s);
    if (!raw_carrier(s)) {
        return 0;
    }
    if (!port_full_passed(&r->full, clock_now)) {
        return 0;
    }
    /* A system call is worth it when little is left of what was promised, not for every frame of a conversation. */
    if (r->promised <= r->queue.limit / 2) {
        r->promised = outq_left(&r->queue);
    }
    return outq_frames(&r->queue, r->promised);
}

static enum shim_wait raw_wait(struct shim *s, cw_time *until)
{
    const struct raw *r = raw_of(s);
    if (r->full.until.ns != 0) {
        *until = r->full.until;
        return SHIM_WAIT_TIME;
    }
    return SHIM_WAIT_WRITABLE;
}

static int raw_data_fd(const struct shim *s)
{
    return raw_of_const(s)->fd[FRAME_DATA];
}

static int raw_urgent_fd(const struct shim *s)
{
    return raw_of_const(s)->fd[FRAME_CONTROL];
}

static int raw_room_fd(const struct shim *s)
{
    return raw_of_const(s)->send_fd;
}

static int raw_event_fd(const struct shim *s)
{
    return carrier_fd(&raw_of_const(s)->port.carrier);
}

static int bind_to(const struct raw *r)
{
    if (!port_present(&r->port)) {
        return 0; /* it is waited for; bound to interface 0, the sockets would hear every interface */
    }
    struct sockaddr_ll deaf = {.sll_family = AF_PACKET, .sll_ifindex = (int)r->port.carrier.index};
    int rc = bind(r->send_fd, (const struct sockaddr *)&deaf, sizeof deaf) < 0 ? -errno : 0;
    for (unsigned lane = 0; rc == 0 && lane < LANES; lane++) {
        rc = port_bind(&r->port, r->fd[lane], (enum frame_lane)lane);
    }
    return rc;
}

static int claim(const struct raw *r)
{
    return port_present(&r->port) ? port_claim(&r->port, r->fd, LANES) : 0;
}

static void raw_service_events(struct shim *s)
{
    struct raw *r = raw_of(s);
    if (port_service(&r->port) && (bind_to(r) < 0 || claim(r) < 0)) {
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
    for (unsigned i = 0; i < LANES; i++) {
        struct tpacket_stats statistics; /* since the last reading */
        socklen_t size = sizeof statistics;
        if (getsockopt(r->fd[i], SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0) {
            r->counters.rx_dropped += statistics.tp_drops;
        }
    }
    *out = r->counters;
    out->tx_refused_row = r->full.row;
}

static int raw_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    const struct raw *r = raw_of_const(s);
    uint8_t *header = port_frame(&r->port, bytes, length);
    return send(r->send_fd, header, length + ETH_HLEN, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void raw_close(struct shim *s)
{
    struct raw *r = raw_of(s);
    const int fds[] = {r->send_fd, r->fd[FRAME_DATA], r->fd[FRAME_CONTROL]};
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
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
    .urgent_fd = raw_urgent_fd,
    .room_fd = raw_room_fd,
    .event_fd = raw_event_fd,
    .service_events = raw_service_events,
    .wait = raw_wait,
    .info = raw_info,
    .counters = raw_counters,
    .last_words = raw_last_words,
    .close = raw_close,
};

/* Everything is set before the socket is bound to a protocol: until then it hears nothing. */
static int open_lane(int *fd, bool alone, int queue_bytes)
{
    *fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd < 0) {
        return -errno;
    }
    int one = 1;
    int bytes = queue_bytes / 2; /* the kernel doubles it */
    if (setsockopt(*fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) < 0) {
        return -errno;
    }
    if (setsockopt(*fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0) {
        (void)setsockopt(*fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes); /* as much as the system allows */
    }
    return alone ? 0 : lane_drop_others(*fd);
}

static int open_sockets(struct raw *r)
{
    int rc = open_lane(&r->fd[FRAME_DATA], r->port.alone, RECEIVE_QUEUE_BYTES);
    rc = rc < 0 ? rc : open_lane(&r->fd[FRAME_CONTROL], r->port.alone, CONTROL_QUEUE_BYTES);
    if (rc < 0) {
        return rc;
    }
    r->send_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return r->send_fd < 0 ? -errno : outq_open(&r->queue, r->send_fd, r->port.mtu + ETH_HLEN, r->port.bits_per_second);
}

static int prepare(struct raw *r, const struct port_options *options)
{
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        r->messages[i].msg_hdr = (struct msghdr){.msg_iov = &r->vectors[i], .msg_iovlen = 1};
    }
    int rc = port_open(&r->port, options);
    rc = rc < 0 ? rc : open_sockets(r);
    rc = rc < 0 ? rc : bind_to(r);
    return rc < 0 ? rc : claim(r);
}

int raw_open(struct shim **out, const struct port_options *options, char why[static SHIM_WHY_BYTES])
{
    struct raw *r = calloc(1, sizeof *r);
    if (r == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "%s: out of memory", options->interface);
        return -ENOMEM;
    }
    *r = (struct raw){.shim.ops = &raw_ops, .send_fd = -1, .fd = {-1, -1}};
    int rc = prepare(r, options);
    if (rc < 0) {
        rc = port_explain(&r->port, options, rc, why);
        raw_close(&r->shim);
        return rc;
    }
    *out = &r->shim;
    return 0;
}
