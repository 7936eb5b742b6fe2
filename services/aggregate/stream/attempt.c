/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c - the attempts of a root: who is in them, how they are announced and end, and which tree is dealt what. */
#include "base/check.h"
#include "services/aggregate/stream/internal.h"

#include <errno.h>
#include <string.h>

void attempt_give_up(struct collector *c)
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

static enum letter_way way_of(const struct collector *c)
{
    bool direct = (c->wish.flags & LETTER_DIRECT) != 0;
    return direct ? LETTER_PAST : (c->wish.flags & LETTER_SHORTEST) != 0 ? LETTER_SHORT : LETTER_TREES;
}

/* Would another attempt end with the same? */
static bool is_final(int status)
{
    return status == -EINVAL || status == -ERANGE || status == -EMSGSIZE || status == -EBADMSG || status == -ENOSR;
}

static void voided(struct collector *c, int status, cw_server who)
{
    if (is_final(status)) {
        collector_blame(c, status, who);
    } else {
        attempt_give_up(c);
    }
}

void attempt_void(struct collector *c, const struct letter *l)
{
    if (l->attempt == c->attempt) {
        c->limit = c->status == 0 ? l->limit : c->limit;
        voided(c, -(int)l->status, l->who);
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
            if (trees_set_has(c->members, s)) {
                collector_end(c, -ECONNRESET, s);
                return false;
            }
        }
    }
    return true;
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
        attempt_give_up(c);
    } else if (c->awaited == 0) {
        c->state = COLLECTOR_RUNS;
        stream_soon(st);
    }
}

/* Who is in the attempt, and how deep its trees are. */
static int make_plan(struct collector *c, unsigned *depth, cw_server *lost)
{
    struct stream *st = c->st;
    struct plan plan;
    if (way_of(c) == LETTER_PAST) {
        *depth = 1;
        memcpy(c->involved, c->members, stream_words(st) * sizeof *c->involved);
        trees_set_add(c->involved, st->self);
        return 0;
    }
    const struct plan_question question = {&st->torus, st->trees, st->self,
                                           c->members, c->dead,   way_of(c) == LETTER_SHORT};
    int rc = plan_make(&plan, &question, st->self, c->involved, lost);
    *depth = plan.depth;
    return rc;
}

static void begin(struct collector *c)
{
    struct stream *st = c->st;
    unsigned depth = 0;
    cw_server lost = CW_SERVER_NONE;
    if (!look_around(c)) {
        return;
    }
    if (st->trees == NULL && trees_open(&st->trees, &st->torus) < 0) {
        collector_end(c, -ENOBUFS, st->self);
        return;
    }
    int rc = make_plan(c, &depth, &lost);
    if (rc < 0) {
        collector_end(c, rc == -ENETUNREACH ? -ECONNRESET : -ENOBUFS, rc == -ENETUNREACH ? lost : st->self);
        return;
    }
    c->taken = result_cut(c->result);
    stream_note(st, STREAM_COUNT_KEPT, c->taken);
    c->attempt++;
    c->each = c->each != 0 ? c->each : junction_each(c, depth);
    stream_note(st, STREAM_COUNT_ATTEMPTS, 1);
    struct letter l = {.kind = LETTER_ANNOUNCE, .run = c->run, .lead = c->lead, .attempt = c->attempt};
    l.wish = c->wish; /* the job, and how to combine */
    l.partitions = c->wish.partitions;
    l.each = c->each;
    l.way = way_of(c);
    l.open = c->count == c->wish.partitions ? STREAM_OPEN : 1; /* several roots share the links */
    if (l.way == LETTER_PAST) {
        enum { TOGETHER = 32 };
        uint32_t roots = c->wish.partitions / c->count, each = STREAM_OPEN_DIRECT * TOGETHER / (roots + 1);
        l.open = (uint8_t)(each < 1 ? 1 : each < STREAM_OPEN_DIRECT ? each : STREAM_OPEN_DIRECT);
    }
    l.servers = st->torus.servers;
    CHECK(stream_words(st) <= MESSAGE_SET_WORDS); /* stream_open() refuses a larger torus */
    memcpy(l.members, c->members, stream_words(st) * sizeof *l.members);
    memcpy(l.others, c->dead, stream_words(st) * sizeof *l.others);
    rc = junction_begin(st, &l, c);
    if (rc < 0) {
        collector_end(c, rc, st->self);
        return;
    }
    c->junction = junction_find(st, &c->run);
    announce(c, &l);
}

void attempt_announced(struct collector *c, uint32_t attempt, cw_server from, int status)
{
    if (attempt != c->attempt || c->state != COLLECTOR_ANNOUNCES) {
        return;
    }
    switch (status) {
    case 0:
        trees_set_remove(c->silent, from);
        if (--c->awaited == 0) {
            c->state = COLLECTOR_RUNS;
            stream_soon(c->st);
        }
        return;
    case -ESTALE: /* it has no such task: it has restarted; and whoever contributes nothing is asked again */
        if (trees_set_has(c->members, from)) {
            collector_end(c, -ECONNRESET, from);
        } else {
            attempt_give_up(c);
        }
        return;
    case -ENOBUFS:
    case -ELIBACC: /* who is on the way combines, too (aggregate rule 32) */
    case -ELIBBAD:
        collector_end(c, status, from);
        return;
    default:
        attempt_give_up(c);
        return;
    }
}

void attempt_probed(struct collector *c, uint32_t attempt, cw_server from, int status)
{
    if (attempt != c->attempt || c->state != COLLECTOR_RUNS) {
        return;
    }
    if (status == 0) {
        trees_set_remove(c->silent, from);
    } else if (status != -ETIMEDOUT) {
        attempt_give_up(c);
    }
}

/* A partition that is neither whole nor under way goes to whichever tree has the fewest. */
static void deal(struct collector *c)
{
    struct junction *j = c->junction;
    for (uint32_t p = c->first; p < c->first + c->count && j != NULL && !j->broken; p++) {
        if (result_whole(c->result, p) || (j->opened[p / 64] >> p % 64 & 1) != 0) {
            continue;
        }
        cw_link best = CW_LINK_COUNT;
        for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
            if (j->plan.tree[tree].in && j->open[tree] < j->open_most &&
                (best == CW_LINK_COUNT || j->open[tree] < j->open[best])) {
                best = tree;
            }
        }
        if (best == CW_LINK_COUNT) {
            return;
        }
        if (junction_open(j, best, p) < 0) {
            collector_blame(c, -ENOBUFS, c->st->self);
            return;
        }
        junction_sweep(j); /* where nobody is below, it is whole at once */
    }
}

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

/* While attempts are under way. */
void attempt_tick(struct collector *c)
{
    cw_time now = cw_now(c->st->s);
    if (c->junction != NULL && c->junction->broken) {
        voided(c, c->junction->cause, c->junction->who);
    }
    if (cw_time_due(cw_time_add(c->moved, CW_MS((int64_t)c->wish.limit_ms)), now)) {
        collector_end(c, -ETIMEDOUT, stream_first(c->st, c->silent));
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
