/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes.h"
#include "base/check.h"
#include "services/aggregate/dense/number.h"
#include "services/aggregate/order/internal.h"
#include "services/aggregate/order/known.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a sync of a disk costs in the simulator's clock, in bytes that go over a memory in that time: 100 us. */
enum { STORE_SYNC = 200 * 1000 };

enum errand_state {
    ERRAND_LOADS,  /* its file is being read */
    ERRAND_READY,  /* the desk was told */
    ERRAND_RUNS,   /* the reduction is under way */
    ERRAND_STORES, /* the result is being written, or compared */
};

struct errand {
    struct list_node link;
    struct orders *o;
    cw_server desk;
    struct note look;
    enum errand_state state;
    bool away;    /* work of cw_offload() has it: it is not freed before that has ended */
    bool dropped; /* it ends when the work has ended */
    struct transport_reply_to reply;
    int64_t telling; /* the answer to LOOK that is on its way; 0: none */
    cw_time since;   /* the desk's last word; in state RUNS the begin of the reduction */
    uint8_t *in, *out;
    uint64_t in_bytes, out_bytes;
    uint64_t reserved; /* bytes for the result, from LOOK on */
    uint64_t charged;
    uint64_t most;             /* for the work: how long the file may be */
    int status;                /* of the work */
    struct vectors_file *file; /* the result that is being written, so far `stored` bytes of it */
    uint64_t stored;
    bool gives_up;  /* the work is to abandon the file */
    cw_timer *next; /* the next piece is about to be written */
    int64_t ticket;
    struct note done;
    uint64_t set[MESSAGE_SET_WORDS]; /* the members */
};

static struct errand *find(const struct orders *o, const struct note *n, cw_server desk)
{
    for (struct list_node *l = list_first(&o->errands); l != NULL; l = list_next(&o->errands, l)) {
        struct errand *e = container_of(l, struct errand, link);
        if (e->desk == desk && e->look.number == n->number && e->look.life == n->life) {
            return e;
        }
    }
    return NULL;
}

/* Bytes that are in memory count until they are given back. False: there is no room for so many more. */
static bool charge(struct errand *e, uint64_t bytes)
{
    if (bytes > e->o->memory_most - e->o->memory) {
        return false;
    }
    e->o->memory += bytes;
    e->charged += bytes;
    return true;
}

static void discharge(struct errand *e, uint64_t bytes)
{
    e->o->memory -= bytes;
    e->charged -= bytes;
}

static void errand_free(struct errand *e)
{
    struct orders *o = e->o;
    cw_timer_stop(o->s, e->next);
    if (e->file != NULL) {
        o->host->abandon(o->host->context, e->file);
    }
    discharge(e, e->charged);
    if (e->telling > 0) {
        int64_t id = e->telling;
        e->telling = 0;
        (void)transport_cancel(o->transport, id);
    }
    list_remove(&e->link);
    o->errand_count--;
    free(e->in);
    free(e->out);
    free(e);
}

/* Answers the desk. What transport_reply() gives. */
static int64_t answer(struct errand *e, int status, const struct note *n, transport_done_fn done)
{
    uint8_t bytes[NOTE_BYTES_MOST];
    struct transport_data data = {.bytes = bytes};
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .flags = TRANSPORT_COPY};
    note_encode(n, bytes);
    data.size = note_size(n);
    return transport_reply(e->o->transport, &e->reply, status, &data, &options, done, e);
}

static void work_done(cw_svc *s, void *state, void *arg);

/* bytes: how many the work goes over, for the simulator's clock. */
static int put_away(struct errand *e, void (*work)(void *arg), uint64_t bytes)
{
    int rc = cw_offload(e->o->s, work, work_done, e, CW_NS((int64_t)(bytes / 2)));
    e->away = rc == 0;
    return rc;
}

/* ---- LOOK -------------------------------------------------------------------------------------------------------- */

static void load(void *arg)
{
    struct errand *e = arg;
    const struct vectors_host *h = e->o->host;
    e->status = h->load(h->context, e->o->folder, e->look.from, e->most, &e->in, &e->in_bytes);
}

/* How the answer to LOOK ended. A desk that did not take it (it has cancelled the order) will never say GO. */
static void told(void *context, void *arg, int status)
{
    struct errand *e = arg;
    (void)context;
    if (e->telling == 0) {
        return; /* the errand is being freed */
    }
    e->telling = 0;
    if (status < 0 && e->state == ERRAND_READY) {
        errand_free(e);
    }
}

static void looked(struct errand *e, int status, uint64_t bytes)
{
    const struct note n = {.kind = NOTE_LOOKED, .number = e->look.number, .life = e->look.life, .bytes = bytes};
    e->state = ERRAND_READY;
    e->since = cw_now(e->o->s);
    int64_t id = answer(e, status, &n, status < 0 ? NULL : told);
    if (status < 0 || id < 0) {
        errand_free(e);
        return;
    }
    e->telling = id;
}

/* The room for the result is taken when LOOK is answered: so an order that has none is refused before it begins. */
static bool reserve(struct errand *e, uint64_t bytes)
{
    if (bytes > e->reserved && !charge(e, bytes - e->reserved)) {
        return false;
    }
    e->reserved = bytes > e->reserved ? bytes : e->reserved;
    return true;
}

static bool is_root(const struct errand *e)
{
    return e->look.root == e->o->self;
}

/* Does the result go anywhere at this server? */
static bool has_sink(const struct errand *e)
{
    return e->look.sink != NOTE_SINK_NONE && (is_root(e) || (e->look.spec.flags & CW_REDUCE_TO_ALL) != 0);
}

/* Was DROP here before its LOOK? Messages of a pair may overtake one another. */
static bool was_dropped(const struct orders *o, const struct note *n, cw_server desk)
{
    for (unsigned i = 0; i < ORDERS_DROPPED; i++) {
        const struct dropped *d = &o->dropped[i];
        if (d->life == n->life && d->number == n->number && d->desk == desk && !cw_time_due(d->until, cw_now(o->s))) {
            return true;
        }
    }
    return false;
}

/* Files are read one after the other, so that together they do not take more memory than there may be. */
static void load_next(struct orders *o)
{
    for (struct list_node *l = list_first(&o->errands); l != NULL && !o->loading; l = list_next(&o->errands, l)) {
        struct errand *e = container_of(l, struct errand, link);
        if (e->state == ERRAND_LOADS && !e->away) {
            e->most = o->memory_most - o->memory;
            o->loading = put_away(e, load, 0) == 0;
            if (!o->loading) {
                return; /* too much is under way: the tick tries again */
            }
        }
    }
}

static bool writes_file(const struct errand *e)
{
    return has_sink(e) && e->look.sink == NOTE_SINK_FILE;
}

/* Is another order's result to be written to the same name here? */
static bool name_is_taken(const struct errand *e)
{
    for (const struct list_node *l = list_first(&e->o->errands); l != NULL; l = list_next(&e->o->errands, l)) {
        const struct errand *other = container_of_const(l, struct errand, link);
        if (other != e && writes_file(other) && strcmp(other->look.to, e->look.to) == 0) {
            return true;
        }
    }
    return false;
}

static int look(struct errand *e)
{
    const struct orders *o = e->o;
    bool reads = e->look.source == NOTE_SOURCE_FILE, writes = writes_file(e);
    if ((reads || writes) && (o->host == NULL || o->folder[0] == '\0')) {
        return -EOPNOTSUPP;
    }
    if (writes && name_is_taken(e)) {
        return -EBUSY;
    }
    if (!reads) {
        uint64_t element = number_element((cw_number)e->look.spec.type, (cw_combine)e->look.spec.combine);
        if (e->look.spec.elements > UINT64_MAX / element) {
            return -EPROTO;
        }
        if (has_sink(e) && !reserve(e, e->look.spec.elements * element)) {
            return -ENOBUFS;
        }
        looked(e, 0, e->look.spec.elements * element);
    }
    return 0;
}

int errand_look(struct orders *o, const struct note *n, cw_server desk, const struct transport_reply_to *reply)
{
    if (n->root >= o->torus.servers) {
        return -EPROTO;
    }
    if (find(o, n, desk) != NULL) {
        return -EEXIST;
    }
    if (was_dropped(o, n, desk)) {
        return -ECANCELED;
    }
    struct errand *e = o->errand_count < ORDERS_ERRANDS ? calloc(1, sizeof *e) : NULL;
    if (e == NULL) {
        return -ENOBUFS;
    }
    e->o = o;
    e->desk = desk;
    e->look = *n;
    e->reply = *reply;
    e->since = cw_now(o->s);
    list_push_back(&o->errands, &e->link);
    o->errand_count++;
    int rc = look(e);
    if (rc < 0) {
        errand_free(e);
    }
    load_next(o);
    orders_wake(o);
    return rc;
}

/* ---- GO ---------------------------------------------------------------------------------------------------------- */

static void fill(void *context, uint64_t first, size_t count, void *elements)
{
    const struct errand *e = context;
    known_fill(e->o->self, first, count, elements);
}

static void finish(struct errand *e, int status)
{
    if (status < 0 && e->state == ERRAND_STORES) {
        e->done.who = e->o->self;
    }
    int64_t id = answer(e, status, &e->done, NULL);
    (void)id; /* a desk that does not hear of it is gone */
    errand_free(e);
}

/* Work: the next piece of the result; with the last one the file gets its name. */
static void store(void *arg)
{
    struct errand *e = arg;
    const struct vectors_host *h = e->o->host;
    uint64_t left = e->out_bytes - e->stored, piece = left < h->piece ? left : h->piece;
    int rc = e->gives_up ? -ECANCELED : 0;
    rc = rc < 0 || e->file != NULL ? rc : h->begin(h->context, e->o->folder, e->look.to, &e->file);
    rc = rc < 0 ? rc : h->write(h->context, e->file, e->out + e->stored, piece);
    e->stored += piece;
    if (rc < 0 && e->file != NULL) {
        h->abandon(h->context, e->file);
        e->file = NULL;
    } else if (rc == 0 && e->stored == e->out_bytes) {
        rc = h->end(h->context, e->file);
        e->file = NULL;
    }
    e->status = rc;
}

static void store_on(struct errand *e)
{
    e->gives_up = e->dropped;
    uint64_t left = e->out_bytes - e->stored, piece = left < e->o->host->piece ? left : e->o->host->piece;
    int rc = put_away(e, store, STORE_SYNC + piece);
    if (rc < 0) {
        finish(e, rc);
    }
}

static void next_piece(cw_svc *s, void *state, void *arg)
{
    struct errand *e = arg;
    (void)s;
    (void)state;
    e->next = NULL;
    store_on(e);
}

/*
 * A timer begins the next piece, rather than the end of the last one: so when the service is unloaded, the server waits
 * for one piece, and nothing new begins.
 */
static void stored(struct errand *e)
{
    if (e->file == NULL) {
        finish(e, e->status);
        return;
    }
    e->next = cw_timer_start(e->o->s, CW_NS(0), next_piece, e);
    if (e->next == NULL) {
        finish(e, -ENOBUFS);
    }
}

static void compare(void *arg)
{
    struct errand *e = arg;
    uint64_t count = e->out_bytes / sizeof(uint64_t);
    e->done.wrong = known_wrong(e->done.set, e->o->torus.servers, (const uint64_t *)(const void *)e->out, count);
    e->status = 0;
}

static void reduced(void *arg, const cw_reduce_result *result)
{
    struct errand *e = arg;
    struct orders *o = e->o;
    free(e->in);
    e->in = NULL;
    discharge(e, e->in_bytes);
    e->done.attempts = result->attempts;
    e->done.who = result->named ? torus_id(&o->torus, result->who) : CW_SERVER_NONE;
    e->done.took_ns = (uint64_t)cw_time_since(cw_now(o->s), e->since).ns;
    for (unsigned i = 0; i < result->count; i++) {
        orders_add(e->done.set, torus_id(&o->torus, result->counted[i]));
    }
    if (result->status < 0 || e->out == NULL || e->dropped) {
        finish(e, result->status);
        return;
    }
    e->state = ERRAND_STORES;
    if (e->look.sink == NOTE_SINK_FILE) {
        store_on(e);
        return;
    }
    int rc = put_away(e, compare, e->out_bytes);
    if (rc < 0) {
        finish(e, rc);
    }
}

/* What is called, and the memory for the result. */
static int64_t reduce(struct errand *e)
{
    struct orders *o = e->o;
    struct spec *spec = &e->look.spec;
    size_t element = number_element((cw_number)spec->type, (cw_combine)spec->combine);
    bool member = orders_has(e->set, o->self), sink = has_sink(e);
    uint8_t name[16];
    put_be32(name, e->desk);
    put_be32(name + 4, e->look.number);
    put_be64(name + 8, e->look.life);
    cw_reduce r = {CW_REDUCE_INIT, .name = (const char *)name, .name_length = sizeof name, .context = e};
    r.root = torus_coord(&o->torus, e->look.root);
    r.type = (cw_number)spec->type;
    r.combine = (cw_combine)spec->combine;
    r.elements = spec->elements;
    r.flags = spec->flags;
    r.limit = CW_MS((int64_t)e->look.limit_ms);
    r.in = member ? e->in : NULL;
    r.fill = member && e->look.source == NOTE_SOURCE_KNOWN ? fill : NULL;
    if (sink) {
        e->out_bytes = spec->elements * element;
        e->out = reserve(e, e->out_bytes) ? malloc(e->out_bytes + 1) : NULL;
        if (e->out == NULL) {
            return -ENOBUFS;
        }
        r.out = e->out;
    }
    cw_coord *list = calloc(o->torus.servers, sizeof *list);
    if (list == NULL) {
        return -ENOMEM;
    }
    for (cw_server s = 0; s < o->torus.servers; s++) {
        if (orders_has(e->set, s)) {
            list[r.members++] = torus_coord(&o->torus, s);
        }
    }
    r.member = list;
    int64_t ticket = dense_reduce(o->dense, o, AGGREGATE_JOB, &r, reduced, e);
    free(list);
    return ticket;
}

int errand_go(struct orders *o, const struct note *n, cw_server desk, const struct transport_reply_to *reply)
{
    struct errand *e = find(o, n, desk);
    if (e == NULL || e->state != ERRAND_READY) {
        return -ESTALE;
    }
    size_t element = number_element((cw_number)e->look.spec.type, (cw_combine)e->look.spec.combine);
    bool member = orders_has(n->set, o->self), file = e->look.source == NOTE_SOURCE_FILE;
    bool has = file ? n->spec.elements == e->in_bytes / element : !member || e->look.source == NOTE_SOURCE_KNOWN;
    if (n->servers != o->torus.servers || n->spec.elements > e->o->memory_most / element || !has) {
        errand_free(e);
        return -EPROTO;
    }
    e->reply = *reply;
    e->look.spec.elements = n->spec.elements;
    memcpy(e->set, n->set, orders_words(o) * sizeof *e->set);
    e->done = (struct note){.kind = NOTE_DONE, .number = n->number, .life = n->life, .servers = n->servers};
    e->done.who = CW_SERVER_NONE;
    e->since = cw_now(o->s);
    e->state = ERRAND_RUNS;
    e->ticket = reduce(e);
    int rc = e->ticket < 0 ? (int)e->ticket : 0;
    if (rc < 0) {
        errand_free(e);
    }
    return rc;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void work_done(cw_svc *s, void *state, void *arg)
{
    struct errand *e = arg;
    struct orders *o = e->o;
    (void)s;
    (void)state;
    e->away = false;
    if (e->state == ERRAND_LOADS) {
        o->loading = false;
        e->in_bytes = e->status < 0 ? 0 : e->in_bytes;
        if (!charge(e, e->in_bytes)) { /* since it was begun, a result has taken the room */
            e->in_bytes = 0;
            e->status = -EFBIG;
        }
        if (e->status == 0 && has_sink(e) && !reserve(e, e->in_bytes)) {
            e->status = -ENOBUFS;
        }
        looked(e, e->dropped ? -ECANCELED : e->status, e->in_bytes);
        load_next(o);
    } else {
        stored(e);
    }
}

/* Takes e. */
static void drop(struct errand *e)
{
    if (e->away || e->state == ERRAND_STORES) { /* between two pieces, too: the desk is told how it ended */
        e->dropped = true;
    } else if (e->state == ERRAND_RUNS) {
        e->dropped = true;
        int rc = dense_cancel(e->o->dense, e->o, e->ticket); /* reduced() frees it */
        CHECK(rc == 0);
    } else {
        errand_free(e);
    }
}

void errand_drop(struct orders *o, const struct note *n, cw_server desk)
{
    struct errand *e = find(o, n, desk);
    if (e != NULL) {
        drop(e);
    } else {
        o->dropped[o->dropped_next++ % ORDERS_DROPPED] =
            (struct dropped){desk, n->number, n->life, cw_time_add(cw_now(o->s), ORDERS_REMEMBERED)};
    }
}

/* Drops those that `which` chooses. */
static void drop_all(struct orders *o, bool (*which)(const struct errand *e, cw_server desk), cw_server desk)
{
    for (struct list_node *l = list_first(&o->errands), *next; l != NULL; l = next) {
        struct errand *e = container_of(l, struct errand, link);
        next = list_next(&o->errands, l);
        if (!e->dropped && which(e, desk)) {
            drop(e);
        }
    }
}

static bool of_desk(const struct errand *e, cw_server desk)
{
    return desk == CW_SERVER_NONE || e->desk == desk;
}

static bool forgotten(const struct errand *e, cw_server desk)
{
    (void)desk;
    return e->state == ERRAND_READY && cw_time_due(cw_time_add(e->since, ORDERS_KEPT), cw_now(e->o->s));
}

void errand_desk_down(struct orders *o, cw_server desk)
{
    drop_all(o, of_desk, desk);
}

void errand_close(struct orders *o)
{
    errand_desk_down(o, CW_SERVER_NONE);
    while (!list_is_empty(&o->errands)) { /* their work has ended by now, and nobody was told */
        errand_free(container_of(list_first(&o->errands), struct errand, link));
    }
}

void errand_tick(struct orders *o)
{
    drop_all(o, forgotten, CW_SERVER_NONE);
    load_next(o);
}
