/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/pcap.h"

#include "base/container.h"
#include "shim/clock.h"
#include "shim/outq.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { RING_BYTES = 4 << 20, FULL_PAUSE_US = 50 };

struct live {
    struct shim shim;
    struct port port;
    pcap_t *pcap;
    struct outq queue;
    cw_time full_until; /* 0: nothing of that kind */
    struct shim_counters counters;
    /* Of the receive that is under way. */
    struct shim_frame *frames;
    unsigned given;
};

static struct live *live_of(struct shim *s)
{
    return container_of(s, struct live, shim);
}

static const struct live *live_of_const(const struct shim *s)
{
    return container_of_const(s, struct live, shim);
}

static bool live_carrier(const struct shim *s)
{
    return port_carrier(&live_of_const(s)->port);
}

/* 1: sent; 0: not now; or -errno. */
static int send_one(struct live *l, const struct shim_frame *frame)
{
    if (frame->length < 1 || frame->length > l->port.mtu) {
        return -EMSGSIZE;
    }
    uint8_t *start = frame->bytes - PORT_HEADER;
    memcpy(start, l->port.header, PORT_HEADER);
    int sent = pcap_inject(l->pcap, start, frame->length + PORT_HEADER);
    if (sent < 0 && errno == ENETDOWN) {
        sent =
            pcap_inject(l->pcap, start, frame->length + PORT_HEADER); /* that it had been down was still to be said */
    }
    if (sent >= 0) {
        return 1;
    }
    int error = errno; /* of the system call that it made */
    if (error == ENOBUFS) {
        l->full_until = cw_time_add(clock_now(), CW_US(FULL_PAUSE_US));
    }
    if (error == EAGAIN || error == ENOBUFS || error == EINTR) {
        l->counters.tx_refused++;
        return 0;
    }
    return error == ENXIO || error == ENODEV ? -ENETDOWN : -error;
}

static int live_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct live *l = live_of(s);
    if (!live_carrier(s)) {
        return -ENETDOWN;
    }
    for (unsigned i = 0; i < count; i++) {
        int rc = send_one(l, &frames[i]);
        if (rc <= 0) {
            return i == 0 ? rc : (int)i;
        }
        l->counters.tx_frames++;
        l->counters.tx_bytes += frames[i].length;
    }
    return (int)count;
}

/* libpcap hands over one frame, in its own memory. */
static void take(u_char *context, const struct pcap_pkthdr *head, const u_char *bytes)
{
    struct live *l = (struct live *)(void *)context;
    struct shim_frame *frame = &l->frames[l->given];
    if (head->caplen < head->len || head->len <= PORT_HEADER || head->len - PORT_HEADER > frame->room) {
        l->counters.rx_strange++;
        return;
    }
    frame->length = head->len - PORT_HEADER;
    memcpy(frame->bytes, bytes + PORT_HEADER, frame->length);
    l->counters.rx_bytes += frame->length;
    l->given++;
}

static int live_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct live *l = live_of(s);
    l->frames = frames;
    l->given = 0;
    /* Strange frames count for libpcap: ask until it has no more, or too many of that kind. */
    for (unsigned rounds = 0; l->given < count && rounds < SHIM_STRANGE_BATCHES; rounds++) {
        if (pcap_dispatch(l->pcap, (int)(count - l->given), take, (u_char *)l) <= 0) {
            break;
        }
    }
    l->counters.rx_frames += l->given;
    return (int)l->given;
}

static unsigned live_room(struct shim *s)
{
    struct live *l = live_of(s);
    if (!live_carrier(s)) {
        return 0;
    }
    if (l->full_until.ns != 0) {
        if (!cw_time_due(l->full_until, clock_now())) {
            return 0;
        }
        l->full_until.ns = 0;
    }
    return outq_room(&l->queue);
}

static enum shim_wait live_wait(struct shim *s, cw_time *until)
{
    const struct live *l = live_of(s);
    if (l->full_until.ns != 0) {
        *until = l->full_until;
        return SHIM_WAIT_TIME;
    }
    return SHIM_WAIT_WRITABLE;
}

static int live_data_fd(const struct shim *s)
{
    return pcap_get_selectable_fd(live_of_const(s)->pcap);
}

static int live_event_fd(const struct shim *s)
{
    return carrier_fd(&live_of_const(s)->port.carrier);
}

/* Only our EtherType, sent to us or to all, by others. */
static int filter(struct live *l)
{
    char text[128];
    const uint8_t *mac = l->port.carrier.mac;
    struct bpf_program program;
    snprintf(text, sizeof text, "ether proto 0x%04x and (ether dst %02x:%02x:%02x:%02x:%02x:%02x or ether[0] & 1 == 1)",
             l->port.ethertype, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    if (pcap_compile(l->pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN) < 0) {
        return -EINVAL;
    }
    int rc = pcap_setfilter(l->pcap, &program);
    pcap_freecode(&program);
    return rc < 0 || pcap_setdirection(l->pcap, PCAP_D_IN) < 0 ? -EINVAL : 0;
}

/*
 * libpcap cannot open a capture again under the descriptor that the pump watches; but beneath it is a packet socket,
 * which binds to another device and keeps its ring. The filter names our address, which may be another one now.
 */
static void live_service_events(struct shim *s)
{
    struct live *l = live_of(s);
    if (port_service(&l->port) &&
        (port_bind(&l->port, l->queue.fd) < 0 || port_claim(&l->port, &l->queue.fd, 1) < 0 || filter(l) < 0)) {
        port_release(&l->port); /* gone again, and netlink is about to say so; or another's */
    }
}

static void live_info(const struct shim *s, struct shim_info *out)
{
    *out = (struct shim_info){.kind = "pcap"};
    port_info(&live_of_const(s)->port, out);
}

static void live_counters(struct shim *s, struct shim_counters *out)
{
    struct live *l = live_of(s);
    struct pcap_stat statistics;
    if (pcap_stats(l->pcap, &statistics) == 0) {
        l->counters.rx_dropped = statistics.ps_drop;
    }
    *out = l->counters;
}

static int live_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    const struct live *l = live_of_const(s);
    uint8_t *start = bytes - PORT_HEADER;
    memcpy(start, l->port.header, PORT_HEADER);
    return send(l->queue.fd, start, length + PORT_HEADER, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void live_close(struct shim *s)
{
    struct live *l = live_of(s);
    if (l->pcap != NULL) {
        pcap_close(l->pcap);
    }
    port_close(&l->port);
    free(l);
}

static const struct shim_ops live_ops = {
    .send = live_send,
    .receive = live_receive,
    .room = live_room,
    .carrier = live_carrier,
    .data_fd = live_data_fd,
    .event_fd = live_event_fd,
    .service_events = live_service_events,
    .wait = live_wait,
    .info = live_info,
    .counters = live_counters,
    .last_words = live_last_words,
    .close = live_close,
};

static int error_of(int status)
{
    switch (status) {
    case PCAP_ERROR_PERM_DENIED:
        return -EPERM;
    case PCAP_ERROR_NO_SUCH_DEVICE:
        return -ENODEV;
    case PCAP_ERROR_IFACE_NOT_UP:
        return -ENETDOWN;
    default:
        return -EIO;
    }
}

static int start(struct live *l)
{
    char text[PCAP_ERRBUF_SIZE];
    l->pcap = pcap_create(l->port.carrier.name, text);
    if (l->pcap == NULL) {
        return -ENOMEM;
    }
    pcap_set_immediate_mode(l->pcap, 1);
    pcap_set_snaplen(l->pcap, (int)(l->port.mtu + PORT_HEADER + 1)); /* one more: what is too long is seen to be */
    pcap_set_buffer_size(l->pcap, RING_BYTES);
#ifdef __linux__
    pcap_set_protocol_linux(l->pcap,
                            l->port.ethertype); /* the kernel shows us nothing else, and is not slowed for others */
#endif
    int status = pcap_activate(l->pcap); /* above 0: a warning */
    if (status < 0) {
        return error_of(status);
    }
    if (pcap_setnonblock(l->pcap, 1, text) < 0) {
        return -EIO;
    }
    int fd = pcap_fileno(l->pcap), rc = port_claim(&l->port, &fd, 1);
    rc = rc < 0 ? rc : filter(l);
    return rc < 0 ? rc : outq_open(&l->queue, fd, l->port.mtu + PORT_HEADER, l->port.bits_per_second);
}

int pcap_shim_open(struct shim **out, const struct port_options *options, char why[static SHIM_WHY_BYTES])
{
    struct live *l = calloc(1, sizeof *l);
    if (l == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "%s: out of memory", options->interface);
        return -ENOMEM;
    }
    l->shim.ops = &live_ops;
    int rc = port_open(&l->port, options);
    rc = rc < 0 ? rc : start(l);
    if (rc < 0) {
        rc = port_explain(&l->port, options, rc, why);
        live_close(&l->shim);
        return rc;
    }
    *out = &l->shim;
    return 0;
}
