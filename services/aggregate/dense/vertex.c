/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/internal.h"

#include "base/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct vertex *vertex_find(struct dense *d, const struct run_name *run)
{
    for (struct list_node *n = list_first(&d->vertices); n != NULL; n = list_next(&d->vertices, n)) {
        struct vertex *v = container_of(n, struct vertex, link);
        if (run_name_equal(&v->run, run)) {
            return v;
        }
    }
    return NULL;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

void vertex_free(struct vertex *v)
{
    struct dense *d = v->d;
    v->ending = true;
    edge_cancel(v);
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        column_free(&v->column[tree]);
        free(v->held[tree]);
    }
    if (v->reducer != NULL) {
        v->reducer->vertex = NULL;
    }
    list_remove(&v->link);
    d->vertex_count--;
    d->memory -= v->cost;
    free(v->lend);
    free(v);
}

/*
 * A leaf whose vector is in memory lends its blocks from there. Everybody else gathers them in the column; the root,
 * who changes them (a mean), does so always.
 */
static size_t slot_bytes(const struct vertex *v, cw_link tree)
{
    bool lends = v->plan.tree[tree].children == 0 && v->reducer == NULL && v->own != NULL && v->own->in != NULL;
    return lends ? 0 : blocks_longest(&v->blocks);
}

bool vertex_combines(const struct vertex *v)
{
    return (v->spec.flags & CW_REDUCE_FROM_ROOT) == 0;
}

/* What this server does for a job: in how many reductions, and bytes of their windows. */
struct load {
    unsigned vertices;
    uint64_t memory;
};

static struct load load_of(const struct dense *d, cw_job job)
{
    struct load load = {0, 0};
    for (const struct list_node *n = list_first(&d->vertices); n != NULL; n = list_next(&d->vertices, n)) {
        const struct vertex *v = container_of_const(n, struct vertex, link);
        load.vertices += v->job == job;
        load.memory += v->job == job ? v->cost : 0;
    }
    return load;
}

static int make_columns(struct vertex *v)
{
    struct dense *d = v->d;
    uint64_t others = load_of(d, v->job).memory; /* it is in the list, and costs nothing so far */
    if (!vertex_combines(v)) {
        return 0;
    }
    v->lend = calloc(CW_LINK_COUNT * v->window, sizeof *v->lend);
    int rc = v->lend == NULL ? -ENOMEM : 0;
    for (cw_link tree = 0; tree < CW_LINK_COUNT && rc == 0; tree++) {
        if (!v->plan.tree[tree].in) {
            continue;
        }
        size_t bytes = slot_bytes(v, tree);
        uint64_t cost = column_cost(v->window, v->ahead, bytes);
        size_t held =
            parts_wait(v, tree) ? v->window * bytes * (unsigned)__builtin_popcount(v->plan.tree[tree].children) : 0;
        cost += held;
        if (d->memory + v->cost + cost > DENSE_MEMORY_MOST || others + v->cost + cost > DENSE_MEMORY_EACH) {
            return -ENOBUFS;
        }
        v->held[tree] = held > 0 ? malloc(held) : NULL;
        rc = held > 0 && v->held[tree] == NULL
                 ? -ENOMEM
                 : column_init(&v->column[tree], v->plan.tree[tree].children, v->window, v->ahead, bytes);
        v->cost += rc == 0 ? cost : 0;
        if (rc == 0 && v->reducer != NULL) {
            column_credit(&v->column[tree], UINT32_MAX); /* nobody is above the root */
        }
    }
    return rc;
}

/* Is the announcement possible, and does it agree with what this server's own caller wants? */
static int check(struct dense *d, const struct message *m, struct member **own)
{
    *own = m->ticket != 0 ? member_of_ticket(d, m->ticket) : NULL;
    if (m->servers != d->torus.servers || m->run.root >= m->servers || m->attempt == 0 || m->window == 0 ||
        m->window > COLUMN_WINDOW_MOST || m->ahead < m->window || m->ahead > COLUMN_AHEAD_MOST ||
        trees_set_has(m->dead, m->run.root) || trees_set_has(m->dead, d->self) ||
        trees_set_has(m->members, d->self) != (m->ticket != 0) ||
        (m->dealt > 0 && (m->attempt != 1 || (m->spec.flags & CW_REDUCE_FROM_ROOT) != 0))) {
        return -EPROTO;
    }
    if (m->ticket != 0 && (*own == NULL || (*own)->root != m->run.root || !(*own)->contributes)) {
        return -ESTALE;
    }
    if (*own != NULL && !spec_equal(&(*own)->spec, &m->spec)) {
        return -EINVAL;
    }
    /* The result would not reach it. */
    return *own != NULL && (m->spec.flags & CW_REDUCE_TO_ALL) != 0 && d->multicast == NULL ? -EOPNOTSUPP : 0;
}

/*
 * The first blocks of a first attempt, to each tree in turn: all of its servers know them from the announcement, and
 * need not wait until deals have come down the trees. Of a later attempt nothing is dealt before all have left the one
 * before.
 */
static int deal_at_once(struct vertex *v, uint32_t count)
{
    cw_links left = v->plan.trees;
    for (uint32_t b = 0, block; b < count; b++) {
        cw_link tree = (cw_link)__builtin_ctz(left);
        left &= (cw_links)(left - 1);
        left = left != 0 ? left : v->plan.trees;
        if (v->plan.tree[tree].in && column_deal(&v->column[tree], b) < 0) {
            return -EPROTO;
        }
        if (v->reducer != NULL) {
            CHECK(frontier_deal(&v->reducer->frontier, &block) && block == b);
        }
    }
    for (cw_link tree = 0; tree < CW_LINK_COUNT; tree++) {
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            v->told[tree][link].dealt = v->column[tree].dealt;
        }
    }
    return 0;
}

int vertex_begin(struct dense *d, const struct message *m, struct reducer *reducer)
{
    struct member *own;
    struct vertex *before = vertex_find(d, &m->run);
    cw_server lost;
    int rc = check(d, m, &own);
    rc = rc < 0 ? rc : before != NULL && before->attempt >= m->attempt ? -ESTALE : 0;
    if (rc < 0) {
        return rc;
    }
    if (before != NULL) {
        vertex_free(before); /* nothing of an earlier attempt counts any more (aggregate rule 2) */
    }
    bool room = d->vertex_count < DENSE_RUNS && load_of(d, m->job).vertices < DENSE_RUNS_EACH;
    if (!room || (d->trees == NULL && trees_open(&d->trees, &d->torus) < 0)) {
        return -ENOBUFS;
    }
    struct vertex *v = calloc(1, sizeof *v);
    if (v == NULL) {
        return -ENOBUFS;
    }
    *v = (struct vertex){.d = d, .run = m->run, .attempt = m->attempt, .job = m->job, .spec = m->spec, .own = own};
    v->reducer = reducer;
    v->window = m->window;
    v->ahead = m->ahead;
    v->asked = cw_now(d->s);
    v->combine = number_combine((cw_number)m->spec.type, (cw_combine)m->spec.combine);
    list_push_back(&d->vertices, &v->link);
    d->vertex_count++;
    const struct plan_question question = {&d->torus, d->trees, m->run.root, m->members, m->dead, false};
    rc = blocks_read(&v->blocks, m->spec.elements, number_element((cw_number)m->spec.type, (cw_combine)m->spec.combine),
                     m->each);
    rc = rc < 0 ? rc : plan_make(&v->plan, &question, d->self, NULL, &lost);
    rc = rc < 0 ? rc : make_columns(v);
    d->memory += v->cost;
    rc = rc < 0 || m->dealt == 0 ? rc : deal_at_once(v, m->dealt);
    if (rc < 0) {
        v->reducer = NULL;
        vertex_free(v);
        return rc == -ENOMEM ? -ENOBUFS : rc;
    }
    if (own != NULL) {
        own->run = m->run;
        own->moved = cw_now(d->s);
    }
    dense_wake(d);
    edge_permit(d, &v->run);
    if (reducer == NULL && m->dealt > 0) {
        vertex_pump(v);
    }
    return 0;
}

void vertex_break(struct vertex *v, int cause, cw_server who)
{
    if (v->broken) {
        return;
    }
    v->broken = true;
    if (v->reducer != NULL) {
        dense_soon(v->d);
        return;
    }
    struct message m = {.kind = MESSAGE_VOID, .run = v->run, .attempt = v->attempt, .who = who};
    m.status = (uint16_t)(cause < 0 && cause >= -4095 ? -cause : EIO);
    (void)dense_say(v->d, v->run.root, &m); /* if it is not sent, the root finds out when nothing moves */
}

/* ---- Deals ------------------------------------------------------------------------------------------------------- */

int vertex_deal(struct dense *d, const struct message *m, cw_server from)
{
    struct vertex *v = vertex_find(d, &m->run);
    if (v == NULL || v->broken || v->attempt != m->attempt) {
        return -ESTALE;
    }
    struct column *c = &v->column[m->tree];
    bool good =
        vertex_combines(v) && v->plan.tree[m->tree].in && v->plan.tree[m->tree].parent == from && m->from == c->dealt;
    for (unsigned i = 0; good && i < m->runs; i++) {
        uint32_t first = m->deal[i].first, count = m->deal[i].count;
        good = first < v->blocks.count && count <= v->blocks.count - first;
        for (uint32_t k = 0; good && k < count; k++) {
            good = column_deal(c, first + k) == 0;
        }
    }
    if (!good) {
        vertex_break(v, -EPROTO, from);
        return -EPROTO;
    }
    if (v->own != NULL) {
        v->own->moved = cw_now(d->s);
    }
    column_credit(c, m->passed);
    vertex_pump(v);
    return 0;
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

/* May a block go to the parent before it is whole? Not at the root, nor where children's parts wait for one another. */
static bool early(const struct vertex *v, cw_link tree)
{
    return v->reducer == NULL && v->plan.tree[tree].children != 0 && !parts_wait(v, tree);
}

/* Sends a block of the tree up, or at the root a ready one into the result. False: there is none. */
static bool move_one(struct vertex *v, cw_link tree)
{
    struct column *c = &v->column[tree];
    uint32_t position;
    /* One at a time: deals and credit wait behind what is under way, and messages to a peer leave in turns. */
    if (v->lent[tree] || !column_ready(c, early(v, tree), &position)) {
        return false;
    }
    uint32_t block = column_block(c, position);
    uint8_t *memory = column_memory(c, position);
    if (c->children != 0 && parts_wait(v, tree)) {
        parts_meet(v, tree, position);
    } else if (c->children == 0 && memory != NULL) {
        member_copy(v->own, blocks_first(&v->blocks, block), blocks_elements(&v->blocks, block), memory);
    }
    if (v->reducer == NULL) {
        edge_send(v, tree, position);
        return true;
    }
    column_lend(c, position);
    reducer_settle(v->reducer, block, memory);
    (void)column_pass(c, position);
    return true;
}

void vertex_further(struct vertex *v, cw_link tree, uint32_t position)
{
    struct column_slot *slot = column_slot(&v->column[tree], position);
    if (slot->state == COLUMN_LENT) {
        edge_more(v, tree, position);
    } else if (early(v, tree) && slot->state == COLUMN_WAITING) {
        (void)move_one(v, tree);
    }
}

void vertex_pump(struct vertex *v)
{
    unsigned moved = 0;
    bool more = vertex_combines(v);
    while (more && !v->broken) {
        more = false;
        if (v->reducer != NULL) {
            reducer_deal(v->reducer);
        }
        for (cw_link tree = 0; tree < CW_LINK_COUNT && !v->broken; tree++) {
            if (v->plan.tree[tree].in && move_one(v, tree)) {
                more = true;
                moved++;
            }
        }
        if (v->reducer != NULL && moved >= DENSE_SETTLE_AT_ONCE) {
            dense_soon(v->d);
            break;
        }
    }
    for (cw_link tree = 0; tree < CW_LINK_COUNT && !v->broken && vertex_combines(v); tree++) {
        if (v->plan.tree[tree].in) {
            edge_tell(v, tree);
        }
    }
}

void vertex_tick(struct vertex *v)
{
    cw_time now = cw_now(v->d->s);
    if (v->reducer == NULL && cw_time_due(cw_time_add(v->asked, DENSE_ASK_EVERY), now)) {
        struct message m = {.kind = MESSAGE_PROBE, .run = v->run, .attempt = v->attempt};
        v->asked = now;
        (void)dense_say(v->d, v->run.root, &m);
    }
}
