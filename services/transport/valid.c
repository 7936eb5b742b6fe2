/* SPDX-License-Identifier: Apache-2.0 */
/*
 * valid.c - walks everything that an instance remembers and stops the program where a rule of
 * docs/services/transport.md is broken. Called at the end of every turn in debug and sanitizer builds, and in no other
 * (base/check.h).
 */
#include "services/transport/internal.h"

#include "base/check.h"
#include "keyspace/torus.h"

#include <stdio.h>

enum { WALK_WORDS = 64 /* of a longer message the bits are not walked: a turn must not take milliseconds */ };

#define RULE_1 "transport rule 1: a message is in one place, until its end is told once"
#define RULE_3 "transport rule 3: a message that has ended is not coming any more"
#define RULE_5 "transport rule 5: a part counts once"
#define RULE_6 "transport rule 6: what is lost and has not come is sent again"
#define RULE_10 "transport rule 10: bytes charged are bytes held"
#define RULE_11 "transport rule 11: bytes in flight are those of its packets, and the window keeps its bounds"
#define RULE_12 "transport rule 12: a turn leaves nothing undone, and the timer rings in time"
#define RULE_13 "transport rule 13: a peer is in the table once, at its place"
#define RULE_16 "transport rule 16: a message without more bytes waits apart, and repeats what is lost"
#define RULE_17 "transport rule 17: messages to one peer take turns, a packet each"
#define RULE_18 "transport rule 18: a background place that is full holds up nothing else"

enum { TEXT = 120 };

static const char *peer_text(char text[static TEXT], const struct transport *t, const struct peer *p)
{
    char self[TORUS_TEXT], server[TORUS_TEXT];
    torus_format(cw_self(t->user), self);
    torus_format(p->server, server);
    snprintf(text, TEXT, "server %s, its peer %u:%u port %u at %s", self, p->job, p->process, p->port, server);
    return text;
}

static const char *self_text(char text[static TEXT], const struct transport *t)
{
    char self[TORUS_TEXT];
    torus_format(cw_self(t->user), self);
    snprintf(text, TEXT, "server %s, job %u port %u", self, cw_job_of(t->user), t->config.port);
    return text;
}

#define OF_PEER(x, rule) CHECK_RULE(x, rule, peer_text((char[TEXT]){0}, t, p))
#define OF_SELF(x, rule) CHECK_RULE(x, rule, self_text((char[TEXT]){0}, t))

static size_t length_of(const struct list *list)
{
    size_t length = 0;
    for (struct list_node *node = list_first(list); node != NULL; node = list_next(list, node)) {
        length++;
    }
    return length;
}

static uint32_t bits_in(const uint64_t *bits, uint32_t count)
{
    uint32_t set = 0;
    for (uint32_t w = 0; w < (count + 63) / 64; w++) {
        set += (uint32_t)__builtin_popcountll(bits[w]);
    }
    return set;
}

/* ---- Messages that are sent -------------------------------------------------------------------------------------- */

static void parts_valid(const struct transport *t, const struct peer *p, const struct outgoing *m)
{
    OF_PEER(m->next <= m->parts && m->next <= m->limit, RULE_5);
    if ((m->parts + 63) / 64 > WALK_WORDS) {
        return;
    }
    OF_PEER(bits_in(m->lost_bits, m->parts) == m->lost, RULE_6);
    for (uint32_t w = 0; w < (m->parts + 63) / 64; w++) {
        OF_PEER((m->came_bits[w] & m->lost_bits[w]) == 0, RULE_6);
    }
    for (uint32_t i = m->next; i < m->parts; i++) {
        OF_PEER(!bit_has(m->came_bits, i) && !bit_has(m->lost_bits, i), RULE_5);
    }
}

/* One list of p's (NULL: of the instance's own), whose messages are all in that state. Adds them up. */
static void outgoing_list_valid(const struct transport *t, const struct peer *p, const struct list *list,
                                enum outgoing_state state, size_t *count, size_t *charged)
{
    for (struct list_node *node = list_first(list); node != NULL; node = list_next(list, node)) {
        const struct outgoing *m = container_of(node, struct outgoing, link);
        OF_SELF(m->state == state && m->peer == p && outgoing_find(t, m->id) == m, RULE_1);
        bool sending = state == OUTGOING_READY || state == OUTGOING_SENT || state == OUTGOING_STARVED;
        OF_SELF(!m->reading && (sending || !m->starved), RULE_1);
        if (sending) {
            uint32_t index;
            OF_PEER(m->number - p->floor < p->number_next - p->floor, RULE_1);
            OF_PEER(p->slot[m->number % SEGMENT_NUMBERS] == m, RULE_1);
            OF_PEER(outgoing_next(m, &index) == (state == OUTGOING_READY), RULE_6);
            OF_PEER(m->starved ? state != OUTGOING_SENT : state != OUTGOING_STARVED, RULE_16);
            OF_PEER(state != OUTGOING_READY || p->turn - m->turn < SEGMENT_NUMBERS, RULE_17);
            parts_valid(t, p, m);
        }
        OF_SELF(heap_is_queued(&m->due.entry) == (state != OUTGOING_FINISHED), RULE_12);
        ++*count;
        *charged += m->charged;
    }
}

static void flight_valid(const struct transport *t, const struct peer *p)
{
    const struct flight *f = &p->flight;
    uint32_t out = 0;
    uint64_t bytes = 0;
    OF_PEER(f->next - f->first <= f->capacity && f->capacity <= FLIGHT_MOST, RULE_11);
    for (uint32_t packet = f->first; packet != f->next; packet++) {
        const struct flight_packet *each = &f->ring[packet & (f->capacity - 1)];
        if (each->state == FLIGHT_OUT) {
            out++;
            bytes += each->bytes;
        }
    }
    OF_PEER(out == f->out && bytes == f->out_bytes, RULE_11);
    const struct congestion *c = &p->congestion;
    if (p->state == PEER_OPEN) {
        OF_PEER(c->window >= c->floor && (c->window <= c->most || c->window == c->floor), RULE_11);
    }
}

/* ---- Messages that come ------------------------------------------------------------------------------------------ */

static void incoming_valid(const struct transport *t, const struct peer *p, const struct incoming *in)
{
    OF_PEER(in->peer == p && !in->calling, RULE_12);
    OF_PEER(p->in_open && outcomes_of(&p->outcomes, in->number) == OUTCOME_OPEN, RULE_3);
    bool pieces = in->accept.piece != NULL;
    OF_PEER(in->got_count < in->parts, RULE_5); /* or it would have ended */
    if (pieces) {
        OF_PEER(in->next < in->parts && in->limit == in->next + in->slots && in->told <= in->limit, RULE_5);
        OF_PEER(in->stalled || !bit_has(in->got, in->next % in->slots), RULE_12);
    } else if ((in->parts + 63) / 64 <= WALK_WORDS) {
        OF_PEER(bits_in(in->got, in->parts) == in->got_count, RULE_5);
    }
    if (in->answer) {
        const struct outgoing *request = outgoing_of_request(t, in->m.reply_to.request);
        OF_PEER(request == NULL || request->answering == in, RULE_3);
    }
}

static void incoming_list_valid(const struct transport *t, const struct peer *p, size_t *charged)
{
    size_t memory = 0;
    unsigned count = 0;
    for (struct list_node *node = list_first(&p->incoming); node != NULL; node = list_next(&p->incoming, node)) {
        const struct incoming *in = container_of(node, struct incoming, link);
        incoming_valid(t, p, in);
        memory += in->charged;
        count++;
    }
    OF_PEER(count == p->incoming_count && count <= t->config.incoming_max, RULE_10);
    OF_PEER(memory == p->memory && memory <= t->config.peer_memory_max, RULE_10);
    for (unsigned w = 0; w < OUTCOMES_WORDS; w++) {
        OF_PEER((p->outcomes.tell[w] & ~p->outcomes.known[w]) == 0, RULE_3);
    }
    *charged += memory;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static void peer_valid(const struct transport *t, const struct peer *p, size_t *count, size_t *charged)
{
    OF_PEER(peer_find(t, (struct peer_name){p->job, p->process, p->port, p->background}) == p &&
                list_is_linked(&p->age),
            RULE_13);
    OF_PEER(p->number_next - p->floor <= SEGMENT_NUMBERS, RULE_3);
    OF_PEER(p->state == PEER_OPEN ||
                (list_is_empty(&p->ready) && list_is_empty(&p->sent) && list_is_empty(&p->starved)),
            RULE_1);
    outgoing_list_valid(t, p, &p->waiting, OUTGOING_WAITING, count, charged);
    outgoing_list_valid(t, p, &p->ready, OUTGOING_READY, count, charged);
    outgoing_list_valid(t, p, &p->sent, OUTGOING_SENT, count, charged);
    outgoing_list_valid(t, p, &p->starved, OUTGOING_STARVED, count, charged);
    outgoing_list_valid(t, p, &p->awaiting, OUTGOING_AWAITING, count, charged);
    flight_valid(t, p);
    incoming_list_valid(t, p, charged);
}

/* The timer rings when the first thing is due, or before. Without one nothing is due, or none could be started. */
static void timer_valid(const struct transport *t)
{
    cw_time first = heap_min_time(&t->due);
    for (unsigned place = 0; place < PLACES; place++) {
        first = t->blocked[place] ? cw_time_min(first, t->blocked_until[place]) : first;
    }
    bool rings = t->timer != NULL && t->timer_at.ns <= first.ns;
    OF_SELF(rings || (t->timer == NULL && (first.ns == CW_NEVER.ns || t->timer_failed)), RULE_12);
    OF_SELF(list_is_empty(&t->finished) || t->timer != NULL || t->timer_failed,
            RULE_12); /* ends are told by the timer */
}

bool transport_valid(const struct transport *t)
{
    size_t count = 0, charged = 0, coming = 0;
    uint64_t peers = 0;
    for (uint32_t b = 0; b < t->buckets; b++) {
        for (const struct peer *p = t->bucket[b]; p != NULL; p = p->next) {
            peer_valid(t, p, &count, &charged);
            coming += p->incoming_count;
            peers++;
        }
    }
    OF_SELF(peers == t->stats.peers && peers == length_of(&t->age) && peers <= t->config.peers_max, RULE_13);
    outgoing_list_valid(t, NULL, &t->retry, OUTGOING_RETRY, &count, &charged);
    outgoing_list_valid(t, NULL, &t->finished, OUTGOING_FINISHED, &count, &charged);
    OF_SELF(count == t->outgoing_count && count <= t->config.messages_max, RULE_1);
    OF_SELF(coming == length_of(&t->incoming), RULE_3);
    OF_SELF(charged == t->stats.memory && charged <= t->config.memory_max, RULE_10);
    bool done = list_is_empty(&t->touched[CW_PLACE_MAIN]) && list_is_empty(&t->touched[CW_PLACE_BACKGROUND]);
    OF_SELF(done || t->blocked[CW_PLACE_MAIN], RULE_12);
    OF_SELF(list_is_empty(&t->parked) || t->blocked[CW_PLACE_BACKGROUND], RULE_18);
    timer_valid(t);
    OF_SELF(heap_valid(&t->due), RULE_12);
    return true;
}
