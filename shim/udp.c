/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sendmmsg, recvmmsg */
#include "shim/udp.h"

#include "base/container.h"
#include "shim/address.h"
#include "shim/clock.h"
#include "shim/outq.h"
#include "shim/run.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    RECEIVE_QUEUE_BYTES = 4 << 20,
    HEADERS_4 = 28, /* IP and UDP */
    HEADERS_6 = 48,
    ETHERNET_OVERHEAD = 38,
    /* The carrier changed outside of service_events: event_fd is made readable at once. */
    SOON_NS = 1,
};

struct udp {
    struct shim shim;
    int fd;
    int timer;
    int trouble; /* errno for which there is no carrier, 0: there is one */
    bool heard;  /* something arrived since the last refusal */
    bool six;
    uint32_t mtu;
    uint64_t bits_per_second;
    cw_time retry; /* with trouble: when to try again */
    struct outq queue;
    struct shim_counters counters;
    char name[SHIM_NAME_BYTES];
    struct iovec vectors[SHIM_BATCH];
    struct mmsghdr messages[SHIM_BATCH]; /* without `gathers`: received into */
    bool cuts;                           /* runs may be sent: the kernel cuts them */
    bool gathers;                        /* runs may come: the kernel puts them together */
    struct run_outbox out;
    struct run_inbox in;
};

static struct udp *udp_of(struct shim *s)
{
    return container_of(s, struct udp, shim);
}

static const struct udp *udp_of_const(const struct shim *s)
{
    return container_of_const(s, struct udp, shim);
}

static void set_timer(const struct udp *u, int64_t ns)
{
    struct itimerspec when = {.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    (void)timerfd_settime(u->timer, 0, &when, NULL);
}

static void lose(struct udp *u, int error)
{
    u->heard = false;
    u->retry = cw_time_add(clock_now(), CW_MS(UDP_RETRY_MS));
    if (u->trouble == 0) {
        set_timer(u, SOON_NS);
    }
    u->trouble = error;
}

static void regain(struct udp *u)
{
    u->trouble = 0;
    set_timer(u, SOON_NS);
}

/* Bytes of frame that the path carries as far as the system knows; 0: no route. */
static uint32_t path_carries(const struct udp *u)
{
    int mtu;
    socklen_t size = sizeof mtu;
    int rc = u->six ? getsockopt(u->fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &size)
                    : getsockopt(u->fd, IPPROTO_IP, IP_MTU, &mtu, &size);
    int frame = rc < 0 ? 0 : mtu - (u->six ? HEADERS_6 : HEADERS_4);
    return frame <= 0 ? 0 : frame > UDP_FRAME_MAX ? UDP_FRAME_MAX : (uint32_t)frame;
}

static bool udp_carrier(const struct shim *s)
{
    return udp_of_const(s)->trouble == 0;
}

static unsigned line_up(struct udp *u, const struct shim_frame *frames, unsigned count)
{
    unsigned sound = 0;
    while (sound < count && 1 <= frames[sound].length && frames[sound].length <= u->mtu) {
        u->vectors[sound] = (struct iovec){frames[sound].bytes, frames[sound].length};
        sound++;
    }
    return sound;
}

/*
 * An error that a call met, perhaps one that an earlier datagram caused. True: it says nothing about this one, call
 * again.
 */
static bool passes(struct udp *u, int error)
{
    switch (error) {
    case EAGAIN:
    case ENOBUFS:
        return false;
    case EINTR:
        return true;
    case ECONNREFUSED:
        if (u->heard) {
            lose(u, error);
        }
        return !u->trouble;
    default:
        lose(u, error);
        return false;
    }
}

/*
 * How many frames were sent, or -errno. A device that cannot cut runs, or cannot do so now, gets each datagram by
 * itself: what is wrong beside that is then said of the first one.
 */
static int send_lined_up(struct udp *u, unsigned count)
{
    unsigned messages = run_line_up(&u->out, u->vectors, count, u->cuts);
    int sent = run_send(&u->out, u->fd, messages);
    if (sent < 0 && u->out.frames[0] > 1 && sent != -EAGAIN && sent != -ENOBUFS && sent != -ECONNREFUSED) {
        u->cuts = u->cuts && sent != -EIO && sent != -EOPNOTSUPP;
        messages = run_line_up(&u->out, u->vectors, count, false);
        sent = run_send(&u->out, u->fd, messages);
    }
    return sent < 0 ? sent : (int)run_frames(&u->out, (unsigned)sent);
}

static int udp_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct udp *u = udp_of(s);
    if (u->trouble != 0) {
        return -ENETDOWN;
    }
    unsigned sound = line_up(u, frames, count);
    if (sound == 0) {
        return -EMSGSIZE;
    }
    int sent = send_lined_up(u, sound);
    while (sent < 0 && passes(u, -sent)) {
        sent = send_lined_up(u, sound);
    }
    if (sent < 0) {
        u->counters.tx_refused += u->trouble == 0;
        return u->trouble != 0 ? -ENETDOWN : 0;
    }
    for (int i = 0; i < sent; i++) {
        u->counters.tx_bytes += frames[i].length;
    }
    u->counters.tx_frames += (unsigned)sent;
    return sent;
}

static unsigned close_ranks(struct udp *u, struct shim_frame *frames, unsigned received)
{
    unsigned given = 0;
    for (unsigned i = 0; i < received; i++) {
        uint32_t length = u->messages[i].msg_len;
        if (length == 0 || length > frames[i].room || length > frames[given].room) {
            u->counters.rx_strange++;
            continue;
        }
        if (given != i) {
            memcpy(frames[given].bytes, frames[i].bytes, length);
        }
        frames[given++].length = length;
        u->counters.rx_bytes += length;
    }
    u->counters.rx_frames += given;
    return given;
}

static void hear(struct udp *u)
{
    u->heard = true;
    if (u->trouble == ECONNREFUSED) {
        regain(u);
    }
}

/* Copies datagrams that were received into frames[given..count), and returns how many frames are filled then. */
static unsigned hand_out(struct udp *u, struct shim_frame *frames, unsigned given, unsigned count)
{
    while (given < count && run_is_left(&u->in)) {
        uint32_t length;
        const uint8_t *bytes = run_take(&u->in, &length);
        if (length == 0 || length > frames[given].room) {
            u->counters.rx_strange++;
            continue;
        }
        memcpy(frames[given].bytes, bytes, length);
        frames[given++].length = length;
        u->counters.rx_frames++;
        u->counters.rx_bytes += length;
    }
    return given;
}

static int receive_runs(struct udp *u, struct shim_frame *frames, unsigned count)
{
    unsigned given = hand_out(u, frames, 0, count);
    unsigned calls = 0;
    for (int received = RUN_MESSAGES; given < count && received == RUN_MESSAGES;) {
        received = run_receive(&u->in, u->fd);
        if (received < 0 && received != -EAGAIN && ++calls < SHIM_STRANGE_BATCHES &&
            (passes(u, -received) || u->trouble == ECONNREFUSED)) {
            received = RUN_MESSAGES; /* the error is taken; there may be frames behind it */
            continue;
        }
        if (received > 0) {
            hear(u);
            given = hand_out(u, frames, given, count);
        }
        /* Nothing but strangers' frames: the descriptor stays readable. */
        received = given == 0 && ++calls >= SHIM_STRANGE_BATCHES * SHIM_BATCH / RUN_MESSAGES ? 0 : received;
    }
    if (run_is_left(&u->in) && u->shim.wake != NULL) {
        u->shim.wake(u->shim.wake_context); /* the descriptor does not know of what we have */
    }
    return (int)given;
}

static int receive_each(struct udp *u, struct shim_frame *frames, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        u->vectors[i] = (struct iovec){frames[i].bytes, frames[i].room};
    }
    unsigned given = 0;
    for (unsigned batches = 0; given == 0 && batches < SHIM_STRANGE_BATCHES; batches++) {
        int received = recvmmsg(u->fd, u->messages, count, MSG_DONTWAIT | MSG_TRUNC, NULL);
        if (received <= 0) {
            if (received < 0 && errno != EAGAIN && (passes(u, errno) || u->trouble == ECONNREFUSED)) {
                continue; /* the error is taken; there may be frames behind it */
            }
            return 0;
        }
        hear(u);
        given = close_ranks(u, frames, (unsigned)received);
    }
    return (int)given;
}

static int udp_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct udp *u = udp_of(s);
    return u->gathers ? receive_runs(u, frames, count) : receive_each(u, frames, count);
}

static unsigned udp_room(struct shim *s)
{
    const struct udp *u = udp_of(s);
    return u->trouble != 0 ? 0 : outq_room(&u->queue);
}

static enum shim_wait udp_wait(struct shim *s, cw_time *until)
{
    (void)s;
    (void)until;
    return SHIM_WAIT_WRITABLE;
}

static int udp_data_fd(const struct shim *s)
{
    return udp_of_const(s)->fd;
}

static int udp_event_fd(const struct shim *s)
{
    return udp_of_const(s)->timer;
}

/* While there is trouble, the timer asks again and again whether it is over. */
static void udp_service_events(struct shim *s)
{
    struct udp *u = udp_of(s);
    uint64_t ticks;
    (void)!read(u->timer, &ticks, sizeof ticks);
    if (u->trouble == 0) {
        return;
    }
    cw_time now = clock_now();
    if (cw_time_due(u->retry, now)) {
        if (path_carries(u) >= u->mtu) {
            u->trouble = 0;
            return;
        }
        u->trouble = path_carries(u) == 0 ? ENETUNREACH : EMSGSIZE;
        u->retry = cw_time_add(now, CW_MS(UDP_RETRY_MS));
    }
    set_timer(u, cw_time_since(u->retry, now).ns);
}

static void udp_info(const struct shim *s, struct shim_info *out)
{
    const struct udp *u = udp_of_const(s);
    *out = (struct shim_info){.kind = "udp",
                              .mtu = u->mtu,
                              .overhead = ETHERNET_OVERHEAD + (u->six ? HEADERS_6 : HEADERS_4),
                              .bits_per_second = u->bits_per_second};
    memcpy(out->name, u->name, sizeof out->name);
    if (u->trouble == ECONNREFUSED) {
        snprintf(out->state, sizeof out->state, "the other side has no socket there (connection refused)");
    } else if (u->trouble == EMSGSIZE) {
        snprintf(out->state, sizeof out->state, "the path carries frames of %u bytes now, below %u", path_carries(u),
                 u->mtu);
    } else {
        snprintf(out->state, sizeof out->state, "%s", u->trouble == 0 ? "up" : strerror(u->trouble));
    }
}

static void udp_counters(struct shim *s, struct shim_counters *out)
{
    struct udp *u = udp_of(s);
    uint32_t memory[SK_MEMINFO_VARS] = {0};
    socklen_t size = sizeof memory;
    if (getsockopt(u->fd, SOL_SOCKET, SO_MEMINFO, memory, &size) == 0) {
        u->counters.rx_dropped = memory[SK_MEMINFO_DROPS];
    }
    *out = u->counters;
}

static int udp_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    return send(udp_of_const(s)->fd, bytes, length, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void udp_close(struct shim *s)
{
    struct udp *u = udp_of(s);
    if (u->fd >= 0) {
        close(u->fd);
    }
    if (u->timer >= 0) {
        close(u->timer);
    }
    run_inbox_close(&u->in);
    free(u);
}

static const struct shim_ops udp_ops = {
    .send = udp_send,
    .receive = udp_receive,
    .room = udp_room,
    .carrier = udp_carrier,
    .data_fd = udp_data_fd,
    .event_fd = udp_event_fd,
    .service_events = udp_service_events,
    .wait = udp_wait,
    .info = udp_info,
    .counters = udp_counters,
    .last_words = udp_last_words,
    .close = udp_close,
};

static int set_option(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof value) < 0 ? -errno : 0;
}

static int set_options(struct udp *u)
{
    int bytes = RECEIVE_QUEUE_BYTES / 2; /* the kernel doubles it */
    if (set_option(u->fd, SOL_SOCKET, SO_RCVBUFFORCE, bytes) < 0) {
        (void)set_option(u->fd, SOL_SOCKET, SO_RCVBUF, bytes); /* as much as the system allows */
    }
    return u->six ? set_option(u->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO)
                  : set_option(u->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
}

/* What strangers sent between bind and connect. */
static void discard(const struct udp *u)
{
    char byte;
    while (recv(u->fd, &byte, sizeof byte, MSG_DONTWAIT) >= 0 || errno == ECONNREFUSED) {
    }
}

static int prepare(struct udp *u, const struct udp_options *o)
{
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    int local_length = address_parse(o->local, &local);
    int remote_length = address_parse(o->remote, &remote);
    if (local_length < 0 || remote_length < 0 || local.ss_family != remote.ss_family) {
        return -EINVAL;
    }
    u->six = local.ss_family == AF_INET6;
    u->fd = socket(local.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    u->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (u->fd < 0 || u->timer < 0) {
        return -errno;
    }
    int rc = set_options(u);
    if (rc < 0) {
        return rc;
    }
    if (bind(u->fd, (const struct sockaddr *)&local, (socklen_t)local_length) < 0 ||
        connect(u->fd, (const struct sockaddr *)&remote, (socklen_t)remote_length) < 0) {
        return -errno;
    }
    discard(u);
    u->cuts = set_option(u->fd, IPPROTO_UDP, UDP_SEGMENT, 0) == 0; /* a kernel that knows it; 0: as each message says */
    u->gathers = run_inbox_open(&u->in) == 0 && set_option(u->fd, IPPROTO_UDP, UDP_GRO, 1) == 0;
    uint32_t carries = path_carries(u);
    u->mtu = o->mtu != 0 ? o->mtu : carries;
    if (u->mtu == 0 || u->mtu > carries) {
        return -EMSGSIZE;
    }
    return outq_open(&u->queue, u->fd, u->mtu + (u->six ? HEADERS_6 : HEADERS_4), u->bits_per_second);
}

static void explain(const struct udp *u, const struct udp_options *o, int rc, char why[static SHIM_WHY_BYTES])
{
    switch (-rc) {
    case EINVAL:
        snprintf(why, SHIM_WHY_BYTES,
                 "%.80s to %.80s: two addresses of one family are wanted, as 10.0.0.1:7001 or [fd00::1]:7001", o->local,
                 o->remote);
        break;
    case EADDRINUSE:
        snprintf(why, SHIM_WHY_BYTES, "%s: the port is in use", o->local);
        break;
    case EADDRNOTAVAIL:
        snprintf(why, SHIM_WHY_BYTES, "%s: no interface here has that address", o->local);
        break;
    case ENETUNREACH:
    case EHOSTUNREACH:
        snprintf(why, SHIM_WHY_BYTES, "%s: no route from %s", o->remote, o->local);
        break;
    case EMSGSIZE:
        snprintf(why, SHIM_WHY_BYTES, "%s to %s: the path carries frames of %u bytes, %u are asked for", o->local,
                 o->remote, path_carries(u), o->mtu);
        break;
    default:
        snprintf(why, SHIM_WHY_BYTES, "%s to %s: %s", o->local, o->remote, strerror(-rc));
        break;
    }
}

int udp_open(struct shim **out, const struct udp_options *options, char why[static SHIM_WHY_BYTES])
{
    struct udp *u = calloc(1, sizeof *u);
    if (u == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "%s: out of memory", options->local);
        return -ENOMEM;
    }
    *u = (struct udp){.shim.ops = &udp_ops, .fd = -1, .timer = -1, .bits_per_second = options->bits_per_second};
    snprintf(u->name, sizeof u->name, "%s to %s", options->local, options->remote);
    for (unsigned i = 0; i < SHIM_BATCH; i++) {
        u->messages[i].msg_hdr = (struct msghdr){.msg_iov = &u->vectors[i], .msg_iovlen = 1};
    }
    int rc = prepare(u, options);
    if (rc < 0) {
        explain(u, options, rc, why);
        udp_close(&u->shim);
        return rc;
    }
    *out = &u->shim;
    return 0;
}
