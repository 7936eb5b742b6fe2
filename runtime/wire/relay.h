/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.h - the judge: may this frame be passed on from link to link without the daemon, and to which link?
 *
 * One function, relay_judge(), is compiled into the program in the kernel (shim/relay.bpf.c), into the tests and into
 * the simulator: what is tested is what runs. It calls nothing outside of this file, loops six times at most, and
 * reads what the node has published (relay_state.h). A frame that does not qualify goes up to the node, and all is as
 * if there were no relay.
 *
 * The relay never delivers. It passes on a frame of one plain data packet between two links that are up, or hands the
 * frame up; whether a packet is for this server is decided by the node alone, so that the relay cannot misdeliver.
 * docs/relay.md has the table of reasons, and the argument why a verdict that is late does no harm.
 */
#ifndef WIRE_RELAY_H
#define WIRE_RELAY_H

#include "wire/frame.h"
#include "wire/mutant.h"
#include "wire/packet.h"
#include "wire/position.h"
#include "wire/relay_state.h"

/* Why a frame went up. The tests are made in this order, and the first that fails is the reason. */
enum relay_reason {
    RELAY_PASSED = 0, /* it did not go up: it was changed, and is to leave by verdict.out */
    RELAY_SHORT,      /* not all of RELAY_HEADS_BYTES are there */
    RELAY_OTHER,      /* another EtherType; the caller says so too when a VLAN tag lies beside the bytes */
    RELAY_SHAPE,      /* another version, tagged, more than one packet, or flags that a node refuses */
    RELAY_KIND,       /* not kind key or server, PATH, TRACE or WAYPOINTS, a bad length, a source outside the torus */
    RELAY_HOPS,       /* the hop limit is 0, or hop limit and hops are more than 255 together */
    RELAY_LEASE,      /* this server's lease is over */
    RELAY_LINK,       /* the link is not up, or is captured */
    RELAY_SESSION,    /* the frame is of another adjacency */
    RELAY_GATE,       /* control that was sent before the frame has not been applied yet (semantics 4.4) */
    RELAY_JOB,        /* the job's service wants to see its transit, or the job is not known here */
    RELAY_HERE,       /* the target is this server, or cannot be reached; a key's home is not in C */
    RELAY_ROUTE,      /* no link that leads there is a way out for a frame of this size */
    RELAY_FULL,       /* the ways out are not free: something waits for them */
    RELAY_TORN,       /* the node has published another generation meanwhile */
    RELAY_REASONS,
};

/* What the judge has to say. All but the reason is set with RELAY_PASSED only. */
struct relay_verdict {
    uint32_t reason;  /* enum relay_reason */
    uint32_t out;     /* the link that the frame is to leave by, */
    uint32_t ifindex; /* and its interface */
    uint32_t place;   /* of the packet's job, for the counts: 0..RELAY_PLACES - 1 */
};

/* Where things are in a frame, from the first byte of its Ethernet header on. */
enum relay_at {
    RELAY_AT_ETHERTYPE = 12,
    RELAY_AT_FRAME = 14,
    RELAY_AT_PACKET = RELAY_AT_FRAME + FRAME_HEAD_BYTES,
    RELAY_HEADS_BYTES = RELAY_AT_PACKET + PACKET_HEAD_BYTES, /* the judge reads and writes no byte behind them */
    RELAY_OVERHEAD = 24, /* bytes that a frame costs on the medium beyond these: check 4, preamble 8, gap 12 */
};

#ifdef __bpf__
/* The kernel lets a program read words of a packet where the processor reads them at any address. */
#define RELAY_NUMBER(bits, p) (*(const uint##bits##_t *)(const void *)(p))
#define RELAY_STORE(bits, p, value) (*(uint##bits##_t *)(void *)(p) = (value))
#else
#define RELAY_NUMBER(bits, p)                         \
    ({                                                \
        uint##bits##_t relay_number;                  \
        __builtin_memcpy(&relay_number, p, bits / 8); \
        relay_number;                                 \
    })
#define RELAY_STORE(bits, p, value)                   \
    ({                                                \
        uint##bits##_t relay_number = (value);        \
        __builtin_memcpy(p, &relay_number, bits / 8); \
    })
#endif

/* A number in network order, and back. */
RELAY_INLINE uint32_t relay_be32(const uint8_t *p)
{
    uint32_t number = RELAY_NUMBER(32, p);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(number) : number;
}

RELAY_INLINE uint16_t relay_be16(const uint8_t *p)
{
    uint16_t number = RELAY_NUMBER(16, p);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(number) : number;
}

RELAY_INLINE void relay_put16(uint8_t *p, uint16_t number)
{
    RELAY_STORE(16, p, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(number) : number);
}

/* A frame of one packet, of our version, with no flag but RELAYED; and such a frame has no sequence. */
RELAY_INLINE bool relay_shape_fits(const uint8_t *head)
{
    uint32_t flags = head[FRAME_AT_VERSION] & 0xfu;
    uint32_t known = FRAME_RELAYED | (RELAY_MUTANT(TAGGED) ? FRAME_TAGGED : 0);
    return head[FRAME_AT_VERSION] >> 4 == WIRE_VERSION_NOW && (flags & ~known) == 0 &&
           ((flags & FRAME_RELAYED) == 0 || relay_be16(head + FRAME_AT_SEQUENCE) == 0) &&
           (head[FRAME_AT_PACKETS] == 1 || (RELAY_MUTANT(FIRST_OF_TWO) && head[FRAME_AT_PACKETS] > 1));
}

/* Is it the coordinate of a server of this torus? */
RELAY_INLINE bool relay_in_torus(const struct relay_view *view, const uint8_t *coord)
{
    return (coord[0] < RELAY_READ(view->dims[0]) && coord[1] < RELAY_READ(view->dims[1]) &&
            coord[2] < RELAY_READ(view->dims[2])) ||
           RELAY_MUTANT(NO_TORUS);
}

/* A packet that is routed, that no server on the way must write into, and that lies inside of the `room` bytes. */
RELAY_INLINE bool relay_kind_fits(const struct relay_view *view, const uint8_t *packet, uint32_t room)
{
    uint32_t kind = packet[PACKET_AT_KIND], length = relay_be16(packet + PACKET_AT_LENGTH);
    return (kind == (WIRE_VERSION_NOW << 4 | PACKET_KEY) || kind == (WIRE_VERSION_NOW << 4 | PACKET_SERVER)) &&
           ((packet[PACKET_AT_FLAGS] & PACKET_FLAGS_HOP) == 0 || RELAY_MUTANT(TRACE)) && length >= PACKET_HEAD_BYTES &&
           length <= room && relay_in_torus(view, packet + PACKET_AT_SOURCE);
}

/* The place of a job that is relayed; else RELAY_UP. */
RELAY_INLINE uint32_t relay_place_of(const struct relay_state *state, uint32_t job)
{
    uint64_t at = relay_job_at(job);
    for (uint32_t i = 0; i < RELAY_JOB_TRIES; i++, at++) {
        uint64_t entry = RELAY_READ(state->job[relay_bound(at, RELAY_JOBS - 1)]);
        if (entry >> 32 == job && job != 0) {
            return (uint32_t)entry == RELAY_UP && RELAY_MUTANT(ON_PATH) ? RELAY_OTHERS : (uint32_t)entry;
        }
    }
    bool up = (job < RELAY_JOBS_FREE && !RELAY_MUTANT(UNKNOWN)) || RELAY_READ(state->others_up) != 0;
    return up ? RELAY_UP : RELAY_OTHERS;
}

/* The links that lead to the packet's target; none: it is here, nowhere, or for the node to say. */
RELAY_INLINE uint32_t relay_ways(const struct relay_view *view, const uint8_t *packet)
{
    const uint8_t *to = packet + PACKET_AT_DESTINATION;
    bool key = (packet[PACKET_AT_KIND] & 0xf) == PACKET_KEY;
    uint64_t server;
    if (key) { /* the home: the upper 64 bits of key * servers, of which there are less than 2^24 */
        uint64_t servers = RELAY_READ(view->servers);
        server = (relay_be32(to) * servers + (relay_be32(to + 4) * servers >> 32)) >> 32;
    } else {
        if (!relay_in_torus(view, to)) {
            return 0;
        }
        server = (to[0] * RELAY_READ(view->dims[1]) + to[1]) * RELAY_READ(view->dims[2]) + to[2];
    }
    if (server >= RELAY_SERVERS) {
        return 0;
    }
    uint32_t way = RELAY_READ(view->way[relay_bound(server, RELAY_SERVERS - 1)]);
    bool follows = !key || (way & RELAY_WAY_HOME) != 0 || RELAY_MUTANT(HOME_OUTSIDE);
    return follows ? way & RELAY_WAY_LINKS : 0;
}

/* ns until the instant; 0 when it has passed. */
RELAY_INLINE uint64_t relay_ahead(uint64_t until, uint64_t now)
{
    return until > now ? until - now : 0;
}

/* 1: a frame may go to the link at once. 0: something waits for it in user space, or too much in its device. */
RELAY_APART uint32_t relay_is_free(const struct relay_state *state, uint32_t link, uint64_t now)
{
    if (!RELAY_IS_THERE(state)) {
        return false;
    }
    const struct relay_queue *queue = &state->queue[relay_bound(link, RELAY_LINKS - 1)];
    bool waits = (RELAY_READ(state->waits) >> link & 1) != 0 && !RELAY_MUTANT(NO_WAITS);
    if (waits || (RELAY_READ(queue->handed) != RELAY_READ(queue->taken) && !RELAY_MUTANT(NO_HANDED))) {
        return false;
    }
    if (RELAY_READ(queue->ns_per_kib) == 0 || RELAY_MUTANT(NO_SLACK)) {
        return true;
    }
    uint64_t sent = relay_ahead(RELAY_READ(queue->sent_until), now);
    uint64_t relayed = relay_ahead(RELAY_READ(queue->relayed_until), now);
    return sent <= UINT64_MAX - relayed && sent + relayed <= RELAY_READ(queue->slack);
}

/*
 * Picks one of the links that is free and carries a frame of `size` bytes (without its Ethernet header): the first from
 * a place on that packets between the same two ends share, so that a flow keeps its way. RELAY_PASSED and *out; or the
 * reason why there is none. With RELAY_FULL, *out is the link that the frame would have taken.
 */
RELAY_INLINE uint32_t relay_pick(const struct relay_state *state, const struct relay_view *view, const uint8_t *packet,
                                 uint32_t links, uint32_t size, uint64_t now, uint32_t *out)
{
    uint32_t flow = (relay_be32(packet + PACKET_AT_SOURCE) >> 8) ^ relay_be32(packet + PACKET_AT_JOB) ^
                    relay_be32(packet + PACKET_AT_DESTINATION) ^ relay_be32(packet + PACKET_AT_DESTINATION + 4);
    uint32_t at = (flow * 0x9e3779b1u >> 16) * CW_LINK_COUNT >> 16;
    uint32_t reason = RELAY_ROUTE;
    for (uint32_t i = 0; i < CW_LINK_COUNT; i++, at = at == CW_LINK_COUNT - 1 ? 0 : at + 1) {
        const struct relay_link *link = &view->link[relay_bound(at, RELAY_LINKS - 1)];
        if ((links >> at & 1) == 0 || (size > RELAY_READ(link->mtu) && !RELAY_MUTANT(NO_MTU))) {
            continue;
        }
        if (relay_is_free(state, at, now) != 0) {
            *out = at;
            return RELAY_PASSED;
        }
        if (reason == RELAY_ROUTE) {
            *out = at;
            reason = RELAY_FULL;
        }
    }
    return reason;
}

/* The frame takes its time on the medium, behind those that were relayed before. */
RELAY_INLINE void relay_charge(struct relay_queue *queue, uint32_t bytes, uint64_t now)
{
    uint64_t rate = RELAY_READ(queue->ns_per_kib);
    if (rate != 0) {
        uint64_t until = RELAY_READ(queue->relayed_until);
        if (until < now) {
            relay_swap(&queue->relayed_until, until, now);
        }
        relay_add(&queue->relayed_until, (bytes + RELAY_OVERHEAD) * rate >> 10);
    }
}

/* What the frame's own bytes say against it; RELAY_PASSED: nothing. */
RELAY_INLINE uint32_t relay_judge_bytes(const struct relay_view *view, const uint8_t *frame, uint32_t bytes)
{
    const uint8_t *packet = frame + RELAY_AT_PACKET;
    if (!relay_shape_fits(frame + RELAY_AT_FRAME)) {
        return RELAY_SHAPE;
    }
    if (!relay_kind_fits(view, packet, bytes - RELAY_AT_PACKET)) {
        return RELAY_KIND;
    }
    if (packet[PACKET_AT_HOP_LIMIT] == 0 || packet[PACKET_AT_HOP_LIMIT] + packet[PACKET_AT_HOPS] > HOP_LIMIT_MAX) {
        return RELAY_HOPS;
    }
    return RELAY_PASSED;
}

/* What the link that it came by says against it. */
RELAY_INLINE uint32_t relay_judge_link(const struct relay_view *view, const uint8_t *frame, uint32_t in, uint32_t open)
{
    const struct relay_link *link = &view->link[relay_bound(in, RELAY_LINKS - 1)];
    const uint8_t *head = frame + RELAY_AT_FRAME;
    if (((open & RELAY_READ(view->in)) >> in & 1) == 0) {
        return RELAY_LINK;
    }
    if (relay_be16(head + FRAME_AT_SESSION) != RELAY_READ(link->peer) && !RELAY_MUTANT(NO_SESSION)) {
        return RELAY_SESSION;
    }
    uint16_t position = relay_be16(head + FRAME_AT_POSITION);
    if (position16_before(RELAY_READ(link->received), position) && !RELAY_MUTANT(NO_GATE)) {
        return RELAY_GATE;
    }
    return RELAY_PASSED;
}

/* Writes the frame's new heads. `from` is a copy of what was published of the link that it leaves by. */
RELAY_INLINE void relay_rewrite(uint8_t *frame, const struct relay_link *from)
{
    uint8_t *head = frame + RELAY_AT_FRAME, *packet = frame + RELAY_AT_PACKET;
    for (uint32_t i = 0; i < 3; i++) {
        RELAY_STORE(32, frame + 4 * i, from->mac[i]);
    }
    head[FRAME_AT_VERSION] |= FRAME_RELAYED;
    relay_put16(head + FRAME_AT_SESSION, from->session);
    relay_put16(head + FRAME_AT_SEQUENCE, 0);
    relay_put16(head + FRAME_AT_POSITION, from->top);
    if (!RELAY_MUTANT(NO_HOP)) {
        packet[PACKET_AT_HOP_LIMIT]--;
        packet[PACKET_AT_HOPS]++;
    }
}

RELAY_INLINE void relay_copy_link(struct relay_link *to, const struct relay_link *link)
{
    to->ifindex = RELAY_READ(link->ifindex);
    to->session = RELAY_READ(link->session);
    to->top = RELAY_READ(link->top);
    for (uint32_t i = 0; i < 3; i++) {
        to->mac[i] = RELAY_READ(link->mac[i]);
    }
}

/* relay_judge() for a frame whose heads are there. Gives the reason. */
RELAY_INLINE uint32_t relay_judge_whole(struct relay_state *state, uint8_t *frame, uint32_t bytes, uint32_t in,
                                        uint64_t now, struct relay_verdict *verdict)
{
    /* In this order: whoever sees that a link has come sees its generation, too. */
    uint32_t live = relay_acquire(&state->live), gen = relay_acquire(&state->gen);
    uint32_t open = live & ~(RELAY_MUTANT(NO_TAP) ? 0 : RELAY_READ(state->tapped));
    const struct relay_view *view = &state->view[gen & 1];
    const uint8_t *packet = frame + RELAY_AT_PACKET;
    uint32_t reason = relay_judge_bytes(view, frame, bytes);
    if (reason != RELAY_PASSED) {
        return reason;
    }
    if (now >= RELAY_READ(state->lease) && !RELAY_MUTANT(NO_LEASE)) {
        return RELAY_LEASE;
    }
    reason = relay_judge_link(view, frame, in, open);
    if (reason != RELAY_PASSED) {
        return reason;
    }
    verdict->place = relay_place_of(state, relay_be32(packet + PACKET_AT_JOB));
    if (verdict->place == RELAY_UP) {
        return RELAY_JOB;
    }
    uint32_t links = relay_ways(view, packet), others = links & ~(1u << in), out = 0;
    if (links == 0) {
        return RELAY_HERE;
    }
    links = (others != 0 && !RELAY_MUTANT(BACK) ? others : links) & open & RELAY_READ(view->out);
    reason = relay_pick(state, view, packet, links, bytes - RELAY_AT_FRAME, now, &out);
    struct relay_queue *queue = &state->queue[relay_bound(out, RELAY_LINKS - 1)];
    if (reason != RELAY_PASSED) {
        if (reason == RELAY_FULL) { /* from now on all that could take that link goes up, behind this frame */
            relay_add(&queue->handed, 1);
        }
        return reason;
    }
    struct relay_link from;
    relay_copy_link(&from, &view->link[relay_bound(out, RELAY_LINKS - 1)]);
    if (!RELAY_MUTANT(ONE_READ) && relay_again(&state->gen) != gen) {
        return RELAY_TORN;
    }
    relay_charge(queue, bytes, now);
    relay_rewrite(frame, &from);
    verdict->out = out;
    verdict->ifindex = from.ifindex;
    return RELAY_PASSED;
}

/*
 * Judges a frame that came in by link `in` (0..5). frame..end are the bytes that can be read, from the Ethernet header
 * on; `bytes` is the length of the whole frame, of which the end may lie elsewhere. `now` is the instant in ns of
 * CLOCK_BOOTTIME. With RELAY_PASSED the heads have been changed to those that leave by verdict->out, and the frame's
 * time on the medium has been charged; with any other reason no byte of the frame was written. In the state, only
 * `handed` and `relayed_until` are written. Any number of processors may judge at a time, while the node publishes.
 */
RELAY_INLINE void relay_judge(struct relay_state *state, uint8_t *frame, const uint8_t *end, uint32_t bytes,
                              uint32_t in, uint64_t now, struct relay_verdict *verdict)
{
    *verdict = (struct relay_verdict){.reason = RELAY_SHORT};
    if (frame + RELAY_HEADS_BYTES > end) {
        return;
    }
    if (relay_be16(frame + RELAY_AT_ETHERTYPE) != RELAY_READ(state->ethertype)) {
        verdict->reason = RELAY_OTHER;
        return;
    }
    verdict->reason = relay_judge_whole(state, frame, bytes, in, now, verdict);
}

/* The reason in one word, for people and for metrics: "passed", "gate", ..; static. */
const char *relay_reason_name(enum relay_reason reason);

#endif
