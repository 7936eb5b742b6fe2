/* SPDX-License-Identifier: Apache-2.0 */
#include "guests_town.h"

static struct sent *sent_of(cw_packet *p)
{
    size_t length;
    const uint8_t *data = cw_packet_data(p, &length);
    uint64_t number = length >= 8 ? get_be64(data) : SENDS;
    if (number >= u.sends) {
        fail("50", "a packet that nobody sent", number, length);
        return NULL;
    }
    return &u.sent[number];
}

/* Who of those on the server has the key? */
static const struct visitor *server_of(cw_server s, unsigned job, cw_port port, uint64_t route)
{
    const struct visitor *best = NULL;
    for (unsigned k = 0; k < u.visitors; k++) {
        const struct visitor *v = &u.visitor[k];
        if (v->open && v->server == s && v->job == job && v->serves[port] && v->due == 0 &&
            (best == NULL || guests_hash(v->process, route) > guests_hash(best->process, route))) {
            best = v;
        }
    }
    return best;
}

static struct sent *judge_arrival(cw_packet *p, const cw_rx *rx, cw_job job, uint32_t life)
{
    struct sent *sent = sent_of(p);
    if (sent == NULL) {
        return NULL;
    }
    ledger->delivered++;
    if (rx->src_job != sent->from || rx->src_process != sent->process || life != sent->life ||
        torus_id(world_torus(u.world), rx->src_server) != sent->server) {
        fail("50", "the truth about who sent it", rx->src_process, sent->process);
    }
    if (sent->to != job || rx->port != sent->port || (rx->kind == CW_TO_KEY) != sent->key ||
        (rx->call != 0 && !sent->call)) {
        fail("50", "it is for another job or port", job, sent->to);
    }
    if (++sent->came > sent->attempts) {
        fail("50", "it came again", sent->came, sent->attempts);
    }
    return sent;
}

void answer(cw_svc *svc, uint32_t right, uint32_t number)
{
    cw_packet *p = cw_packet_new(svc, 8);
    if (p != NULL) {
        put_be64(cw_packet_data(p, NULL), number);
        (void)cw_reply(svc, right, 0, p);
    }
}

static cw_verdict on_packet(cw_svc *svc, void *state, cw_packet *p, const cw_rx *rx)
{
    struct visitor *v = state;
    struct sent *sent = judge_arrival(p, rx, FIRST + v->job, u.desk[v->server]->said(p).life);
    if (sent == NULL) {
        return CW_DROP;
    }
    if (!v->open || v->due != 0 || svc != v->svc) {
        fail("50", "it came to one who may not be here", v->server, v->process);
    }
    if (sent->key ? server_of(v->server, v->job, sent->port, sent->route) != v : sent->to_process != v->process) {
        fail("50", sent->key ? "it is another's key" : "it is for another process", v->process, sent->to_process);
    }
    if (sent->meant != 0 && sent->meant != v->life) {
        fail("50", "another attachment was meant", v->life, sent->meant);
    }
    ledger->keys += sent->key;
    ledger->meant += sent->meant != 0;
    if (rx->call != 0 && (u.exam > 0 || below(4) != 0)) {
        if (v->holds < HOLDS) {
            v->right[v->holds] = rx->call;
            v->number[v->holds++] = (uint32_t)(sent - u.sent);
        }
    } else if (rx->call != 0) {
        answer(svc, rx->call, (uint32_t)(sent - u.sent));
    }
    if (u.on && v->open &&
        below(GO) == 0) { /* in the midst of what is delivered, and of what is held and decided anew */
        leave(below(4) == 0 ? v : any_on(v->server));
    }
    return CW_DROP;
}

static void on_writable(cw_svc *svc, void *state)
{
    struct visitor *v = state;
    (void)svc;
    v->refused = false;
    ledger->told++;
}

void leave(struct visitor *v)
{
    v->going = true;
    u.desk[v->server]->close(v->svc);
    v->open = false;
}

static void on_end(cw_svc *svc, void *state, int why)
{
    struct visitor *v = state;
    (void)svc;
    ledger->ends++;
    if (why != v->due || v->told || !v->open) {
        fail("50", "told to go for another reason, or again", (unsigned)-why, (unsigned)-v->due);
    }
    v->told = true;
    if (below(2) == 0) {
        leave(v);
    }
}

const struct guest_table visitor_table = {.on_packet = on_packet, .on_writable = on_writable, .on_end = on_end};

void visitor_reply(cw_svc *svc, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    const struct visitor *v = state;
    struct sent *sent = arg;
    if (++sent->ended != 1) {
        fail("49", "a call ends twice", (uint64_t)(sent - u.sent), (unsigned)-status);
    }
    if (svc != v->svc || sent->life != v->life) {
        fail("49", "another's call ends", v->life, sent->life);
    }
    sent->status = status;
    ledger->answered += status == 0;
    ledger->refused += status == -ECONNREFUSED;
    ledger->reset += status == -ECONNRESET;
    ledger->timed_out += status == -ETIMEDOUT;
    if (status == -ECANCELED && !v->going && !u.dying[v->server]) {
        fail("49", "a call of one who stays is cancelled", v->server, v->process);
    }
    if (status == 0 && (sent_of(reply) != sent || sent->came == 0 || rx->src_job != sent->to ||
                        (!sent->key && rx->src_process != sent->to_process))) {
        fail("49", "the answer is another's", rx->src_process, sent->to_process);
    }
}

cw_verdict host_packet(cw_svc *s, void *state, cw_packet *p, const cw_rx *rx)
{
    (void)state;
    const struct sent *sent = judge_arrival(p, rx, HOST_JOB, u.desk[cw_server_id(s, cw_self(s))]->said(p).life);
    if (sent != NULL && rx->call != 0) {
        answer(s, rx->call, (uint32_t)(sent - u.sent));
    }
    return CW_DROP;
}
