/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/replay.h"

#include "base/bytes.h"
#include "base/container.h"
#include "shim/clock.h"
#include "shim/port.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct replay {
    struct shim shim;
    pcap_t *pcap;
    FILE *file; /* pcap's, once that is open */
    int timer;  /* readable when the next frame is due, and at the end: data_fd and event_fd */
    uint16_t ethertype[LANES];
    uint8_t from[6];
    bool timed, from_all;
    cw_span shift; /* from times of the file to those of the clock */
    bool shifted;
    /* The next frame, in libpcap's memory; NULL: the file has ended. */
    const uint8_t *bytes;
    uint32_t length;
    cw_time due;
    uint32_t mtu;
    struct shim_counters counters;
    char name[SHIM_NAME_BYTES];
};

static struct replay *replay_of(struct shim *s)
{
    return container_of(s, struct replay, shim);
}

static const struct replay *replay_of_const(const struct shim *s)
{
    return container_of_const(s, struct replay, shim);
}

static bool is_ours(const struct replay *r, const struct pcap_pkthdr *head, const uint8_t *bytes)
{
    if (head->caplen != head->len || head->len <= PORT_HEADER) {
        return false;
    }
    uint16_t type = get_be16(bytes + 12);
    return (type == r->ethertype[FRAME_DATA] || type == r->ethertype[FRAME_CONTROL]) &&
           (r->from_all || memcmp(bytes + 6, r->from, sizeof r->from) == 0);
}

/* The time in the file, in nanoseconds: opened so that tv_usec holds them. */
static cw_time time_of(const struct pcap_pkthdr *head)
{
    return (cw_time){(int64_t)head->ts.tv_sec * 1000000000 + head->ts.tv_usec};
}

static void arm(const struct replay *r)
{
    int64_t ns = r->bytes == NULL || !r->timed ? 1 : r->due.ns < 1 ? 1 : r->due.ns;
    struct itimerspec when = {.it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};
    (void)timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Reads up to the next frame that is ours. */
static void advance(struct replay *r)
{
    struct pcap_pkthdr *head;
    const u_char *bytes;
    r->bytes = NULL;
    while (pcap_next_ex(r->pcap, &head, &bytes) == 1) {
        if (!is_ours(r, head, bytes)) {
            r->counters.rx_strange++;
            continue;
        }
        cw_time at = time_of(head);
        if (!r->shifted) {
            r->shift = cw_time_since(clock_now(), at);
            r->shifted = true;
        }
        r->bytes = bytes + PORT_HEADER;
        r->length = head->len - PORT_HEADER;
        r->due = cw_time_add(at, r->shift);
        break;
    }
    arm(r);
}

static bool replay_carrier(const struct shim *s)
{
    return replay_of_const(s)->bytes != NULL;
}

static int replay_send(struct shim *s, const struct shim_frame *frames, unsigned count)
{
    struct replay *r = replay_of(s);
    if (!replay_carrier(s)) {
        return -ENETDOWN;
    }
    unsigned taken = 0;
    while (taken < count && 1 <= frames[taken].length && frames[taken].length <= r->mtu) {
        r->counters.tx_bytes += frames[taken++].length;
    }
    r->counters.tx_frames += taken;
    return taken == 0 ? -EMSGSIZE : (int)taken;
}

static int replay_receive(struct shim *s, struct shim_frame *frames, unsigned count)
{
    struct replay *r = replay_of(s);
    unsigned given = 0;
    while (given < count && r->bytes != NULL && (!r->timed || cw_time_due(r->due, clock_now()))) {
        struct shim_frame *frame = &frames[given];
        if (r->length > frame->room) {
            r->counters.rx_strange++;
        } else {
            memcpy(frame->bytes, r->bytes, r->length);
            frame->length = r->length;
            r->counters.rx_bytes += r->length;
            given++;
        }
        advance(r);
    }
    r->counters.rx_frames += given;
    return (int)given;
}

static unsigned replay_room(struct shim *s)
{
    return replay_carrier(s) ? SHIM_BATCH : 0;
}

static int replay_fd(const struct shim *s)
{
    return replay_of_const(s)->timer;
}

/* The end is said once. */
static void replay_service_events(struct shim *s)
{
    const struct replay *r = replay_of(s);
    uint64_t ticks;
    if (r->bytes == NULL) {
        (void)!read(r->timer, &ticks, sizeof ticks);
    }
}

static enum shim_wait replay_wait(struct shim *s, cw_time *until)
{
    (void)s;
    *until = CW_NEVER;
    return SHIM_WAIT_TIME;
}

static void replay_info(const struct shim *s, struct shim_info *out)
{
    const struct replay *r = replay_of_const(s);
    *out = (struct shim_info){.kind = "replay", .mtu = r->mtu, .overhead = PORT_OVERHEAD};
    memcpy(out->name, r->name, sizeof out->name);
    snprintf(out->state, sizeof out->state, "%s", replay_carrier(s) ? "up" : "the capture has ended");
}

static void replay_counters(struct shim *s, struct shim_counters *out)
{
    *out = replay_of(s)->counters;
}

static int replay_last_words(const struct shim *s, uint8_t *bytes, uint32_t length)
{
    (void)s;
    (void)bytes;
    (void)length;
    return -EOPNOTSUPP;
}

static void replay_close(struct shim *s)
{
    struct replay *r = replay_of(s);
    if (r->pcap != NULL) {
        pcap_close(r->pcap); /* and the file */
    } else if (r->file != NULL) {
        (void)fclose(r->file);
    }
    if (r->timer >= 0) {
        close(r->timer);
    }
    free(r);
}

static const struct shim_ops replay_ops = {
    .send = replay_send,
    .receive = replay_receive,
    .room = replay_room,
    .carrier = replay_carrier,
    .data_fd = replay_fd,
    .event_fd = replay_fd,
    .service_events = replay_service_events,
    .wait = replay_wait,
    .info = replay_info,
    .counters = replay_counters,
    .last_words = replay_last_words,
    .close = replay_close,
};

static int start(struct replay *r, const struct replay_options *o)
{
    char text[PCAP_ERRBUF_SIZE];
    r->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (r->timer < 0) {
        return -errno;
    }
    r->file = fopen(o->file, "re");
    if (r->file == NULL) {
        return -errno;
    }
    r->pcap = pcap_fopen_offline_with_tstamp_precision(r->file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (r->pcap == NULL || pcap_datalink(r->pcap) != DLT_EN10MB) {
        return -EPROTO;
    }
    int longest = pcap_snapshot(r->pcap);
    r->mtu = longest <= PORT_HEADER || longest > UINT16_MAX ? UINT16_MAX : (uint32_t)longest - PORT_HEADER;
    advance(r);
    return 0;
}

int replay_open(struct shim **out, const struct replay_options *options, char why[static SHIM_WHY_BYTES])
{
    static const uint8_t none[6];
    struct replay *r = calloc(1, sizeof *r);
    if (r == NULL) {
        snprintf(why, SHIM_WHY_BYTES, "%.200s: out of memory", options->file);
        return -ENOMEM;
    }
    *r = (struct replay){.shim.ops = &replay_ops, .timer = -1, .timed = options->timed};
    uint16_t data = options->ethertype != 0 ? options->ethertype : PORT_ETHERTYPE;
    r->ethertype[FRAME_DATA] = data;
    r->ethertype[FRAME_CONTROL] = options->ethertype_control != 0 ? options->ethertype_control : (uint16_t)(data + 1);
    r->from_all = memcmp(options->from, none, sizeof none) == 0;
    memcpy(r->from, options->from, sizeof r->from);
    snprintf(r->name, sizeof r->name, "%s", options->file);
    int rc = start(r, options);
    if (rc < 0) {
        snprintf(why, SHIM_WHY_BYTES, "%.200s: %s", options->file,
                 rc == -EPROTO ? "not a capture of Ethernet frames" : strerror(-rc));
        replay_close(&r->shim);
        return rc;
    }
    *out = &r->shim;
    return 0;
}
