/* SPDX-License-Identifier: Apache-2.0 */
/* leave.c - what programs on this server send: judged, kept in the queue of its flow, cut when a link has room. */
#include "services/tunnel/internal.h"

#include "services/tunnel/cut.h"
#include "services/tunnel/head.h"
#include "services/tunnel/judge.h"

#include "base/bytes.h"
#include "base/container.h"
#include "base/digest.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes that wait; and what TCP cannot do without when it speaks with every server: two segments each, and one more. */
enum { QUEUED_USUAL = 4 * 1024 * 1024, QUEUED_MOST = 64 * 1024 * 1024, FRAMES_A_SERVER = 3 };
enum { FRAMES_OF_TARGET = 4, INTERVAL_OF_TARGETS = 20 };
/* What the shortest paths of a flow take at once, and longer ones are not to have: its links at their least. */
enum { FRAMES_FOR_SHORTEST = 2 };
/* What a packet's structure and a small block of memory cost beside its bytes. */
enum { OVERHEAD = 512 };

/* A packet that waits whole, and how far it is cut. */
struct waiting {
    struct flow_packet flow;
    struct cut cut;
    cw_server to;
    uint8_t strand;
    bool longer; /* it may take longer paths */
    uint8_t bytes[];
};

/* ---- The queue --------------------------------------------------------------------------------------------------- */

static bool mark(void *context, struct flow_packet *p)
{
    struct waiting *w = container_of(p, struct waiting, flow);
    (void)context;
    if (ip_ecn(w->bytes) == ECN_NOT) {
        return false;
    }
    ip_mark(w->bytes);
    return true;
}

static void dropped(void *context, struct flow_packet *p, enum flow_drop why)
{
    struct tunnel *t = context;
    if (why == FLOW_NO_WAY) {
        tunnel_drop(t, TUNNEL_UNREACHABLE);
    } else if (why != FLOW_CLOSED) {
        cw_counter_add(t->count[why == FLOW_FULL ? COUNT_FULL : COUNT_CODEL], 1);
    }
    free(container_of(p, struct waiting, flow));
}

static cw_links links_to(const struct tunnel *t, cw_server to)
{
    return cw_links_to(t->s, cw_server_coord(t->s, to));
}

static void set_links(void *context, struct flow_packet *p)
{
    struct tunnel *t = context;
    struct waiting *w = container_of(p, struct waiting, flow);
    p->links[FLOW_SHORTEST] = links_to(t, w->to);
    p->links[FLOW_LONGER] = w->longer ? longer_links(t->longer, t->s, w->to) : CW_LINKS_NONE;
}

cw_span leave_target(const struct tunnel *t)
{
    int64_t target = CW_MS(1).ns;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link_info info = {.size = sizeof info};
        if (cw_link_get(t->s, link, &info) == 0 && info.bits_per_second != 0) {
            uint64_t bits = FRAMES_OF_TARGET * 8 * (uint64_t)cw_mtu(t->s);
            int64_t frames = (int64_t)(bits * (uint64_t)CW_NS_PER_SEC / info.bits_per_second);
            target = frames > target ? frames : target;
        }
    }
    return CW_NS(target);
}

struct codel_limits leave_codel(const struct tunnel *t)
{
    cw_span target = leave_target(t);
    return (struct codel_limits){target, CW_NS(INTERVAL_OF_TARGETS * target.ns)};
}

static size_t memory_of(const struct tunnel *t)
{
    size_t all = (size_t)t->servers * FRAMES_A_SERVER * (cw_mtu(t->s) + OVERHEAD);
    all = all > QUEUED_USUAL ? all : QUEUED_USUAL;
    return all < QUEUED_MOST ? all : QUEUED_MOST;
}

int leave_open(struct tunnel *t)
{
    struct flows_config config = {.quantum = (uint32_t)cw_mtu(t->s),
                                  .memory_most = memory_of(t),
                                  .codel = leave_codel(t),
                                  .mark_above = CW_NS(3 * leave_target(t).ns),
                                  .longer_above = FRAMES_FOR_SHORTEST * cw_mtu(t->s),
                                  .mark = mark,
                                  .drop = dropped,
                                  .context = t};
    t->number = calloc(t->servers, sizeof *t->number);
    t->gone = calloc(t->servers, sizeof *t->gone);
    t->seen = calloc(FLOWS, sizeof *t->seen);
    gateways_look(&t->gateways, t->s, &t->plan);
    int rc = t->number == NULL || t->gone == NULL || t->seen == NULL ? -ENOMEM : flows_open(&t->flows, &config);
    if (rc < 0) {
        free(t->number);
        free(t->gone);
        free(t->seen);
        return rc;
    }
    for (cw_server i = 0; i < t->servers; i++) {
        t->gone[i] = cw_now(t->s);
    }
    return 0;
}

void leave_close(struct tunnel *t)
{
    flows_close(&t->flows);
    free(t->number);
    free(t->gone);
    free(t->seen);
}

static void poll_links(struct tunnel *t)
{
    cw_poll_links(t->s, CW_PLACE_MAIN, flows_wanted(&t->flows, FLOW_SHORTEST));
    if (t->longer != NULL) {
        cw_poll_links(t->s, CW_PLACE_BACKGROUND, flows_wanted(&t->flows, FLOW_LONGER));
    }
}

void leave_event(struct tunnel *t, const cw_event *ev)
{
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        t->gone[cw_server_id(t->s, ev->server)] = cw_now(t->s);
    }
    gateways_look(&t->gateways, t->s, &t->plan);
    flows_reroute(&t->flows, set_links);
    poll_links(t);
}

/* ---- From the device --------------------------------------------------------------------------------------------- */

/* The same for all packets of a connection; of fragments, for those of a packet. */
static uint64_t flow_hash(const struct ip_packet *p)
{
    struct ip_address a;
    struct digest d;
    uint8_t rest[5] = {p->protocol};
    digest_init(&d);
    ip_source(p, &a);
    digest_bytes(&d, a.b, sizeof a.b);
    ip_destination(p, &a);
    digest_bytes(&d, a.b, sizeof a.b);
    if (p->fragment) {
        memcpy(rest + 1, p->bytes + (p->version == 4 ? IP4_ID : p->ip_head - 4), p->version == 4 ? 2 : 4);
    } else if (ip_checksum_at(p) != 0) {
        memcpy(rest + 1, p->bytes + p->ip_head, 4);
    }
    digest_bytes(&d, rest, sizeof rest);
    return digest_value(&d);
}

/* Tells whoever sent the packet why it is not carried. */
static void tell(struct tunnel *t, enum icmp_what what, const struct ip_packet *p)
{
    uint8_t answer[ICMP_BYTES_MOST];
    struct ip_address self;
    struct ip_packet told;
    if (!icmp_may(p) || !icmp_allowed(&t->rate, cw_now(t->s))) {
        return;
    }
    address_of_tunnel(&t->plan, t->self, p->version, &self);
    size_t length = icmp_make(what, p, &self, t->mtu, answer);
    CHECK(ip_read(answer, length, &told) == TUNNEL_GOOD);
    cw_counter_add(t->count[COUNT_TOLD], 1);
    tunnel_write(t, &told, &(struct offload){.partial = false});
}

/*
 * The server that the packet is for, or CW_SERVER_NONE, cannot be reached. While it may be about to come back, as when
 * the last link of a way fails and another one is found, nothing is said: TCP tries again by itself.
 */
static bool is_worth_telling(const struct tunnel *t, cw_server to)
{
    return to == CW_SERVER_NONE || cw_time_since(cw_now(t->s), t->gone[to]).ns > cw_hold(t->s).ns;
}

static void refuse(struct tunnel *t, enum tunnel_cause cause, const struct ip_packet *p, cw_server to)
{
    tunnel_drop(t, cause);
    bool nowhere = cause == TUNNEL_UNREACHABLE || cause == TUNNEL_OUTSIDE || cause == TUNNEL_NO_GATEWAY;
    if (nowhere && is_worth_telling(t, to)) {
        tell(t, ICMP_UNREACHABLE, p);
    } else if (cause == TUNNEL_TOO_BIG) {
        tell(t, ICMP_TOO_BIG, p);
    }
}

/* The copy that waits. NULL: there is no memory, or the packet is too big, and that was told. */
static struct waiting *copy(struct tunnel *t, const struct ip_packet *p, const struct offload *offload)
{
    struct waiting *w = malloc(sizeof *w + p->length);
    if (w == NULL) {
        cw_counter_add(t->count[COUNT_FULL], 1);
        return NULL;
    }
    struct ip_packet own = *p;
    memcpy(w->bytes, p->bytes, p->length);
    own.bytes = w->bytes;
    size_t segment = offload->gso_size == 0 ? p->length : (size_t)p->heads + offload->gso_size;
    if (segment > t->mtu || cut_begin(&w->cut, &own, offload, t->room) != TUNNEL_GOOD) {
        free(w);
        refuse(t, TUNNEL_TOO_BIG, p, CW_SERVER_NONE);
        return NULL;
    }
    return w;
}

/* For operators: which connection uses the queue, and how much it has sent. */
static void note_flow(struct tunnel *t, uint64_t hash, const struct ip_packet *p, cw_server to)
{
    struct leave_flow *f = &t->seen[hash % FLOWS];
    if (f->packets == 0 || f->hash != hash) {
        *f = (struct leave_flow){.hash = hash, .protocol = p->protocol, .server = to};
        ip_source(p, &f->from);
        ip_destination(p, &f->to);
        if (ip_checksum_at(p) != 0) {
            f->ports[0] = get_be16(p->bytes + p->ip_head);
            f->ports[1] = get_be16(p->bytes + p->ip_head + 2);
        }
    }
    f->packets++;
    f->bytes += p->length;
    f->last = cw_now(t->s);
}

/* Longer paths are asked for, and for packets of this connection. */
static bool may_go_longer(const struct tunnel *t, const struct ip_packet *p)
{
    if (t->longer == NULL || ip_checksum_at(p) == 0) {
        return false;
    }
    const uint8_t *ports = p->bytes + p->ip_head;
    const struct numbers *of = &t->longer_ports;
    return of->ranges == 0 || numbers_has(of, get_be16(ports)) || numbers_has(of, get_be16(ports + 2));
}

void leave_read(struct tunnel *t, const uint8_t *head, uint8_t *packet, size_t length)
{
    struct ip_packet p;
    struct offload offload;
    cw_server to = CW_SERVER_NONE;
    uint8_t own[TUNNEL_VNET_BYTES];
    if (t->neighbours != NULL) {
        memcpy(own, head, sizeof own);
        if (!tunnel_unwrap(t, own, packet, length)) {
            return;
        }
        head = own;
        packet += ETHER_HEAD;
        length -= ETHER_HEAD;
    }
    cw_counter_add(t->count[COUNT_READ], 1);
    cw_counter_add(t->count[COUNT_READ_BYTES], length);
    enum tunnel_cause cause = ip_read(packet, length, &p);
    cause = cause != TUNNEL_GOOD ? cause : vnet_read(head, packet, &p, &offload);
    if (cause != TUNNEL_GOOD) {
        tunnel_drop(t, cause); /* what cannot be read cannot be answered */
        return;
    }
    cause = judge_read(&t->plan, t->self, &p, &to);
    if (cause == TUNNEL_MULTICAST) {
        many_send(t, &p, &offload);
        return;
    }
    uint64_t hash = cause == TUNNEL_GOOD ? flow_hash(&p) : 0;
    if (cause == TUNNEL_GOOD && to == CW_SERVER_NONE) {
        to = gateways_pick(&t->gateways, hash);
        cause = to == CW_SERVER_NONE ? TUNNEL_NO_GATEWAY : cause;
    }
    cw_links links = cause == TUNNEL_GOOD ? links_to(t, to) : CW_LINKS_NONE;
    cause = cause == TUNNEL_GOOD && links == CW_LINKS_NONE ? TUNNEL_UNREACHABLE : cause;
    if (cause != TUNNEL_GOOD) {
        refuse(t, cause, &p, to);
        return;
    }
    struct waiting *w = copy(t, &p, &offload);
    if (w == NULL) {
        return;
    }
    note_flow(t, hash, &p, to);
    w->to = to;
    w->strand = (uint8_t)((hash >> 32) % TUNNEL_STRANDS);
    w->longer = may_go_longer(t, &p);
    w->flow.bytes = (uint32_t)length + OVERHEAD;
    set_links(t, &w->flow);
    flows_put(&t->flows, hash, &w->flow, cw_now(t->s));
    poll_links(t);
}

/* ---- To a link --------------------------------------------------------------------------------------------------- */

/* The packet whose turn it is, and of a longer way the way. NULL: none. */
static struct waiting *whose_turn(struct tunnel *t, enum flow_way kind, cw_link link, struct longer_way *way)
{
    struct flow_packet *p = flows_next(&t->flows, kind, link, cw_now(t->s));
    struct waiting *w = p == NULL ? NULL : container_of(p, struct waiting, flow);
    way->waypoints = 0;
    if (w == NULL || kind == FLOW_SHORTEST) {
        return w;
    }
    /* NULL: servers on it have just gone, and leave_event() is about to be called. */
    return longer_way(t->longer, t->s, w->to, link, way) ? w : NULL;
}

/*
 * Packets have left since there were so many of them. Those behind them in their queues, which flows for other servers
 * may share, may want other links.
 */
static void poll_after(struct tunnel *t, uint32_t packets)
{
    if (t->flows.packets != packets) {
        poll_links(t);
    }
}

bool leave_peek(struct tunnel *t, enum flow_way kind, cw_link link, cw_peek *out)
{
    struct longer_way way;
    const uint32_t packets = t->flows.packets;
    struct waiting *w = whose_turn(t, kind, link, &way);
    poll_after(t, packets);
    if (w == NULL) {
        return false;
    }
    out->length = TUNNEL_HEAD_BYTES + cut_next_bytes(&w->cut) + longer_bytes(&way);
    out->since = w->flow.since;
    return true;
}

/* The next piece as a packet of the torus that is addressed, without its number; NULL: it cannot be sent. */
static cw_packet *make_packet(struct tunnel *t, const struct waiting *w, size_t length, const struct longer_way *way,
                              int *rc)
{
    cw_job job = cw_job_of(t->s);
    const cw_to to = {.kind = CW_TO_SERVER,
                      .job = job,
                      .port = TUNNEL_PORT,
                      .server = cw_server_coord(t->s, w->to),
                      .process = w->to};
    const cw_send_options options = {CW_SEND_INIT, .waypoints = way->waypoints, .waypoint = way->waypoint};
    cw_packet *p = cw_packet_new(t->s, length);
    *rc = p == NULL ? -ENOMEM : cw_packet_address(t->s, p, &to, way->waypoints > 0 ? &options : NULL);
    if (*rc < 0) {
        cw_packet_free(t->s, p);
        return NULL;
    }
    return p;
}

/* The number is given at the last moment, so that nothing that is dropped before leaves a hole. */
static void fill(struct tunnel *t, struct waiting *w, cw_packet *packet)
{
    size_t length;
    struct offload offload;
    uint8_t *piece = cw_packet_data(packet, &length);
    size_t bytes = cut_next(&w->cut, piece + TUNNEL_HEAD_BYTES, &offload);
    CHECK(bytes + TUNNEL_HEAD_BYTES == length);
    const struct piece_head head = {.kind = offload.partial ? PIECE_PARTIAL : PIECE_PLAIN,
                                    .strand = w->strand,
                                    .gso_size = offload.gso_size,
                                    .life = t->life,
                                    .number = t->number[w->to][w->strand]++};
    piece_encode(&head, t->self, w->to, piece, length);
}

/* The rest of a packet cannot be sent. */
static void give_up(struct tunnel *t, struct waiting *w, int rc)
{
    flows_sent(&t->flows, &w->flow, 0, true);
    if (rc == -ENOMEM) {
        cw_counter_add(t->count[COUNT_FULL], 1);
    } else {
        tunnel_drop(t, rc == -EACCES ? TUNNEL_PROHIBITED : TUNNEL_UNREACHABLE);
        if (rc == -EACCES || is_worth_telling(t, w->to)) {
            tell(t, rc == -EACCES ? ICMP_PROHIBITED : ICMP_UNREACHABLE, &w->cut.packet);
        }
    }
    free(w);
}

static cw_packet *next_piece(struct tunnel *t, enum flow_way kind, cw_link link)
{
    struct longer_way way;
    for (struct waiting *w; (w = whose_turn(t, kind, link, &way)) != NULL;) {
        int rc;
        size_t length = TUNNEL_HEAD_BYTES + cut_next_bytes(&w->cut);
        cw_packet *packet = make_packet(t, w, length, &way, &rc);
        if (packet == NULL) {
            give_up(t, w, rc);
            continue;
        }
        fill(t, w, packet);
        bool all = cut_next_bytes(&w->cut) == 0;
        flows_sent(&t->flows, &w->flow, (uint32_t)length, all);
        if (all) {
            free(w);
        }
        cw_counter_add(t->count[COUNT_PIECES_SENT], 1);
        cw_counter_add(t->count[COUNT_LONGER], kind == FLOW_LONGER);
        t->longer_sent += kind == FLOW_LONGER;
        return packet;
    }
    return NULL;
}

cw_packet *leave_next(struct tunnel *t, enum flow_way kind, cw_link link)
{
    const uint32_t packets = t->flows.packets;
    cw_packet *packet = next_piece(t, kind, link);
    poll_after(t, packets);
    return packet;
}
