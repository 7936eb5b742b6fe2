/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_tick.c - time: what every entry begins and ends with, and what is due.
 */
#include "core/node_internal.h"

#include "base/check.h"

void node_enter(struct node *n, cw_time now)
{
    CHECK(!cw_time_before(now, n->now));
    n->now = now;
}

cw_links node_tx_links(const struct node *n)
{
    return ls_tx_links(n->ls) | (n->wanted & ls_up_links(n->ls));
}

cw_links node_leave_entry(struct node *n)
{
    if (n->local.head != NULL) {
        node_run_local(n);
    }
    if (n->relay != NULL) {
        node_relay_note(n);
    }
    CHECK_SLOW(node_walk(n));
    return node_tx_links(n);
}

cw_links node_tick(struct node *n, cw_time now)
{
    node_enter(n, now);
    bool moved = cw_time_due(ls_next_wake(n->ls), now);
    if (moved) {
        ls_tick(n->ls, now);
    }
    node_sync(n);
    if (moved) {
        node_look_at_gates(n);
        node_look_at_seals(n);
    }
    if (cw_time_due(n->due, now)) {
        node_run_timers(n);
        node_end_held(n);
        n->due = cw_time_min(node_timers_wake(n), holdq_wake(&n->held));
    }
    node_wake_writers(n);
    if (guests_are_stirred(&n->guests)) {
        node_tell_guests(n);
    }
    node_check_freed(n);
    node_check_requests(n);
    return node_leave_entry(n);
}

cw_time node_next_wake(const struct node *n)
{
    if (n->local.head != NULL || n->writable != 0 || guests_are_stirred(&n->guests)) {
        return n->now;
    }
    cw_time wake = cw_time_min(ls_next_wake(n->ls), n->due);
    return n->config.strict && n->env.watch.log != NULL ? cw_time_min(wake, node_requests_wake(n)) : wake;
}

void node_leave(struct node *n, cw_time now)
{
    node_enter(n, now);
    ls_leave(n->ls, now);
    node_sync(n);
    (void)node_leave_entry(n);
}

bool node_left(const struct node *n, cw_time now)
{
    return ls_left(n->ls, now);
}
