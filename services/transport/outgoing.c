/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.c - messages being sent, from birth to end. Nothing here sends: what is to be sent is in peer->ready, and
 * sending.c asks for it.
 */
#include "services/transport/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct outgoing *outgoing_find(const struct transport *t, int64_t id)
{
    uint64_t index = (uint64_t)id & 0xffff;
    if (id <= 0 || index >= t->config.messages_max || t->slot[index] == NULL || t->slot[index]->id != id) {
        return NULL;
    }
    return t->slot[index];
}

struct outgoing *outgoing_of_request(const struct transport *t, uint64_t request)
{
    struct outgoing *m = outgoing_find(t, (int64_t)(request ^ t->salt));
    return m != NULL && m->kind == OUTGOING_REQUEST && m->state != OUTGOING_FINISHED ? m : NULL;
}

uint32_t outgoing_name(const struct outgoing *m)
{
    return (uint32_t)m->id;
}

struct outgoing *outgoing_named(const struct transport *t, uint32_t name)
{
    struct outgoing *m = t->slot[(name & 0xffff) % t->config.messages_max];
    return m != NULL && outgoing_name(m) == name ? m : NULL;
}

uint32_t outgoing_first(const struct outgoing *m)
{
    return m->flags & TRANSPORT_ASK ? 1 : SEGMENT_FIRST;
}

/* ---- Its place --------------------------------------------------------------------------------------------------- */

/* The message's number has its result: the floor rises over all numbers that have theirs. */
static void resolve_number(struct transport *t, struct outgoing *m)
{
    struct peer *p = m->peer;
    p->slot[m->number % SEGMENT_NUMBERS] = NULL;
    while (p->floor != p->number_next && p->slot[p->floor % SEGMENT_NUMBERS] == NULL) {
        p->floor++;
    }
    peer_touch(t, p);
}

bool outgoing_has_number(const struct outgoing *m)
{
    return m->state == OUTGOING_READY || m->state == OUTGOING_SENT || m->state == OUTGOING_STARVED;
}

void outgoing_detach(struct transport *t, struct outgoing *m)
{
    if (m->answering != NULL && !m->answering->calling) {
        incoming_drop(t, m->answering);
    }
    transport_due(t, &m->due, CW_NEVER);
    if (list_is_linked(&m->link)) {
        list_remove(&m->link);
    }
    if (m->peer != NULL && outgoing_has_number(m)) {
        resolve_number(t, m);
    }
    if (m->peer != NULL) {
        peer_touch(t, m->peer);
    }
    m->peer = NULL;
    m->state = OUTGOING_FINISHED;
}

/* Tells the receiver, which may have parts of the message in memory. */
static void say_given_up(struct transport *t, const struct outgoing *m)
{
    const struct peer *p = m->peer;
    if (p == NULL || p->state != PEER_OPEN || !outgoing_has_number(m) || m->next == 0 || t->closing) {
        return;
    }
    const struct segment s = {.kind = SEGMENT_GIVEN_UP, .out = p->out_name, .in = p->out_in, .number = m->number};
    sending_control(t, p, &s);
}

void outgoing_finish(struct transport *t, struct outgoing *m, int status)
{
    if (m->state == OUTGOING_FINISHED) {
        return;
    }
    outgoing_detach(t, m);
    m->status = status;
    list_push_back(&t->finished, &m->link);
}

void outgoing_give_up(struct transport *t, struct outgoing *m, int status)
{
    say_given_up(t, m);
    outgoing_finish(t, m, status);
}

void outgoing_free(struct transport *t, struct outgoing *m)
{
    unsigned index = (unsigned)(m->id & 0xffff);
    t->slot[index] = NULL;
    t->free_slot[--t->outgoing_count] = (uint16_t)index;
    if (!TP_MUTANT(FOREVER)) {
        transport_uncharge(t, m->charged);
    }
    free(m->copy);
    free(m->places);
    if (m->came_bits != m->few) {
        free(m->came_bits);
    }
    free(m);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

bool outgoing_next(const struct outgoing *m, uint32_t *index)
{
    if (m->lost > 0 && !(m->starved && TP_MUTANT(LOST_STARVES))) {
        uint32_t words = (m->parts + 63) / 64;
        for (uint32_t w = m->lost_from / 64; w < words; w++) {
            if (m->lost_bits[w] != 0) {
                *index = w * 64 + (uint32_t)__builtin_ctzll(m->lost_bits[w]);
                return true;
            }
        }
    }
    *index = m->next;
    return m->next < m->parts && m->next < m->limit && !m->starved;
}

void outgoing_sort(struct outgoing *m)
{
    uint32_t index;
    if (!outgoing_has_number(m)) {
        return;
    }
    struct peer *p = m->peer;
    bool ready = outgoing_next(m, &index);
    enum outgoing_state state = ready ? OUTGOING_READY : m->starved ? OUTGOING_STARVED : OUTGOING_SENT;
    if (state != m->state) {
        m->state = state;
        m->turn = p->turn;
        list_move_back(ready ? &p->ready : m->starved ? &p->starved : &p->sent, &m->link);
    }
}

void outgoing_starve(struct outgoing *m)
{
    m->starved = true;
    outgoing_sort(m);
}

void outgoing_feed(struct transport *t, struct outgoing *m)
{
    if (m->starved) {
        m->starved = false;
        outgoing_sort(m);
        peer_touch(t, m->peer);
    }
}

void outgoing_left(struct transport *t, struct peer *p, struct outgoing *m, uint32_t index)
{
    if (index < m->next) {
        t->stats.repeated++;
        if (bit_has(m->lost_bits, index)) {
            m->lost_bits[index / 64] &= ~(UINT64_C(1) << index % 64);
            m->lost--;
            m->lost_from = index;
        }
    } else {
        m->left = m->next == 0 ? t->now : m->left;
        m->next = index + 1;
    }
    if (p->flight.out == 1) {
        p->progress = t->now; /* nothing else was in flight: the time-out runs from now */
    }
    outgoing_sort(m);
}

/* May this incarnation have taken the message already (rule 8)? */
static bool was_tried(const struct outgoing *m, uint64_t instance)
{
    bool tried = false;
    for (unsigned i = 0; i < m->tried_count; i++) {
        tried |= m->tried[i] == instance;
    }
    return tried && !TP_MUTANT(TRIED_AGAIN);
}

void outgoing_number(struct transport *t, struct peer *p)
{
    while (!list_is_empty(&p->waiting) && p->number_next - p->floor < SEGMENT_NUMBERS) {
        struct outgoing *m = container_of(list_first(&p->waiting), struct outgoing, link);
        if (was_tried(m, p->instance)) {
            outgoing_finish(t, m, m->to.kind == CW_TO_KEY ? -ESTALE : -ECONNRESET);
            continue;
        }
        list_remove(&m->link);
        m->number = p->number_next++;
        p->slot[m->number % SEGMENT_NUMBERS] = m;
        m->state = OUTGOING_READY;
        m->turn = p->turn;
        list_push_back(&p->ready, &m->link);
    }
}

static struct outgoing *numbered(const struct peer *p, uint32_t number)
{
    struct outgoing *m = p->slot[number % SEGMENT_NUMBERS];
    return m != NULL && m->number == number ? m : NULL;
}

/* ---- What the receiver says -------------------------------------------------------------------------------------- */

struct acking {
    struct transport *t;
    struct peer *p;
    uint64_t bytes;
    bool useful;
};

static void packet_came(void *context, const struct flight_packet *packet, bool lost)
{
    struct acking *a = context;
    struct peer *p = a->p;
    a->bytes += lost ? 0 : packet->bytes;
    struct outgoing *m = numbered(p, packet->number);
    if (lost) {
        a->t->stats.needless += m != NULL && !bit_has(m->lost_bits, packet->index);
        p->patience = p->patience < 8 ? p->patience * 2 : p->patience;
    }
    if (m == NULL || bit_has(m->came_bits, packet->index)) {
        return;
    }
    a->useful = true;
    m->begun = true;
    m->came_bits[packet->index / 64] |= UINT64_C(1) << packet->index % 64;
    if (bit_has(m->lost_bits, packet->index)) {
        m->lost_bits[packet->index / 64] &= ~(UINT64_C(1) << packet->index % 64);
        m->lost--;
        outgoing_sort(m);
    }
    if (TP_MUTANT(DONE_WHEN_SENT) && m->parts == 1 && m->kind != OUTGOING_REQUEST) {
        outgoing_finish(a->t, m, 0);
    }
}

static void packet_lost(void *context, const struct flight_packet *packet, bool lost)
{
    (void)lost;
    struct acking *a = context;
    struct outgoing *m = numbered(a->p, packet->number);
    if (m == NULL || bit_has(m->came_bits, packet->index) || bit_has(m->lost_bits, packet->index) ||
        TP_MUTANT(NO_REPEAT)) {
        return;
    }
    m->lost_bits[packet->index / 64] |= UINT64_C(1) << packet->index % 64;
    m->lost++;
    m->lost_from = packet->index < m->lost_from ? packet->index : m->lost_from;
    outgoing_sort(m);
}

/* Applies the receiver's result. After BUSY, WAIT and NOT_ROOT the message goes again: it was not taken. */
static void take_result(struct transport *t, struct peer *p, struct outgoing *m, uint32_t value)
{
    switch (value) {
    case 0:
        if (m->kind != OUTGOING_REQUEST) {
            outgoing_finish(t, m, 0);
            return;
        }
        list_remove(&m->link);
        resolve_number(t, m);
        m->state = OUTGOING_AWAITING;
        list_push_back(&p->awaiting, &m->link);
        return;
    case RESULT_BUSY:
        t->stats.waits++;
        outgoing_retry_later(t, m);
        return;
    case RESULT_WAIT:
        outgoing_hold(t, m);
        return;
    case RESULT_NOT_ROOT:
        if (m->to.kind == CW_TO_KEY) {
            t->stats.restarts += m->next > 0;
            outgoing_lose_process(m);
            outgoing_retry_later(t, m);
            return;
        }
        outgoing_finish(t, m, -EPROTO);
        return;
    default:
        outgoing_finish(t, m, -(int)value);
        return;
    }
}

static bool take_note(struct transport *t, struct peer *p, const struct segment_note *note)
{
    struct outgoing *m = numbered(p, note->number);
    if (m == NULL) {
        return false;
    }
    if (note->kind == NOTE_RESULT) {
        take_result(t, p, m, note->value);
        return true;
    }
    if (note->value <= m->limit) {
        return false;
    }
    m->limit = note->value;
    outgoing_sort(m);
    return true;
}

static cw_span loss_wait(const struct peer *p)
{
    int64_t smooth = rtt_smooth(&p->rtt).ns;
    return CW_NS(smooth + (smooth / 4 + 4 * rtt_spread(&p->rtt).ns) * p->patience);
}

void outgoing_losses(struct transport *t, struct peer *p)
{
    struct acking a = {.t = t, .p = p};
    uint32_t out = p->flight.out;
    p->loss_due = flight_detect(&p->flight, loss_wait(p), t->now, packet_lost, &a);
    if (p->flight.out != out) {
        congestion_lost(&p->congestion, t->now, rtt_smooth(&p->rtt));
    }
    peer_touch(t, p);
}

void outgoing_ack(struct transport *t, struct peer *p, const struct segment_ack *ack)
{
    if (p->state != PEER_OPEN || ack->out != p->out_name || ack->in != p->out_in) {
        t->stats.strange++;
        return;
    }
    struct acking a = {.t = t, .p = p};
    struct flight_packet sent = {.sent = CW_NEVER};
    if (!flight_ack(&p->flight, ack->newest, ack->word, ack->words, packet_came, &a, &sent)) {
        t->stats.malformed++;
        return;
    }
    p->silent = 0;
    cw_span rtt = CW_NS(0);
    if (sent.sent.ns != INT64_MAX) {
        bool full = sent.bytes >= t->mtu - t->mtu / 4;
        rtt = CW_NS(cw_time_since(t->now, sent.sent).ns - (int64_t)ack->delay_ns);
        rtt = rtt.ns < 1 ? CW_NS(1) : rtt;
        if (rtt_sample(&p->rtt, rtt, full, t->now)) {
            congestion_drain(&p->congestion);
        }
        rtt = full ? rtt : CW_NS(0);
    }
    congestion_acked(&p->congestion, a.bytes, rtt);
    if ((int32_t)(ack->newest - p->round) >= 0) {
        p->round = p->flight.next;
        congestion_round(&p->congestion, peer_least(t, p));
    }
    for (unsigned i = 0; i < ack->notes; i++) {
        a.useful |= take_note(t, p, &ack->note[i]);
    }
    if (a.useful) {
        p->progress = t->now;
        p->probes = 0;
    }
    outgoing_losses(t, p);
    if (p->floor == p->number_next) {
        flight_rest(&p->flight);
    }
}

void outgoing_silence(struct transport *t, struct peer *p)
{
    t->stats.probes++;
    p->probes += p->probes < 20;
    p->silent++;
    p->progress = t->now;
    if (p->silent >= 2 || p->floor == p->number_next) {
        struct acking a = {.t = t, .p = p};
        flight_lose_all(&p->flight, packet_lost, &a);
        congestion_silence(&p->congestion, t->now);
    }
    p->probe = p->floor != p->number_next && !TP_MUTANT(NO_REPEAT);
    peer_touch(t, p);
}

/* ---- Associations ------------------------------------------------------------------------------------------------ */

/*
 * The receiver of m is gone, and may have taken m unless no part of it left before `since`. Sends m again where that is
 * safe or was asked for (rule 7), else ends it with status.
 */
static void lost_sight(struct transport *t, struct outgoing *m, cw_time since, bool may_restart, int status)
{
    bool unsent =
        m->state == OUTGOING_WAITING || (outgoing_has_number(m) && (m->next == 0 || !cw_time_before(m->left, since)));
    bool wanted =
        may_restart && m->tried_count < OUTGOING_TRIED && ((m->flags & TRANSPORT_RESTART) || TP_MUTANT(BLIND_RESTART));
    wanted =
        wanted && (m->answering == NULL || m->accept.piece == NULL); /* what was handed over cannot be taken back */
    if (unsent || wanted) {
        outgoing_lose_process(m);
        if (!unsent) {
            t->stats.restarts++;
            m->tried[m->tried_count++] = m->peer->instance;
        }
        outgoing_retry_later(t, m);
    } else {
        outgoing_finish(t, m, status);
    }
}

/* The same for all messages of one of the peer's lists. */
static void lost_sight_of_list(struct transport *t, struct list *list, cw_time since, bool may_restart, int status)
{
    struct list taken;
    list_init(&taken);
    list_splice_back(&taken, list);
    while (!list_is_empty(&taken)) {
        lost_sight(t, container_of(list_first(&taken), struct outgoing, link), since, may_restart, status);
    }
}

void outgoing_orphan(struct transport *t, struct peer *p)
{
    lost_sight_of_list(t, &p->awaiting, CW_NEVER, true, -ECONNRESET);
}

void outgoing_welcome(struct transport *t, struct peer *p, const struct segment *s, uint32_t wait_ns)
{
    if (p->state != PEER_HELLO || s->out != p->out_name) {
        t->stats.strange += p->state != PEER_OPEN;
        return;
    }
    if (p->instance != 0 && p->instance != s->instance) {
        outgoing_orphan(t, p);
    }
    p->state = PEER_OPEN;
    p->out_in = s->in;
    p->instance = s->instance;
    p->hello_due = CW_NEVER;
    p->number_next = 1;
    p->floor = 1;
    flight_restart(&p->flight, 1);
    if (p->hellos == 1) {
        cw_span took = cw_time_since(t->now, p->hello_sent);
        int64_t idle = took.ns - (int64_t)s->wait_ns - (int64_t)wait_ns;
        rtt_sample(&p->rtt, took, false, t->now);
        p->idle = CW_NS(idle > 0 ? idle : 0);
    }
    congestion_init(&p->congestion, t->mtu, peer_target(t, p), t->config.window_max);
    p->round = 1;
    p->progress = t->now;
    p->probes = 0;
    p->silent = 0;
    p->probe = false;
    p->loss_due = CW_NEVER;
    peer_touch(t, p);
}

void outgoing_reset(struct transport *t, struct peer *p, uint64_t instance, cw_span age)
{
    bool restarted = instance != p->instance;
    /*
     * A part that left after the new instance began cannot have been taken by the old one. Nor can one that left within
     * the last half of PEER_QUIET be taken by a peer that has forgotten us: it was silent for PEER_QUIET before (rule
     * 13). Clocks may run apart by some parts in a hundred.
     */
    int64_t ago = restarted ? age.ns - age.ns / 32 : PEER_QUIET.ns / 2;
    cw_time since = cw_time_add(t->now, CW_NS(-ago));
    p->state = PEER_CLOSED;
    lost_sight_of_list(t, &p->ready, since, restarted, -ECONNRESET);
    lost_sight_of_list(t, &p->sent, since, restarted, -ECONNRESET);
    lost_sight_of_list(t, &p->starved, since, restarted, -ECONNRESET);
    if (restarted) {
        outgoing_orphan(t, p);
    }
    flight_restart(&p->flight, p->flight.next);
    p->loss_due = CW_NEVER;
    p->instance = instance;
    peer_touch(t, p);
}

static void unreachable_list(struct transport *t, struct list *list)
{
    for (struct list_node *node = list_first(list), *next; node != NULL; node = next) {
        next = list_next(list, node);
        struct outgoing *m = container_of(node, struct outgoing, link);
        if (m->to.kind == CW_TO_KEY) {
            lost_sight(t, m, CW_NEVER, true, -ESTALE);
        } else if (!(m->flags & TRANSPORT_WAIT)) {
            outgoing_finish(t, m, -ENETUNREACH);
        }
    }
}

void outgoing_unreachable(struct transport *t, struct peer *p)
{
    unreachable_list(t, &p->waiting);
    unreachable_list(t, &p->ready);
    unreachable_list(t, &p->sent);
    unreachable_list(t, &p->starved);
    unreachable_list(t, &p->awaiting);
}

void outgoing_fail_all(struct transport *t, struct peer *p, int status)
{
    struct list *lists[] = {&p->waiting, &p->ready, &p->sent, &p->starved};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        while (!list_is_empty(lists[i])) {
            outgoing_finish(t, container_of(list_first(lists[i]), struct outgoing, link), status);
        }
    }
}
