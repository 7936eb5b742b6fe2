/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush.c - all values of a job dropped, on all servers. In two rounds over every server that may serve anything, which
 * is every server in a view:
 *
 *   cut     every root stops serving the values of the job that it has then. Their numbers (cas) grow, so that one
 *           number tells them from later ones.
 *   renew   if a root has given copies away: every server begins a new generation of copies. Copies of the generation
 *           before, and answers that were asked for in its time and come later, are never served.
 *
 * The second round begins when the first is over, so that no copy is fetched again from a root that has not heard of
 * the flush (kvcache rule 16). When both are over the flush is acknowledged: a value whose write was acknowledged
 * before the flush was asked for is read by nobody any more, and what was written after it stays (kvcache rule 1 holds
 * for it: a write takes effect when no copy of the value before is served). A server that comes later has nothing. A
 * server that goes takes its values with it (kvcache rule 6), which is why servers that are gone are not asked. Who is
 * there and who is gone is read from the view at one moment, at the end of each round, while the lease holds: a server
 * that is current knows all who may serve (semantics 4.2; kvcache rule 15).
 *
 * The second round alone is what an instance begins with that is loaded into a server which has others in its view: an
 * instance before it may have given away copies that it does not know of. Until everybody has dropped them it takes no
 * writes, and no longer than they can live (kvcache rule 17).
 *
 * An ask that comes twice cuts once. When a server has not answered in time the result says so: values may be left
 * there.
 */
#include "services/kvcache/flush.h"

#include "base/check.h"
#include "services/kvcache/authority.h"
#include "services/kvcache/common.h"
#include "services/kvcache/copies.h"
#include "services/kvcache/sweep.h"
#include "services/kvcache/walk.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSHES_MOST = 16, ASKED_MOST = 64, ATTEMPT_MS = 50, REVIEW_MS = 10 };

enum { COPIES_OUT = 1 }; /* flags of an answer: to a cut, that there may be copies */

enum progress { TO_ASK = 0, ASKED, ANSWERED };

struct flush {
    struct list_node node;
    struct kvcache *k;
    cw_job job;
    uint64_t number;
    cw_time until;
    bool renews;    /* this is the second round */
    bool copies;    /* a root may have given copies away: the second round is needed */
    unsigned calls; /* under way */
    bool over;      /* has ended, and waits only to be freed until its calls are over */
    flush_done_fn done;
    void *arg;
    uint8_t at[]; /* of each server, enum progress */
};

struct flush_call {
    struct flush *flush;
    cw_server server;
    bool renews;
};

/* ---- What a server does of it ------------------------------------------------------------------------------------ */

static bool copies_may_be_out(const struct kvcache *k)
{
    return k->holders.count > 0 || cw_time_before(cw_now(k->svc), k->quiet);
}

void flush_take(struct kvcache *k, const struct asker *asker, const struct kv_ask *ask)
{
    struct kv_answer answer = {.state = KV_DONE};
    struct flush_seen *seen = &k->seen[asker->server];
    if (seen->instance != ask->from) {
        *seen = (struct flush_seen){.instance = ask->from};
    }
    uint64_t *last = ask->kind == KV_ASK_CUT ? &seen->cut : &seen->renewed;
    if (ask->number > *last) {
        *last = ask->number;
        if (ask->kind == KV_ASK_CUT) {
            sweep_cut(k, ask->r.job);
            k->generation += KV_MUTANT(FLUSH_ONCE);
        } else {
            copies_forget(k);
        }
    }
    answer.flags = copies_may_be_out(k) ? COPIES_OUT : 0;
    rpc_answer(k, asker, &answer);
}

/* ---- Asking everybody -------------------------------------------------------------------------------------------- */

static void go(struct flush *f);

static void let_go(struct flush *f)
{
    if (f->over && f->calls == 0) {
        free(f);
    }
}

static void end(struct flush *f, enum kv_status status)
{
    struct kvcache *k = f->k;
    struct flush_result result = {.status = status, .first = CW_SERVER_NONE};
    for (cw_server s = 0; s < k->servers; s++) {
        bool gone = kv_is_gone(k, s);
        result.answered += f->at[s] == ANSWERED;
        if (status != KV_OK && f->at[s] != ANSWERED && !gone) {
            result.first = result.missing++ == 0 ? s : result.first;
        }
    }
    f->over = true;
    list_remove(&f->node);
    k->flush_count--;
    f->done(f->arg, &result);
}

static void on_reply(cw_svc *s, void *state, void *arg, int status, cw_packet *reply, const cw_rx *rx)
{
    (void)s;
    (void)state;
    struct flush_call *call = arg;
    struct flush *f = call->flush;
    struct kvcache *k = f->k;
    struct kv_answer answer;
    size_t size = 0;
    const uint8_t *bytes = status == 0 && reply != NULL ? cw_packet_data(reply, &size) : NULL;
    bool good = bytes != NULL && kv_answer_decode(bytes, size, &answer) && answer.state == KV_DONE;
    bool ours = !f->over && call->renews == f->renews;
    (void)rx;
    f->calls--;
    if (ours) {
        f->at[call->server] = good ? ANSWERED : TO_ASK;
        f->copies |= good && (answer.flags & COPIES_OUT);
    }
    free(call);
    if (ours && status == -ECANCELED) {
        end(f, KV_UNKNOWN);
    } else if (ours && good) {
        go(f);
    } /* else the review asks again */
    let_go(f);
    CHECK_SLOW(walk_sometimes(k));
}

static bool ask_one(struct flush *f, cw_server to_whom)
{
    cw_svc *s = f->k->svc;
    struct kv_ask ask = {.kind = f->renews ? KV_ASK_RENEW : KV_ASK_CUT, .from = f->k->instance, .number = f->number};
    ask.r = (struct kv_request){KV_REQUEST_INIT, .op = KV_DELETE, .job = f->job};
    struct flush_call *call = malloc(sizeof *call);
    cw_packet *p = call != NULL ? cw_packet_new(s, kv_ask_size(&ask)) : NULL;
    if (p == NULL) {
        free(call);
        return false;
    }
    kv_ask_encode(&ask, cw_packet_data(p, NULL));
    *call = (struct flush_call){f, to_whom, f->renews};
    const cw_to to = to_server(s, KVCACHE_JOB, KV_PORT, to_whom);
    const cw_call_options options = {CW_CALL_INIT, .timeout = CW_MS(ATTEMPT_MS)};
    if (cw_call(s, p, &to, &options, on_reply, call) < 0) {
        cw_packet_free(s, p);
        free(call);
        return false;
    }
    f->at[to_whom] = ASKED;
    f->calls++;
    return true;
}

static void do_here(struct flush *f)
{
    struct kvcache *k = f->k;
    if (f->renews) {
        copies_forget(k);
    } else {
        sweep_cut(k, f->job);
        f->copies |= copies_may_be_out(k);
    }
    f->at[k->self] = ANSWERED;
}

/*
 * Asks the servers that are in a view and have to be asked. Returns how many of those in a view have not answered yet.
 */
static unsigned ask_all(struct flush *f)
{
    struct kvcache *k = f->k;
    unsigned left = 0, asked = 0;
    bool room = true;
    for (cw_server s = 0; s < k->servers; s++) {
        if (f->at[s] == ANSWERED || kv_is_gone(k, s)) {
            continue;
        }
        left++;
        asked += f->at[s] == ASKED;
    }
    for (cw_server s = 0; s < k->servers && room && asked < ASKED_MOST && asked < left; s++) {
        if (f->at[s] == TO_ASK && !cw_gone(k->svc, cw_server_coord(k->svc, s))) {
            room = ask_one(f, s);
            asked++;
        }
    }
    return left;
}

/* True when this server's view is one to decide by: it is settled, and its lease holds. */
static bool is_current(const struct kvcache *k)
{
    return kv_settled(k) && kv_serving(k);
}

static void go(struct flush *f)
{
    struct kvcache *k = f->k;
    if (f->at[k->self] != ANSWERED) {
        do_here(f);
    }
    if ((ask_all(f) > 0 && !KV_MUTANT(FLUSH_SOME)) || !is_current(k)) {
        return;
    }
    if (f->renews || !f->copies || KV_MUTANT(FLUSH_ONCE)) {
        end(f, KV_OK);
        return;
    }
    f->renews = true;
    memset(f->at, TO_ASK, k->servers);
    go(f);
}

void flush_review(struct kvcache *k)
{
    struct list_node *next;
    for (struct list_node *n = list_first(&k->flushes); n != NULL; n = next) {
        struct flush *f = container_of(n, struct flush, node);
        next = list_next(&k->flushes, n);
        if (cw_time_due(f->until, cw_now(k->svc))) {
            end(f, cw_in_majority(k->svc) ? KV_TIMED_OUT : KV_UNKNOWN);
        } else {
            go(f);
        }
        let_go(f);
    }
}

static void review_due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    k->flush_timer = NULL;
    flush_review(k);
    if (k->flush_count > 0) {
        k->flush_timer = cw_timer_start(s, CW_MS(REVIEW_MS), review_due, NULL);
    }
    CHECK_SLOW(walk_sometimes(k));
}

static int begin(struct kvcache *k, cw_job job, bool renews, cw_time until, flush_done_fn done, void *arg)
{
    if (k->closing) {
        return -ESHUTDOWN;
    }
    if (k->flush_count >= FLUSHES_MOST) {
        return -ENOBUFS;
    }
    if (!cw_in_majority(k->svc)) {
        done(arg, &(struct flush_result){.status = KV_NO_MAJORITY, .first = CW_SERVER_NONE});
        return 0;
    }
    struct flush *f = calloc(1, sizeof *f + k->servers);
    if (f == NULL) {
        return -ENOMEM;
    }
    f->k = k;
    f->job = job;
    f->number = ++k->flush_number;
    f->renews = renews;
    f->until = until;
    f->done = done;
    f->arg = arg;
    list_push_back(&k->flushes, &f->node);
    k->flush_count++;
    if (k->flush_timer == NULL) {
        k->flush_timer = cw_timer_start(k->svc, CW_MS(REVIEW_MS), review_due, NULL);
    }
    go(f);
    let_go(f);
    return 0;
}

int flush_begin(struct kvcache *k, cw_job job, flush_done_fn done, void *arg)
{
    int rc = begin(k, job, false, cw_time_add(cw_now(k->svc), k->limits.timeout), done, arg);
    if (rc == 0) {
        kv_count(k, KV_COUNT_FLUSHES);
    }
    return rc;
}

/* ---- An instance in the place of another ------------------------------------------------------------------------- */

static void renewed(void *arg, const struct flush_result *result)
{
    struct kvcache *k = arg;
    if (result->status == KV_OK) {
        k->quiet = cw_now(k->svc);
    } /* else `quiet` lasts to its end: no copy that was given away lives longer */
}

static void renew_due(cw_svc *s, void *state, void *arg)
{
    (void)s;
    (void)arg;
    struct kvcache *k = state;
    if (begin(k, KV_EVERY_JOB, true, k->quiet, renewed, k) < 0) {
        cw_log(s, CW_LOG_WARN,
               "no memory to ask for the copies of a former instance: no writes are taken until they are too old");
    }
}

void flush_renew(struct kvcache *k)
{
    (void)cw_timer_start(k->svc, CW_MS(1), renew_due, NULL);
}

/* ---- For gateways and other services ----------------------------------------------------------------------------- */

struct flush_for {
    kv_done_fn done;
    void *arg;
};

static void report_result(void *arg, const struct flush_result *result)
{
    struct flush_for *who = arg;
    who->done(who->arg, &(struct kv_result){.size = sizeof(struct kv_result), .status = result->status});
    free(who);
}

int kv_flush(cw_svc *kvcache, cw_job job, kv_done_fn done, void *arg)
{
    if (done == NULL || job == KV_EVERY_JOB) {
        return -EINVAL;
    }
    struct flush_for *who = malloc(sizeof *who);
    if (who == NULL) {
        return -ENOMEM;
    }
    *who = (struct flush_for){done, arg};
    int rc = flush_begin(cw_state(kvcache), job, report_result, who);
    if (rc < 0) {
        free(who);
    }
    return rc;
}

void flush_close(struct kvcache *k)
{
    struct list_node *n;
    while ((n = list_first(&k->flushes)) != NULL) {
        struct flush *f = container_of(n, struct flush, node);
        end(f, KV_UNKNOWN);
        let_go(f);
    }
}
