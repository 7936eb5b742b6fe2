/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - the asker's side: a question goes to the key's root, or a read to the nearest of k + 1 places, and is
 * asked again until it is answered or its time is over.
 *
 * kvcache rule 10: a write goes to one server, and names the instance that it means there and, with every attempt, the
 * same number. If the answer is "not me" the write was not done, and begins anew under another number. Once an attempt
 * went without an answer the write may have been done: from then on it goes to that instance only, which remembers it;
 * when that instance is no longer root nobody knows (KV_UNKNOWN). The first write to a server asks for its instance
 * before, so that it can be repeated as any other.
 */
#include "services/kvcache/reader.h"

#include "base/check.h"
#include "services/kvcache/authority.h"
#include "services/kvcache/common.h"
#include "services/kvcache/copies.h"
#include "services/kvcache/data/op.h"
#include "services/kvcache/root.h"
#include "services/kvcache/walk.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BACKOFF_US = 500, BACKOFF_DOUBLINGS = 5 };

static void go(struct question *q);

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static enum kv_counter count_of_hit(enum kv_source source)
{
    return source == KV_FROM_HERE   ? KV_COUNT_HITS_HERE
           : source == KV_FROM_COPY ? KV_COUNT_HITS_COPY
                                    : KV_COUNT_HITS_ROOT;
}

static bool counts_as_read(enum kv_op op)
{
    return op == KV_GET || op == KV_LOOK;
}

static enum kv_time time_of_hit(enum kv_source source)
{
    if (source == KV_FROM_HERE) {
        return KV_TIME_GET_HERE;
    }
    return source == KV_FROM_COPY ? KV_TIME_GET_COPY : KV_TIME_GET_ROOT;
}

static enum kv_time time_of(enum kv_op op, const struct kv_answer *answer)
{
    if (counts_as_read(op)) {
        return answer->status == KV_OK ? time_of_hit(answer->source) : KV_TIME_MISS;
    }
    if (op_carries(op)) {
        return KV_TIME_SET;
    }
    return op == KV_DELETE ? KV_TIME_DELETE : KV_TIME_OTHER;
}

/* Gives the answer to the asker. The question was asked at `begun`. */
static void report_result(struct kvcache *k, enum kv_op op, cw_time begun, kv_done_fn done, void *arg,
                          const struct kv_answer *answer)
{
    cw_histogram_note(k->took[time_of(op, answer)], cw_time_since(cw_now(k->svc), begun));
    struct kv_result result = {.size = sizeof result,
                               .status = answer->status,
                               .value = answer->value,
                               .value_length = answer->length,
                               .flags = answer->flags,
                               .cas = answer->cas,
                               .source = answer->source,
                               .marks = answer->marks,
                               .idle_s = answer->idle_s,
                               .left = answer->left};
    if (counts_as_read(op)) {
        kv_count(k, answer->status == KV_OK ? count_of_hit(answer->source) : KV_COUNT_MISSES);
    }
    if (answer->status == KV_UNKNOWN || answer->status == KV_TIMED_OUT) {
        kv_count(k, answer->status == KV_UNKNOWN ? KV_COUNT_UNKNOWN : KV_COUNT_TIMED_OUT);
    }
    done(arg, &result);
}

static void end(struct question *q, struct kv_answer *answer)
{
    struct kvcache *k = q->k;
    if (q->done != NULL) {
        report_result(k, q->r.op, q->begun, q->done, q->arg, answer);
    } else {
        if (answer->status == KV_TIMED_OUT) {
            answer->state = KV_BUSY; /* the other server asks the root */
        }
        answer->copyable = false;
        rpc_answer(k, &q->proxy, answer);
    }
    free(q);
}

static bool has_room_for(const struct kvcache *k, const struct kv_request *r)
{
    return k->question_count < KV_QUESTIONS_MOST && k->question_bytes + reader_bytes(r) <= KV_QUESTION_BYTES_MOST;
}

/* Takes q off everything. An answer to it that comes later is not looked at. */
static void detach(struct question *q)
{
    struct kvcache *k = q->k;
    rpc_cancel(q);
    cw_timer_stop(k->svc, q->timer);
    q->timer = NULL;
    list_remove(&q->node);
    k->question_count--;
    k->question_bytes -= reader_bytes(&q->r);
    if (list_is_linked(&q->fetch)) {
        list_remove(&q->fetch);
    }
    if (q->write) {
        root_abandon(k, q);
    }
}

/* Questions that joined a fetch get the same answer if the copy could be kept; else each asks for itself. */
static void let_followers_go(struct list *followers, const struct kv_answer *answer, bool share)
{
    struct list_node *n;
    while ((n = list_pop_front(followers)) != NULL) {
        struct question *f = container_of(n, struct question, fetch);
        f->follows = false;
        if (share) {
            struct kv_answer same = *answer;
            same.source = KV_FROM_COPY;
            detach(f);
            end(f, &same);
        } else {
            f->direct = true;
            go(f);
        }
    }
}

static void finish(struct question *q, struct kv_answer *answer, bool share)
{
    struct list followers;
    list_init(&followers);
    list_splice_back(&followers, &q->followers);
    detach(q);
    /*
     * q is answered before its followers. A value that is shared is a packet's. A value in this server's own memory is
     * for q alone: it may be gone with the first question that a follower asks.
     */
    struct kv_answer own = *answer;
    end(q, &own);
    let_followers_go(&followers, answer, share);
}

static void finish_with(struct question *q, enum kv_status status)
{
    struct kv_answer answer = {.state = KV_DONE, .status = status};
    finish(q, &answer, false);
}

static void give_up(struct question *q)
{
    finish_with(q, q->doubt ? KV_UNKNOWN : KV_TIMED_OUT);
}

/* ---- Once more --------------------------------------------------------------------------------------------------- */

static void again_due(cw_svc *s, void *state, void *arg)
{
    (void)s;
    (void)state;
    struct question *q = arg;
    struct kvcache *k = q->k;
    q->timer = NULL;
    go(q);
    CHECK_SLOW(walk_sometimes(k));
}

static void later(struct question *q)
{
    unsigned doublings = q->attempts < BACKOFF_DOUBLINGS ? q->attempts : BACKOFF_DOUBLINGS;
    int64_t span = CW_US(BACKOFF_US).ns << doublings;
    span += (int64_t)cw_random_below(q->k->svc, (uint64_t)span);
    bool over = cw_time_due(q->until, cw_now(q->k->svc));
    kv_count(q->k, KV_COUNT_RETRIES);
    q->timer = over ? NULL : cw_timer_start(q->k->svc, CW_NS(span), again_due, q);
    if (q->timer == NULL) {
        give_up(q);
    }
}

static void renumber(struct question *q)
{
    q->number = ++q->k->number;
    list_move_back(&q->k->writes, &q->node);
}

/* A question that only looked may win: it asks again, by an operation that is done once (KV_LOOK). */
static void look_to_win(struct question *q)
{
    struct list followers;
    list_init(&followers);
    list_splice_back(&followers, &q->followers);
    if (list_is_linked(&q->fetch)) {
        list_remove(&q->fetch);
    }
    q->fetches = false;
    q->direct = q->write = true;
    q->r.op = KV_LOOK;
    renumber(q);
    let_followers_go(&followers, NULL, false);
    go(q);
}

/* ---- An attempt -------------------------------------------------------------------------------------------------- */

static struct kv_ask ask_of(const struct question *q)
{
    const struct kvcache *k = q->k;
    struct kv_ask ask = {.kind = KV_ASK_OP, .from = k->instance, .r = q->r};
    if (q->write) {
        struct list_node *first = list_first(&k->writes);
        ask.number = q->number;
        ask.floor = container_of(first, struct question, node)->number;
        ask.to = q->addressed;
    }
    ask.bits = q->fetches ? KV_BIT_COPY : 0;
    return ask;
}

static cw_span patience(const struct question *q, const struct kv_ask *ask)
{
    cw_span left = cw_time_since(q->until, cw_now(q->k->svc));
    if (q->extra && q->bulk) {
        return CW_NS(left.ns / 2); /* the other half is for the root */
    }
    return left.ns < q->k->limits.attempt.ns || rpc_by_message(q, ask) ? left : q->k->limits.attempt;
}

static void ask_here(struct question *q)
{
    struct asker asker = {.kind = ASKER_HERE, .question = q, .server = q->k->self};
    struct kv_ask ask = ask_of(q);
    ask.to = 0;
    root_take(q->k, &asker, &ask, &q->id);
}

static void send(struct question *q, const cw_to *to, const struct kv_ask *ask)
{
    q->attempts++;
    int rc = rpc_ask(q, to, ask, patience(q, ask));
    if (rc == -EACCES) {
        finish_with(q, q->doubt ? KV_UNKNOWN : KV_DENIED);
    } else if (rc == -ESHUTDOWN) {
        give_up(q);
    } else if (rc < 0) {
        later(q); /* nothing was sent: no doubt */
    }
}

static void send_read(struct question *q, const cw_key *key, unsigned bits)
{
    struct kv_ask ask = ask_of(q);
    const cw_to to = {.kind = CW_TO_KEY, .job = KVCACHE_JOB, .port = KV_PORT, .key = *key};
    ask.bits |= bits;
    send(q, &to, &ask);
}

static void begin_fetch(struct question *q)
{
    struct kvcache *k = q->k;
    struct question *other = copies_fetch_of(k, &q->id, &q->r);
    if (other != NULL && other != q) {
        q->follows = true;
        list_push_back(&other->followers, &q->fetch);
        return;
    }
    q->fetches = true;
    q->epoch = cw_epoch(k->svc);
    copies_fetch_began(k, q);
    send_read(q, &q->id, 0);
}

static void go_read(struct question *q)
{
    struct kvcache *k = q->k;
    cw_key key;
    cw_server at;
    if (cw_is_root(k->svc, &q->id)) {
        ask_here(q);
        return;
    }
    q->extra = q->stays;
    q->stays = false;
    if (q->extra) {
        send_read(q, &q->place, KV_BIT_EXTRA);
        return;
    }
    if (q->r.op == KV_GET && !q->direct && k->limits.extras > 0 && copies_choose(k, &q->id, &key, &at) > 0) {
        q->direct = true; /* a further attempt goes to the root */
        if (at != k->self) {
            q->extra = true;
            q->place = key;
            send_read(q, &key, KV_BIT_EXTRA);
            return;
        }
        /* kvcache rule 8: a server fetches a copy only while the key is steady at this server. */
        if (kv_steady(k, &q->id, cw_epoch(k->svc))) {
            begin_fetch(q);
            return;
        }
    }
    send_read(q, &q->id, 0);
}

static void go_write(struct question *q)
{
    struct kvcache *k = q->k;
    cw_coord root;
    if (cw_servers_for_key(k->svc, &q->id, 1, &root) != 1) {
        later(q);
        return;
    }
    cw_server target = cw_server_id(k->svc, root);
    if (q->doubt && target != q->target && !KV_MUTANT(RETRY_ANYWHERE)) {
        give_up(q);
        return;
    }
    q->target = target;
    if (target == k->self) {
        ask_here(q);
        return;
    }
    const cw_to to = to_server(k->svc, KVCACHE_JOB, KV_PORT, target);
    if (!q->doubt) {
        q->addressed = KV_MUTANT(RETRY_ANYWHERE) ? 0 : k->instances[target];
    }
    q->names = q->addressed == 0 && !KV_MUTANT(RETRY_ANYWHERE);
    struct kv_ask ask = ask_of(q);
    if (q->names) {
        ask = (struct kv_ask){.kind = KV_ASK_NAME, .from = k->instance, .r = {KV_REQUEST_INIT, .op = KV_GET}};
    }
    send(q, &to, &ask);
}

static void go(struct question *q)
{
    struct kvcache *k = q->k;
    if (cw_time_due(q->until, cw_now(k->svc)) || k->closing) {
        give_up(q);
    } else if (!cw_in_majority(k->svc) && !q->doubt) {
        finish_with(q, q->write ? KV_NO_MAJORITY : KV_MISS);
    } else if (q->write) {
        go_write(q);
    } else {
        go_read(q);
    }
}

/* ---- What came back ---------------------------------------------------------------------------------------------- */

/* A copy that may be kept was good when it came. A miss says nothing, so every follower may have it. */
static bool may_share(struct question *q, const struct kv_answer *answer, cw_server from)
{
    return q->fetches && (copies_fetched(q->k, q, answer, from) || answer->status == KV_MISS ||
                          (KV_MUTANT(JOIN_POISONED) && answer->status == KV_OK));
}

static void answered(struct question *q, const struct kv_answer *answer, cw_server from)
{
    struct kv_answer same = *answer;
    switch (answer->state) {
    case KV_DONE:
        if (answer->win_due && q->done != NULL && q->r.op == KV_GET) {
            look_to_win(q);
            return;
        }
        if (from == CW_SERVER_NONE && same.source == KV_FROM_ROOT) {
            same.source = KV_FROM_HERE;
        }
        finish(q, &same, may_share(q, answer, from));
        return;
    case KV_NOT_ME:
        q->direct = true;
        if (q->doubt && !KV_MUTANT(RETRY_ANYWHERE)) {
            give_up(q);
            return;
        }
        if (q->write) {
            renumber(q);
        }
        break;
    case KV_LARGE:
        q->stays = q->extra && !q->bulk; /* the place with the copy is asked by the transport, not the root */
        q->bulk = true;
        go(q);
        return;
    case KV_BUSY:
    case KV_STATES:
        break;
    }
    q->attempts += from == CW_SERVER_NONE;
    later(q);
}

void reader_answer(struct question *q, const struct kv_answer *answer)
{
    answered(q, answer, CW_SERVER_NONE);
}

/* True when the ask may have arrived: nobody knows. Any other error says that it did not, or that it was refused. */
static bool leaves_doubt(int status)
{
    return status == -ETIMEDOUT || status == -ECONNRESET || status == -ESTALE || status == -ECANCELED ||
           status == -ENETUNREACH || status == -EBADMSG;
}

void reader_replied(struct question *q, int status, const struct kv_answer *answer, cw_server from)
{
    struct kvcache *k = q->k;
    if (q->finished) {
        return;
    }
    if (status == 0) {
        if (from < k->servers) {
            k->instances[from] = answer->instance;
        }
        if (q->names) {
            go(q);
        } else {
            answered(q, answer, from);
        }
        return;
    }
    q->doubt |= q->write && !q->names && leaves_doubt(status);
    q->direct = true;
    if (status == -ECANCELED || k->closing) {
        give_up(q);
    } else if (status == -EACCES) {
        finish_with(q, q->doubt ? KV_UNKNOWN : KV_DENIED);
    } else if (status == -ETIMEDOUT) {
        kv_count(k, KV_COUNT_RETRIES);
        go(q);
    } else {
        later(q);
    }
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

static struct question *question_new(struct kvcache *k, const struct kv_request *r, const cw_key *id)
{
    struct question *q = has_room_for(k, r) ? malloc(reader_bytes(r)) : NULL;
    if (q == NULL) {
        return NULL;
    }
    *q = (struct question){.k = k,
                           .id = *id,
                           .r = *r,
                           .target = CW_SERVER_NONE,
                           .write = !op_reads(r->op),
                           .direct = r->meta & KV_META_TIMES};
    kv_keep_bytes(&q->r, q->bytes);
    q->begun = cw_now(k->svc);
    q->until = cw_time_add(q->begun, k->limits.timeout);
    list_init(&q->followers);
    if (q->write) {
        q->number = ++k->number;
    }
    list_push_back(q->write ? &k->writes : &k->questions, &q->node);
    k->question_count++;
    k->question_bytes += reader_bytes(r);
    return q;
}

void reader_fetch_for(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask, const cw_key *id)
{
    struct question *q = question_new(k, &ask->r, id);
    if (q == NULL) {
        struct kv_answer busy = {.state = KV_BUSY}; /* the other server asks again, at the root */
        rpc_answer(k, asker, &busy);
        return;
    }
    q->proxy = *asker;
    q->direct = true;
    if (!cw_in_majority(k->svc)) {
        finish_with(q, KV_MISS);
    } else if (kv_steady(k, id, cw_epoch(k->svc))) {
        begin_fetch(q);
    } else {
        go(q);
    }
}

/* A hit at this server needs no question, nor does a write as root that need not wait. True: answered. */
static bool is_here(struct kvcache *k, const struct kv_request *r, const cw_key *id, kv_done_fn done, void *arg)
{
    struct item_name name = kv_name(id, r);
    struct kv_answer answer;
    if (!op_reads(r->op)) {
        if (!cw_is_root(k->svc, id) || !root_write(k, &name, r, &answer)) {
            return false;
        }
        answer.source = KV_FROM_HERE;
    } else if (cw_is_root(k->svc, id)) {
        root_look(k, &name, r, &answer);
        answer.source = KV_FROM_HERE;
        if (answer.win_due) {
            return false;
        }
    } else {
        struct item *i = r->meta & KV_META_TIMES ? NULL : copies_value(k, &name);
        if (i == NULL) {
            return false;
        }
        hot_sample(&k->hot, &name, cw_now(k->svc));
        answer = (struct kv_answer){.state = KV_DONE,
                                    .status = KV_OK,
                                    .source = KV_FROM_COPY,
                                    .flags = i->flags,
                                    .cas = i->cas,
                                    .value = item_value(i),
                                    .length = i->length};
    }
    report_result(k, r->op, cw_now(k->svc), done, arg, &answer);
    return true;
}

int reader_do(struct kvcache *k, const struct kv_request *r, kv_done_fn done, void *arg)
{
    cw_key id = kv_mem_id(k, r->job, r->key, r->key_length);
    bool read = op_reads(r->op);
    kv_count(k, counts_as_read(r->op) ? KV_COUNT_GETS : KV_COUNT_WRITES);
    if (!cw_in_majority(k->svc)) {
        struct kv_answer answer = {.state = KV_DONE, .status = read ? KV_MISS : KV_NO_MAJORITY};
        report_result(k, r->op, cw_now(k->svc), done, arg, &answer);
        return 0;
    }
    if (is_here(k, r, &id, done, arg)) {
        return 0;
    }
    struct question *q = question_new(k, r, &id);
    if (q == NULL) {
        return has_room_for(k, r) ? -ENOMEM : -ENOBUFS;
    }
    q->done = done;
    q->arg = arg;
    go(q);
    return 0;
}

int kv_do(cw_svc *kvcache, const struct kv_request *r, kv_done_fn done, void *arg)
{
    struct kvcache *k = cw_state(kvcache);
    if (r == NULL || done == NULL || r->size < sizeof *r || r->op < KV_GET || r->op >= KV_OPS || r->key == NULL ||
        r->key_length < 1 || r->key_length > KV_KEY_MAX || r->meta > KV_METAS ||
        (r->value_length > 0 && (r->value == NULL || !op_carries(r->op)))) {
        return -EINVAL;
    }
    if (r->value_length > KV_VALUE_MAX) {
        return -EMSGSIZE;
    }
    return k->closing ? -ESHUTDOWN : reader_do(k, r, done, arg);
}

void reader_close(struct kvcache *k)
{
    struct list *lists[] = {&k->questions, &k->writes};
    for (unsigned i = 0; i < 2; i++) {
        struct list_node *n;
        while ((n = list_first(lists[i])) != NULL) {
            struct question *q = container_of(n, struct question, node);
            q->doubt |= q->write;
            struct kv_answer answer = {.state = KV_DONE, .status = q->doubt ? KV_UNKNOWN : KV_TIMED_OUT};
            while (list_pop_front(&q->followers) != NULL) {
            }
            detach(q);
            if (q->done != NULL) {
                report_result(k, q->r.op, q->begun, q->done, q->arg, &answer);
            }
            free(q);
        }
    }
}
