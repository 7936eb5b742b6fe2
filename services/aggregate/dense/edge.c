/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/internal.h"

#include "base/check.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <string.h>

/* ---- Blocks to the parent ---------------------------------------------------------------------------------------- */

/* Where the elements of a lent block are: in the column, or, at a leaf, in the memory of the member itself. */
static const uint8_t *elements_of(const struct vertex *v, const struct lend *l)
{
    const struct column *c = &v->column[l->tree];
    const uint8_t *memory = column_memory(c, l->position);
    if (memory != NULL) {
        return memory;
    }
    return (const uint8_t *)v->own->in + blocks_first(&v->blocks, column_block(c, l->position)) * v->blocks.element;
}

static void block_ended(void *context, void *arg, int status)
{
    struct lend *l = arg;
    struct vertex *v = l->v;
    (void)context;
    l->out = false;
    v->lent[l->tree] = false;
    if (v->ending || v->broken) {
        return;
    }
    if (status < 0) {
        vertex_break(v, status, v->plan.tree[l->tree].parent);
        return;
    }
    if (v->own != NULL) {
        v->own->moved = cw_now(v->d->s);
    }
    (void)column_pass(&v->column[l->tree], l->position);
    vertex_pump(v);
}

/* The bytes of a block that was sent before it was whole. */
static int read_block(void *context, void *arg, uint64_t offset, uint8_t *out, size_t length)
{
    const struct lend *l = arg;
    const struct column *c = &l->v->column[l->tree];
    (void)context;
    if (offset + length > column_common(c, l->position)) {
        return -EAGAIN;
    }
    memcpy(out, column_memory(c, l->position) + offset, length);
    return 0;
}

void edge_more(struct vertex *v, cw_link tree, uint32_t position)
{
    const struct lend *l = &v->lend[tree * v->window + position % v->window];
    if (l->out) {
        (void)transport_more(v->d->edge, l->id);
    }
}

void edge_send(struct vertex *v, cw_link tree, uint32_t position)
{
    struct column *c = &v->column[tree];
    struct lend *l = &v->lend[tree * v->window + position % v->window];
    uint32_t block = column_block(c, position);
    CHECK(!l->out);
    *l = (struct lend){.v = v, .position = position, .tree = (uint8_t)tree, .out = true};
    struct message m = {.kind = MESSAGE_BLOCK, .run = v->run, .attempt = v->attempt, .tree = (uint8_t)tree};
    m.position = position;
    m.block = block;
    uint8_t head[MESSAGE_BLOCK_BYTES];
    message_encode(&m, head);
    bool whole = column_slot(c, position)->state == COLUMN_READY;
    column_lend(c, position);
    size_t bytes = blocks_elements(&v->blocks, block) * v->blocks.element;
    struct transport_data data = {.size = bytes};
    if (whole) {
        data.bytes = elements_of(v, l);
    } else {
        data.read = read_block;
    }
    const struct transport_send_options options = {TRANSPORT_SEND_INIT, .head = head, .head_length = sizeof head};
    cw_server parent = v->plan.tree[tree].parent;
    cw_to to = to_server(v->d->s, AGGREGATE_JOB, AGGREGATE_PORT_EDGE, parent);
    l->id = transport_send(v->d->edge, &to, &data, &options, block_ended, l);
    v->lent[tree] = true;
    if (l->id < 0) {
        v->lent[tree] = false;
        l->out = false;
        vertex_break(v, (int)l->id, parent);
    }
}

void edge_cancel(struct vertex *v)
{
    for (unsigned i = 0; v->lend != NULL && i < CW_LINK_COUNT * v->window; i++) {
        if (v->lend[i].out) {
            (void)transport_cancel(v->d->edge, v->lend[i].id);
        }
        CHECK(!v->lend[i].out);
    }
}

/* ---- Blocks that come too early ---------------------------------------------------------------------------------- */

void edge_early(struct dense *d, const struct run_name *run, const struct transport_asker *asker)
{
    d->early[d->early_next++ % DENSE_EARLY] = (struct early){*run, *asker};
}

void edge_permit(struct dense *d, const struct run_name *run)
{
    for (unsigned i = 0; i < DENSE_EARLY; i++) {
        struct early *e = &d->early[i];
        if (e->run.number != 0 && run_name_equal(&e->run, run)) {
            (void)transport_permit(d->edge, &e->asker); /* who is not told asks again by itself */
            e->run.number = 0;
        }
    }
}

/* ---- Deals to the children --------------------------------------------------------------------------------------- */

/* The blocks from position `from` on, as runs; gives the position behind the last one that fits. */
static uint32_t gather(const struct column *c, uint32_t from, struct message *m)
{
    uint32_t p = from;
    for (; p < c->dealt; p++) {
        uint32_t block = column_block(c, p);
        struct deal_run *last = m->runs > 0 ? &m->deal[m->runs - 1] : NULL;
        if (last != NULL && last->first + last->count == block) {
            last->count++;
        } else if (m->runs < MESSAGE_RUNS_MOST) {
            m->deal[m->runs++] = (struct deal_run){block, 1};
        } else {
            break;
        }
    }
    return p;
}

void edge_tell(struct vertex *v, cw_link tree)
{
    struct column *c = &v->column[tree];
    for (cw_links left = c->children; left != 0; left &= (cw_links)(left - 1)) {
        cw_link link = (cw_link)__builtin_ctz(left);
        struct told *told = &v->told[tree][link];
        if (told->telling || (told->dealt == c->dealt && told->base == c->base)) {
            continue;
        }
        struct message m = {.kind = MESSAGE_DEAL, .run = v->run, .attempt = v->attempt, .tree = (uint8_t)tree};
        m.passed = c->base;
        m.from = told->dealt;
        told->dealt = gather(c, told->dealt, &m);
        told->base = c->base;
        told->telling = true;
        cw_server child = torus_neighbour(&v->d->torus, v->d->self, link);
        int rc = dense_say(v->d, child, &m);
        if (rc < 0) {
            vertex_break(v, rc, child);
            return;
        }
    }
}
