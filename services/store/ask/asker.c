/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/ask/asker.h"

#include "base/bytes.h"
#include "services/reply/servers.h"
#include "services/store/carry.h"
#include "services/store/common.h"
#include "services/store/genesis.h"
#include "services/store/held/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_MS = 5000,
    LONG_TIMEOUT_S = 30,
    TIMEOUT_MOST_S = 3600,
    PAUSE_LEAST_MS = 2,
    PAUSE_MORE_MS = 15,
    MOVES_MOST = 3
};

struct question {
    struct list_node node;
    struct store *store;
    cw_store_done done;
    void *arg;
    struct store_ask ask; /* its bytes are behind its head in bytes[] */
    uint32_t shard;
    uint8_t members;
    cw_server member[STORE_CANDIDATES]; /* who may be one: the first ones of the sequence */
    unsigned turn;                      /* of these, the one that is asked next when nobody is named */
    cw_server named;                    /* who is to be asked next; CW_SERVER_NONE: nobody in particular */
    cw_server target;                   /* who is being asked */
    unsigned moves;                     /* answers MOVED in a row */
    unsigned strange;                   /* answers STRANGE in a row */
    bool sent;                          /* under this number at least once */
    bool doubt;                         /* perhaps it was done */
    cw_time begun, until;
    int64_t call;     /* under way; 0: none is */
    bool letter;      /* call is one of the transport's */
    bool large;       /* what is asked for fits no packet */
    uint32_t expects; /* of the answer, its bytes */
    cw_timer *timer;
    uint8_t bytes[]; /* the ask as it is sent */
};

static bool is_read(const struct question *q)
{
    return store_order_reads(&q->ask.order);
}

/* Could what was asked under this number be done? Not while no n of the shard is known here: store rule 23. */
static bool is_begun(const struct question *q)
{
    return !is_read(q) && (q->ask.order.since != 0 || STORE_MUTANT(SINCE_UNKNOWN));
}

static bool is_watch(const struct question *q)
{
    return q->ask.order.op == STORE_OP_WATCH;
}

/* ---- Hints ------------------------------------------------------------------------------------------------------- */

int store_asker_open(struct store *s)
{
    uint32_t shards = s->torus.servers * STORE_SHARDS_PER_SERVER;
    s->hints = shards < STORE_HINTS_MOST ? shards : STORE_HINTS_MOST;
    s->hint = calloc(s->hints, sizeof *s->hint);
    for (unsigned i = 0; s->hint != NULL && i < s->hints; i++) {
        s->hint[i].server = CW_SERVER_NONE;
    }
    return s->hint != NULL ? 0 : -ENOMEM;
}

cw_server store_asker_hint(const struct store *s, uint32_t shard)
{
    const struct store_hint *h = &s->hint[shard % s->hints];
    return h->shard == shard ? h->server : CW_SERVER_NONE;
}

static uint64_t heard_n(const struct store *s, uint32_t shard)
{
    const struct store_hint *h = &s->hint[shard % s->hints];
    return h->shard == shard ? h->n : 0;
}

static void remember(struct store *s, uint32_t shard, cw_server leads, uint64_t n)
{
    struct store_hint *h = &s->hint[shard % s->hints];
    uint64_t before = heard_n(s, shard);
    *h = (struct store_hint){shard, leads, n > before ? n : before};
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void finish(struct question *q, const cw_store_result *result)
{
    struct store *s = q->store;
    static const enum store_count counts[CW_STORE_STATUSES] = {[CW_STORE_UNKNOWN] = STORE_COUNT_UNKNOWN,
                                                               [CW_STORE_NO_QUORUM] = STORE_COUNT_NO_QUORUM,
                                                               [CW_STORE_NO_ANSWER] = STORE_COUNT_NO_ANSWER};
    if (counts[result->status] != 0) {
        store_note(s, counts[result->status]);
    }
    if (!is_watch(q)) {
        cw_histogram_note(s->took[is_read(q) ? STORE_TIME_GET : STORE_TIME_WRITE],
                          cw_time_since(cw_now(s->svc), q->begun));
    }
    list_remove(&q->node);
    s->question_count--;
    s->question_bytes -= q->ask.order.value_length;
    cw_timer_stop(s->svc, q->timer);
    q->done(q->arg, result);
    free(q);
}

static void finish_with(struct question *q, cw_store_status status)
{
    const cw_store_result result = {.size = sizeof result, .status = q->doubt ? CW_STORE_UNKNOWN : status};
    finish(q, &result);
}

/* What is definite whatever became of earlier attempts: it is written in the register. */
static bool is_final(cw_store_status status)
{
    return status == CW_STORE_OK || status == CW_STORE_NOT_FOUND || status == CW_STORE_CONFLICT;
}

static void finish_as_told(struct question *q, const struct store_answer *a)
{
    if (!is_final(a->status) && q->doubt) {
        finish_with(q, CW_STORE_UNKNOWN);
        return;
    }
    const cw_store_result result = {
        .size = sizeof result,
        .status = a->status,
        .version = a->version,
        .flags = a->flags,
        .value = a->value,
        .value_length = a->length,
    };
    finish(q, &result);
}

/* ---- Attempts ---------------------------------------------------------------------------------------------------- */

static void go(struct question *q);

static void again_due(cw_svc *svc, void *state, void *arg)
{
    struct question *q = arg;
    (void)svc;
    (void)state;
    q->timer = NULL;
    go(q);
}

/* Asks again a little later: never within the call that asked. */
static void pause(struct question *q, cw_span span)
{
    struct store *s = q->store;
    q->timer = cw_timer_start(s->svc, span, again_due, q);
    if (q->timer == NULL) {
        finish_with(q, CW_STORE_NO_ANSWER);
    }
}

static void pause_some(struct question *q)
{
    pause(q, CW_MS(PAUSE_LEAST_MS + (int64_t)cw_random_below(q->store->svc, PAUSE_MORE_MS)));
}

static bool in_view(const struct question *q, cw_server server)
{
    return cw_reachable(q->store->svc, cw_server_coord(q->store->svc, server));
}

/* The next member in view, in turns. CW_SERVER_NONE: none is. */
static cw_server next_member(struct question *q)
{
    for (unsigned i = 0; i < q->members; i++) {
        cw_server server = q->member[q->turn];
        q->turn = (q->turn + 1) % q->members;
        if (in_view(q, server)) {
            return server;
        }
    }
    return CW_SERVER_NONE;
}

/* A write that is sent anew under another number: nothing was done under the one before. */
static void number_anew(struct question *q)
{
    struct store *s = q->store;
    q->ask.order.asker = s->instance;
    q->ask.order.number = ++s->number;
    q->ask.order.since = heard_n(s, q->shard);
    q->ask.order.again = false;
    q->sent = false;
}

static void moved(struct question *q, cw_server to)
{
    bool is_other = to != CW_SERVER_NONE && to != q->target;
    q->named = is_other ? to : CW_SERVER_NONE;
    q->ask.lead = ++q->moves > MOVES_MOST || !is_other;
    if (q->moves > MOVES_MOST) {
        pause_some(q);
        return;
    }
    pause(q, CW_NS(0));
}

/* Have all candidates in view said that they are no members? */
static bool only_strangers(const struct question *q)
{
    unsigned there = 0;
    for (unsigned i = 0; i < q->members; i++) {
        there += in_view(q, q->member[i]);
    }
    return q->strange >= there;
}

static void answered(struct question *q, const struct store_answer *a, cw_server from)
{
    struct store *s = q->store;
    q->strange = a->state == STORE_ANSWER_STRANGE ? q->strange + 1 : 0;
    bool done = a->state == STORE_ANSWER_DONE;
    remember(s, q->shard, done ? from : a->state == STORE_ANSWER_MOVED ? a->server : CW_SERVER_NONE, a->n);
    switch (a->state) {
    case STORE_ANSWER_DONE:
        finish_as_told(q, a);
        return;
    case STORE_ANSWER_MOVED:
        moved(q, a->server);
        return;
    case STORE_ANSWER_STRANGE:
        q->ask.lead = q->ask.lead || q->moves > 0; /* who was thought to lead is no member */
        if (q->strange % q->members != 0) {
            pause(q, CW_NS(0)); /* the next one may be one */
        } else {
            pause_some(q);
        }
        return;
    case STORE_ANSWER_STALE:
        if (q->doubt) { /* somebody may have begun what this leader knows nothing of */
            finish_with(q, CW_STORE_UNKNOWN);
            return;
        }
        number_anew(q);
        q->ask.order.since += q->ask.order.since == 0; /* the shard's first n, which nothing was forgotten before */
        q->named = from;
        pause(q, CW_NS(0));
        return;
    case STORE_ANSWER_MAYBE:
        if (STORE_MUTANT(CERTAIN)) {
            number_anew(q);
        } else {
            q->doubt = !is_read(q);
        }
        moved(q, a->server);
        return;
    case STORE_ANSWER_LARGE:
        q->large = true;
        q->expects = a->length;
        q->named = from;
        pause(q, CW_NS(0));
        return;
    }
}

/* Each step of the transaction is told of, and nothing else. */
static bool tells_steps(const struct question *q, const struct store_answer *a)
{
    struct store_told told;
    unsigned steps = q->ask.order.value[1], count = 0;
    size_t at = 0;
    while (at < a->length && count <= steps && store_told_next(a->value, a->length, &at, &told)) {
        count++;
    }
    return count == steps && at == a->length;
}

/* What has bytes to give has them. */
static bool is_complete(const struct question *q, const struct store_answer *a)
{
    cw_store_op op = q->ask.order.op;
    bool gives = op == CW_STORE_GET || op == STORE_OP_LIST || op == STORE_OP_WATCH || op == STORE_OP_TXN;
    return !gives || a->state != STORE_ANSWER_DONE || a->status != CW_STORE_OK ||
           (a->carries && (op != STORE_OP_TXN || tells_steps(q, a)));
}

/* bytes NULL: there is no answer. */
static void ended(struct question *q, int status, const uint8_t *bytes, size_t size, cw_server from)
{
    struct store *s = q->store;
    struct store_answer a;
    q->call = 0;
    if (s->closing) {
        return; /* store_asker_close() ends it */
    }
    if (bytes != NULL && store_answer_decode(bytes, size, &a) && is_complete(q, &a)) {
        answered(q, &a, from);
        return;
    }
    if (bytes != NULL) {
        store_note(s, STORE_COUNT_MALFORMED);
    }
    if (status == -EACCES) {
        finish_with(q, CW_STORE_DENIED);
        return;
    }
    q->doubt = q->doubt || is_begun(q);
    q->named = CW_SERVER_NONE;
    q->moves = 0;
    q->strange = 0;
    q->ask.lead = true;
    if (bytes != NULL) {
        pause_some(q); /* who answers nonsense may do so at once, again and again */
    } else {
        pause(q, CW_NS(0));
    }
}

static void call_ended(cw_svc *svc, void *state, void *arg, int status, cw_packet *packet, const cw_rx *rx)
{
    size_t size = 0;
    (void)svc;
    (void)state;
    const uint8_t *bytes = status == 0 && packet != NULL ? cw_packet_data(packet, &size) : NULL;
    ended(arg, status, bytes, size, bytes != NULL ? rx->src_process : CW_SERVER_NONE);
}

static void letter_ended(void *context, void *arg, int status, const uint8_t *bytes, uint64_t size,
                         const struct transport_message *m)
{
    (void)context;
    bool good = status == 0 && bytes != NULL;
    ended(arg, status, good ? bytes : NULL, (size_t)size, good ? m->src_process : CW_SERVER_NONE);
}

static bool goes_as_letter(const struct question *q)
{
    return q->large || !store_carry_fits(q->store, store_ask_size(&q->ask));
}

static int64_t send_call(struct question *q, cw_server target, enum store_port port, cw_span timeout)
{
    struct store *s = q->store;
    cw_packet *p = cw_packet_new(s->svc, store_ask_size(&q->ask));
    if (p == NULL) {
        return -ENOMEM;
    }
    store_ask_encode(&q->ask, cw_packet_data(p, NULL));
    const cw_to to = to_server(s->svc, STORE_JOB, (cw_port)port, target);
    const cw_call_options options = {CW_CALL_INIT, .timeout = timeout};
    int64_t call = cw_call(s->svc, p, &to, &options, call_ended, q);
    if (call < 0) {
        cw_packet_free(s->svc, p);
    }
    return call;
}

/* The bytes are lent: they stay with the question, of which one attempt is under way at a time. */
static int64_t send_letter(struct question *q, cw_server target, enum store_port port, cw_span timeout)
{
    struct store *s = q->store;
    uint8_t head[STORE_LETTER_HEAD];
    put_be32(head, q->expects);
    store_ask_encode_head(&q->ask, q->bytes);
    const struct transport_data data = {.bytes = q->bytes, .size = store_ask_size(&q->ask)};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT,
                                                   .tag = port,
                                                   .flags = TRANSPORT_ASK,
                                                   .timeout = timeout,
                                                   .reply_max = STORE_LETTER_MOST,
                                                   .head = head,
                                                   .head_length = sizeof head};
    const cw_to to = to_server(s->svc, STORE_JOB, STORE_PORT_LETTERS, target);
    store_note(s, STORE_COUNT_LETTERS);
    return transport_request(s->transport, &to, &data, &options, letter_ended, q);
}

/* 0: it is on its way; or why it is not. */
static int send(struct question *q, cw_server target, cw_span timeout)
{
    struct store *s = q->store;
    q->ask.order.again = q->sent;
    q->ask.class_id = s->of.id;
    const enum store_port port = is_read(q) ? STORE_PORT_READ : STORE_PORT_WRITE;
    int64_t call = (goes_as_letter(q) ? send_letter : send_call)(q, target, port, timeout);
    if (call < 0) {
        return (int)call;
    }
    store_note(s, STORE_COUNT_ATTEMPTS);
    q->call = call;
    q->target = target;
    q->sent = true;
    return 0;
}

/* How long an answer is waited for. A leader holds a watch no longer than its answer can come in time. */
static cw_span patience_of(struct question *q, cw_span left)
{
    cw_span attempt = q->store->limits.attempt;
    if (goes_as_letter(q)) {
        return CW_SEC(STORE_LETTER_S); /* the transport repeats by itself, and a letter may have to wait */
    }
    if (!is_watch(q)) {
        return attempt;
    }
    int64_t most = (left.ns - attempt.ns) / CW_MS(1).ns;
    most = most > 0 ? most : 0;
    q->ask.order.ttl_ms = q->ask.order.ttl_ms < most ? q->ask.order.ttl_ms : (uint32_t)most;
    return CW_NS(attempt.ns + CW_MS((int64_t)q->ask.order.ttl_ms).ns);
}

static void place(struct question *q);

static void go(struct question *q)
{
    struct store *s = q->store;
    if (q->members == 0 && s->of.id == 0 && s->health == STORE_OPENING) {
        return; /* it goes on when the disk has been read */
    }
    if (q->members == 0 && s->of.id == 0) {
        store_genesis_learn(s); /* store_asker_class_known() goes on, perhaps at once */
        return;
    }
    if (q->members == 0) {
        place(q);
    }
    cw_span left = cw_time_since(q->until, cw_now(s->svc));
    if (left.ns <= 0) {
        finish_with(q, only_strangers(q) ? CW_STORE_NO_QUORUM : CW_STORE_NO_ANSWER);
        return;
    }
    cw_server target = q->named != CW_SERVER_NONE && in_view(q, q->named) ? q->named : next_member(q);
    q->named = CW_SERVER_NONE;
    cw_span patience = patience_of(q, left);
    int rc = target != CW_SERVER_NONE ? send(q, target, left.ns < patience.ns ? left : patience) : -ENETUNREACH;
    if (rc == -EACCES) {
        finish_with(q, CW_STORE_DENIED);
    } else if (rc < 0) {
        pause_some(q);
    }
}

/* The class is known: which shard is it? */
static void place(struct question *q)
{
    struct store *s = q->store;
    q->shard = store_order_shard(&s->torus, &q->ask.order);
    q->members = (uint8_t)store_places_members(&s->torus, q->shard, STORE_CANDIDATES, q->member);
    q->named = store_asker_hint(s, q->shard);
    if (!is_read(q)) {
        number_anew(q);
    }
}

void store_asker_class_known(struct store *s)
{
    struct list_node *node = list_first(&s->questions);
    while (node != NULL) {
        struct question *q = container_of(node, struct question, node);
        node = list_next(&s->questions, node);
        if (q->members > 0 || q->timer != NULL) {
            continue; /* it goes on by itself */
        }
        if (s->of.id == 0) {
            finish_with(q, CW_STORE_NO_STORE);
            continue;
        }
        pause(q, CW_NS(0));
    }
}

/* ---- Asking ------------------------------------------------------------------------------------------------------ */

static int check(const cw_store_request *r)
{
    bool writes = r->op == CW_STORE_PUT || r->op == CW_STORE_DELETE;
    if (r->size < sizeof *r || r->op < CW_STORE_GET || r->op > CW_STORE_DELETE || r->job == 0 || r->name == NULL ||
        r->name_length < 1 || r->name_length > CW_STORE_NAME_MAX || (!writes && r->conditional) ||
        (!r->conditional && r->version != 0) ||
        (r->op != CW_STORE_PUT && (r->value_length > 0 || r->flags != 0 || r->ttl.ns != 0)) || r->ttl.ns < 0 ||
        r->ttl.ns > CW_SEC(CW_STORE_TTL_MAX_S).ns || (r->value_length > 0 && r->value == NULL) ||
        !store_asker_waits(r->timeout)) {
        return -EINVAL;
    }
    return r->value_length > CW_STORE_VALUE_MAX ? -EMSGSIZE : 0;
}

static void keep_order(struct question *q, const struct store_order *o)
{
    uint8_t *name = q->bytes + STORE_ASK_HEAD, *value = name + o->name.length;
    if (o->name.length > 0) {
        memcpy(name, o->name.bytes, o->name.length);
    }
    if (o->value_length > 0) {
        memcpy(value, o->value, o->value_length);
    }
    q->ask.order = *o;
    q->ask.order.name.bytes = name;
    q->ask.order.value = value;
}

int store_asker_begin(struct store *s, const struct store_order *o, cw_time until, cw_store_done done, void *arg)
{
    if (s->closing) {
        return -ESHUTDOWN;
    }
    bool is_much = s->question_bytes > 0 && s->question_bytes + o->value_length > STORE_ASKED_MOST;
    if (s->question_count >= STORE_QUESTIONS_MOST || is_much) {
        return -ENOBUFS;
    }
    struct question *q = malloc(sizeof *q + STORE_ASK_HEAD + o->name.length + o->value_length);
    if (q == NULL) {
        return -ENOMEM;
    }
    memset(q, 0, sizeof *q);
    q->store = s;
    q->done = done;
    q->arg = arg;
    q->named = CW_SERVER_NONE;
    q->begun = cw_now(s->svc);
    q->until = until;
    keep_order(q, o);
    /* done() is never called from in here: all goes on from a timer, or from an answer. */
    q->timer = cw_timer_start(s->svc, CW_NS(0), again_due, q);
    if (q->timer == NULL) {
        free(q);
        return -ENOMEM;
    }
    list_push_back(&s->questions, &q->node);
    s->question_count++;
    s->question_bytes += o->value_length;
    return 0;
}

cw_time store_asker_until(const struct store *s, cw_span timeout)
{
    return cw_time_add(cw_now(s->svc), timeout.ns > 0 ? timeout : CW_MS(TIMEOUT_MS));
}

bool store_asker_waits(cw_span timeout)
{
    return timeout.ns >= 0 && timeout.ns <= CW_SEC(TIMEOUT_MOST_S).ns;
}

int store_asker_do(struct store *s, const cw_store_request *r, cw_store_done done, void *arg)
{
    int rc = check(r);
    if (rc < 0) {
        return rc;
    }
    const struct store_order order = {
        .op = r->op,
        .name = {r->job, r->name, r->name_length},
        .value = r->value,
        .value_length = r->value_length,
        .flags = r->flags,
        .ttl_ms = (uint32_t)((r->ttl.ns + CW_MS(1).ns - 1) / CW_MS(1).ns),
        .conditional = r->conditional,
        .version = r->version,
    };
    const bool is_long = !store_carry_fits(s, STORE_ASK_HEAD + r->name_length + r->value_length);
    const cw_span timeout = r->timeout.ns == 0 && is_long ? CW_SEC(LONG_TIMEOUT_S) : r->timeout;
    rc = store_asker_begin(s, &order, store_asker_until(s, timeout), done, arg);
    if (rc == 0) {
        store_note(s, store_order_reads(&order) ? STORE_COUNT_GETS : STORE_COUNT_WRITES);
    }
    return rc;
}

void store_asker_close(struct store *s)
{
    struct list_node *node;
    while ((node = list_first(&s->questions)) != NULL) {
        struct question *q = container_of(node, struct question, node);
        q->doubt = q->doubt || (is_begun(q) && q->sent);
        finish_with(q, CW_STORE_NO_ANSWER);
    }
}
