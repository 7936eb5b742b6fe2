/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/session_table.h"

#include "services/reply/metrics.h"

#include <errno.h>

/* Of sessions that are forgotten: a session counts for itself while it is there. */
static const struct metric metrics[CAST_TABLE_COUNTS] = {
    [CAST_TABLE_REPEATED] = {"repeated", "Pieces that were sent again, in messages that have been forgotten since."},
    [CAST_TABLE_DOUBLED] = {"doubled",
                            "Pieces that arrived more than once, in messages that have been forgotten since."},
    [CAST_TABLE_SKIPPED] = {"skipped", "Pieces left for a later round, in messages that have been forgotten since."},
};

int cast_session_table_open(struct cast_session_table *t, cw_svc *s)
{
    *t = (struct cast_session_table){.s = s};
    metrics_counters(s, metrics, CAST_TABLE_COUNTS, t->count_of);
    return torus_init(&t->torus, cw_torus(s));
}

void cast_session_table_close(struct cast_session_table *t)
{
    while (t->first != NULL) {
        cast_session_table_remove(t, t->first, -ESHUTDOWN);
    }
    trees_close(t->trees);
}

struct cast_session *cast_session_table_find(const struct cast_session_table *t, cw_server origin, uint64_t number)
{
    struct cast_session *c = t->first;
    while (c != NULL && (c->origin != origin || c->number != number)) {
        c = c->next;
    }
    return c;
}

struct cast_session *cast_session_table_ticket(const struct cast_session_table *t, uint64_t ticket)
{
    struct cast_session *c = t->first;
    while (c != NULL && c->ticket != ticket) {
        c = c->next;
    }
    return c;
}

unsigned cast_session_table_busy(const struct cast_session_table *t)
{
    unsigned n = 0;
    for (const struct cast_session *c = t->first; c != NULL; c = c->next) {
        n += !cast_session_quiet(c);
    }
    return n;
}

void cast_session_table_remove(struct cast_session_table *t, struct cast_session *c, int status)
{
    struct cast_session **at = &t->first;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    t->count--;
    if (c->in.accepted) {
        cast_receiver_stop(&c->in.receiver, status);
    }
    cw_counter_add(t->count_of[CAST_TABLE_REPEATED], c->repeated);
    cw_counter_add(t->count_of[CAST_TABLE_DOUBLED], c->doubled);
    cw_counter_add(t->count_of[CAST_TABLE_SKIPPED], c->skipped);
    cast_session_close(c);
}

/* The order of all messages, which is the same on every server. */
static bool comes_after(const struct cast_session *c, uint64_t number, cw_server origin)
{
    return c->number != number ? c->number > number : c->origin > origin;
}

/*
 * Finds a place among the sessions that are not quiet (session_table.h, rules 1 and 3). Messages of this server have
 * places of their own, or servers that all send would wait for one another in a circle. A server whose message was put
 * off gets the rest in a later round. A message that has ended here, or is about to, stays: forgotten, it would be
 * taken a second time.
 */
static bool make_place(struct cast_session_table *t, const struct cast_head *open)
{
    bool own = open->origin == cw_server_id(t->s, cw_self(t->s));
    unsigned busy = 0;
    struct cast_session *last = NULL;
    for (struct cast_session *c = t->first; c != NULL; c = c->next) {
        if (c->source != own || cast_session_quiet(c)) {
            continue;
        }
        busy++;
        bool open_here = !c->ended && (!c->in.accepted || c->in.receiver.state != CAST_ENDING);
        last = open_here && (last == NULL || comes_after(c, last->number, last->origin)) ? c : last;
    }
    if (busy < CAST_BUSY_MOST) {
        return true;
    }
    if (own || t->walked || last == NULL || !comes_after(last, open->number, open->origin)) {
        return false;
    }
    cast_session_table_remove(t, last, -EBUSY);
    return true;
}

/* Makes room for one more: removes the quiet session that was heard least lately (rule 2). */
static bool make_room(struct cast_session_table *t, const struct cast_head *open)
{
    if (!make_place(t, open)) {
        return false;
    }
    if (t->count < CAST_SESSIONS_MOST) {
        return true;
    }
    struct cast_session *oldest = NULL;
    for (struct cast_session *c = t->first; c != NULL; c = c->next) {
        if (cast_session_quiet(c) && (oldest == NULL || cw_time_before(c->heard, oldest->heard))) {
            oldest = c;
        }
    }
    if (oldest == NULL || t->walked) {
        return false;
    }
    cast_session_table_remove(t, oldest, -ETIMEDOUT);
    return true;
}

int cast_session_table_begin(struct cast_session_table *t, const struct cast_head *open, struct cast_session **out)
{
    if (t->trees == NULL) {
        int rc = trees_open(&t->trees, &t->torus);
        if (rc < 0) {
            return rc;
        }
    }
    if (!make_room(t, open)) {
        return -EBUSY;
    }
    int rc = cast_session_open(out, t->s, &t->torus, t->trees, &t->limits, open);
    if (rc == 0) {
        (*out)->next = t->first;
        (*out)->ticket = ++t->tickets;
        t->first = *out;
        t->count++;
    }
    return rc;
}
