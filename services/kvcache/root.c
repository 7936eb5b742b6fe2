/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root.c - the root's side of a key: what reads and writes make of its value, one write after the other (op.h). Before
 * a write takes effect, every copy of the key is taken back (kvcache rule 1).
 */
#include "services/kvcache/root.h"

#include "base/check.h"
#include "services/kvcache/authority.h"
#include "services/kvcache/common.h"
#include "services/kvcache/data/apply.h"
#include "services/kvcache/data/op.h"
#include "services/kvcache/reader.h"
#include "services/kvcache/sweep.h"
#include "services/kvcache/walk.h"
#include "services/reply/servers.h"

#include <stdlib.h>
#include <string.h>

enum { DROP_TIMEOUT_MS = 10, REVIEW_MS = 5, LATE_MS = 3 };

/* A holder that was asked to drop its copy. */
struct drop {
    struct kvcache *k;
    cw_key id;
    cw_job job;
    cw_server server;
    uint64_t stamp;
    size_t key_length;
    uint8_t key[KV_KEY_MAX];
};

static struct item_name name_of_drop(const struct drop *d)
{
    return (struct item_name){.id = d->id, .job = d->job, .key = d->key, .key_length = (uint8_t)d->key_length};
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/*
 * kvcache rule 6: a value is gone if, since it was stored, the key was another server's or about to become so, for
 * however short a time.
 */
struct item *root_value(struct kvcache *k, const struct item_name *name)
{
    struct item *i = items_find(&k->values, name, cw_now(k->svc));
    if (i != NULL && k->cuts > 0 && sweep_is_cut(k, i)) {
        items_remove(&k->values, i);
        return NULL;
    }
    if (i != NULL && !kv_steady(k, &i->id, i->epoch) && !KV_MUTANT(NO_TENURE)) {
        items_remove(&k->values, i);
        kv_count(k, KV_COUNT_MOVED);
        return NULL;
    }
    return i;
}

/* Carries the operation out and fills the answer, which borrows the value until the next call. */
static void carry_out(struct kvcache *k, const struct item_name *name, const struct kv_request *r,
                      struct kv_answer *answer)
{
    CHECK_RULE_SLOW(op_reads(r->op) || kv_settled(k),
                    "kvcache rule 13: only who is of the majority, and has been for a hold, takes writes",
                    kv_who(k, name, (char[KV_WHO]){0}));
    hot_sample(&k->hot, name, cw_now(k->svc));
    struct applied p = apply_op(&k->values, root_value(k, name), name, r, cw_now(k->svc), &k->cas);
    *answer = (struct kv_answer){.state = KV_DONE,
                                 .status = p.status,
                                 .source = KV_FROM_ROOT,
                                 .flags = p.flags,
                                 .cas = p.cas,
                                 .marks = p.marks,
                                 .win_due = p.win_due,
                                 .idle_s = p.idle_s,
                                 .left = p.left};
    if (p.item != NULL && p.stored) {
        p.item->epoch = cw_epoch(k->svc);
    }
    if (p.item != NULL && p.answers) {
        answer->value = item_value(p.item);
        answer->length = p.item->length;
    }
}

void root_look(struct kvcache *k, const struct item_name *name, const struct kv_request *r, struct kv_answer *answer)
{
    carry_out(k, name, r, answer);
}

/* ---- Writes that others may ask for again ------------------------------------------------------------------------ */

static void remember(struct dedup_write *d, const struct kv_answer *answer)
{
    if (d == NULL) {
        return;
    }
    d->under_way = NULL;
    d->refused = answer->state == KV_NOT_ME;
    d->status = answer->status;
    d->cas = answer->cas;
    d->flags = answer->flags;
    d->marks = (uint8_t)answer->marks;
    d->digits = 0;
    if (answer->length <= OP_NUMBER_MAX && answer->length > 0) {
        d->digits = (uint8_t)answer->length;
        memcpy(d->number_text, answer->value, answer->length);
    }
}

/*
 * A repeated look gets its value if that is still there. A value that was replaced or lost meanwhile is a miss, which
 * may come at any time.
 */
static void recall_look(struct kvcache *k, const struct item_name *name, const struct dedup_write *d,
                        struct kv_answer *answer)
{
    struct item *i = root_value(k, name);
    if (i == NULL || i->cas != d->cas) {
        answer->status = KV_MISS;
        return;
    }
    struct op_value now = apply_value_of(i, cw_now(k->svc));
    answer->value = item_value(i);
    answer->length = i->length;
    answer->left = now.left;
}

static void recall(struct kvcache *k, const struct item_name *name, enum kv_op op, const struct dedup_write *d,
                   struct kv_answer *answer)
{
    *answer = (struct kv_answer){.state = d->refused ? KV_NOT_ME : KV_DONE,
                                 .status = d->status,
                                 .source = KV_FROM_ROOT,
                                 .flags = d->flags,
                                 .marks = d->marks,
                                 .cas = d->cas,
                                 .value = d->number_text,
                                 .length = d->digits};
    if ((op == KV_GAT || op == KV_LOOK) && !d->refused && d->status == KV_OK) {
        recall_look(k, name, d, answer);
    }
}

static void answer_now(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask,
                       const struct item_name *name, struct dedup_write *d)
{
    struct kv_answer answer;
    kv_count(k, KV_COUNT_ROOT_WRITES);
    carry_out(k, name, &ask->r, &answer);
    remember(d, &answer);
    rpc_answer(k, asker, &answer);
}

static void refuse(struct kvcache *k, const struct asker *asker, enum kv_state state, struct dedup_write *d)
{
    struct kv_answer answer = {.state = state};
    if (d != NULL) {
        if (state == KV_NOT_ME) {
            remember(d, &answer); /* so that a late repetition is refused, too */
        } else {
            dedup_forget(&k->dedup, d);
        }
    }
    rpc_answer(k, asker, &answer);
}

/* ---- Taking copies back ------------------------------------------------------------------------------------------ */

static void take_copies_back(struct kvcache *k, struct held_key *held);

static void on_dropped(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)reply;
    (void)rx;
    struct kvcache *k = state;
    struct drop *d = arg;
    struct item_name name = name_of_drop(d);
    struct held_key *held = holders_find(&k->holders, &name);
    struct holder *h = held != NULL ? holders_at(held, d->server) : NULL;
    if (h != NULL && h->stamp == d->stamp) {
        h->asked = false;
        if (status == 0) {
            holders_drop(held, h);
        }
        if (!k->closing) {
            take_copies_back(k, held);
        }
    }
    free(d);
    CHECK_SLOW(walk_sometimes(k));
}

static void ask_to_drop(struct kvcache *k, const struct held_key *held, struct holder *h)
{
    cw_svc *s = k->svc;
    struct drop *d = malloc(sizeof *d);
    struct kv_ask ask = {.kind = KV_ASK_DROP, .from = k->instance};
    ask.r = (struct kv_request){KV_REQUEST_INIT, .op = KV_GET, .job = held->name.job, .key = held->key,
                                .key_length = held->name.key_length};
    cw_packet *p = d != NULL ? cw_packet_new(s, kv_ask_size(&ask)) : NULL;
    if (p == NULL) {
        free(d);
        return; /* root_review() asks again */
    }
    kv_ask_encode(&ask, cw_packet_data(p, NULL));
    *d = (struct drop){.k = k,
                       .id = held->name.id,
                       .job = held->name.job,
                       .server = h->server,
                       .stamp = h->stamp,
                       .key_length = held->name.key_length};
    memcpy(d->key, held->key, held->name.key_length);
    const cw_to to = to_server(s, KVCACHE_JOB, KV_PORT, h->server);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(DROP_TIMEOUT_MS)};
    if (cw_call(s, p, &to, &options, on_dropped, d) < 0) {
        cw_packet_free(s, p);
        free(d);
        return;
    }
    h->asked = true;
    kv_count(k, KV_COUNT_DROPS);
}

static void review_due(cw_svc *s, void *state, void *arg)
{
    (void)s;
    (void)arg;
    struct kvcache *k = state;
    k->root_timer = NULL;
    root_review(k);
    CHECK_SLOW(walk_sometimes(k));
}

/* Takes w out of the writes that wait. */
static void take_out(struct kvcache *k, struct held_key *held, struct root_write *w)
{
    size_t bytes = root_write_bytes(&w->ask);
    list_remove(&w->node);
    held->write_count--;
    held->write_bytes -= bytes;
    k->waiting_bytes -= bytes;
    if (w->record != NULL) {
        w->record->under_way = NULL;
    }
}

static void end_write(struct kvcache *k, struct held_key *held, struct root_write *w, bool steady)
{
    take_out(k, held, w);
    if (steady) {
        CHECK_RULE(held->count == 0 || KV_MUTANT(ACK_FIRST),
                   "kvcache rule 1: a write takes effect when no copy is left",
                   kv_who(k, &held->name, (char[KV_WHO]){0}));
        answer_now(k, &w->asker, &w->ask, &held->name, w->record);
    } else {
        refuse(k, &w->asker, KV_NOT_ME, w->record);
    }
    free(w);
}

/* Runs writes in their order while nobody holds a copy. If the key became another server's, none of them is done. */
static void run_writes(struct kvcache *k, struct held_key *held)
{
    held->busy = true;
    while (!list_is_empty(&held->writes)) {
        struct root_write *w = container_of(list_first(&held->writes), struct root_write, node);
        bool steady = kv_steady(k, &held->name.id, w->epoch);
        if (steady && held->count > 0 && !KV_MUTANT(ACK_FIRST)) {
            break;
        }
        end_write(k, held, w, steady);
    }
    held->busy = false;
}

/*
 * Ends the writes whose asker does not wait any longer: none of them is done, now or later. A question of this server's
 * ends by KV_BUSY, since its time is over; a repetition by another server is refused.
 */
static void end_overdue(struct kvcache *k, struct held_key *held)
{
    cw_time now = cw_now(k->svc);
    bool busy = held->busy;
    struct list_node *next;
    held->busy = true;
    for (struct list_node *n = list_first(&held->writes); n != NULL; n = next) {
        struct root_write *w = container_of(n, struct root_write, node);
        next = list_next(&held->writes, n);
        if (cw_time_due(w->until, now)) {
            take_out(k, held, w);
            refuse(k, &w->asker, w->asker.kind == ASKER_HERE ? KV_BUSY : KV_NOT_ME, w->record);
            free(w);
        }
    }
    held->busy = busy;
}

/*
 * True when the holder serves no copy: it is gone, or its registration is older than any copy, whether it can still say
 * so or not (kvcache rule 9).
 */
static bool is_over(struct kvcache *k, const struct holder *h)
{
    return kv_is_gone(k, h->server) || cw_time_due(cw_time_add(h->since, CW_MS(KV_REGISTERED_MS)), cw_now(k->svc));
}

/* kvcache rule 1: asks all holders to drop their copies, again if need be; when none is left the writes take effect. */
static void take_copies_back(struct kvcache *k, struct held_key *held)
{
    if (held->busy) {
        return;
    }
    for (unsigned i = 0; i < held->count && !list_is_empty(&held->writes);) {
        struct holder *h = &held->holder[i];
        if (is_over(k, h)) {
            holders_drop(held, h);
            continue;
        }
        if (!h->asked) {
            ask_to_drop(k, held, h);
        }
        i++;
    }
    run_writes(k, held);
    if (list_is_empty(&held->writes)) {
        if (list_is_linked(&held->waiting)) {
            list_remove(&held->waiting);
        }
        holders_put(&k->holders, held);
        return;
    }
    if (!list_is_linked(&held->waiting)) {
        list_push_back(&k->waiting, &held->waiting);
    }
    if (k->root_timer == NULL) {
        k->root_timer = cw_timer_start(k->svc, CW_MS(REVIEW_MS), review_due, NULL);
    }
}

void root_review(struct kvcache *k)
{
    struct list round;
    list_init(&round);
    list_splice_back(&round, &k->waiting);
    struct list_node *n;
    while ((n = list_pop_front(&round)) != NULL) {
        struct held_key *held = container_of(n, struct held_key, waiting);
        list_push_back(&k->waiting, n);
        end_overdue(k, held);
        take_copies_back(k, held);
    }
}

/* ---- What is asked ----------------------------------------------------------------------------------------------- */

static void wait_for_copies(struct kvcache *k, struct held_key *held, const struct asker *asker,
                            const struct kv_ask *ask, struct dedup_write *d)
{
    size_t bytes = root_write_bytes(ask);
    bool room = held->write_count < KV_WAITING_MOST && held->write_bytes + bytes <= KV_WAITING_BYTES_MOST &&
                k->waiting_bytes + bytes <= KV_WAITING_ALL_BYTES_MOST;
    struct root_write *w = room ? malloc(bytes) : NULL;
    if (w == NULL) {
        refuse(k, asker, KV_BUSY, d);
        return;
    }
    *w = (struct root_write){.asker = *asker, .record = d, .epoch = cw_epoch(k->svc), .ask = *ask};
    /* A write of another server began before it came here, and is waited for no longer than one of this server's. */
    w->until = asker->kind == ASKER_HERE ? asker->question->until : cw_time_add(cw_now(k->svc), k->limits.timeout);
    kv_keep_bytes(&w->ask.r, w->bytes);
    if (d != NULL) {
        d->under_way = w;
    }
    list_push_back(&held->writes, &w->node);
    held->write_count++;
    held->write_bytes += bytes;
    k->waiting_bytes += bytes;
    take_copies_back(k, held);
}

/*
 * True when the operation would leave the value that is there as it is: then no copy has to come back. It is false when
 * there is no value: if the value was evicted copies of it may still be out, and a writer that is told that there is no
 * value must not read it afterwards (kvcache rule 1).
 */
static bool changes_nothing(struct kvcache *k, const struct item_name *name, const struct kv_request *r)
{
    struct op_value now = apply_value_of(root_value(k, name), cw_now(k->svc));
    return now.there && op_decide(r, &now).change == OP_KEEPS;
}

static bool must_wait(struct kvcache *k, const struct held_key *held, const struct item_name *name,
                      const struct kv_request *r)
{
    return held != NULL && (!list_is_empty(&held->writes) || (held->count > 0 && !changes_nothing(k, name, r)));
}

bool root_write(struct kvcache *k, const struct item_name *name, const struct kv_request *r, struct kv_answer *answer)
{
    if (!kv_may_change(k, &name->id) || must_wait(k, holders_find(&k->holders, name), name, r)) {
        return false;
    }
    kv_count(k, KV_COUNT_ROOT_WRITES);
    carry_out(k, name, r, answer);
    return true;
}

static void write_value(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask,
                        const struct item_name *name, struct dedup_write *d)
{
    struct held_key *held = holders_find(&k->holders, name);
    if (must_wait(k, held, name, &ask->r)) {
        wait_for_copies(k, held, asker, ask, d);
    } else {
        answer_now(k, asker, ask, name, d);
    }
}

static void register_late(cw_svc *s, void *state, void *arg)
{
    struct kvcache *k = state;
    struct drop *d = arg;
    struct item_name name = name_of_drop(d);
    struct held_key *held = holders_get(&k->holders, &name);
    if (held != NULL && !holders_register(&k->holders, held, d->server, cw_now(s))) {
        holders_put(&k->holders, held);
    }
    free(d);
}

/* kvcache rule 3: registered first, sent second; kvcache rule 1: not while a write waits. */
static bool may_keep(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask,
                     const struct item_name *name)
{
    if (!(ask->bits & KV_BIT_COPY) || asker->server == k->self || asker->kind == ASKER_HERE) {
        return false;
    }
    if (KV_MUTANT(REGISTER_LATE)) {
        struct drop *d = malloc(sizeof *d);
        *d = (struct drop){.id = name->id, .job = name->job, .server = asker->server, .key_length = name->key_length};
        memcpy(d->key, name->key, name->key_length);
        return cw_timer_start(k->svc, CW_MS(LATE_MS), register_late, d) != NULL;
    }
    struct held_key *held = holders_get(&k->holders, name);
    if (held == NULL) {
        return false;
    }
    if ((!list_is_empty(&held->writes) || held->busy) && !KV_MUTANT(REGISTER_BUSY)) {
        return false;
    }
    bool registered = holders_register(&k->holders, held, asker->server, cw_now(k->svc));
    holders_put(&k->holders, held);
    return registered;
}

/* For CHECK_RULE_SLOW(). */
__attribute__((unused)) static bool is_registered(struct kvcache *k, const struct item_name *name, cw_server server)
{
    struct held_key *held = holders_find(&k->holders, name);
    return held != NULL && holders_at(held, server) != NULL;
}

static void read_value(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask,
                       const struct item_name *name)
{
    struct kv_answer answer;
    kv_count(k, KV_COUNT_ROOT_GETS);
    carry_out(k, name, &ask->r, &answer);
    bool fits = asker->kind != ASKER_CALL || rpc_fits(k, answer.length);
    answer.copyable = answer.status == KV_OK && (answer.marks & (KV_MARK_STALE | KV_MARK_SENT)) == 0 && fits &&
                      may_keep(k, asker, ask, name);
    CHECK_RULE_SLOW(!answer.copyable || is_registered(k, name, asker->server) || KV_MUTANT(REGISTER_LATE),
                    "kvcache rule 3: registered first, sent second", kv_who(k, name, (char[KV_WHO]){0}));
    rpc_answer(k, asker, &answer);
}

/*
 * kvcache rules 10 and 11. True: the write has not come before, and *d is its record. False: it was answered, or is
 * over.
 */
static bool is_new(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const struct item_name *name,
                   struct dedup_write **d)
{
    *d = NULL;
    if (asker->kind == ASKER_HERE) {
        return true;
    }
    struct kv_answer answer;
    switch (dedup_meet(&k->dedup, asker->server, ask->from, ask->number, ask->floor, cw_now(k->svc), d)) {
    case DEDUP_NEW:
        return true;
    case DEDUP_KNOWN:
        kv_count(k, KV_COUNT_REPEATED);
        if ((*d)->under_way != NULL) {
            ((struct root_write *)(*d)->under_way)->asker = *asker;
        } else {
            recall(k, name, ask->r.op, *d, &answer);
            rpc_answer(k, asker, &answer);
        }
        return false;
    case DEDUP_OVER:
        kv_count(k, KV_COUNT_REPEATED);
        return false;
    case DEDUP_NO_MEMORY:
        break;
    }
    refuse(k, asker, KV_BUSY, NULL);
    return false;
}

/* True when the answer fits no packet: then it is asked for again by the transport, and this ask counts as no use. */
static bool is_too_large(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask,
                         const struct item_name *name)
{
    if (asker->kind != ASKER_CALL || (ask->r.op != KV_GET && ask->r.op != KV_GAT && ask->r.op != KV_LOOK)) {
        return false;
    }
    const struct item *i = items_look(&k->values, name);
    return i != NULL && !rpc_fits(k, i->length);
}

void root_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id)
{
    struct item_name name = kv_name(id, &ask->r);
    struct dedup_write *d = NULL;
    bool reads = op_reads(ask->r.op);
    bool here = cw_is_root(k->svc, id) && (ask->to == 0 || ask->to == k->instance);
    if (here && is_too_large(k, asker, ask, &name)) {
        refuse(k, asker, KV_LARGE, NULL);
        return;
    }
    if (!reads && !is_new(k, asker, ask, &name, &d)) {
        return;
    }
    if (!here) {
        refuse(k, asker, KV_NOT_ME, d);
    } else if (!reads && cw_in_majority(k->svc) && !kv_may_change(k, id)) {
        refuse(k, asker, KV_BUSY, d);
    } else if (!kv_settled(k)) {
        struct kv_answer answer = {.state = KV_DONE, .status = reads ? KV_MISS : KV_NO_MAJORITY};
        remember(d, &answer);
        rpc_answer(k, asker, &answer);
    } else if (reads) {
        read_value(k, asker, ask, &name);
    } else {
        write_value(k, asker, ask, &name, d);
    }
}

void root_abandon(struct kvcache *k, const struct question *q)
{
    struct item_name name = kv_name(&q->id, &q->r);
    struct held_key *held = holders_find(&k->holders, &name);
    for (struct list_node *n = held != NULL ? list_first(&held->writes) : NULL; n != NULL;
         n = list_next(&held->writes, n)) {
        struct root_write *w = container_of(n, struct root_write, node);
        if (w->asker.kind == ASKER_HERE && w->asker.question == q) {
            w->asker.question = NULL;
        }
    }
}

void root_close(struct kvcache *k)
{
    struct list_node *n, *w;
    while ((n = list_pop_front(&k->waiting)) != NULL) {
        struct held_key *held = container_of(n, struct held_key, waiting);
        while ((w = list_pop_front(&held->writes)) != NULL) {
            free(container_of(w, struct root_write, node));
        }
    }
}
