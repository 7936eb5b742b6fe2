/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.c - opening and closing, and the ways in from the host: packets and events. What the service asks for is in
 * requests.c; the timer is in turn.c.
 */
#include "services/transport/internal.h"

#include "services/reply/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MOST = 0xffff, PEERS_MOST = 1 << 20 };

/* ---- Life -------------------------------------------------------------------------------------------------------- */

struct transport_config transport_config_default(cw_port port, void *context)
{
    return (struct transport_config){
        .size = sizeof(struct transport_config),
        .port = port,
        .context = context,
        .message_max = UINT64_C(16) << 20,
        .memory_max = (size_t)64 << 20,
        .peer_memory_max = (size_t)32 << 20,
        .peers_max = 1024,
        .messages_max = 1024,
        .incoming_max = 32,
        .piece_window = (size_t)256 << 10,
        .window_max = (size_t)4 << 20,
        .timeout = CW_SEC(5),
        .silence = CW_SEC(10),
        .rto_min = CW_US(500),
        .rto_max = CW_MS(200),
        .ack_delay = CW_US(50),
        .queue_target = (size_t)32 << 10,
    };
}

static bool config_is_good(const struct transport_config *c)
{
    return c->size >= sizeof *c && c->message != NULL && c->peers_max >= 1 && c->peers_max <= PEERS_MOST &&
           c->messages_max >= 1 && c->messages_max <= MESSAGES_MOST && c->incoming_max >= 1 && c->memory_max > 0 &&
           c->peer_memory_max > 0 && c->timeout.ns > 0 && c->silence.ns > 0 && c->rto_min.ns > 0 &&
           c->rto_max.ns >= c->rto_min.ns && c->ack_delay.ns >= 0 && c->window_max > 0 &&
           c->window_max <= UINT64_C(1) << 32 && c->queue_target <= c->window_max;
}

/* In the order in which transport_count() lists them. */
static const struct metric counters[TRANSPORT_COUNTERS] = {
    {"transport_done", "Messages sent that were taken, and requests that were answered."},
    {"transport_failed", "Messages and requests sent that ended with an error."},
    {"transport_taken", "Messages that came and were taken."},
    {"transport_bytes_sent", "Bytes of sent messages that were taken."},
    {"transport_bytes_taken", "Bytes of messages that came and were taken."},
    {"transport_packets", "Packets of the transport sent."},
    {"transport_repeated", "Parts of messages that were sent again."},
    {"transport_probes", "Times that nothing was heard from a peer for a time-out."},
    {"transport_restarts", "Messages sent again from the first byte, to an heir or a new incarnation."},
    {"transport_strange", "Packets of the transport that made no sense, or were of no association."},
};

static uint32_t buckets_for(unsigned peers)
{
    uint32_t buckets = 16;
    while (buckets < peers && buckets < 4096) {
        buckets *= 2;
    }
    return buckets;
}

static void release(struct transport *t)
{
    free(t->due_memory);
    free(t->bucket);
    free(t->slot);
    free(t->free_slot);
    free(t);
}

int transport_open(cw_svc *user, const struct transport_config *config, struct transport **out)
{
    size_t head = SEGMENT_HEAD_BYTES + SEGMENT_DATA_MOST;
    size_t mtu = cw_mtu(user);
    if (!config_is_good(config) || mtu < head + SEGMENT_PART_LEAST || mtu - head > UINT16_MAX) {
        return -EINVAL;
    }
    struct transport *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return -ENOMEM;
    }
    uint32_t capacity = config->peers_max + config->messages_max + 2;
    t->user = user;
    t->config = *config;
    t->mtu = mtu;
    t->now = cw_now(user);
    t->opened = t->now;
    t->instance = cw_random(user) | 1;
    t->salt = cw_random(user);
    t->names = (uint32_t)cw_random(user);
    t->buckets = buckets_for(config->peers_max);
    t->stats.size = sizeof t->stats;
    t->due_memory = malloc(heap_size(capacity));
    t->bucket = calloc(t->buckets, sizeof(struct peer *));
    t->slot = calloc(config->messages_max, sizeof(struct outgoing *));
    t->free_slot = calloc(config->messages_max, sizeof *t->free_slot);
    if (t->due_memory == NULL || t->bucket == NULL || t->slot == NULL || t->free_slot == NULL) {
        release(t);
        return -ENOMEM;
    }
    heap_init(&t->due, t->due_memory, capacity);
    for (unsigned i = 0; i < config->messages_max; i++) {
        t->free_slot[i] = (uint16_t)i;
    }
    list_init(&t->touched[CW_PLACE_MAIN]);
    list_init(&t->touched[CW_PLACE_BACKGROUND]);
    list_init(&t->parked);
    list_init(&t->age);
    list_init(&t->finished);
    list_init(&t->retry);
    list_init(&t->incoming);
    if (config->counters) {
        metrics_counters(t->user, counters, TRANSPORT_COUNTERS, t->counter);
    }
    *out = t;
    return 0;
}

void transport_close(struct transport *t)
{
    if (t == NULL) {
        return;
    }
    transport_enter(t);
    t->closing = true;
    cw_timer_stop(t->user, t->timer);
    for (unsigned i = 0; i < t->config.messages_max; i++) {
        if (t->slot[i] != NULL) {
            outgoing_finish(t, t->slot[i], -ECANCELED);
        }
    }
    incoming_close(t);
    while (!list_is_empty(&t->finished)) {
        transport_tell_end(t, container_of(list_pop_front(&t->finished), struct outgoing, link));
    }
    while (!list_is_empty(&t->age)) {
        peer_free(t, container_of(list_first(&t->age), struct peer, age));
    }
    transport_count(t);
    release(t);
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

/* Tells the sender that we do not know the association. */
static void answer_strange(struct transport *t, struct peer *p, uint32_t out, uint32_t in)
{
    int64_t age_us = cw_time_since(t->now, t->opened).ns / 1000;
    const struct segment s = {.kind = SEGMENT_STRANGE,
                              .out = out,
                              .in = in,
                              .instance = t->instance,
                              .age_us = age_us > UINT32_MAX ? UINT32_MAX : (uint32_t)age_us};
    t->stats.strange++;
    sending_control(t, p, &s);
}

static void take_hello(struct transport *t, struct peer *p, const struct segment *s, uint32_t wait_ns)
{
    struct segment welcome = {.kind = SEGMENT_WELCOME, .out = s->out, .instance = t->instance, .wait_ns = wait_ns};
    if (p->in_open && p->in_out == s->out && p->in_instance == s->instance) {
        welcome.in = p->in_name; /* it is open, and our welcome was late or lost */
    } else {
        if (!p->in_pending || p->pending_out != s->out || p->pending_instance != s->instance) {
            p->in_pending = true;
            p->pending_out = s->out;
            p->pending_instance = s->instance;
            p->pending_name = ++t->names;
        }
        welcome.in = p->pending_name;
    }
    sending_control(t, p, &welcome);
}

/*
 * Is a packet of the association that is open (rule 4)? A pending association opens with it: only a sender that has
 * heard our welcome knows the pending one's name.
 */
static bool is_open(struct transport *t, struct peer *p, uint32_t out, uint32_t in)
{
    if (p->in_open && p->in_out == out && p->in_name == in) {
        return true;
    }
    if (TP_MUTANT(ANY_ASSOCIATION) && p->in_open) {
        return true;
    }
    if (!p->in_pending || p->pending_out != out || p->pending_name != in) {
        return false;
    }
    p->in_pending = false;
    p->in_open = true;
    p->in_out = out;
    p->in_name = in;
    p->in_instance = p->pending_instance;
    incoming_restart(t, p);
    if (p->instance != 0 && p->instance != p->in_instance) {
        outgoing_orphan(t, p);
    }
    return true;
}

static void take(struct transport *t, struct peer *p, const struct segment *s, const cw_packet *packet, const cw_rx *rx)
{
    switch (s->kind) {
    case SEGMENT_HELLO:
        take_hello(t, p, s, sending_waited(packet));
        return;
    case SEGMENT_WELCOME:
        outgoing_welcome(t, p, s, sending_waited(packet));
        return;
    case SEGMENT_STRANGE:
        if (p->state == PEER_OPEN && s->out == p->out_name && s->in == p->out_in) {
            outgoing_reset(t, p, s->instance, CW_US(s->age_us));
        }
        return;
    case SEGMENT_GIVEN_UP:
        if (p->in_open && p->in_out == s->out && p->in_name == s->in) {
            incoming_given_up(t, p, s->number);
        }
        return;
    case SEGMENT_PERMIT:
        if (p->state == PEER_OPEN && s->out == p->out_name && s->in == p->out_in) {
            outgoing_permit(t, p, s->number);
        }
        return;
    case SEGMENT_SEEK:
    case SEGMENT_FOUND:
        return; /* take_key() */
    case SEGMENT_SEGMENT:
        break;
    }
    if (s->flags & FLAG_ACK) {
        outgoing_ack(t, p, &s->ack);
    }
    if (s->flags & FLAG_DATA) {
        if (is_open(t, p, s->data.out, s->data.in)) {
            incoming_data(t, p, &s->data, (s->flags & FLAG_NOW) != 0, rx);
        } else {
            answer_strange(t, p, s->data.out, s->data.in);
        }
    }
}

/* Questions and answers about keys, which need no peer. */
static void take_key(struct transport *t, const struct segment *s, const cw_rx *rx)
{
    if (s->kind == SEGMENT_FOUND) {
        outgoing_found(t, s->out, rx);
    } else if (cw_is_root(t->user, &s->key)) {
        const cw_to to = {.kind = CW_TO_SERVER,
                          .job = rx->src_job,
                          .port = s->port,
                          .server = rx->src_server,
                          .process = rx->src_process};
        const struct segment found = {.kind = SEGMENT_FOUND, .out = s->out};
        (void)sending_to(t, &to, &found); /* when it gets lost, we are asked again */
    }
}

cw_verdict transport_packet(struct transport *t, cw_packet *p, const cw_rx *rx)
{
    struct segment s;
    size_t length;
    const uint8_t *bytes = cw_packet_data(p, &length);
    if (rx->where != CW_ARRIVED || segment_decode(bytes, length, &s) < 0) {
        t->stats.malformed++;
        return CW_DROP;
    }
    transport_enter(t);
    if (s.kind == SEGMENT_SEEK || s.kind == SEGMENT_FOUND) {
        take_key(t, &s, rx);
        transport_leave(t, true);
        return CW_FORWARD;
    }
    const struct peer_name name = {rx->src_job, rx->src_process, s.port, (s.flags & FLAG_BACKGROUND) != 0};
    struct peer *peer = peer_get(t, name, rx->src_server);
    if (peer != NULL) {
        peer_touch(t, peer);
        take(t, peer, &s, p, rx);
    }
    transport_leave(t, true);
    return peer != NULL ? CW_FORWARD : CW_DROP;
}

void transport_event(struct transport *t, const cw_event *ev)
{
    if (ev->kind == CW_EVENT_ROOTS) {
        return;
    }
    transport_enter(t);
    bool server = ev->kind == CW_EVENT_SERVER_UP || ev->kind == CW_EVENT_SERVER_DOWN;
    for (struct list_node *node = list_first(&t->age), *next; node != NULL; node = next) {
        next = list_next(&t->age, node);
        struct peer *p = container_of(node, struct peer, age);
        if (p->state == PEER_OPEN) {
            rtt_new_way(&p->rtt, t->now);
            p->congestion.target = peer_target(t, p);
        }
        if (!server || memcmp(&p->server, &ev->server, sizeof p->server) != 0) {
            continue;
        }
        if (ev->kind == CW_EVENT_SERVER_DOWN) {
            outgoing_unreachable(t, p);
        } else if (!peer_idle(p)) {
            p->retry_at = t->now;
            p->hello_due = cw_time_min(p->hello_due, t->now);
            if (!list_is_linked(&p->touched)) {
                list_push_back(&t->touched[peer_place(p)], &p->touched);
            }
        }
    }
    transport_leave(t, true);
}

void transport_writable(struct transport *t)
{
    transport_enter(t);
    sending_unblock(t, CW_PLACE_MAIN);
    sending_unblock(t, CW_PLACE_BACKGROUND);
    transport_leave(t, true);
}

/* ---- What is seen ------------------------------------------------------------------------------------------------ */

void transport_stats(const struct transport *t, struct transport_stats *out)
{
    *out = t->stats;
}

int transport_path_get(const struct transport *t, cw_job job, cw_process process, cw_port port,
                       struct transport_path *out)
{
    const struct peer *p = peer_find(t, (struct peer_name){job, process, port, false});
    if (p == NULL || p->state != PEER_OPEN) {
        return -ENOENT;
    }
    *out = (struct transport_path){
        .size = sizeof *out,
        .rtt = rtt_smooth(&p->rtt),
        .rtt_least = rtt_least(&p->rtt),
        .rto = peer_timeout(t, p),
        .window = p->congestion.window,
        .in_flight = p->flight.out_bytes,
    };
    return 0;
}
