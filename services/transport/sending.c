/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sending.c - what leaves now. The peers that were touched send in turns, one packet each, until their windows are
 * full, nothing is left, or the service's queue is full. In the last case on_writable goes on with the peer whose turn
 * it was.
 *
 * Data of the background waits in the service's background place. Everything else, acknowledgements of such data too,
 * waits in the main one: it is little, and others wait for it. So a background place that is full, or whose turn does
 * not come, stops nothing else (rule 18).
 */
#include "services/transport/internal.h"

#include <errno.h>
#include <string.h>

enum {
    ACK_EVERY = 4, /* packets */
    ACK_MOST = SEGMENT_ACK_BYTES + 8 * SEGMENT_WORDS + SEGMENT_NOTE_BYTES * SEGMENT_NOTES,
};
/* Then we try again, should on_writable not have come; in the background a turn may well not come for long. */
#define BLOCKED_MOST CW_MS(1)
#define BLOCKED_MOST_BACKGROUND CW_MS(10)
#define UNREACHABLE_WAIT CW_MS(2)

static cw_to address_of(const struct peer *p)
{
    return (cw_to){.kind = CW_TO_SERVER, .job = p->job, .port = p->port, .server = p->server, .process = p->process};
}

static uint8_t class_of(const struct peer *p)
{
    return p->background ? FLAG_BACKGROUND : 0;
}

/* Makes a packet: the head of s and, behind it, `room` bytes for the caller to fill at *body. NULL: no memory. */
static cw_packet *make(struct transport *t, const struct segment *s, size_t room, uint8_t **body)
{
    size_t head = segment_head(s);
    cw_packet *packet = cw_packet_new(t->user, head + room);
    if (packet == NULL) {
        return NULL;
    }
    uint8_t *bytes = cw_packet_data(packet, NULL);
    segment_encode(s, bytes);
    *body = bytes + head;
    return packet;
}

uint32_t sending_waited(const cw_packet *p)
{
    uint64_t waited = 0;
    cw_trace_hop hop = {.size = sizeof hop};
    for (unsigned i = 0; cw_packet_trace(p, i, &hop) == 0; i++) {
        waited += hop.wait_ns;
    }
    return waited > UINT32_MAX ? UINT32_MAX : (uint32_t)waited;
}

enum launch { LAUNCH_PLAIN, LAUNCH_TRACED, LAUNCH_BACKGROUND };

static int launch_to(struct transport *t, const cw_to *to, cw_packet *packet, enum launch how)
{
    static const cw_send_options traced = {CW_SEND_INIT, .trace = true};
    static const cw_send_options background = {CW_SEND_INIT, .place = CW_PLACE_BACKGROUND};
    static const cw_send_options *const options[] = {NULL, &traced, &background};
    int rc = cw_send(t->user, packet, to, options[how]);
    if (rc < 0) {
        cw_packet_free(t->user, packet);
        return rc;
    }
    t->stats.packets++;
    return 0;
}

static int launch(struct transport *t, const struct peer *p, cw_packet *packet, enum launch how)
{
    const cw_to to = address_of(p);
    return launch_to(t, &to, packet, how);
}

int sending_to(struct transport *t, const cw_to *to, const struct segment *s)
{
    struct segment named = *s;
    uint8_t *body;
    named.port = t->config.port;
    cw_packet *packet = make(t, &named, 0, &body);
    return packet == NULL ? -ENOMEM : launch_to(t, to, packet, LAUNCH_PLAIN);
}

void sending_control(struct transport *t, const struct peer *p, const struct segment *s)
{
    struct segment named = *s;
    uint8_t *body;
    named.port = t->config.port;
    named.flags |= class_of(p);
    cw_packet *packet = make(t, &named, 0, &body);
    if (packet != NULL) {
        (void)launch(t, p, packet, s->kind == SEGMENT_WELCOME ? LAUNCH_TRACED : LAUNCH_PLAIN);
    }
}

/* ---- Acknowledgements -------------------------------------------------------------------------------------------- */

static bool owes(const struct peer *p)
{
    return p->in_open && p->ack_due.ns != INT64_MAX;
}

static bool owes_now(const struct transport *t, const struct peer *p)
{
    return owes(p) && (p->ack_now || p->unacked >= ACK_EVERY || cw_time_due(p->ack_due, t->now));
}

/* Fills an acknowledgement with up to `most` results and credits, which count as told. */
static void fill_ack(struct transport *t, struct peer *p, struct segment_ack *a, unsigned most)
{
    a->out = p->in_out;
    a->in = p->in_name;
    a->newest = p->arrivals.newest;
    int64_t delay = cw_time_since(t->now, p->arrivals.at).ns;
    a->delay_ns = delay < 0 ? 0 : delay > UINT32_MAX ? UINT32_MAX : (uint32_t)delay;
    a->words = arrivals_words(&p->arrivals);
    memcpy(a->word, p->arrivals.word, sizeof a->word);
    a->notes = outcomes_notes(&p->outcomes, a->note, most);
    a->notes += incoming_notes(p, a->note + a->notes, most - a->notes);
}

/* The acknowledgement did not leave: what fill_ack() counted as told is to be told again, and nothing else changes. */
static void unfill_ack(struct peer *p, const struct segment_ack *a)
{
    for (unsigned i = 0; i < a->notes; i++) {
        if (a->note[i].kind == NOTE_RESULT) {
            outcomes_tell(&p->outcomes, a->note[i].number);
        }
    }
    incoming_untell(p, a->note, a->notes);
}

static void acked(struct transport *t, struct peer *p)
{
    bool more = outcomes_untold(&p->outcomes);
    p->unacked = 0;
    p->ack_now = more;
    p->ack_due = more ? t->now : CW_NEVER;
}

/* What made us owe an acknowledgement, before acked(). */
struct debt {
    unsigned unacked;
    bool now;
    cw_time due;
};

/* The acknowledgement that was filled has not left after all: it is owed as before, beside what was added since. */
static void owe_again(struct peer *p, const struct debt *before)
{
    p->unacked += before->unacked;
    p->ack_now |= before->now;
    p->ack_due = cw_time_min(p->ack_due, before->due);
}

/* Sends an acknowledgement alone. */
static int send_ack(struct transport *t, struct peer *p)
{
    struct segment s = {.kind = SEGMENT_SEGMENT, .flags = FLAG_ACK | class_of(p), .port = t->config.port};
    uint8_t *body;
    fill_ack(t, p, &s.ack, SEGMENT_NOTES);
    cw_packet *packet = make(t, &s, 0, &body);
    int rc = packet == NULL ? -ENOMEM : launch(t, p, packet, LAUNCH_PLAIN);
    if (rc == -EAGAIN) {
        unfill_ack(p, &s.ack);
        return rc;
    }
    t->stats.acks += rc == 0;
    acked(t, p); /* if it could not be sent, the peer will repeat what it was for */
    return rc;
}

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static void fill_data(const struct peer *p, const struct outgoing *m, uint32_t index, struct segment_data *d)
{
    *d = (struct segment_data){
        .out = p->out_name,
        .in = p->out_in,
        .packet = p->flight.next,
        .number = m->number,
        .floor = p->floor,
        .total = m->data.size,
        .index = index,
        .part = (uint16_t)m->part,
        .tag = m->tag,
        .message = outgoing_name(m),
        .request = m->request,
        .status = m->kind == OUTGOING_ANSWER ? m->answer_status : 0,
    };
    d->flags |= m->kind == OUTGOING_REQUEST ? DATA_REQUEST : 0;
    d->flags |= m->kind == OUTGOING_ANSWER ? DATA_ANSWER : 0;
    if (m->to.kind == CW_TO_KEY) {
        d->flags |= DATA_KEY;
        d->key = m->to.key;
    }
    if (!m->begun && !(TP_MUTANT(HEAD_ONCE) && index > 0)) {
        d->head = m->head;
        d->head_bytes = m->head_bytes;
    }
}

static bool window_open(const struct peer *p, size_t bytes)
{
    return p->flight.out == 0 || p->flight.out_bytes + bytes <= p->congestion.window;
}

/*
 * Should the receiver acknowledge this packet at once? Yes when nothing more may leave after it, when it is the last of
 * a long message, and when it is a repetition.
 */
static bool wants_answer(const struct transport *t, const struct peer *p, const struct outgoing *m, uint32_t index)
{
    return !window_open(p, t->mtu + t->mtu) || (m->parts > 1 && index + 1 == m->parts) || index + 1 == m->limit ||
           index < m->next;
}

/*
 * Has the message itself write a part. -ECANCELED: it has none to give now, or has ended. read() may call in again, and
 * then much of this instance changes; but m stays, with its peer: until read() has returned it cannot be cancelled, and
 * its answer is not resumed.
 */
static int read_part(struct transport *t, struct outgoing *m, uint32_t index, uint8_t *out, size_t length)
{
    m->reading = true;
    int rc = m->data.read(t->config.context, m->arg, (uint64_t)index * m->part, out, length);
    m->reading = false;
    CHECK(outgoing_has_number(m));
    if (rc >= 0) {
        return 0;
    }
    if (rc == -EAGAIN && index >= m->next) {
        outgoing_starve(m);
    } else {
        outgoing_finish(t, m, rc);
    }
    return -ECANCELED;
}

/*
 * Sends part `index` of m. Gives 0, or why it could not leave: -EAGAIN queue full, -ECANCELED the message has ended, or
 * has not got it yet.
 */
static int send_part(struct transport *t, struct peer *p, struct outgoing *m, uint32_t index)
{
    int rc = flight_reserve(&p->flight);
    if (rc < 0) {
        return -ENOMEM;
    }
    size_t length = segment_part_bytes(m->data.size, m->part, index);
    struct segment s = {.kind = SEGMENT_SEGMENT, .flags = FLAG_DATA | class_of(p), .port = t->config.port};
    fill_data(p, m, index, &s.data);
    s.flags |= wants_answer(t, p, m, index) ? FLAG_NOW : 0;
    size_t head = segment_head(&s);
    bool with_ack = !p->background && owes(p) && head + length + ACK_MOST <= t->mtu;
    const struct debt before = {p->unacked, p->ack_now, p->ack_due};
    if (with_ack) {
        s.flags |= FLAG_ACK;
        fill_ack(t, p, &s.ack, SEGMENT_NOTES);
        acked(t, p); /* here, so that what read() adds to it stays owed */
    }
    uint8_t *body;
    cw_packet *packet = make(t, &s, length, &body);
    rc = packet == NULL ? -ENOMEM : 0;
    if (packet != NULL && m->data.read != NULL) {
        rc = read_part(t, m, index, body, length);
        if (rc < 0) {
            cw_packet_free(t->user, packet);
        }
    } else if (packet != NULL && length > 0) {
        memcpy(body, (const uint8_t *)m->data.bytes + (uint64_t)index * m->part, length);
    }
    bool background = p->background && !TP_MUTANT(MAIN_PLACE);
    rc = rc < 0 ? rc : launch(t, p, packet, background ? LAUNCH_BACKGROUND : LAUNCH_PLAIN);
    if (rc < 0) {
        if (with_ack) {
            unfill_ack(p, &s.ack);
            owe_again(p, &before);
        }
        return rc;
    }
    flight_add(&p->flight, t->now, m->number, index, (uint32_t)(head + length));
    outgoing_left(t, p, m, index);
    return 0;
}

/*
 * The message and part that a time-out repeats: the first part without an acknowledgement of the oldest message, but
 * for those whose parts have all come as far as read() gave them.
 */
static struct outgoing *probe_part(const struct peer *p, uint32_t *index)
{
    for (uint32_t number = p->floor; number != p->number_next; number++) {
        struct outgoing *m = p->slot[number % SEGMENT_NUMBERS];
        if (m == NULL) {
            continue;
        }
        for (*index = 0; *index + 1 < m->next && bit_has(m->came_bits, *index); (*index)++) {
        }
        if (!m->starved || (*index < m->next && !bit_has(m->came_bits, *index))) {
            return m;
        }
    }
    return NULL;
}

static int send_hello(struct transport *t, struct peer *p)
{
    if (p->state == PEER_CLOSED) {
        p->state = PEER_HELLO;
        p->out_name = ++t->names;
        p->hellos = 0;
    } else if (!cw_time_due(p->hello_due, t->now)) {
        return -EAGAIN;
    }
    const struct segment s = {.kind = SEGMENT_HELLO,
                              .flags = class_of(p),
                              .port = t->config.port,
                              .out = p->out_name,
                              .instance = t->instance};
    cw_span wait = rtt_timeout(&p->rtt, t->config.rto_min, t->config.rto_max);
    for (unsigned i = 0; i < p->hellos && wait.ns < t->config.rto_max.ns; i++) {
        wait.ns *= 2;
    }
    p->hello_sent = t->now;
    p->hello_due = cw_time_add(t->now, wait.ns > t->config.rto_max.ns ? t->config.rto_max : wait);
    p->hellos += p->hellos < 30;
    uint8_t *body;
    cw_packet *packet = make(t, &s, 0, &body);
    return packet == NULL ? -ENOMEM : launch(t, p, packet, LAUNCH_TRACED);
}

/* There is no room in that place. */
static void block(struct transport *t, cw_place place)
{
    t->blocked[place] = true;
    t->blocked_until[place] =
        cw_time_add(t->now, place == CW_PLACE_BACKGROUND ? BLOCKED_MOST_BACKGROUND : BLOCKED_MOST);
    if (place == CW_PLACE_BACKGROUND && TP_MUTANT(BACKGROUND_BLOCKS)) {
        t->blocked[CW_PLACE_MAIN] = true;
        t->blocked_until[CW_PLACE_MAIN] = t->blocked_until[place];
    }
}

/* A packet could not be sent: tries again later, or ends the messages. */
static void refused(struct transport *t, struct peer *p, int rc)
{
    switch (rc) {
    case -EAGAIN:
        block(t, peer_place(p));
        return;
    case -ENETUNREACH:
        p->retry_at = cw_time_add(t->now, UNREACHABLE_WAIT);
        outgoing_unreachable(t, p);
        return;
    case -ENOMEM:
    case -ENOBUFS:
        p->retry_at = cw_time_add(t->now, UNREACHABLE_WAIT);
        return;
    case -ECANCELED:
        return;
    default:
        outgoing_fail_all(t, p, rc);
        return;
    }
}

/* Sends one packet of the peer's. True: there may be more. */
static bool send_one(struct transport *t, struct peer *p)
{
    if (cw_time_before(t->now, p->retry_at)) {
        return false;
    }
    if (p->state != PEER_OPEN) {
        if (list_is_empty(&p->waiting)) {
            return false;
        }
        int rc = send_hello(t, p);
        if (rc < 0 && rc != -EAGAIN) {
            refused(t, p, rc);
        }
        return false;
    }
    outgoing_number(t, p);
    uint32_t index;
    struct outgoing *m = NULL;
    bool probe = p->probe;
    if (probe) {
        m = probe_part(p, &index);
        p->probe = false;
    }
    if (m == NULL && !list_is_empty(&p->ready)) {
        m = container_of(list_first(&p->ready), struct outgoing, link);
        CHECK(outgoing_next(m, &index));
        CHECK(p->turn - m->turn < SEGMENT_NUMBERS); /* each of the others has had one turn at most (rule 17) */
        probe = false;
        if (!window_open(p, t->mtu)) {
            p->congestion.limited = true;
            return false;
        }
    }
    if (m == NULL) {
        return false;
    }
    int rc = send_part(t, p, m, index);
    if (rc < 0) {
        refused(t, p, rc);
        return rc == -ECANCELED;
    }
    p->turn += !probe;
    if (m->state == OUTGOING_READY && !TP_MUTANT(NO_TURNS)) {
        m->turn = p->turn;
        list_move_back(&p->ready, &m->link);
    }
    return true;
}

static void rest(struct transport *t, struct peer *p)
{
    list_remove(&p->touched);
    transport_due(t, &p->due, peer_wake(t, p));
}

static void flush_main(struct transport *t)
{
    struct list *touched = &t->touched[CW_PLACE_MAIN];
    while (!t->blocked[CW_PLACE_MAIN] && !list_is_empty(touched)) {
        struct peer *p = container_of(list_first(touched), struct peer, touched);
        if (send_one(t, p)) {
            list_move_back(touched, &p->touched);
            continue;
        }
        if (t->blocked[CW_PLACE_MAIN]) {
            return; /* the peer stays first in line for when there is room */
        }
        if (owes_now(t, p) && send_ack(t, p) == -EAGAIN) {
            block(t, CW_PLACE_MAIN);
            return;
        }
        rest(t, p);
    }
}

/*
 * While there is no room in the background place, acknowledgements leave all the same, and the peers are parked:
 * sending_unblock() touches them again, in this order.
 */
static void flush_background(struct transport *t)
{
    struct list *touched = &t->touched[CW_PLACE_BACKGROUND];
    while (!t->blocked[CW_PLACE_MAIN] && !list_is_empty(touched)) {
        struct peer *p = container_of(list_first(touched), struct peer, touched);
        bool may = !t->blocked[CW_PLACE_BACKGROUND] || p->state != PEER_OPEN; /* a hello waits in the main place */
        if (may && send_one(t, p)) {
            list_move_back(touched, &p->touched);
            continue;
        }
        if (owes_now(t, p) && send_ack(t, p) == -EAGAIN) {
            block(t, CW_PLACE_MAIN);
            return;
        }
        rest(t, p);
        if (t->blocked[CW_PLACE_BACKGROUND] && !list_is_linked(&p->parked)) {
            list_push_back(&t->parked, &p->parked);
        }
    }
}

void sending_flush(struct transport *t)
{
    flush_main(t);
    flush_background(t);
}

void sending_unblock(struct transport *t, cw_place place)
{
    t->blocked[place] = false;
    while (place == CW_PLACE_BACKGROUND && !list_is_empty(&t->parked)) {
        struct peer *p = container_of(list_pop_front(&t->parked), struct peer, parked);
        if (!list_is_linked(&p->touched)) {
            list_push_back(&t->touched[place], &p->touched);
        }
    }
}
