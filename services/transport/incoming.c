/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incoming.c - messages that come: begun, gathered part by part, handed over once, or given up.
 */
#include "services/transport/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = SEGMENT_FIRST }; /* a sender may send so many parts before it was told a credit */

void incoming_owe(struct transport *t, struct peer *p, bool now)
{
    p->ack_now |= now;
    p->ack_due = cw_time_min(p->ack_due, cw_time_add(t->now, t->config.ack_delay));
    peer_touch(t, p);
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

/* Remembers the result of a message, which its sender is told (rule 3). */
static void end_number(struct transport *t, struct peer *p, uint32_t number, uint16_t result)
{
    outcomes_end(&p->outcomes, number, result);
    incoming_owe(t, p, false);
}

static void incoming_free(struct transport *t, struct incoming *in)
{
    struct peer *p = in->peer;
    struct outgoing *request = in->answer ? outgoing_of_request(t, in->m.reply_to.request) : NULL;
    if (request != NULL && request->answering == in) {
        request->answering = NULL;
    }
    list_remove(&in->link);
    list_remove(&in->all);
    p->incoming_count--;
    p->memory -= in->charged;
    if (!TP_MUTANT(FOREVER) || in->got_count == in->parts) {
        transport_uncharge(t, in->charged);
    }
    if (in->bytes != in->accept.into) {
        free(in->bytes);
    }
    free(in->places);
    free(in->got);
    free(in);
    peer_touch(t, p);
}

/* The service is told of a message that began and will not end well. */
static void tell_given_up(struct transport *t, const struct transport_message *m, const struct transport_accept *accept,
                          bool answer, int status)
{
    t->stats.given_up++;
    if (!answer && t->config.begin != NULL) {
        (void)t->config.message(t->config.context, accept->arg, m, NULL, status);
    }
}

/* Gives up a message that is coming: the service gets status, the sender result. */
static void give_up(struct transport *t, struct incoming *in, int status, uint16_t result)
{
    struct peer *p = in->peer;
    struct transport_message m = in->m;
    struct transport_accept accept = in->accept;
    bool answer = in->answer;
    end_number(t, p, in->number, result);
    incoming_free(t, in);
    tell_given_up(t, &m, &accept, answer, status);
    struct outgoing *request = answer ? outgoing_of_request(t, m.reply_to.request) : NULL;
    if (request != NULL && request->answering == NULL) {
        outgoing_finish(t, request, status); /* nobody else answers it */
    }
}

void incoming_drop(struct transport *t, struct incoming *in)
{
    t->stats.given_up++;
    end_number(t, in->peer, in->number, ENOENT);
    incoming_free(t, in);
}

/* An answer is whole: ends its request. Gives the result for the sender of the answer. */
static uint16_t hand_over_answer(struct transport *t, const struct transport_message *m, uint16_t status,
                                 const uint8_t *bytes)
{
    struct outgoing *request = outgoing_of_request(t, m->reply_to.request);
    if (request == NULL) {
        return ENOENT;
    }
    outgoing_detach(t, request);
    t->stats.done += status == 0;
    t->stats.failed += status != 0;
    t->stats.bytes_sent += request->data.size;
    t->stats.bytes_taken += m->bytes;
    transport_answer_fn answer = request->answer;
    void *arg = request->arg;
    outgoing_free(t, request);
    answer(t->config.context, arg, -(int)status, bytes, m->bytes, m);
    return 0;
}

/* A message is whole: hands it to the service. Gives the result that the sender is told. */
static uint16_t hand_over(struct transport *t, const struct transport_message *m, const struct transport_accept *accept,
                          bool answer, uint16_t status, const uint8_t *bytes)
{
    if (answer) {
        return hand_over_answer(t, m, status, bytes);
    }
    if (m->to_key && !cw_is_root(t->user, &m->key) && !TP_MUTANT(NO_ROOT_CHECK)) {
        t->stats.refused++;
        tell_given_up(t, m, accept, answer, -ESTALE);
        return RESULT_NOT_ROOT;
    }
    int rc = t->config.message(t->config.context, accept->arg, m, bytes, 0);
    if (rc < 0) {
        t->stats.refused++;
        return rc < -4095 ? EINVAL : (uint16_t)-rc;
    }
    t->stats.taken++;
    t->stats.bytes_taken += m->bytes;
    return 0;
}

/* The last part of a message that has a struct has come. */
static void complete(struct transport *t, struct incoming *in)
{
    struct peer *p = in->peer;
    uint32_t number = in->number;
    /* The struct goes before the callback, which may call anything here; the bytes stay until the callback returns. */
    struct transport_message m = in->m;
    struct transport_accept accept = in->accept;
    bool answer = in->answer, pieces = accept.piece != NULL;
    uint16_t status = in->status;
    uint8_t *bytes = in->bytes;
    bool owned = bytes != accept.into;
    in->bytes = accept.into; /* so that incoming_free() leaves them */
    incoming_free(t, in);
    uint16_t result = hand_over(t, &m, &accept, answer, status, pieces ? NULL : bytes);
    if (owned) {
        free(bytes);
    }
    end_number(t, p, number, result);
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static int call_piece(struct transport *t, struct incoming *in, const uint8_t *bytes, size_t length)
{
    if (in->answer && outgoing_of_request(t, in->m.reply_to.request) == NULL) {
        return -ENOENT; /* nobody waits any more */
    }
    in->calling = true;
    uint64_t offset = (uint64_t)in->next * in->part;
    int rc = in->accept.piece(t->config.context, in->accept.arg, &in->m, offset, bytes, length);
    in->calling = false;
    if (in->answer && outgoing_of_request(t, in->m.reply_to.request) == NULL) {
        return -ENOENT; /* it has ended in there */
    }
    return rc > 0 ? 0 : rc;
}

static uint8_t *slot_of(const struct incoming *in, uint32_t index)
{
    uint32_t slot = index % in->slots;
    return in->bytes + (size_t)slot * in->part;
}

/* Part in->next has been handed over. */
static void advance(struct incoming *in)
{
    in->next++;
    in->limit = in->next + in->slots;
    if (in->next == in->parts) {
        in->got_count = in->parts;
    }
}

/* Hands over parts from the ring, as long as the next one is there. False: the message has ended, and is freed. */
static bool drain(struct transport *t, struct incoming *in)
{
    while (in->next < in->parts && bit_has(in->got, in->next % in->slots)) {
        size_t length = segment_part_bytes(in->m.bytes, in->part, in->next);
        int rc = call_piece(t, in, slot_of(in, in->next), length);
        if (rc == -EAGAIN) {
            in->stalled = true;
            return true;
        }
        if (rc < 0) {
            t->stats.refused++;
            give_up(t, in, rc, (uint16_t)(rc < -4095 ? EINVAL : -rc));
            return false;
        }
        in->got[in->next % in->slots / 64] &= ~(UINT64_C(1) << in->next % in->slots % 64);
        advance(in);
    }
    if (in->next == in->parts) {
        complete(t, in);
        return false;
    }
    return true;
}

/* Takes a part of a message taken in pieces. False: there is no room for the part yet. */
static bool take_piece(struct transport *t, struct incoming *in, const struct segment_data *d)
{
    if (d->index < in->next) {
        t->stats.doubled++;
        in->told = 0; /* the sender may not have heard of its credit: tell it again */
        return true;
    }
    if (d->index >= in->limit) {
        return false;
    }
    uint32_t slot = d->index % in->slots;
    if (bit_has(in->got, slot)) {
        t->stats.doubled++;
        in->told = 0;
        return true;
    }
    if (d->index == in->next && !in->stalled) {
        int rc = call_piece(t, in, d->bytes, d->length);
        if (rc == 0) {
            advance(in);
            (void)drain(t, in);
            return true;
        }
        if (rc != -EAGAIN) {
            t->stats.refused++;
            give_up(t, in, rc, (uint16_t)(rc < -4095 ? EINVAL : -rc));
            return true;
        }
        in->stalled = true;
    }
    uint32_t at = TP_MUTANT(WRONG_SLOT) ? d->index + 1 : d->index;
    memcpy(slot_of(in, at), d->bytes, d->length);
    in->got[slot / 64] |= UINT64_C(1) << slot % 64;
    return true;
}

/* Takes a part of a message taken whole. */
static void take_whole(struct transport *t, struct incoming *in, const struct segment_data *d)
{
    if (bit_has(in->got, d->index) && !TP_MUTANT(NO_GOT)) {
        t->stats.doubled++;
        in->told = 0;
        return;
    }
    in->got[d->index / 64] |= UINT64_C(1) << d->index % 64;
    in->got_count++;
    if (in->accept.place_count > 0) {
        places_put(&in->accept, (uint64_t)d->index * in->part, d->bytes, d->length);
    } else if (d->length > 0) {
        memcpy(in->bytes + (size_t)d->index * in->part, d->bytes, d->length);
    }
    if (in->got_count >= in->parts) {
        complete(t, in);
    }
}

/* ---- Beginnings -------------------------------------------------------------------------------------------------- */

static struct transport_message message_of(const struct peer *p, const struct segment_data *d, const cw_rx *rx)
{
    struct transport_message m = {
        .size = sizeof(struct transport_message),
        .bytes = d->total,
        .tag = d->tag,
        .src_job = rx->src_job,
        .src_process = rx->src_process,
        .src_server = rx->src_server,
        .to_key = (d->flags & DATA_KEY) != 0,
        .key = d->key,
        .request = (d->flags & DATA_REQUEST) != 0,
        .reply_to = {rx->src_job, rx->src_process, rx->src_server, p->port, d->request},
        .asker = {rx->src_job, rx->src_process, rx->src_server, p->port, d->message, p->background},
        .head_length = d->head_bytes,
    };
    memcpy(m.head, d->head, d->head_bytes);
    return m;
}

/* Sets how the message is taken. Gives 0, or the result with which it is refused. */
static uint16_t ask(struct transport *t, const struct transport_message *m, bool answer, struct transport_accept *out)
{
    uint64_t most = t->config.message_max;
    memset(out, 0, sizeof *out);
    if (answer) {
        struct outgoing *request = outgoing_of_request(t, m->reply_to.request);
        if (request == NULL || request->to.job != m->src_job || request->answering != NULL) {
            return ENOENT;
        }
        *out = request->accept;
        most = request->reply_max;
        if (m->bytes > most && out->piece == NULL) {
            outgoing_finish(t, request, -EMSGSIZE);
            return EMSGSIZE;
        }
        return 0;
    }
    if (m->to_key && !cw_is_root(t->user, &m->key) && !TP_MUTANT(NO_ROOT_CHECK)) {
        return RESULT_NOT_ROOT;
    }
    if (t->config.begin != NULL) {
        int rc = t->config.begin(t->config.context, m, out);
        if (rc == -EAGAIN) {
            return RESULT_WAIT;
        }
        if (rc < 0) {
            return rc < -4095 ? EINVAL : (uint16_t)-rc;
        }
    }
    bool own = out->into != NULL || out->piece != NULL || out->place_count > 0;
    if (own ? !places_hold(out, m->bytes) : m->bytes > most) {
        tell_given_up(t, m, out, false, -EMSGSIZE);
        return EMSGSIZE;
    }
    return 0;
}

/* Makes the struct and memory for a message. NULL: *result says whether there will never be room, or not now. */
static struct incoming *gather(struct transport *t, struct peer *p, const struct segment_data *d,
                               const struct transport_accept *accept, uint16_t *result)
{
    uint32_t parts = (uint32_t)segment_parts(d->total, d->part);
    uint32_t slots = 0;
    if (accept->piece != NULL) {
        size_t window = t->config.piece_window / d->part;
        slots = window < SLOTS_LEAST ? SLOTS_LEAST : (uint32_t)window;
    }
    bool own = accept->into != NULL || accept->place_count > 0;
    uint64_t bytes = slots > 0 ? (uint64_t)slots * d->part : own ? 0 : d->total;
    size_t words = ((size_t)(slots > 0 ? slots : parts) + 63) / 64;
    uint64_t need = bytes + words * sizeof(uint64_t) + accept->place_count * sizeof(struct transport_place);
    *result = RESULT_BUSY;
    if (need > t->config.peer_memory_max || need > t->config.memory_max) {
        *result = ENOBUFS;
        return NULL;
    }
    if (p->incoming_count >= t->config.incoming_max || need > t->config.peer_memory_max - p->memory ||
        !transport_charge(t, (size_t)need)) {
        return NULL;
    }
    struct incoming *in = calloc(1, sizeof *in);
    uint64_t *got = calloc(words, sizeof *got);
    uint8_t *memory = bytes > 0 ? malloc((size_t)bytes) : accept->into;
    struct transport_accept kept = *accept;
    struct transport_place *places = NULL;
    if (in == NULL || got == NULL || (bytes > 0 && memory == NULL) || !places_copy(&kept, &places)) {
        transport_uncharge(t, (size_t)need);
        free(in);
        free(got);
        if (bytes > 0) {
            free(memory);
        }
        return NULL;
    }
    *in = (struct incoming){
        .peer = p,
        .number = d->number,
        .parts = parts,
        .part = d->part,
        .accept = kept,
        .places = places,
        .bytes = memory,
        .got = got,
        .slots = slots,
        .limit = slots > 0 ? slots : UINT32_MAX,
        .charged = (size_t)need,
    };
    p->memory += in->charged;
    p->incoming_count++;
    list_push_back(&p->incoming, &in->link);
    list_push_back(&t->incoming, &in->all);
    return in;
}

/* The first part of a message has come. NULL: the message has ended already: taken or refused. */
static struct incoming *begin(struct transport *t, struct peer *p, const struct segment_data *d, const cw_rx *rx)
{
    struct transport_message m = message_of(p, d, rx);
    struct transport_accept accept;
    bool answer = (d->flags & DATA_ANSWER) != 0;
    bool single = d->total <= d->part;
    m.incoming = single ? 0 : ++t->incoming_ids;
    uint16_t result = ask(t, &m, answer, &accept);
    if (result != 0) {
        t->stats.refused += result != RESULT_WAIT;
        end_number(t, p, d->number, result);
        return NULL;
    }
    if (single && accept.piece == NULL) {
        const uint8_t *bytes = d->bytes;
        if (accept.place_count > 0) {
            places_put(&accept, 0, d->bytes, d->length);
            bytes = NULL;
        } else if (accept.into != NULL && d->length > 0) {
            memcpy(accept.into, d->bytes, d->length);
            bytes = accept.into;
        }
        end_number(t, p, d->number, hand_over(t, &m, &accept, answer, d->status, bytes));
        return NULL;
    }
    m.incoming = m.incoming == 0 ? ++t->incoming_ids : m.incoming;
    struct incoming *in = gather(t, p, d, &accept, &result);
    if (in == NULL) {
        end_number(t, p, d->number, result);
        tell_given_up(t, &m, &accept, answer, -ENOBUFS);
        if (answer && result == ENOBUFS) {
            struct outgoing *request = outgoing_of_request(t, m.reply_to.request);
            if (request != NULL) {
                outgoing_finish(t, request, -ENOBUFS);
            }
        }
        return NULL;
    }
    in->m = m;
    in->answer = answer;
    in->status = d->status;
    if (answer) {
        outgoing_of_request(t, m.reply_to.request)->answering = in;
    }
    return in;
}

static struct incoming *find(const struct peer *p, uint32_t number)
{
    for (struct list_node *node = list_first(&p->incoming); node != NULL; node = list_next(&p->incoming, node)) {
        struct incoming *in = container_of(node, struct incoming, link);
        if (in->number == number) {
            return in;
        }
    }
    return NULL;
}

/* The sender has heard the results of all messages below `floor`: forgets them. */
static void raise_floor(struct transport *t, struct peer *p, uint32_t floor)
{
    if ((int32_t)(floor - p->outcomes.floor) <= 0) {
        return;
    }
    for (struct list_node *node = list_first(&p->incoming); node != NULL;) {
        struct incoming *in = container_of(node, struct incoming, link);
        node = list_next(&p->incoming, node);
        if ((int32_t)(in->number - floor) < 0) {
            give_up(t, in, -ECONNRESET, ECANCELED);
            node = list_first(&p->incoming); /* the callback may have changed the list */
        }
    }
    outcomes_raise(&p->outcomes, floor);
}

/* Takes a part of a message that has begun. False: there is no room for the part yet. */
static bool take_part(struct transport *t, struct incoming *in, const struct segment_data *d)
{
    if (in->m.bytes != d->total || in->part != d->part) {
        t->stats.malformed++;
        return true;
    }
    in->heard = t->now;
    in->credit_used |= d->index >= SEGMENT_FIRST;
    if (in->answer && outgoing_of_request(t, in->m.reply_to.request) == NULL) {
        give_up(t, in, -ENOENT, ENOENT); /* the request has ended, and the memory lent for its answer may be gone */
        return true;
    }
    if (in->accept.piece != NULL) {
        return take_piece(t, in, d);
    }
    take_whole(t, in, d);
    return true;
}

void incoming_data(struct transport *t, struct peer *p, const struct segment_data *d, bool now, const cw_rx *rx)
{
    if (arrivals_has(&p->arrivals, d->packet)) {
        t->stats.doubled++;
        incoming_owe(t, p, now);
        return;
    }
    raise_floor(t, p, d->floor);
    enum outcome outcome = outcomes_of(&p->outcomes, d->number);
    struct incoming *in = find(p, d->number);
    bool taken = true;
    if (outcome == OUTCOME_KNOWN && !TP_MUTANT(TAKE_TWICE)) {
        t->stats.doubled++;
        outcomes_tell(&p->outcomes, d->number);
    } else if (outcome != OUTCOME_OUTSIDE) {
        in = in != NULL ? in : begin(t, p, d, rx);
        taken = in == NULL || take_part(t, in, d);
    }
    if (taken) {
        arrivals_note(&p->arrivals, d->packet, t->now);
        p->unacked++;
    }
    if (p->arrivals.any) {
        incoming_owe(t, p, now);
    }
}

void incoming_given_up(struct transport *t, struct peer *p, uint32_t number)
{
    struct incoming *in = find(p, number);
    if (in != NULL) {
        give_up(t, in, -ECONNRESET, ECANCELED);
    } else if (outcomes_of(&p->outcomes, number) == OUTCOME_OPEN) {
        outcomes_end(&p->outcomes, number,
                     ECANCELED); /* it has overtaken the message's parts: they are not to begin it */
    }
}

void incoming_restart(struct transport *t, struct peer *p)
{
    while (!list_is_empty(&p->incoming)) {
        give_up(t, container_of(list_first(&p->incoming), struct incoming, link), -ECONNRESET, ECANCELED);
    }
    p->arrivals = (struct arrivals){.any = false};
    outcomes_restart(&p->outcomes, 1);
    p->unacked = 0;
    p->ack_now = false;
    p->ack_due = CW_NEVER;
}

void incoming_silence(struct transport *t, struct peer *p)
{
    for (struct list_node *node = list_first(&p->incoming); node != NULL;) {
        struct incoming *in = container_of(node, struct incoming, link);
        node = list_next(&p->incoming, node);
        if (cw_time_due(cw_time_add(in->heard, t->config.silence), t->now)) {
            give_up(t, in, -ETIMEDOUT, ETIMEDOUT);
            node = list_first(&p->incoming);
        }
    }
}

/* It answers a request whose read() is running. */
static bool request_reads(const struct transport *t, const struct incoming *in)
{
    const struct outgoing *request = in->answer ? outgoing_of_request(t, in->m.reply_to.request) : NULL;
    return request != NULL && request->reading;
}

int incoming_resume(struct transport *t, uint64_t id)
{
    for (struct list_node *node = list_first(&t->incoming); node != NULL; node = list_next(&t->incoming, node)) {
        struct incoming *in = container_of(node, struct incoming, all);
        if (in->m.incoming != id) {
            continue;
        }
        if (in->calling) {
            return -EINVAL; /* from within its own piece() */
        }
        if (request_reads(t, in)) { /* what comes now may end the request, whose read() and part are in use */
            in->again = true;
            t->again = true;
            return 0;
        }
        struct peer *p = in->peer;
        peer_touch(t, p);
        in->stalled = false;
        if (drain(t, in)) {
            incoming_owe(t, p, in->told != in->limit);
        }
        return 0;
    }
    return -ENOENT;
}

void incoming_close(struct transport *t)
{
    while (!list_is_empty(&t->incoming)) {
        give_up(t, container_of(list_first(&t->incoming), struct incoming, all), -ECANCELED, ECANCELED);
    }
}

void incoming_untell(struct peer *p, const struct segment_note *note, unsigned notes)
{
    for (unsigned i = 0; i < notes; i++) {
        struct incoming *in = note[i].kind == NOTE_CREDIT ? find(p, note[i].number) : NULL;
        if (in != NULL) {
            in->told = 0;
        }
    }
}

unsigned incoming_notes(struct peer *p, struct segment_note *note, unsigned most)
{
    unsigned notes = 0;
    for (struct list_node *node = list_first(&p->incoming); node != NULL && notes < most;
         node = list_next(&p->incoming, node)) {
        struct incoming *in = container_of(node, struct incoming, link);
        if (in->told != in->limit || (!in->credit_used && in->parts > SEGMENT_FIRST)) {
            in->told = in->limit;
            note[notes++] = (struct segment_note){NOTE_CREDIT, in->number, in->limit};
        }
    }
    return notes;
}
