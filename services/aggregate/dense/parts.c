/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.c - blocks of children: each packet is added to the block as it comes, straight from where it lies, and what
 * all children have brought may go on to the parent before the rest of the block is here. So a block costs each server
 * on its way the time of one packet, however long the block is.
 *
 * What comes ends anywhere; what is added are whole elements. The bytes of an element that has not come wholly wait in
 * the column.
 */
#include "base/check.h"
#include "services/aggregate/dense/internal.h"

#include <errno.h>
#include <string.h>

bool parts_wait(const struct vertex *v, cw_link tree)
{
    return (v->spec.flags & CW_REDUCE_FIXED) != 0 && __builtin_popcount(v->plan.tree[tree].children) > 1 &&
           !AGG_MUTANT(ANY_ORDER);
}

/* Where the part of a child for a position waits. */
static uint8_t *held_part(const struct vertex *v, cw_link tree, uint32_t position, cw_link child)
{
    cw_links children = v->plan.tree[tree].children;
    unsigned before = (unsigned)__builtin_popcount(children & (cw_links_of(child) - 1U));
    unsigned slot = position % v->window * (unsigned)__builtin_popcount(children) + before;
    return v->held[tree] + slot * blocks_longest(&v->blocks);
}

/* Combines a child's whole elements with what is in the block from byte `at` on; this server's own come before them. */
static void add(struct vertex *v, struct column *c, uint32_t position, size_t at, const uint8_t *from, size_t bytes)
{
    struct column_slot *slot = column_slot(c, position);
    uint8_t *memory = column_memory(c, position);
    size_t element = v->blocks.element, end = at + bytes, filled = slot->filled;
    CHECK(at <= filled && end <= blocks_longest(&v->blocks));
    if (end > filled && v->own != NULL) {
        uint64_t first = blocks_first(&v->blocks, column_block(c, position)) + filled / element;
        member_copy(v->own, first, (end - filled) / element, memory + filled);
        slot->filled = (uint32_t)end;
    } else if (end > filled) {
        memcpy(memory + filled, from + (filled - at), end - filled);
        slot->filled = (uint32_t)end;
        end = filled;
    }
    for (unsigned times = AGG_MUTANT(TWICE) && position % 5 == 3 ? 2 : 1; times > 0 && end > at; times--) {
        v->combine(memory + at, from, (end - at) / element);
    }
}

void parts_meet(struct vertex *v, cw_link tree, uint32_t position)
{
    struct column *c = &v->column[tree];
    size_t bytes = blocks_elements(&v->blocks, column_block(c, position)) * v->blocks.element;
    for (cw_links left = v->plan.tree[tree].children; left != 0; left &= (cw_links)(left - 1)) {
        add(v, c, position, 0, held_part(v, tree, position, (cw_link)__builtin_ctz(left)), bytes);
    }
}

/* Adds what has come of a child's part: whole elements now, and what is left over when the rest of it comes. */
static void put(struct vertex *v, cw_link tree, uint32_t position, cw_link child, const uint8_t *bytes, size_t length)
{
    struct column *c = &v->column[tree];
    struct column_slot *slot = column_slot(c, position);
    size_t element = v->blocks.element;
    uint32_t *came = &slot->came[child];
    uint8_t *carried = &slot->carried[child], *carry = slot->carry[child];
    if (parts_wait(v, tree)) {
        memcpy(held_part(v, tree, position, child) + *came, bytes, length);
        *came += (uint32_t)length;
        return;
    }
    if (*carried > 0) {
        size_t more = element - *carried < length ? element - *carried : length;
        memcpy(carry + *carried, bytes, more);
        *carried += (uint8_t)more;
        bytes += more;
        length -= more;
        if (*carried < element) {
            return;
        }
        add(v, c, position, *came, carry, element);
        *came += (uint32_t)element;
    }
    size_t whole = length - length % element;
    if (whole > 0) {
        add(v, c, position, *came, bytes, whole);
        *came += (uint32_t)whole;
    }
    *carried = (uint8_t)(length - whole);
    memcpy(carry, bytes + whole, *carried);
}

/* Does the block fit what was dealt? */
static bool fits(const struct vertex *v, const struct column *c, const struct message *m)
{
    return column_open(c, m->position) && column_block(c, m->position) == m->block && m->block < v->blocks.count &&
           m->bytes == blocks_elements(&v->blocks, m->block) * v->blocks.element;
}

/* The vertex that a block is for. NULL: of another attempt (aggregate rule 2). */
static struct vertex *vertex_of(struct dense *d, const struct message *m)
{
    struct vertex *v = vertex_find(d, &m->run);
    if (v == NULL || v->broken || (v->attempt != m->attempt && !AGG_MUTANT(OLD_ATTEMPT))) {
        return NULL;
    }
    return v;
}

int parts_begin(struct dense *d, const struct message *m, cw_server from)
{
    if (m->attempt == 1 && vertex_find(d, &m->run) == NULL) {
        return -EAGAIN; /* the child has heard of the run before this server has */
    }
    struct vertex *v = vertex_of(d, m);
    if (v == NULL) {
        return -ESTALE;
    }
    struct column *c = &v->column[m->tree];
    cw_link child = plan_child(&v->plan, &d->torus, d->self, m->tree, from);
    int rc =
        vertex_combines(v) && v->plan.tree[m->tree].in && fits(v, c, m) ? column_begin(c, m->position, child) : -EPROTO;
    if (rc < 0) {
        vertex_break(v, rc, from);
        return -EPROTO;
    }
    return 0;
}

/* The slot of a child's part that has begun. NULL: it has not, or is whole. */
static struct column_slot *under_way(struct vertex *v, const struct message *m, cw_server from, cw_link *child)
{
    struct column *c = &v->column[m->tree];
    *child = plan_child(&v->plan, &v->d->torus, v->d->self, m->tree, from);
    if (*child == CW_LINK_SELF || !v->plan.tree[m->tree].in || !column_open(c, m->position)) {
        return NULL;
    }
    struct column_slot *slot = column_slot(c, m->position);
    return (slot->begun & slot->missing) >> *child & 1 ? slot : NULL;
}

static uint32_t arrived(const struct column_slot *slot, cw_link child)
{
    return slot->came[child] + slot->carried[child];
}

int parts_piece(struct dense *d, const struct message *m, cw_server from, uint64_t offset, const uint8_t *bytes,
                size_t length)
{
    struct vertex *v = vertex_of(d, m);
    cw_link child;
    struct column_slot *slot = v == NULL ? NULL : under_way(v, m, from, &child);
    if (slot == NULL) {
        return -ESTALE;
    }
    size_t all = blocks_elements(&v->blocks, m->block) * v->blocks.element;
    if (m->block != column_block(&v->column[m->tree], m->position) || offset != arrived(slot, child) ||
        length > all - offset) {
        vertex_break(v, -EPROTO, from);
        return -EPROTO;
    }
    put(v, m->tree, m->position, child, bytes, length);
    dense_note(d, DENSE_COUNT_BYTES, length);
    if (arrived(slot, child) < all) { /* else parts_whole() follows at once */
        vertex_further(v, m->tree, m->position);
    }
    return 0;
}

int parts_whole(struct dense *d, const struct message *m, cw_server from)
{
    struct vertex *v = vertex_of(d, m);
    cw_link child;
    const struct column_slot *slot = v == NULL ? NULL : under_way(v, m, from, &child);
    if (slot == NULL || slot->came[child] != blocks_elements(&v->blocks, m->block) * v->blocks.element) {
        return -ESTALE;
    }
    column_take(&v->column[m->tree], m->position, child);
    dense_note(d, DENSE_COUNT_BLOCKS, 1);
    vertex_further(v, m->tree, m->position);
    vertex_pump(v);
    return 0;
}

void parts_lost(struct dense *d, const struct message *m, cw_server from, int status)
{
    struct vertex *v = vertex_find(d, &m->run);
    cw_link child;
    struct column_slot *slot =
        v == NULL || v->broken || v->attempt != m->attempt ? NULL : under_way(v, m, from, &child);
    if (slot == NULL) {
        return;
    }
    if (arrived(slot, child) == 0) {
        slot->begun &= (cw_links)~cw_links_of(child); /* there was no room for it: it comes again */
    } else {
        vertex_break(v, status, from);
    }
}
