/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct reducer *reducer_of_run(struct dense *d, const struct run_name *run)
{
    for (struct list_node *n = list_first(&d->reducers); n != NULL; n = list_next(&d->reducers, n)) {
        struct reducer *r = container_of(n, struct reducer, link);
        if (run_name_equal(&r->run, run)) {
            return r;
        }
    }
    return NULL;
}

struct reducer *reducer_of_hash(struct dense *d, uint64_t hash)
{
    for (struct list_node *n = list_first(&d->reducers); n != NULL; n = list_next(&d->reducers, n)) {
        struct reducer *r = container_of(n, struct reducer, link);
        if (r->caller->hash == hash) {
            return r;
        }
    }
    return NULL;
}

static cw_server first_of(const struct reducer *r, const uint64_t *in, const uint64_t *but)
{
    for (cw_server s = 0; s < r->d->torus.servers; s++) {
        if (trees_set_has(in, s) && (but == NULL || !trees_set_has(but, s))) {
            return s;
        }
    }
    return CW_SERVER_NONE;
}

void reducer_moved(struct reducer *r)
{
    r->moved = cw_now(r->d->s);
    r->pause = DENSE_PAUSE_FIRST;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void reducer_free(struct reducer *r)
{
    frontier_free(&r->frontier);
    share_free(r->share);
    free(r->part);
    free(r->members); /* and the sets behind it */
    free(r->ticket);
    free(r);
}

void reducer_end(struct reducer *r, int status, cw_server who)
{
    struct member *caller = r->caller;
    farewell_tell(r, status, who);
    if (r->vertex != NULL) {
        vertex_free(r->vertex);
    }
    list_remove(&r->link);
    caller->reducer = NULL;
    member_end(caller, status, who, r->counted, r->attempt);
    reducer_free(r);
}

/* ---- Attempts ---------------------------------------------------------------------------------------------------- */

bool reducer_lose(struct reducer *r, cw_server server)
{
    if ((r->caller->spec.flags & CW_REDUCE_WITHOUT) == 0) {
        reducer_end(r, -ECONNRESET, server);
        return false;
    }
    trees_set_remove(r->counted, server);
    /* What is settled has the dead one's part in it, and the rest would not (aggregate rule 6). */
    r->keep = AGG_MUTANT(KEPT);
    if (first_of(r, r->counted, NULL) == CW_SERVER_NONE) {
        reducer_end(r, -ECONNRESET, server);
        return false;
    }
    return true;
}

void reducer_void(struct reducer *r)
{
    if (r->state != REDUCER_ANNOUNCES && r->state != REDUCER_RUNS) {
        return;
    }
    if (r->vertex != NULL) {
        vertex_free(r->vertex);
    }
    dense_note(r->d, DENSE_COUNT_VOIDED, 1);
    r->state = REDUCER_PAUSES;
    r->next = cw_time_add(cw_now(r->d->s), r->pause);
    r->pause.ns = 2 * r->pause.ns < DENSE_PAUSE_MOST.ns ? 2 * r->pause.ns : DENSE_PAUSE_MOST.ns;
    dense_wake(r->d);
}

/* Who lives, as this server sees it now. False: the reduction has ended. */
static bool look_around(struct reducer *r)
{
    struct dense *d = r->d;
    memset(r->dead, 0, dense_words(d) * sizeof *r->dead);
    for (cw_server s = 0; s < d->torus.servers; s++) {
        if (!dense_sees(d, s)) {
            trees_set_add(r->dead, s);
            if (trees_set_has(r->counted, s) && !reducer_lose(r, s)) {
                return false;
            }
        }
    }
    return true;
}

/* Cuts the vector, which is done once: all attempts have the same blocks. */
static int cut(struct reducer *r, unsigned depth)
{
    if (r->cut) {
        return 0;
    }
    size_t packet = cw_mtu(r->d->s);
    int rc = blocks_make(&r->blocks, r->caller->spec.elements, r->caller->element, depth, packet);
    rc = rc < 0 ? rc : frontier_init(&r->frontier, r->blocks.count);
    r->cut = rc == 0;
    return rc;
}

/* All servers of the plan have answered. The root's own vector only has to be told. */
static void all_announced(struct reducer *r)
{
    r->state = REDUCER_RUNS;
    r->finished = r->finished || (r->caller->spec.flags & CW_REDUCE_FROM_ROOT) != 0;
    dense_soon(r->d);
}

static void announce(struct reducer *r, struct message *m)
{
    struct dense *d = r->d;
    bool failed = false;
    r->awaited = 0;
    r->state = REDUCER_ANNOUNCES;
    memset(r->silent, 0, dense_words(d) * sizeof *r->silent);
    for (cw_server s = 0; s < d->torus.servers; s++) {
        if (s != d->self && trees_set_has(r->involved, s)) {
            m->ticket = trees_set_has(r->counted, s) ? r->ticket[s] : 0;
            trees_set_add(r->silent, s);
            r->awaited++;
            failed = dense_say(d, s, m) < 0 || failed;
        }
    }
    if (failed) {
        reducer_void(r);
    } else if (r->awaited == 0) {
        all_announced(r);
    }
}

static void begin(struct reducer *r)
{
    struct dense *d = r->d;
    struct plan plan;
    cw_server lost = CW_SERVER_NONE;
    if (!look_around(r)) {
        return;
    }
    if (spec_is_small(&r->caller->spec)) {
        r->attempt++;
        dense_note(d, DENSE_COUNT_ATTEMPTS, 1);
        small_finish(r);
        return;
    }
    if ((r->caller->spec.flags & CW_REDUCE_TO_ALL) != 0 && d->multicast == NULL) {
        reducer_end(r, -EOPNOTSUPP, d->self);
        return;
    }
    const struct plan_question question = {&d->torus, d->trees, d->self, r->counted, r->dead, false};
    int rc = plan_make(&plan, &question, d->self, r->involved, &lost);
    if (rc == -ENETUNREACH) {
        if (reducer_lose(r, lost)) {
            r->state = REDUCER_PAUSES;
            r->next = cw_now(d->s);
            dense_soon(d);
        }
        return;
    }
    rc = rc < 0 ? rc : cut(r, plan.depth);
    rc = DENSE_AHEAD + (2 + DENSE_WINDOW) * plan.depth > COLUMN_AHEAD_MOST ? -ENOBUFS : rc;
    if (rc < 0) {
        reducer_end(r, -ENOBUFS, d->self);
        return;
    }
    r->attempt++;
    dense_note(d, DENSE_COUNT_ATTEMPTS, 1);
    frontier_restart(&r->frontier, r->keep);
    r->keep = true;
    struct message m = {.kind = MESSAGE_ANNOUNCE, .run = r->run, .attempt = r->attempt, .servers = d->torus.servers};
    m.job = r->caller->job;
    m.spec = r->caller->spec;
    m.each = r->blocks.each;
    m.window = dense_window(&r->blocks, plan.depth);
    r->ahead = DENSE_AHEAD + m.window / 4U * plan.depth;
    /* A child hears that its block was taken after its parent has gone on: each level knows of up to a window more. */
    m.ahead = (uint16_t)(r->ahead + m.window * plan.depth);
    bool at_once = r->attempt == 1 && (m.spec.flags & CW_REDUCE_FROM_ROOT) == 0;
    uint32_t first = at_once ? r->ahead * (uint32_t)__builtin_popcount(plan.trees) : 0;
    m.dealt = first < r->blocks.count ? first : r->blocks.count;
    CHECK(dense_words(d) <= MESSAGE_SET_WORDS); /* dense_open() refuses a larger torus */
    memcpy(m.members, r->counted, dense_words(d) * sizeof *m.members);
    memcpy(m.dead, r->dead, dense_words(d) * sizeof *m.dead);
    m.ticket = trees_set_has(r->counted, d->self) ? r->caller->ticket : 0;
    rc = vertex_begin(d, &m, r);
    if (rc < 0) {
        reducer_end(r, -ENOBUFS, d->self);
        return;
    }
    r->vertex = vertex_find(d, &r->run);
    announce(r, &m);
}

void reducer_announced(struct reducer *r, uint32_t attempt, cw_server from, int status)
{
    if (attempt != r->attempt || r->state != REDUCER_ANNOUNCES) {
        return;
    }
    switch (status) {
    case 0:
        trees_set_remove(r->silent, from);
        if (--r->awaited == 0) {
            all_announced(r);
        }
        return;
    case -ESTALE: /* its caller has given up, or is of an earlier life; and whoever is no member is asked again */
        if (!trees_set_has(r->counted, from) || reducer_lose(r, from)) {
            reducer_void(r);
        }
        return;
    case -ENOBUFS:
    case -EINVAL:
    case -EOPNOTSUPP:
        reducer_end(r, status, from);
        return;
    default:
        reducer_void(r);
        return;
    }
}

void reducer_probed(struct reducer *r, uint32_t attempt, cw_server from, int status)
{
    if (attempt != r->attempt || r->state != REDUCER_RUNS) {
        return;
    }
    if (status == 0) {
        trees_set_remove(r->silent, from);
    } else if (status != -ETIMEDOUT) {
        reducer_void(r);
    }
}

void reducer_down(struct reducer *r, cw_server server)
{
    if (r->state == REDUCER_GATHERS) {
        if (!trees_set_has(r->joined, server)) {
            return; /* it may come yet */
        }
        trees_set_remove(r->joined, server);
        if ((r->caller->spec.flags & CW_REDUCE_WITHOUT) == 0) {
            reducer_end(r, -ECONNRESET, server);
        }
        return;
    }
    if (r->state == REDUCER_SHARES) {
        (void)share_down(r, server);
        return;
    }
    /* Of a contributor the next attempt takes notice; a return before it does not help one that has lost its memory. */
    if (trees_set_has(r->involved, server)) {
        reducer_void(r);
    }
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* The tree that has the fewest blocks that are dealt and not settled: a slow one gets less. NULL: none has room. */
static struct column *freest(const struct reducer *r)
{
    struct vertex *v = r->vertex;
    struct column *best = NULL;
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        struct column *c = &v->column[tree];
        if (v->plan.tree[tree].in && c->dealt - c->base < r->ahead &&
            (best == NULL || c->dealt - c->base < best->dealt - best->base)) {
            best = c;
        }
    }
    return best;
}

/* In a fixed order the trees take turns by the blocks' numbers. NULL: the one whose turn it is has no room. */
static struct column *in_turn(struct reducer *r)
{
    struct vertex *v = r->vertex;
    cw_links left = v->plan.trees;
    uint32_t block;
    if (!frontier_next(&r->frontier, &block)) {
        return NULL;
    }
    for (uint32_t turn = block % (uint32_t)__builtin_popcount(left); turn > 0; turn--) {
        left &= (cw_links)(left - 1);
    }
    struct column *c = &v->column[__builtin_ctz(left)];
    return c->dealt - c->base < r->ahead ? c : NULL;
}

void reducer_deal(struct reducer *r)
{
    bool fixed = (r->caller->spec.flags & CW_REDUCE_FIXED) != 0;
    uint32_t block;
    while (r->state == REDUCER_RUNS && !r->finished) {
        struct column *best = fixed ? in_turn(r) : freest(r);
        if (best == NULL || !frontier_deal(&r->frontier, &block)) {
            return;
        }
        int rc = column_deal(best, block);
        CHECK(rc == 0);
    }
}

void reducer_settle(struct reducer *r, uint32_t block, void *elements)
{
    const struct member *c = r->caller;
    uint64_t first = blocks_first(&r->blocks, block);
    size_t n = blocks_elements(&r->blocks, block);
    if (c->spec.combine == CW_COMBINE_MEAN) {
        uint32_t by = 0;
        for (size_t i = 0; i < dense_words(r->d); i++) {
            by += (uint32_t)__builtin_popcountll(r->counted[i]);
        }
        number_divide((cw_number)c->spec.type, elements, n, by);
    }
    if (c->out != NULL) {
        memcpy((uint8_t *)c->out + first * c->element, elements, n * c->element);
    } else {
        c->take(c->context, first, n, elements);
    }
    frontier_settle(&r->frontier, block);
    reducer_moved(r);
    if (frontier_done(&r->frontier)) {
        r->finished = true;
        dense_soon(r->d);
    }
}

/* ---- The beginning ----------------------------------------------------------------------------------------------- */

static struct reducer *make(struct dense *d, struct member *caller)
{
    enum { SETS = 6 };
    size_t words = dense_words(d);
    struct reducer *r = calloc(1, sizeof *r);
    uint64_t *sets = calloc(SETS * words, sizeof *sets);
    uint32_t *ticket = calloc(d->torus.servers, sizeof *ticket);
    uint8_t *part = calloc(d->torus.servers, spec_small(&caller->spec) + 1);
    if (r == NULL || sets == NULL || ticket == NULL || part == NULL) {
        free(r);
        free(sets);
        free(ticket);
        free(part);
        return NULL;
    }
    *r = (struct reducer){
        .d = d, .caller = caller, .run = {d->self, d->life, ++d->numbers}, .ticket = ticket, .part = part};
    r->members = sets;
    r->counted = sets + words;
    r->joined = sets + 2 * words;
    r->dead = sets + 3 * words;
    r->involved = sets + 4 * words;
    r->silent = sets + 5 * words;
    memcpy(r->members, caller->members, words * sizeof *sets);
    memcpy(r->counted, caller->members, words * sizeof *sets);
    return r;
}

int reducer_open(struct member *caller)
{
    struct dense *d = caller->d;
    if (farewell_was(d, caller->hash)) {
        return -EEXIST;
    }
    struct reducer *r = make(d, caller);
    if (r == NULL) {
        return -ENOMEM;
    }
    caller->reducer = r;
    caller->run = r->run;
    reducer_moved(r);
    if (caller->contributes) {
        trees_set_add(r->joined, d->self);
        r->ticket[d->self] = caller->ticket;
    }
    list_push_back(&d->reducers, &r->link);
    dense_soon(d); /* from there it takes the joins that came before */
    return 0;
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

static void probe(struct reducer *r)
{
    struct dense *d = r->d;
    struct message m = {.kind = MESSAGE_PROBE, .run = r->run, .attempt = r->attempt};
    r->probed = cw_now(d->s);
    memset(r->silent, 0, dense_words(d) * sizeof *r->silent);
    for (cw_server s = 0; s < d->torus.servers; s++) {
        if (s != d->self && trees_set_has(r->involved, s)) {
            trees_set_add(r->silent, s);
            (void)dense_say(d, s, &m); /* who was not asked stays silent */
        }
    }
}

/* Nothing has moved for the limit. */
static void give_up(struct reducer *r)
{
    if (r->state != REDUCER_GATHERS) {
        const uint64_t *waits = r->state == REDUCER_SHARES ? share_waits(r) : r->silent;
        reducer_end(r, -ETIMEDOUT, first_of(r, waits, NULL));
        return;
    }
    cw_server missing = first_of(r, r->members, r->joined);
    memcpy(r->counted, r->joined, dense_words(r->d) * sizeof *r->counted);
    if ((r->caller->spec.flags & CW_REDUCE_WITHOUT) != 0 && first_of(r, r->counted, NULL) != CW_SERVER_NONE) {
        reducer_moved(r);
        begin(r);
    } else {
        reducer_end(r, -ETIMEDOUT, missing);
    }
}

/* Are all members here that can be? Whoever is out of view will not call in time, and the result need not have it. */
static bool only_absent_missing(const struct reducer *r)
{
    cw_time due = cw_time_add(r->moved, DENSE_ABSENT);
    if ((r->caller->spec.flags & CW_REDUCE_WITHOUT) == 0 || !cw_time_due(due, cw_now(r->d->s)) ||
        first_of(r, r->joined, NULL) == CW_SERVER_NONE) {
        return false;
    }
    for (cw_server s = 0; s < r->d->torus.servers; s++) {
        if (trees_set_has(r->members, s) && !trees_set_has(r->joined, s) && dense_sees(r->d, s)) {
            return false;
        }
    }
    return true;
}

void reducer_tick(struct reducer *r)
{
    cw_time now = cw_now(r->d->s);
    if (r->finished && (r->caller->spec.flags & CW_REDUCE_TO_ALL) != 0 && r->share == NULL) {
        r->finished = false;
        share_begin(r);
        return;
    }
    if (r->finished) {
        reducer_end(r, 0, CW_SERVER_NONE);
        return;
    }
    if (r->vertex != NULL && r->vertex->broken) {
        reducer_void(r);
    }
    if (r->state == REDUCER_GATHERS && !joins_take_pending(r)) {
        return;
    }
    if (r->state == REDUCER_GATHERS && first_of(r, r->members, r->joined) == CW_SERVER_NONE) {
        begin(r);
        return;
    }
    bool absent = r->state == REDUCER_GATHERS && only_absent_missing(r);
    if (absent || cw_time_due(cw_time_add(r->moved, r->caller->limit), now)) {
        give_up(r);
        return;
    }
    if (r->state == REDUCER_PAUSES && cw_time_due(r->next, now)) {
        begin(r);
        return;
    }
    if (r->state == REDUCER_SHARES) {
        share_tick(r); /* r may be gone */
        return;
    }
    if (r->state != REDUCER_RUNS) {
        return;
    }
    if (cw_time_due(cw_time_add(cw_time_max(r->moved, r->probed), DENSE_STALL), now)) {
        probe(r);
    }
    vertex_pump(r->vertex);
}
