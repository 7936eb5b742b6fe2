/* SPDX-License-Identifier: Apache-2.0 */
#include "keyspace/facet.h"

#include <assert.h>

/* Order number o -> axes: xyz xzy yxz yzx zxy zyx. */
static const uint8_t axis_order[FACET_ORDERS][CW_AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static bool is_downward(unsigned index, unsigned axis)
{
    return index / FACET_ORDERS >> axis & 1u;
}

void facet_walk_init(struct facet_walk *w, const struct torus *t, cw_server home, unsigned index)
{
    assert(index < FACET_SEQUENCES);
    cw_coord c = torus_coord(t, home);
    const uint32_t at[CW_AXES] = {c.x, c.y, c.z};
    const uint32_t stride[CW_AXES] = {t->dim[1] * t->dim[2], t->dim[2], 1};
    w->home = home;
    w->index = (uint8_t)index;
    for (unsigned turn = 0; turn < CW_AXES; turn++) {
        unsigned axis = axis_order[index % FACET_ORDERS][turn];
        uint32_t span = t->dim[axis] * stride[axis];
        bool down = is_downward(index, axis);
        w->axis[turn] = (struct facet_axis){
            .at = 0,
            .last = t->dim[axis] - 1,
            .turn = down ? at[axis] + 1 : t->dim[axis] - at[axis],
            .step = down ? 0 - stride[axis] : stride[axis],
            .wrap = down ? span : 0 - span,
        };
    }
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool facet_walk_next(struct facet_walk *w)
{
    struct facet_axis *a = &w->axis[0], *b = &w->axis[1], *c = &w->axis[2];
    if (b->at > 0 && c->at < c->last) {
        b->at--;
        c->at++;
        return true;
    }
    /* One step less on the first axis; the steps that remain go to the second axis as far as they fit there. */
    uint32_t rest = b->at + c->at + 1;
    if (a->at > 0 && rest <= b->last + c->last) {
        a->at--;
        b->at = min_u32(rest, b->last);
        c->at = rest - b->at;
        return true;
    }
    rest += a->at;
    if (rest > a->last + b->last + c->last) {
        return false;
    }
    a->at = min_u32(rest, a->last);
    rest -= a->at;
    b->at = min_u32(rest, b->last);
    c->at = rest - b->at;
    return true;
}

uint32_t facet_order(const struct facet_walk *w, const struct torus *t, cw_server s)
{
    cw_coord c = torus_coord(t, torus_offset(t, w->home, s));
    const uint32_t up[CW_AXES] = {c.x, c.y, c.z};
    uint32_t r[CW_AXES];
    for (unsigned turn = 0; turn < CW_AXES; turn++) {
        unsigned axis = axis_order[w->index % FACET_ORDERS][turn];
        r[turn] = is_downward(w->index, axis) && up[axis] > 0 ? t->dim[axis] - up[axis] : up[axis];
    }
    /*
     * The level, then the first two step counts, falling; the third follows from these. A count is at most 255 and a
     * level 765, as no axis is longer than CW_DIM_MAX, so that no field runs into the next.
     */
    return (r[0] + r[1] + r[2]) << FACET_ORDER_LEVEL_SHIFT | (255 - r[0]) << 8 | (255 - r[1]);
}
