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

enum { RING_BYTES = 4 << 20, CONTROL_RING_BYTES = 1 << 20 };

struct live {
    struct shim shim;
    struct port port;
    pcap_t *pcap[LANES]; /* a capture of each lane; frames are sent by that of data */
    struct lane_turns turns;
    struct outq queue;
    struct port_full full;
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
    pcap_t *pcap = l->pcap[FRAME_DATA];
    const uint8_t *start = port_frame(&l->port, frame->bytes, frame->length);
    int sent = pcap_inject(pcap, start, frame->length + PORT_HEADER);
    if (sent < 0 && errno == ENETDOWN) {
        sent = pcap_inject(pcap, start, frame->length + PORT_HEADER); /* that it had been down was still to be said */
    }
    if (sent >= 0) {
        l->full.row = 0;
        return 1;
    }
    int error = errno; /* of the system call that it made */
    if (error == ENOBUFS) {
        port_full_note(&l->full, clock_now());
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

static int receive_one_lane(struct shim *s, enum frame_lane lane, struct shim_frame *frames, unsigned count)
{
    struct live *l = live_of(s);
    l->frames = frames;
    l->given = 0;
    /* Strange frames count for libpcap: ask until it has no more, or too many of that kind. */
    for (unsigned rounds = 0; l->given < count && rounds < SHIM_STRANGE_BATCHES; rounds++) {
        if (pcap_dispatch(l->pcap[lane], (int)(count - l->given), take, (u_char *)l) <= 0) {
            break;
        }
    }
    l->counters.rx_frames += l->given;
    return (int)l->given;
}

static int live_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    return lane_receive(s, &live_of(s)->turns, receive_one_lane, frames, count);
}

static unsigned live_room(struct shim *s)
{
    struct live *l = live_of(s);
    if (!live_carrier(s)) {
        return 0;
    }
    if (!port_full_passed(&l->full, clock_now)) {
        return 0;
    }
    return outq_room(&l->queue);
}

static enum shim_wait live_wait(struct shim *s, cw_time *until)
{
    const struct live *l = live_of(s);
    if (l->full.until.ns != 0) {
        *until = l->full.until;
        return SHIM_WAIT_TIME;
    }
    return SHIM_WAIT_WRITABLE;
}

static int live_data_fd(const struct shim *s)
{
    return pcap_get_selectable_fd(live_of_const(s)->pcap[FRAME_DATA]);
}

static int live_urgent_fd(const struct shim *s)
{
    return pcap_get_selectable_fd(live_of_const(s)->pcap[FRAME_CONTROL]);
}

static int live_event_fd(const struct shim *s)
{
    return carrier_fd(&live_of_const(s)->port.carrier);
}

/* Only the lane's EtherType, sent to us or to all, by others. */
static int filter(struct live *l, enum frame_lane lane)
{
    char text[128];
    const uint8_t *mac = l->port.carrier.mac;
    struct bpf_program program;
    snprintf(text, sizeof text, "ether proto 0x%04x and (ether dst %02x:%02x:%02x:%02x:%02x:%02x or ether[0] & 1 == 1)",
             l->port.ethertype[lane], mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    if (pcap_compile(l->pcap[lane], &program, text, 1, PCAP_NETMASK_UNKNOWN) < 0) {
        return -EINVAL;
    }
    int rc = pcap_setfilter(l->pcap[lane], &program);
    pcap_freecode(&program);
    return rc < 0 || pcap_setdirection(l->pcap[lane], PCAP_D_IN) < 0 ? -EINVAL : 0;
}

/* Is the interface ours alone? */
static int claim(const struct live *l)
{
    const int fds[LANES] = {pcap_fileno(l->pcap[FRAME_DATA]), pcap_fileno(l->pcap[FRAME_CONTROL])};
    return port_claim(&l->port, fds, LANES);
}

static int bind_again(struct live *l)
{
    int rc = 0;
    for (unsigned lane = 0; rc == 0 && lane < LANES; lane++) {
        rc = port_bind(&l->port, pcap_fileno(l->pcap[lane]), (enum frame_lane)lane);
        rc = rc < 0 ? rc : filter(l, (enum frame_lane)lane);
    }
    return rc < 0 ? rc : claim(l);
}

/*
 * libpcap cannot open a capture again under the descriptor that the pump watches; but beneath it is a packet socket,
 * which binds to another device and keeps its ring. The filter names our address, which may be another one now.
 */
static void live_service_events(struct shim *s)
{
    struct live *l = live_of(s);
    if (port_service(&l->port) && bind_again(l) < 0) {
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
    uint64_t dropped = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        struct pcap_stat statistics;
        dropped += pcap_stats(l->pcap[lane], &statistics) == 0 ? statistics.ps_drop : 0;
    }
    l->counters.rx_dropped = dropped;
    *out = l->counters;
    out->tx_refused_row = l->full.row;
}

static int live_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    const struct live *l = live_of_const(s);
    const uint8_t *start = port_frame(&l->port, bytes, length);
    return send(l->queue.fd, start, length + PORT_HEADER, MSG_DONTWAIT) < 0 ? -errno : 0;
}

static void live_close(struct shim *s)
{
    struct live *l = live_of(s);
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (l->pcap[lane] != NULL) {
            pcap_close(l->pcap[lane]);
        }
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
    .urgent_fd = live_urgent_fd,
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

static int start_lane(struct live *l, enum frame_lane lane, int ring_bytes)
{
    char text[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = l->pcap[lane] = pcap_create(l->port.carrier.name, text);
    if (pcap == NULL) {
        return -ENOMEM;
    }
    pcap_set_immediate_mode(pcap, 1);
    pcap_set_snaplen(pcap, (int)(l->port.mtu + PORT_HEADER + 1)); /* one more: what is too long is seen to be */
    pcap_set_buffer_size(pcap, ring_bytes);
#ifdef __linux__
    pcap_set_protocol_linux(pcap, l->port.ethertype[lane]); /* the kernel shows us nothing else */
#endif
    int status = pcap_activate(pcap); /* above 0: a warning */
    if (status < 0) {
        return error_of(status);
    }
    return pcap_setnonblock(pcap, 1, text) < 0 ? -EIO : filter(l, lane);
}

static int start(struct live *l)
{
    int rc = start_lane(l, FRAME_DATA, RING_BYTES);
    rc = rc < 0 ? rc : start_lane(l, FRAME_CONTROL, CONTROL_RING_BYTES);
    rc = rc < 0 ? rc : claim(l);
    return rc < 0 ? rc
                  : outq_open(&l->queue, pcap_fileno(l->pcap[FRAME_DATA]), l->port.mtu + PORT_HEADER,
                              l->port.bits_per_second);
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
