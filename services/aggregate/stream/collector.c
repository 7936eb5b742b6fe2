/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/internal.h"

#include "base/check.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct collector *collector_at(struct list_node *n)
{
    return (struct collector *)(void *)n;
}

struct collector *collector_of_run(struct stream *st, const struct run_name *run)
{
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        if (run_name_equal(&collector_at(n)->run, run)) {
            return collector_at(n);
        }
    }
    return NULL;
}

cw_server collector_first(const struct collector *c, const uint64_t *set)
{
    for (cw_server s = 0; s < c->st->torus.servers; s++) {
        if (trees_set_has(set, s)) {
            return s;
        }
    }
    return CW_SERVER_NONE;
}

void collector_moved(struct collector *c)
{
    c->moved = cw_now(c->st->s);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

void collector_free(struct collector *c)
{
    if (c->junction != NULL) {
        junction_free(c->junction);
    }
    if (c->result != NULL) {
        result_drop(c->result);
    }
    list_remove(&c->link);
    free(c->members); /* and the sets behind it */
    free(c->request);
    free(c->records);
    free(c);
}

/* Everybody forgets the run; who does not hear of it asks, and is told that it is over. */
static void tell_all(struct collector *c, int status)
{
    struct stream *st = c->st;
    struct letter l = {.kind = LETTER_END, .run = c->run, .attempt = c->attempt, .status = (uint16_t)-status};
    for (cw_server s = 0; s < st->torus.servers; s++) {
        bool knows = trees_set_has(c->members, s) || trees_set_has(c->involved, s);
        if (s != st->self && knows && stream_sees(st, s)) {
            (void)stream_say(st, s, &l);
        }
    }
    struct task *own = task_find(st, &c->run);
    if (c->junction != NULL) {
        junction_free(c->junction);
        c->junction = NULL;
    }
    if (own != NULL) {
        task_drop(own);
    }
}

static void tell_desk(const struct collector *c, int status, cw_server who)
{
    struct stream *st = c->st;
    struct letter l = {.kind = LETTER_ORDERED, .run = c->run, .attempt = c->attempt, .who = who};
    l.attempts = c->attempt;
    l.took_ns = (uint64_t)cw_time_since(cw_now(st->s), c->began).ns;
    for (cw_server s = 0; s < st->torus.servers; s++) {
        l.records += trees_set_has(c->counted, s) ? c->records[s] : 0;
    }
    l.keys = c->result != NULL ? result_keys(c->result) : 0;
    l.bytes = c->result != NULL ? result_bytes(c->result) : 0;
    l.servers = st->torus.servers;
    l.refusals = c->refusals;
    memcpy(l.refusal, c->refusal, sizeof l.refusal);
    CHECK(stream_words(st) <= MESSAGE_SET_WORDS); /* stream_open() refuses a larger torus */
    memcpy(l.members, c->counted, stream_words(st) * sizeof *l.members);
    stream_answer(st, &c->reply, status, &l);
}

void collector_end(struct collector *c, int status, cw_server who)
{
    struct stream *st = c->st;
    muster_forget(c);
    tell_all(c, status);
    tell_desk(c, status, who);
    stream_note(st, status == 0 ? STREAM_COUNT_DONE : STREAM_COUNT_FAILED, 1);
    collector_free(c);
}

/* The same with the next tick, for those that may not end it themselves. */
static void fail_soon(struct collector *c, int status, cw_server who)
{
    if (c->status == 0) {
        c->status = status;
        c->who = who;
    }
    stream_soon(c->st);
}

/* ---- Who contributes --------------------------------------------------------------------------------------------- */

/* A contributor is gone. False: the run has ended. */
static bool lose(struct collector *c, cw_server server)
{
    if ((c->wish.flags & LETTER_WITHOUT) == 0) {
        collector_end(c, -ECONNRESET, server);
        return false;
    }
    stream_set_remove(c->counted, server);
    c->keep = STREAM_MUTANT(KEPT); /* what is whole has its records in it, and the rest would not (aggregate rule 25) */
    if (collector_first(c, c->counted) == CW_SERVER_NONE) {
        collector_end(c, -ECONNRESET, server);
        return false;
    }
    return true;
}

/* ---- The desk wants it no more ----------------------------------------------------------------------------------- */

static struct collector *of_desk(struct stream *st, cw_server desk, const struct wish *w)
{
    for (struct list_node *n = list_first(&st->collectors); n != NULL; n = list_next(&st->collectors, n)) {
        struct collector *c = collector_at(n);
        if (c->desk == desk && c->wish.desk_life == w->desk_life && c->wish.desk_number == w->desk_number) {
            return c;
        }
    }
    return NULL;
}

/* A result that is being written may get its name all the same. */
static void cancel(struct collector *c)
{
    c->cancelled = true;
    if (c->state == COLLECTOR_WRITES) {
        result_give_up(c->result);
    } else {
        collector_end(c, -ECANCELED, CW_SERVER_NONE);
    }
}

void collector_cancel(struct stream *st, const struct letter *l, cw_server desk)
{
    struct collector *c = of_desk(st, desk, &l->wish);
    if (c != NULL && !c->cancelled) {
        cancel(c);
    }
}

/* ---- Attempts ---------------------------------------------------------------------------------------------------- */

static void give_up_attempt(struct collector *c)
{
    struct stream *st = c->st;
    if (c->state != COLLECTOR_ANNOUNCES && c->state != COLLECTOR_RUNS) {
        return;
    }
    if (c->junction != NULL) {
        junction_free(c->junction);
        c->junction = NULL;
    }
    stream_note(st, STREAM_COUNT_VOIDED, 1);
    c->state = COLLECTOR_PAUSES;
    c->next = cw_time_add(cw_now(st->s), c->pause);
    c->pause.ns = 2 * c->pause.ns < STREAM_PAUSE_MOST.ns ? 2 * c->pause.ns : STREAM_PAUSE_MOST.ns;
    stream_wake(st);
}

/* Would another attempt end with the same? */
static bool is_final(int status)
{
    return status == -EINVAL || status == -ERANGE || status == -EMSGSIZE || status == -EBADMSG;
}

void collector_void(struct collector *c, uint32_t attempt, int status, cw_server who)
{
    if (attempt == c->attempt && is_final(status)) {
        fail_soon(c, status, who);
    } else if (attempt == c->attempt) {
        give_up_attempt(c);
    }
}

/* Who lives, as this server sees it now. False: the run has ended. */
static bool look_around(struct collector *c)
{
    struct stream *st = c->st;
    memset(c->dead, 0, stream_words(st) * sizeof *c->dead);
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (!stream_sees(st, s)) {
            trees_set_add(c->dead, s);
            if (trees_set_has(c->counted, s) && !lose(c, s)) {
                return false;
            }
        }
    }
    return true;
}

/* Blocks are short where there is little: filling the trees costs their depth in blocks. */
static uint32_t block_bytes(const struct collector *c, unsigned depth)
{
    enum { LEAST = 4096, PART = 300 };
    uint64_t members = 0;
    for (size_t i = 0; i < stream_words(c->st); i++) {
        members += (uint64_t)__builtin_popcountll(c->counted[i]);
    }
    uint64_t bytes = c->bytes / members / ((uint64_t)PART * (depth + 1));
    return bytes < LEAST ? LEAST : bytes > STREAM_BLOCK ? STREAM_BLOCK : (uint32_t)bytes;
}

static void announce(struct collector *c, const struct letter *l)
{
    struct stream *st = c->st;
    bool failed = false;
    c->awaited = 0;
    c->state = COLLECTOR_ANNOUNCES;
    memset(c->silent, 0, stream_words(st) * sizeof *c->silent);
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (s != st->self && trees_set_has(c->involved, s)) {
            trees_set_add(c->silent, s);
            c->awaited++;
            failed = stream_say(st, s, l) < 0 || failed;
        }
    }
    if (failed) {
        give_up_attempt(c);
    } else if (c->awaited == 0) {
        c->state = COLLECTOR_RUNS;
        stream_soon(st);
    }
}

static void begin(struct collector *c)
{
    struct stream *st = c->st;
    struct plan plan;
    cw_server lost = CW_SERVER_NONE;
    if (!look_around(c)) {
        return;
    }
    if (st->trees == NULL && trees_open(&st->trees, &st->torus) < 0) {
        collector_end(c, -ENOBUFS, st->self);
        return;
    }
    const struct plan_question question = {&st->torus, st->trees, st->self, c->counted, c->dead};
    int rc = plan_make(&plan, &question, st->self, c->involved, &lost);
    if (rc == -ENETUNREACH) {
        if (lose(c, lost)) {
            c->state = COLLECTOR_PAUSES;
            c->next = cw_now(st->s);
            stream_soon(st);
        }
        return;
    }
    if (rc == 0 && !c->keep) {
        result_drop(c->result);
        c->result = result_open(st, c, &c->wish);
    }
    if (rc < 0 || c->result == NULL) {
        collector_end(c, -ENOBUFS, st->self);
        return;
    }
    c->keep = true;
    c->taken = 0;
    result_cut(c->result);
    c->attempt++;
    c->each = c->each != 0 ? c->each : block_bytes(c, plan.depth);
    stream_note(st, STREAM_COUNT_ATTEMPTS, 1);
    struct letter l = {.kind = LETTER_ANNOUNCE, .run = c->run, .attempt = c->attempt, .wish = c->wish};
    l.partitions = c->wish.partitions;
    l.each = c->each;
    l.servers = st->torus.servers;
    CHECK(stream_words(st) <= MESSAGE_SET_WORDS); /* stream_open() refuses a larger torus */
    memcpy(l.members, c->counted, stream_words(st) * sizeof *l.members);
    memcpy(l.dead, c->dead, stream_words(st) * sizeof *l.dead);
    rc = junction_begin(st, &l, c);
    if (rc < 0) {
        collector_end(c, rc, st->self);
        return;
    }
    c->junction = junction_find(st, &c->run);
    announce(c, &l);
}

void collector_announced(struct collector *c, uint32_t attempt, cw_server from, int status)
{
    if (attempt != c->attempt || c->state != COLLECTOR_ANNOUNCES) {
        return;
    }
    switch (status) {
    case 0:
        stream_set_remove(c->silent, from);
        if (--c->awaited == 0) {
            c->state = COLLECTOR_RUNS;
            stream_soon(c->st);
        }
        return;
    case -ESTALE: /* it has no such task: it has restarted; and whoever contributes nothing is asked again */
        if (!trees_set_has(c->counted, from) || lose(c, from)) {
            give_up_attempt(c);
        }
        return;
    case -ENOBUFS:
        collector_end(c, status, from);
        return;
    default:
        give_up_attempt(c);
        return;
    }
}

void collector_probed(struct collector *c, uint32_t attempt, cw_server from, int status)
{
    if (attempt != c->attempt || c->state != COLLECTOR_RUNS) {
        return;
    }
    if (status == 0) {
        stream_set_remove(c->silent, from);
    } else if (status != -ETIMEDOUT) {
        give_up_attempt(c);
    }
}

void collector_down(struct collector *c, cw_server server)
{
    if (server == c->desk && server != c->st->self) {
        cancel(c); /* nobody wants it any more */
        return;
    }
    if (c->state == COLLECTOR_PREPARES) {
        muster_down(c, server);
    } else if (trees_set_has(c->involved, server)) {
        give_up_attempt(c);
    }
}

/* ---- Partitions -------------------------------------------------------------------------------------------------- */

/* A partition that is neither whole nor under way goes to whichever tree has the fewest. */
static void deal(struct collector *c)
{
    struct junction *j = c->junction;
    for (uint32_t p = 0; p < c->wish.partitions && j != NULL && !j->broken; p++) {
        if (result_whole(c->result, p) || (j->opened[p / 64] >> p % 64 & 1) != 0) {
            continue;
        }
        cw_link best = CW_LINK_COUNT;
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            if (j->plan.tree[tree].in && j->open[tree] < STREAM_OPEN &&
                (best == CW_LINK_COUNT || j->open[tree] < j->open[best])) {
                best = tree;
            }
        }
        if (best == CW_LINK_COUNT) {
            return;
        }
        if (junction_open(j, best, p) < 0) {
            fail_soon(c, -ENOBUFS, c->st->self);
            return;
        }
        junction_sweep(j); /* where nobody is below, it is whole at once */
    }
}

void collector_take(struct collector *c, uint32_t partition, const uint8_t *bytes, size_t size, bool last)
{
    int rc = result_put(c->result, partition, bytes, size, last);
    c->taken += size + 1;
    if (last || c->taken > c->taken_most) { /* attempts that get no further than those before are no progress */
        c->taken_most = last ? 0 : c->taken;
        c->taken = last ? 0 : c->taken;
        collector_moved(c);
    }
    if (rc < 0) {
        fail_soon(c, rc == -ENOBUFS ? -EFBIG : rc, c->st->self);
        return;
    }
    if (last) {
        c->pause = STREAM_PAUSE_FIRST;
        c->finished = result_count(c->result) == c->wish.partitions;
        stream_soon(c->st);
    }
}

void collector_written(struct collector *c, int status)
{
    if (status < 0) {
        fail_soon(c, status, c->st->self);
    } else {
        c->written = true;
        stream_soon(c->st);
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void probe(struct collector *c)
{
    struct stream *st = c->st;
    const struct letter l = {.kind = LETTER_PROBE, .run = c->run, .attempt = c->attempt};
    c->probed = cw_now(st->s);
    memset(c->silent, 0, stream_words(st) * sizeof *c->silent);
    for (cw_server s = 0; s < st->torus.servers; s++) {
        if (s != st->self && trees_set_has(c->involved, s)) {
            trees_set_add(c->silent, s);
            (void)stream_say(st, s, &l); /* who was not asked stays silent */
        }
    }
}

/* All inputs are ready, or cannot be. */
static void all_prepared(struct collector *c)
{
    if (c->refusals > 0) {
        collector_end(c, -(int)c->refusal[0].status, c->refusal[0].server);
    } else if (collector_first(c, c->counted) == CW_SERVER_NONE) {
        collector_end(c, -ENETUNREACH, CW_SERVER_NONE);
    } else {
        begin(c);
    }
}

void collector_tick(struct collector *c)
{
    cw_time now = cw_now(c->st->s);
    if (c->written) {
        collector_end(c, 0, CW_SERVER_NONE);
        return;
    }
    if (c->status < 0) {
        collector_end(c, c->status, c->who);
        return;
    }
    if (c->state == COLLECTOR_PREPARES) {
        if (c->awaited == 0) {
            all_prepared(c);
        }
        return;
    }
    if (c->finished && c->state == COLLECTOR_RUNS) {
        c->state = COLLECTOR_WRITES;
        junction_free(c->junction);
        c->junction = NULL;
        result_write(c->result);
    }
    if (c->state == COLLECTOR_WRITES) {
        return;
    }
    if (c->junction != NULL && c->junction->broken && c->status == 0) {
        collector_void(c, c->attempt, c->junction->cause, c->junction->who);
    }
    if (cw_time_due(cw_time_add(c->moved, CW_MS((int64_t)c->wish.limit_ms)), now)) {
        collector_end(c, -ETIMEDOUT, collector_first(c, c->silent));
        return;
    }
    if (c->state == COLLECTOR_PAUSES && cw_time_due(c->next, now)) {
        begin(c);
        return;
    }
    if (c->state != COLLECTOR_RUNS) {
        return;
    }
    if (cw_time_due(cw_time_add(cw_time_max(c->moved, c->probed), STREAM_STALL), now)) {
        probe(c);
    }
    deal(c);
}

cw_span collector_due(const struct collector *c)
{
    return c->state == COLLECTOR_PAUSES ? cw_time_since(c->next, cw_now(c->st->s)) : STREAM_TICK;
}

void collector_close(struct stream *st)
{
    while (!list_is_empty(&st->collectors)) {
        collector_free(collector_at(list_first(&st->collectors)));
    }
}
