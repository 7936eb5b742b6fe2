/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retrying.c - where a message goes, at first and again: to a peer, or to t->retry until something has changed. What it
 * waits for there may be time, permission, or the answer to the question which process has its key.
 */
#include "services/transport/internal.h"

#include <errno.h>
#include <string.h>

#define BACKOFF_LEAST CW_US(200)
#define BACKOFF_MOST CW_MS(20)
#define ASK_LEAST CW_MS(1)
enum { ASK_DOUBLED = 6 }; /* times: to 64 ms */

/* Prepares another attempt, from the first byte. */
static void rewind_parts(struct outgoing *m)
{
    size_t words = ((size_t)m->parts + 63) / 64;
    memset(m->came_bits, 0, words * sizeof *m->came_bits);
    memset(m->lost_bits, 0, words * sizeof *m->lost_bits);
    m->next = 0;
    m->lost = 0;
    m->lost_from = 0;
    m->limit = outgoing_first(m);
    m->starved = false;
    m->begun = false;
}

static void retry_at(struct transport *t, struct outgoing *m, cw_span wait)
{
    outgoing_detach(t, m);
    rewind_parts(m);
    m->state = OUTGOING_RETRY;
    m->retry_at = cw_time_add(t->now, wait);
    list_push_back(&t->retry, &m->link);
    transport_due(t, &m->due, cw_time_min(m->deadline, m->retry_at));
}

void outgoing_retry_later(struct transport *t, struct outgoing *m)
{
    m->backoff.ns = m->backoff.ns == 0 ? BACKOFF_LEAST.ns : m->backoff.ns * 2;
    m->backoff.ns = m->backoff.ns > BACKOFF_MOST.ns ? BACKOFF_MOST.ns : m->backoff.ns;
    retry_at(t, m, CW_NS(m->backoff.ns / 2 + (int64_t)cw_random_below(t->user, (uint64_t)m->backoff.ns)));
}

/* The receiver gives no permission yet: m asks again later, or when permission comes. */
void outgoing_hold(struct transport *t, struct outgoing *m)
{
    unsigned doubled = m->asked < ASK_DOUBLED ? m->asked : ASK_DOUBLED;
    cw_span wait = m->permitted ? CW_NS(0) : CW_NS(ASK_LEAST.ns << doubled);
    if (TP_MUTANT(ASKS_ONCE)) {
        wait = cw_time_since(m->deadline, t->now);
    }
    m->asked++;
    m->permitted = false;
    t->stats.held++;
    retry_at(t, m, wait);
    m->held = true;
}

void outgoing_permit(struct transport *t, const struct peer *p, uint32_t name)
{
    struct outgoing *m = outgoing_named(t, name);
    if (m == NULL || m->to.job != p->job || m->to.port != p->port ||
        (m->to.kind == CW_TO_SERVER && m->to.process != p->process)) {
        return; /* it has ended: permissions may be late */
    }
    t->stats.permits++;
    if (m->state != OUTGOING_RETRY) {
        m->permitted = outgoing_has_number(m); /* permission has overtaken the result that m is to wait */
    } else if (m->held) {
        list_remove(&m->link);
        outgoing_route(t, m);
    }
}

/*
 * Asks the processes of a server which of them has the key of m, and again until one answers: m is routed again then.
 * It is not remembered for other messages: keys may move between the processes of a server at any time.
 */
static void seek(struct transport *t, struct outgoing *m, cw_coord server)
{
    const cw_to to = {
        .kind = CW_TO_SERVER, .job = m->to.job, .port = m->to.port, .server = server, .process = CW_PROCESS_ANY};
    const struct segment s = {.kind = SEGMENT_SEEK, .out = outgoing_name(m), .key = m->to.key};
    m->found = false;
    m->server = server;
    int rc = sending_to(t, &to, &s);
    if (rc < 0 && rc != -EAGAIN && rc != -ENOMEM && rc != -ENOBUFS && rc != -ENETUNREACH) {
        outgoing_finish(t, m, rc);
        return;
    }
    cw_span wait = CW_NS(4 * t->config.rto_min.ns);
    for (unsigned i = 0; i < m->sought && wait.ns < t->config.rto_max.ns; i++) {
        wait.ns *= 2;
    }
    m->sought++;
    retry_at(t, m, wait.ns < t->config.rto_max.ns ? wait : t->config.rto_max);
}

void outgoing_found(struct transport *t, uint32_t name, const cw_rx *rx)
{
    struct outgoing *m = outgoing_named(t, name);
    if (m == NULL || m->state != OUTGOING_RETRY || m->sought == 0 || m->to.job != rx->src_job ||
        memcmp(&m->server, &rx->src_server, sizeof m->server) != 0) {
        return; /* found already, or elsewhere by now */
    }
    m->found = true;
    m->sought = 0;
    m->process = rx->src_process;
    list_remove(&m->link);
    outgoing_route(t, m);
}

/* The process that had the key may have it no more. */
void outgoing_lose_process(struct outgoing *m)
{
    m->found = m->found && TP_MUTANT(KEEPS_PROCESS);
}

void outgoing_route(struct transport *t, struct outgoing *m)
{
    cw_coord server = m->to.server;
    cw_process process = m->to.process;
    m->held = false;
    if (m->to.kind == CW_TO_KEY) {
        if (cw_servers_for_key(t->user, &m->to.key, 1, &server) != 1) {
            outgoing_retry_later(t, m);
            return;
        }
        process = cw_server_id(t->user, server);
        if (m->to.process == CW_PROCESS_ANY) {
            bool moved = memcmp(&server, &m->server, sizeof server) != 0 && !TP_MUTANT(KEEPS_PROCESS);
            if (!m->found || moved) {
                seek(t, m, server);
                return;
            }
            process = m->process;
        }
    } else if (!cw_reachable(t->user, server) && !(m->flags & TRANSPORT_WAIT)) {
        outgoing_finish(t, m, -ENETUNREACH);
        return;
    }
    const struct peer_name name = {m->to.job, process, m->to.port, (m->flags & TRANSPORT_BACKGROUND) != 0};
    struct peer *p = peer_get(t, name, server);
    if (p == NULL) {
        outgoing_retry_later(t, m); /* all that are remembered are busy */
        return;
    }
    m->peer = p;
    m->state = OUTGOING_WAITING;
    list_push_back(&p->waiting, &m->link);
    transport_due(t, &m->due, m->deadline);
    peer_touch(t, p);
}

void outgoing_due(struct transport *t, struct outgoing *m)
{
    if (cw_time_due(m->deadline, t->now)) {
        outgoing_give_up(t, m, -ETIMEDOUT);
    } else if (m->state == OUTGOING_RETRY) {
        list_remove(&m->link);
        outgoing_route(t, m);
    } else {
        transport_due(t, &m->due, m->deadline);
    }
}
