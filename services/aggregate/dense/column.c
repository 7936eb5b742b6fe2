/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/column.h"

#include "base/check.h"
#include "services/aggregate/dense/mutant.h"

#include <errno.h>
#include <stdlib.h>

size_t column_cost(uint32_t window, uint32_t ahead, size_t bytes)
{
    return window * (bytes + sizeof(struct column_slot)) + ahead * sizeof(uint32_t);
}

static void open_slot(struct column *c, uint32_t position)
{
    struct column_slot *s = column_slot(c, position);
    *s = (struct column_slot){.missing = c->children};
    s->state = c->children == 0 ? COLUMN_READY : COLUMN_WAITING;
}

int column_init(struct column *c, cw_links children, uint32_t window, uint32_t ahead, size_t bytes)
{
    CHECK(window >= 1 && window <= COLUMN_WINDOW_MOST && ahead >= window && ahead <= COLUMN_AHEAD_MOST);
    *c = (struct column){.children = children, .window = window, .ahead = ahead, .limit = window, .bytes = bytes};
    c->slot = calloc(window, sizeof *c->slot);
    c->block = calloc(ahead, sizeof *c->block);
    c->memory = bytes > 0 ? malloc(window * bytes) : NULL;
    if (c->slot == NULL || c->block == NULL || (bytes > 0 && c->memory == NULL)) {
        column_free(c);
        return -ENOMEM;
    }
    for (uint32_t p = 0; p < window; p++) {
        open_slot(c, p);
    }
    return 0;
}

void column_free(struct column *c)
{
    free(c->slot);
    free(c->block);
    free(c->memory);
    *c = (struct column){.slot = NULL};
}

int column_deal(struct column *c, uint32_t block)
{
    if (!column_room(c)) {
        return -EPROTO;
    }
    c->block[c->dealt++ % c->ahead] = block;
    return 0;
}

void column_credit(struct column *c, uint32_t passed)
{
    uint32_t limit = passed > UINT32_MAX - c->window ? UINT32_MAX : passed + c->window;
    c->limit = limit > c->limit ? limit : c->limit;
}

int column_begin(struct column *c, uint32_t position, cw_link child)
{
    if (child >= CW_LINK_COUNT || !(c->children >> child & 1) || !column_open(c, position)) {
        return -EPROTO;
    }
    struct column_slot *s = column_slot(c, position);
    if (s->begun >> child & 1) {
        return -EALREADY;
    }
    s->begun |= cw_links_of(child);
    return 0;
}

void column_take(struct column *c, uint32_t position, cw_link child)
{
    struct column_slot *s = column_slot(c, position);
    CHECK(column_open(c, position) && (s->begun & s->missing) >> child & 1);
    s->missing &= (cw_links)~cw_links_of(child);
    if (s->missing == 0 || AGG_MUTANT(CHILD_MISSING)) {
        s->state = s->state == COLUMN_WAITING ? COLUMN_READY : s->state;
    }
}

uint32_t column_common(const struct column *c, uint32_t position)
{
    const struct column_slot *s = column_slot(c, position);
    uint32_t least = UINT32_MAX;
    for (cw_links left = c->children; left != 0; left &= (cw_links)(left - 1)) {
        uint32_t came = s->came[__builtin_ctz(left)];
        least = came < least ? came : least;
    }
    return AGG_MUTANT(CHILD_MISSING) ? s->filled : least;
}

bool column_ready(const struct column *c, bool early, uint32_t *position)
{
    bool found = false;
    for (uint32_t p = c->base; column_open(c, p) && (p < c->limit || AGG_MUTANT(NO_CREDIT)); p++) {
        enum column_state state = column_slot(c, p)->state;
        if (state == COLUMN_READY) {
            *position = p;
            return true;
        }
        if (early && !found && state == COLUMN_WAITING && column_common(c, p) > 0) {
            *position = p;
            found = true;
        }
    }
    return found;
}

void column_lend(struct column *c, uint32_t position)
{
    struct column_slot *s = column_slot(c, position);
    CHECK(column_open(c, position) && (s->state == COLUMN_READY || s->state == COLUMN_WAITING));
    s->state = COLUMN_LENT;
}

bool column_pass(struct column *c, uint32_t position)
{
    struct column_slot *s = column_slot(c, position);
    CHECK(column_open(c, position) && s->state == COLUMN_LENT);
    s->state = COLUMN_PASSED;
    uint32_t before = c->base;
    while (c->base < c->dealt && column_slot(c, c->base)->state == COLUMN_PASSED) {
        open_slot(c, c->base); /* the slot is that of position base + window now */
        c->base++;
    }
    return c->base != before;
}
