/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.c - blocks that are not full while their merge waits for an input: none is held for longer than STREAM_HOLD, so
 * what is slow below one server does not keep back what has come there, and a root keeps the more when it begins again.
 */
#include "services/aggregate/stream/flow_parts.h"

/* Flows are in the order in which they began to hold. */
static void flush(cw_svc *s, void *state, void *arg)
{
    struct stream *st = arg;
    (void)state;
    st->hold = NULL;
    while (!list_is_empty(&st->holding)) {
        struct flow *f = container_of(list_first(&st->holding), struct flow, holds);
        cw_time due = cw_time_add(f->held, STREAM_HOLD);
        if (!cw_time_due(due, cw_now(s))) {
            st->hold = cw_timer_start(s, cw_time_since(due, cw_now(s)), flush, st);
            return; /* without a timer the next flow that holds starts one */
        }
        held_end(f);
        flow_flush(f);
    }
}

void held_begin(struct flow *f)
{
    struct stream *st = f->j->st;
    if (list_is_linked(&f->holds)) {
        return;
    }
    f->held = cw_now(st->s);
    list_push_back(&st->holding, &f->holds);
    st->hold = st->hold != NULL ? st->hold : cw_timer_start(st->s, STREAM_HOLD, flush, st);
}

void held_end(struct flow *f)
{
    if (list_is_linked(&f->holds)) {
        list_remove(&f->holds);
    }
}
