/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/dense.h"

#include "services/aggregate/dense/internal.h"
#include "services/reply/metrics.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>

static const struct metric counts[DENSE_COUNTS] = {
    [DENSE_COUNT_BEGUN] = {"begun", "Reductions begun at this server."},
    [DENSE_COUNT_DONE] = {"done", "Reductions of this server that ended well."},
    [DENSE_COUNT_FAILED] = {"failed", "Reductions of this server that ended with an error."},
    [DENSE_COUNT_ATTEMPTS] = {"attempts", "Attempts that this server has announced as a root."},
    [DENSE_COUNT_VOIDED] = {"voided", "Attempts of this server as a root that had to be begun again."},
    [DENSE_COUNT_BLOCKS] = {"blocks", "Blocks of children that were combined here."},
    [DENSE_COUNT_BYTES] = {"bytes", "Bytes of the blocks that were combined here."},
    [DENSE_COUNT_STALE] = {"stale", "Messages of runs or attempts that are not under way here."},
    [DENSE_COUNT_REFUSED] = {"refused", "Messages that came from the wrong server, or made no sense in their run."},
    [DENSE_COUNT_MALFORMED] = {"malformed", "Messages that could not be read."},
};

void dense_note(struct dense *d, enum dense_count which, uint64_t n)
{
    cw_counter_add(d->counter[which], n);
}

size_t dense_words(const struct dense *d)
{
    return trees_set_words(&d->torus);
}

/* Short blocks are many: the way of a deal down and of a block up is as long for them. */
uint16_t dense_window(const struct blocks *b, unsigned depth)
{
    uint16_t twice = 2 * DENSE_WINDOW;
    bool small = 2 * blocks_longest(b) <= BLOCKS_BYTES_MOST;
    return small && depth > 0 && DENSE_AHEAD + (twice / 4U + twice) * depth <= COLUMN_AHEAD_MOST ? twice : DENSE_WINDOW;
}

bool dense_sees(const struct dense *d, cw_server server)
{
    return cw_reachable(d->s, torus_coord(&d->torus, server));
}

/* ---- Messages that leave ----------------------------------------------------------------------------------------- */

/* A message that was sent, until its end is known. */
struct note {
    struct dense *d;
    enum message_kind kind;
    struct run_name run;
    uint32_t attempt;
    uint8_t tree;
    cw_server to;
    uint32_t ticket;
};

/* The root does not know this attempt any more, or is gone. */
static void vertex_answered(struct dense *d, const struct note *n, int status)
{
    struct vertex *v = vertex_find(d, &n->run);
    bool unknown = status == 0 || status == -ETIMEDOUT || status == -ENOBUFS;
    if (v == NULL || v->attempt != n->attempt || v->reducer != NULL || unknown) {
        return;
    }
    if (v->own != NULL) {
        member_answered(v->own, -ECONNRESET);
    } else {
        vertex_free(v);
    }
}

static void deal_told(struct dense *d, const struct note *n, int status)
{
    struct vertex *v = vertex_find(d, &n->run);
    cw_link link = v == NULL ? CW_LINK_SELF : plan_child(&v->plan, &d->torus, d->self, n->tree, n->to);
    if (v == NULL || v->attempt != n->attempt || v->broken || link == CW_LINK_SELF) {
        return;
    }
    v->told[n->tree][link].telling = false;
    if (status < 0) {
        vertex_break(v, status, n->to);
    } else {
        edge_tell(v, n->tree);
    }
}

static void said(void *context, void *arg, int status)
{
    struct note n = *(struct note *)arg;
    struct dense *d = context;
    free(arg);
    if (d->closing) {
        return;
    }
    struct reducer *r = reducer_of_run(d, &n.run);
    struct member *m = member_of_ticket(d, n.ticket);
    switch (n.kind) {
    case MESSAGE_DEAL:
        deal_told(d, &n, status);
        break;
    case MESSAGE_ANNOUNCE:
        if (r != NULL) {
            reducer_announced(r, n.attempt, n.to, status);
        }
        break;
    case MESSAGE_PROBE:
        if (r != NULL) {
            reducer_probed(r, n.attempt, n.to, status);
        } else {
            vertex_answered(d, &n, status);
        }
        break;
    case MESSAGE_JOIN:
        if (m != NULL) {
            member_answered(m, status);
        }
        break;
    case MESSAGE_HOLD:
        if (r != NULL && r->attempt == n.attempt && r->state == REDUCER_SHARES) {
            share_held(r, n.to, status);
        }
        break;
    case MESSAGE_BLOCK:
    case MESSAGE_VOID:
    case MESSAGE_END:
    case MESSAGE_RESULT:
    case MESSAGE_GATHER:
    case MESSAGE_SPREAD:
        break;
    }
}

int dense_say(struct dense *d, cw_server to, const struct message *m)
{
    uint8_t bytes[MESSAGE_BYTES_MOST];
    struct note *n = malloc(sizeof *n);
    if (n == NULL) {
        return -ENOMEM;
    }
    *n = (struct note){d, m->kind, m->run, m->attempt, m->tree, to, m->kind == MESSAGE_JOIN ? m->ticket : 0};
    message_encode(m, bytes);
    const struct transport_data data = {.bytes = bytes, .size = message_size(m)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    cw_to address = to_server(d->s, AGGREGATE_JOB, AGGREGATE_PORT_CALL, to);
    int64_t id = transport_send(d->call, &address, &data, &options, said, n);
    if (id < 0) {
        free(n);
    }
    return id < 0 ? (int)id : 0;
}

/* ---- Messages that come ------------------------------------------------------------------------------------------ */

/* Counts what is refused; gives rc. What could not be read is counted as such. */
static int judged(struct dense *d, int rc)
{
    if (rc == -ESTALE) {
        dense_note(d, DENSE_COUNT_STALE, 1);
    } else if (rc == -EPROTO) {
        dense_note(d, DENSE_COUNT_REFUSED, 1);
    }
    return rc;
}

/* Fills *m with what the head of a block says. -EPROTO: it is none. */
static int read_head(struct dense *d, const struct transport_message *t, struct message *m)
{
    if (message_decode(t->head, t->head_length, m) < 0 || m->kind != MESSAGE_BLOCK) {
        dense_note(d, DENSE_COUNT_MALFORMED, 1);
        return -EPROTO;
    }
    m->bytes = (size_t)t->bytes;
    return 0;
}

static int take_piece(void *context, void *arg, const struct transport_message *t, uint64_t offset,
                      const uint8_t *bytes, size_t length)
{
    struct dense *d = context;
    struct message m;
    (void)arg;
    int rc = read_head(d, t, &m);
    return rc < 0 ? rc : judged(d, parts_piece(d, &m, torus_id(&d->torus, t->src_server), offset, bytes, length));
}

static int begin_block(void *context, const struct transport_message *t, struct transport_accept *accept)
{
    struct dense *d = context;
    struct message m;
    int rc = t->bytes > BLOCKS_BYTES_MOST ? -EPROTO : read_head(d, t, &m);
    rc = rc < 0 ? rc : judged(d, parts_begin(d, &m, torus_id(&d->torus, t->src_server)));
    if (rc == -EAGAIN) {
        edge_early(d, &m.run, &t->asker);
    }
    accept->piece = t->incoming != 0 ? take_piece : NULL; /* one of a packet is taken whole */
    return rc;
}

static int take_block(void *context, void *arg, const struct transport_message *t, const uint8_t *bytes, int status)
{
    struct dense *d = context;
    struct message m;
    (void)arg;
    cw_server from = torus_id(&d->torus, t->src_server);
    int rc = read_head(d, t, &m);
    if (rc == 0 && status < 0) {
        parts_lost(d, &m, from, status);
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    rc = bytes != NULL ? parts_piece(d, &m, from, 0, bytes, m.bytes) : 0;
    return judged(d, rc < 0 ? rc : parts_whole(d, &m, from));
}

/* How the END is for this member: with a result for all it succeeds only when it has it. */
static int end_status(const struct member *own, const struct message *m)
{
    if (m->status != 0 || (own->spec.flags & CW_REDUCE_TO_ALL) == 0) {
        return -(int)m->status;
    }
    bool has = spec_is_small(&own->spec) ? small_result(own, m->elements, m->bytes) : share_has(own, m->attempt);
    return has ? 0 : -ECONNRESET;
}

static int take_end(struct dense *d, const struct message *m)
{
    struct vertex *v = vertex_find(d, &m->run);
    struct member *own = m->ticket != 0 ? member_of_ticket(d, m->ticket) : NULL;
    if (v != NULL && v->reducer == NULL) {
        vertex_free(v);
    }
    bool same = own != NULL && (own->run.life == 0 || run_name_equal(&own->run, &m->run));
    if (same && own->root == m->run.root && own->reducer == NULL && m->servers == d->torus.servers) {
        own->unlike = m->unlike;
        member_end(own, end_status(own, m), m->who, m->everyone ? own->members : m->members, m->attempt);
    }
    return 0;
}

static int take_spread(struct dense *d, const struct message *m)
{
    struct message end = *m;
    int rc = together_told(d, m, &end.ticket);
    return rc < 0 ? rc : take_end(d, &end);
}

/*
 * The root asks a vertex for an attempt. A vertex asks the root for the run, which may be about to begin another
 * attempt.
 */
static int take_probe(struct dense *d, const struct message *m, cw_server from)
{
    if (m->run.root == d->self) {
        const struct farewell_question q = {.run = &m->run, .from = from};
        int status = 0;
        return m->run.life != 0 && (reducer_of_run(d, &m->run) != NULL || farewell_say(d, &q, &status)) ? status
                                                                                                        : -ESTALE;
    }
    const struct vertex *v = vertex_find(d, &m->run);
    return v != NULL && v->attempt == m->attempt && !v->broken ? 0 : -ESTALE;
}

static int take_void(struct dense *d, const struct message *m)
{
    struct reducer *r = reducer_of_run(d, &m->run);
    if (r != NULL && r->attempt == m->attempt) {
        reducer_void(r);
    } else {
        dense_note(d, DENSE_COUNT_STALE, 1);
    }
    return 0;
}

static int take_kind(struct dense *d, const struct message *m, cw_server from)
{
    bool from_root = m->run.root == from, at_root = m->run.root == d->self;
    switch (m->kind) {
    case MESSAGE_DEAL:
        return vertex_deal(d, m, from);
    case MESSAGE_ANNOUNCE:
        return from_root ? vertex_begin(d, m, NULL) : -EPROTO;
    case MESSAGE_END:
        return from_root ? take_end(d, m) : -EPROTO;
    case MESSAGE_HOLD:
        return from_root ? share_hold(d, m) : -EPROTO;
    case MESSAGE_VOID:
        return at_root ? take_void(d, m) : -EPROTO;
    case MESSAGE_PROBE:
        return from_root || at_root ? take_probe(d, m, from) : -EPROTO;
    case MESSAGE_JOIN:
        return joins_take(d, m, from);
    case MESSAGE_GATHER:
        return together_take(d, m);
    case MESSAGE_SPREAD:
        return take_spread(d, m);
    case MESSAGE_BLOCK:
    case MESSAGE_RESULT:
        break;
    }
    return -EPROTO;
}

static int take_call(void *context, void *arg, const struct transport_message *t, const uint8_t *bytes, int status)
{
    struct dense *d = context;
    struct message m;
    (void)arg;
    if (status < 0) {
        return 0;
    }
    cw_server from = torus_id(&d->torus, t->src_server);
    if (message_decode(bytes, (size_t)t->bytes, &m) < 0) {
        dense_note(d, DENSE_COUNT_MALFORMED, 1);
        return -EPROTO;
    }
    return judged(d, take_kind(d, &m, from));
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/*
 * The next one of a list that this walk has not seen; NULL at the end. The caller's done() may have ended any of them
 * meanwhile, and begun others.
 */
static struct reducer *next_reducer(const struct dense *d)
{
    for (struct list_node *n = list_first(&d->reducers); n != NULL; n = list_next(&d->reducers, n)) {
        struct reducer *r = container_of(n, struct reducer, link);
        if (r->round != d->round) {
            r->round = d->round;
            return r;
        }
    }
    return NULL;
}

static struct member *next_member(const struct dense *d)
{
    for (struct list_node *n = list_first(&d->members); n != NULL; n = list_next(&d->members, n)) {
        struct member *m = container_of(n, struct member, link);
        if (m->round != d->round) {
            m->round = d->round;
            return m;
        }
    }
    return NULL;
}

static void tick_reducers(struct dense *d)
{
    struct reducer *r;
    d->round++;
    while ((r = next_reducer(d)) != NULL) {
        reducer_tick(r);
    }
}

static void tick_members(struct dense *d)
{
    struct member *m;
    d->round++;
    while ((m = next_member(d)) != NULL) {
        member_tick(m);
    }
}

static void tick_pending(struct dense *d)
{
    cw_time now = cw_now(d->s);
    for (struct list_node *n = list_first(&d->pending), *next; n != NULL; n = next) {
        struct pending *p = container_of(n, struct pending, link);
        next = list_next(&d->pending, n);
        if (cw_time_due(cw_time_add(p->at, DENSE_PENDING_SPAN), now)) {
            list_remove(n);
            free(p);
            d->pending_count--;
        }
    }
}

static bool busy(const struct dense *d)
{
    return !list_is_empty(&d->members) || !list_is_empty(&d->vertices) || !list_is_empty(&d->pending) ||
           !list_is_empty(&d->gatherings);
}

static void tick(cw_svc *s, void *state, void *arg)
{
    struct dense *d = arg;
    (void)s;
    (void)state;
    d->tick = NULL;
    farewell_sweep(d, false);
    together_sweep(d, false);
    tick_pending(d);
    tick_members(d);
    for (struct list_node *n = list_first(&d->vertices), *next; n != NULL; n = next) {
        next = list_next(&d->vertices, n); /* a vertex only asks here */
        vertex_tick(container_of(n, struct vertex, link));
    }
    tick_reducers(d);
    dense_wake(d);
}

/* The next tick is early when a reducer pauses. */
void dense_wake(struct dense *d)
{
    cw_span after = DENSE_TICK;
    for (struct list_node *n = list_first(&d->reducers); n != NULL; n = list_next(&d->reducers, n)) {
        const struct reducer *r = container_of(n, struct reducer, link);
        cw_span left = cw_time_since(r->next, cw_now(d->s));
        after = r->state == REDUCER_PAUSES && left.ns < after.ns ? left : after;
    }
    if (d->tick != NULL && after.ns < DENSE_TICK.ns) {
        cw_timer_stop(d->s, d->tick);
        d->tick = NULL;
    }
    if (d->tick == NULL && !d->closing && busy(d)) {
        d->tick = cw_timer_start(d->s, after, tick, d);
    }
}

static void soon(cw_svc *s, void *state, void *arg)
{
    struct dense *d = arg;
    (void)s;
    (void)state;
    d->soon = NULL;
    tick_reducers(d);
    dense_wake(d);
}

static void find_others(cw_svc *s, void *state, void *arg)
{
    struct dense *d = arg;
    (void)s;
    (void)state;
    d->find = NULL;
    share_open(d);
}

void dense_soon(struct dense *d)
{
    if (d->soon == NULL && !d->closing) {
        d->soon = cw_timer_start(d->s, CW_NS(0), soon, d);
    }
}

/* ---- Upcalls ----------------------------------------------------------------------------------------------------- */

static void server_down(struct dense *d, cw_server server)
{
    for (struct list_node *n = list_first(&d->vertices), *next; n != NULL; n = next) {
        struct vertex *v = container_of(n, struct vertex, link);
        next = list_next(&d->vertices, n);
        if (v->run.root == server && v->own == NULL) {
            vertex_free(v);
        }
    }
    for (struct list_node *n = list_first(&d->members); n != NULL;) {
        struct member *m = container_of(n, struct member, link);
        if (m->root == server) {
            if (m->reducer != NULL) {
                reducer_end(m->reducer, -ECONNRESET, server); /* this server itself is leaving */
            } else {
                member_end(m, -ECONNRESET, server, NULL, 0);
            }
            n = list_first(&d->members); /* done() may have changed the list */
        } else {
            if (m->reducer == NULL && m->run.life == 0) {
                member_ask(m); /* its JOIN, or the END, may have been lost with that server */
            }
            n = list_next(&d->members, n);
        }
    }
    struct reducer *r;
    d->round++;
    while ((r = next_reducer(d)) != NULL) {
        reducer_down(r, server);
    }
}

void dense_event(struct dense *d, const cw_event *ev)
{
    transport_event(d->edge, ev);
    transport_event(d->call, ev);
    if (ev->kind == CW_EVENT_SERVER_DOWN) {
        server_down(d, torus_id(&d->torus, ev->server));
    }
}

cw_verdict dense_packet(struct dense *d, cw_packet *p, const cw_rx *rx)
{
    return transport_packet(rx->port == AGGREGATE_PORT_EDGE ? d->edge : d->call, p, rx);
}

void dense_writable(struct dense *d)
{
    transport_writable(d->call);
    transport_writable(d->edge);
}

int dense_open(cw_svc *s, struct dense **out)
{
    struct dense *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return -ENOMEM;
    }
    d->s = s;
    int rc = torus_init(&d->torus, cw_torus(s));
    if (rc == 0 && d->torus.servers > MESSAGE_SERVERS_MOST) {
        cw_log(s, CW_LOG_ERROR,
               "reductions need a torus of at most 4096 servers: their messages have no room for more");
        rc = -E2BIG;
    }
    if (rc < 0) {
        free(d);
        return rc;
    }
    d->self = torus_id(&d->torus, cw_self(s));
    d->life = cw_random(s) | 1;
    d->tickets = (uint32_t)cw_random(s);
    list_init(&d->members);
    list_init(&d->vertices);
    list_init(&d->reducers);
    list_init(&d->pending);
    list_init(&d->gatherings);
    metrics_counters(s, counts, DENSE_COUNTS, d->counter);
    struct transport_config edge = transport_config_default(AGGREGATE_PORT_EDGE, d);
    edge.begin = begin_block;
    edge.message = take_block;
    edge.piece_window = BLOCKS_BYTES_MOST;
    edge.silence = DENSE_LIMIT; /* a block that was sent early waits at its sender for the rest of it */
    edge.message_max = BLOCKS_BYTES_MOST;
    edge.messages_max = CW_LINK_COUNT * COLUMN_WINDOW_MOST * DENSE_RUNS;
    edge.timeout = DENSE_LIMIT;
    /*
     * What is lent bounds the queue already. All links carry blocks both ways, and acknowledgements stand behind them:
     * the transport takes that wait for a queue of its own, and would leave links idle. A block is acknowledged with
     * its last packet; those before need none, and where links are slow each would be a packet more.
     */
    edge.queue_target = (size_t)2 * BLOCKS_BYTES_MOST;
    edge.ack_delay = DENSE_ACK_DELAY;
    edge.rto_min = DENSE_REPEAT;
    struct transport_config call = transport_config_default(AGGREGATE_PORT_CALL, d);
    call.message = take_call;
    call.rto_min = DENSE_REPEAT;
    call.message_max = MESSAGE_BYTES_MOST;
    call.messages_max = 4 * d->torus.servers + 1024;
    call.peers_max = call.messages_max;
    rc = transport_open(s, &edge, &d->edge);
    rc = rc < 0 ? rc : transport_open(s, &call, &d->call);
    if (rc < 0) {
        transport_close(d->edge);
        free(d);
        return rc;
    }
    d->find = cw_timer_start(s, CW_NS(0), find_others, d); /* when all services are there */
    *out = d;
    return 0;
}

void dense_close(struct dense *d)
{
    if (d == NULL) {
        return;
    }
    d->closing = true;
    while (!list_is_empty(&d->members)) {
        struct member *m = container_of(list_first(&d->members), struct member, link);
        if (m->reducer != NULL) {
            reducer_end(m->reducer, -ECANCELED, CW_SERVER_NONE);
        } else {
            member_end(m, -ECANCELED, CW_SERVER_NONE, NULL, 0);
        }
    }
    while (!list_is_empty(&d->vertices)) {
        vertex_free(container_of(list_first(&d->vertices), struct vertex, link));
    }
    while (!list_is_empty(&d->pending)) {
        free(container_of(list_pop_front(&d->pending), struct pending, link));
    }
    together_sweep(d, true);
    farewell_sweep(d, true);
    share_close(d);
    transport_close(d->edge);
    transport_close(d->call);
    trees_close(d->trees);
    free(d);
}
