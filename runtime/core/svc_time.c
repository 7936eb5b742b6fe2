/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svc_time.c - time, chance, timers and long work of services.
 */
#include "core/node_internal.h"

#include "base/check.h"

#include <errno.h>

/* Work that runs, or ran, away from the node; its handle is the pump's ticket. */
struct offload {
    struct expiry_item item; /* due: when its end is reported; never when the pump says so */
    void (*done)(cw_svc *s, void *state, void *arg);
    void *arg;
    uint8_t service;
    bool away; /* the pump has it */
};

cw_time cw_now(const cw_svc *s)
{
    return s->node->now;
}

uint64_t cw_random(cw_svc *s)
{
    return prng_next(&s->random);
}

uint64_t cw_random_below(cw_svc *s, uint64_t below)
{
    return below == 0 ? 0 : prng_below(&s->random, below);
}

cw_timer *cw_timer_start(cw_svc *s, cw_span after, cw_timer_fn fn, void *arg)
{
    struct node *n = s->node;
    if (fn == NULL) {
        node_misuse(s, "cw_timer_start: the function is NULL");
    }
    if (fn == NULL || s->closing || s->guest != NULL) {
        return NULL;
    }
    cw_time at = cw_time_add(n->now, after.ns > 0 ? after : CW_NS(0));
    return timers_start(&n->timers, s->index, at, fn, arg);
}

void cw_timer_stop(cw_svc *s, cw_timer *t)
{
    timers_stop(&s->node->timers, s->index, t);
}

int cw_offload(cw_svc *s, void (*work)(void *arg), void (*done)(cw_svc *s, void *state, void *arg), void *arg,
               cw_span cost)
{
    struct node *n = s->node;
    if (work == NULL || done == NULL || cost.ns < 0 || s->guest != NULL) {
        return -EINVAL;
    }
    if (s->closing || n->closing) {
        return -ESHUTDOWN;
    }
    if (s->opening) {
        return -EBUSY;
    }
    bool away = n->env.offload != NULL;
    struct offload *offload = expiry_take(&n->offloads, away ? CW_NEVER : cw_time_add(n->now, cost));
    if (offload == NULL) {
        return -EAGAIN;
    }
    offload->done = done;
    offload->arg = arg;
    offload->service = (uint8_t)s->index;
    offload->away = away;
    if (away) {
        n->env.offload(n->env.offload_context, n, work, arg, offload->item.handle, cost);
    } else {
        work(arg);
    }
    return 0;
}

void node_end_offloads(struct node *n)
{
    n->closing = true;
}

static void report(struct node *n, struct offload *offload)
{
    struct offload ended = *offload;
    struct cw_svc *svc = n->service[ended.service];
    expiry_give(&n->offloads, offload);
    struct node_outer outer = node_upcall_begin(svc, UPCALL_OFFLOAD);
    ended.done(svc, svc->state, ended.arg);
    node_upcall_end(svc, UPCALL_OFFLOAD, outer);
}

cw_links node_offload_done(struct node *n, uint64_t ticket, cw_time now)
{
    node_enter(n, now);
    node_sync(n);
    struct offload *offload = ticket <= UINT32_MAX ? expiry_find(&n->offloads, (uint32_t)ticket) : NULL;
    if (offload != NULL) {
        report(n, offload);
    }
    return node_leave_entry(n);
}

bool node_has_work_away(const struct cw_svc *svc)
{
    uint32_t place = 0;
    for (const struct offload *o; (o = expiry_each(&svc->node->offloads, &place)) != NULL;) {
        if (o->service == svc->index && o->away) {
            return true;
        }
    }
    return false;
}

void node_end_work(struct cw_svc *svc)
{
    struct node *n = svc->node;
    uint32_t place = 0;
    for (struct offload *o; (o = expiry_each(&n->offloads, &place)) != NULL;) {
        if (o->service == svc->index) {
            report(n, o);
        }
    }
}

void node_run_timers(struct node *n)
{
    struct timers_fired fired;
    node_run_calls(n);
    for (struct offload *o; (o = expiry_due(&n->offloads, n->now)) != NULL;) {
        report(n, o);
    }
    timers_begin(&n->timers);
    while (timers_next(&n->timers, n->now, &fired)) {
        struct cw_svc *svc = n->service[fired.service];
        struct node_outer outer = node_upcall_begin(svc, UPCALL_TIMER);
        fired.fn(svc, svc->state, fired.arg);
        node_upcall_end(svc, UPCALL_TIMER, outer);
    }
}

cw_time node_timers_wake(const struct node *n)
{
    cw_time wake = cw_time_min(timers_wake(&n->timers), calls_wake(&n->calls));
    wake = cw_time_min(wake, response_wake(&n->nmu.responses));
    return cw_time_min(wake, expiry_wake(&n->offloads));
}

int node_open_timers(struct node *n)
{
    /* Handles begin elsewhere in every life of a server: an answer to a call of the last one finds none. */
    struct prng random = prng_stream(n->env.seed ^ n->config.incarnation, n->self, NODE_STREAM_HANDLES);
    int rc = timers_open(&n->timers, NODE_TIMERS, prng_next(&random));
    if (rc == 0) {
        rc = calls_open(&n->calls, NODE_CALLS, prng_next(&random));
    }
    if (rc == 0) {
        rc = node_open_nmu(n, prng_next(&random));
    }
    if (rc == 0) {
        rc = expiry_open(&n->offloads, sizeof(struct offload), NODE_OFFLOADS, prng_next(&random));
    }
    if (rc < 0) {
        node_close_timers(n);
        return rc;
    }
    n->due = CW_NEVER;
    expiry_share(&n->timers.table, &n->due);
    expiry_share(&n->calls.table, &n->due);
    expiry_share(&n->nmu.responses.table, &n->due);
    expiry_share(&n->offloads, &n->due);
    return 0;
}

void node_close_timers(struct node *n)
{
    expiry_close(&n->offloads);
    nmu_close(&n->nmu);
    calls_close(&n->calls);
    timers_close(&n->timers);
}
