/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.c - what each way in begins and ends with (rule 12). The timer is a way in of its own.
 */
#include "services/transport/internal.h"

void transport_enter(struct transport *t)
{
    t->now = cw_now(t->user);
    t->depth++;
}

static void on_timer(cw_svc *s, void *state, void *arg);

/* The timer may ring too early, never too late (rule 12): it is set anew only when something is due before it. */
static void set_timer(struct transport *t, bool soon)
{
    const struct heap_entry *first = heap_min(&t->due);
    cw_time at = soon ? t->now : first == NULL ? CW_NEVER : first->at;
    for (unsigned place = 0; place < PLACES; place++) {
        at = t->blocked[place] ? cw_time_min(at, t->blocked_until[place]) : at;
    }
    t->timer_failed = false;
    if (at.ns == INT64_MAX || (t->timer != NULL && t->timer_at.ns <= at.ns)) {
        return;
    }
    cw_timer_stop(t->user, t->timer);
    int64_t wait = cw_time_since(at, t->now).ns;
    t->timer = cw_timer_start(t->user, CW_NS(wait < 0 ? 0 : wait), on_timer, t);
    t->timer_at = at;
    t->timer_failed = t->timer == NULL;
}

void transport_count(struct transport *t)
{
    if (!t->config.counters) {
        return;
    }
    const uint64_t now[TRANSPORT_COUNTERS] = {
        t->stats.done,        t->stats.failed,
        t->stats.taken,       t->stats.bytes_sent,
        t->stats.bytes_taken, t->stats.packets,
        t->stats.repeated,    t->stats.probes,
        t->stats.restarts,    t->stats.malformed + t->stats.strange,
    };
    for (unsigned i = 0; i < TRANSPORT_COUNTERS; i++) {
        if (now[i] != t->counted[i]) {
            cw_counter_add(t->counter[i], now[i] - t->counted[i]);
            t->counted[i] = now[i];
        }
    }
}

void transport_tell_end(struct transport *t, struct outgoing *m)
{
    int status = m->status;
    void *arg = m->arg;
    transport_done_fn done = m->done;
    transport_answer_fn answer = m->answer;
    bool request = m->kind == OUTGOING_REQUEST;
    t->stats.done += status == 0;
    t->stats.failed += status != 0;
    t->stats.bytes_sent += status == 0 ? m->data.size : 0;
    outgoing_free(t, m);
    if (request) {
        answer(t->config.context, arg, status, NULL, 0, NULL);
    } else if (done != NULL) {
        done(t->config.context, arg, status);
    }
}

void transport_leave(struct transport *t, bool upcall)
{
    if (t->depth > 1) {
        t->depth--;
        return;
    }
    while (upcall && !list_is_empty(&t->finished)) {
        transport_tell_end(t, container_of(list_pop_front(&t->finished), struct outgoing, link));
    }
    sending_flush(t);
    set_timer(t, t->again || !list_is_empty(&t->finished)); /* sending may have ended some, or resumed some */
    transport_count(t);
    t->depth--;
    CHECK_SLOW(transport_valid(t));
}

static void wake_peer(struct transport *t, struct peer *p)
{
    if (p->state == PEER_OPEN) {
        if (cw_time_due(p->loss_due, t->now)) {
            outgoing_losses(t, p);
        }
        bool waits = p->flight.out > 0 || !list_is_empty(&p->sent);
        if (waits && cw_time_due(cw_time_add(p->progress, peer_timeout(t, p)), t->now)) {
            outgoing_silence(t, p);
        }
    }
    if (!list_is_empty(&p->incoming)) {
        incoming_silence(t, p);
    }
    peer_touch(t, p);
}

/* Resumes what was resumed from within read() of the request that it answers. */
static void resume_again(struct transport *t)
{
    t->again = false;
    for (struct list_node *node = list_first(&t->incoming); node != NULL;) {
        struct incoming *in = container_of(node, struct incoming, all);
        node = list_next(&t->incoming, node);
        if (in->again) {
            in->again = false;
            (void)incoming_resume(t, in->m.incoming);
            node = list_first(&t->incoming); /* the callbacks may have changed the list */
        }
    }
}

static void on_timer(cw_svc *s, void *state, void *arg)
{
    struct transport *t = arg;
    (void)s;
    (void)state;
    transport_enter(t);
    t->timer = NULL;
    if (t->again) {
        resume_again(t);
    }
    for (unsigned place = 0; place < PLACES; place++) {
        if (t->blocked[place] && cw_time_due(t->blocked_until[place], t->now)) {
            sending_unblock(t, (cw_place)place);
        }
    }
    for (const struct heap_entry *first; (first = heap_min(&t->due)) != NULL && cw_time_due(first->at, t->now);) {
        struct due *due = container_of(heap_pop(&t->due), struct due, entry);
        if (due->kind == DUE_PEER) {
            wake_peer(t, container_of(due, struct peer, due));
        } else {
            outgoing_due(t, container_of(due, struct outgoing, due));
        }
    }
    transport_leave(t, true);
}
