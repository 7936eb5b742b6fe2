/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - the state of one network on one server, for the files that work on it: tunnel.c opens and closes it,
 * leave.c has what leaves this server, come.c what comes to it, and answer.c what operators ask.
 */
#ifndef SERVICES_TUNNEL_INTERNAL_H
#define SERVICES_TUNNEL_INTERNAL_H

#include "services/tunnel/flows.h"
#include "services/tunnel/gateways.h"
#include "services/tunnel/icmp.h"
#include "services/tunnel/join.h"
#include "services/tunnel/longer.h"
#include "services/tunnel/many.h"
#include "services/tunnel/neighbour.h"
#include "services/tunnel/packet/cause.h"
#include "services/tunnel/strands.h"
#include "services/tunnel/tunnel.h"

/* Strands are joined apart, a few of them by one buffer. */
enum { TUNNEL_JOINS = 8 };

enum tunnel_count {
    COUNT_READ,
    COUNT_READ_BYTES,
    COUNT_WRITTEN,
    COUNT_WRITTEN_BYTES,
    COUNT_PIECES_SENT,
    COUNT_LONGER,
    COUNT_PIECES_CAME,
    COUNT_JOINED,
    COUNT_MARKED,
    COUNT_DEAF,
    COUNT_TOLD,
    COUNT_FULL,
    COUNT_CODEL,
    COUNT_DOOR,
    COUNT_MANY_SENT,
    COUNT_MANY_CAME,
    COUNT_MANY_OVER,
    TUNNEL_COUNTS,
};

/* What operators are shown of a flow: of the connection that used its queue last. */
struct leave_flow {
    uint64_t hash;
    struct ip_address from, to;
    uint16_t ports[2]; /* 0 where there are none */
    uint8_t protocol;
    cw_server server;
    uint64_t packets, bytes;
    cw_time last;
};

struct tunnel {
    cw_svc *s;
    struct address_plan plan;
    cw_server self, servers;
    uint32_t mtu;
    /* Bytes of a piece at most, as an IP packet: what one frame takes, way-points included. */
    uint32_t room;
    /* Longer paths, where they are asked for, and the ports whose connections may take them: without ranges all. */
    bool spread;
    struct longer *longer;
    struct numbers longer_ports;
    uint64_t longer_sent;
    /* Of this start: see head.h. */
    uint16_t life;
    /* The name of the door's device, for operators. */
    const char *device;
    cw_counter *count[TUNNEL_COUNTS], *drop[TUNNEL_CAUSES];
    /* What the counters of `drop` say. */
    uint64_t dropped[TUNNEL_CAUSES];
    cw_histogram *lateness;
    struct icmp_rate rate;
    struct many many;
    /* A server with other subnets was told of, and when. */
    bool unlike;
    cw_time unlike_at;
    /* All below is there while there is a door. */
    bool attached;
    struct tunnel_door door;
    struct flows flows;
    struct gateways gateways;
    struct neighbours *neighbours; /* NULL: the device is no Ethernet's */
    struct icmp_rate asks;         /* of machines' MAC addresses */
    struct strands strands;
    struct join *join; /* TUNNEL_JOINS of them */
    /* By server, of its strands: marks on packets that cannot be marked (come.c). NULL: none came yet. */
    struct codel (**deaf)[TUNNEL_STRANDS];
    bool flush_asked;
    struct leave_flow *seen; /* FLOWS of them, by the flow's queue; packets 0: none */
    /* Of the next piece, by server and strand. */
    uint32_t (*number)[TUNNEL_STRANDS];
    /* By server: when it left the view last, or when the door was opened. */
    cw_time *gone;
    /* For strands_tick(); NULL: nothing waits. */
    cw_timer *timer;
    cw_time timer_at;
};

/* Counts a packet that is dropped. */
void tunnel_drop(struct tunnel *t, enum tunnel_cause cause);
/* Gives a packet, which ip_read() gave, to the door. */
void tunnel_write(struct tunnel *t, const struct ip_packet *p, const struct offload *offload);

/*
 * Of Ethernet: what was read is a frame. True: it has an IP packet behind ETHER_HEAD bytes, of which alone the head
 * speaks then. Otherwise it was answered, counted, or nobody's affair.
 */
bool tunnel_unwrap(struct tunnel *t, uint8_t head[static TUNNEL_VNET_BYTES], const uint8_t *frame, size_t length);

/*
 * leave.c: how long packets may wait in a queue, here and on the way, before TCP hears of it: a millisecond, or the
 * time of a few frames on the slowest link whose rate is known.
 */
cw_span leave_target(const struct tunnel *t);
/* By what law queues signal: that target, and for how long it may be exceeded. */
struct codel_limits leave_codel(const struct tunnel *t);
/* Opened by -ENOMEM or 0. */
CW_MUST_CHECK int leave_open(struct tunnel *t);
void leave_close(struct tunnel *t);
void leave_read(struct tunnel *t, const uint8_t *head, uint8_t *packet, size_t length);
cw_packet *leave_next(struct tunnel *t, enum flow_way kind, cw_link link);
bool leave_peek(struct tunnel *t, enum flow_way kind, cw_link link, cw_peek *out);
/* Links or servers have come or gone. */
void leave_event(struct tunnel *t, const cw_event *ev);

/* answer.c: the commands, for the service's table; and does one of them, as on_command() of a service. */
extern const cw_command answer_commands[];
int answer_command(struct tunnel *t, cw_request *r, int argc, const char *const *argv);

/* come.c: as leave.c. */
CW_MUST_CHECK int come_open(struct tunnel *t);
void come_close(struct tunnel *t);
cw_verdict come_packet(struct tunnel *t, cw_packet *p, const cw_rx *rx);
void come_flush(struct tunnel *t);
void come_event(struct tunnel *t, const cw_event *ev);

#endif
