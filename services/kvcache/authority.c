/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.c - may this server speak for a key: as its root, for the values that it stored, and as a holder of a copy?
 * These are the rules that look at the view and at the clock (kvcache rules 4 to 8 and 12 to 14).
 *
 * A view does not say two things. First, servers that restart quickly are a majority together before the servers they
 * left have noticed that their former lives are over: for a while both sides count them. Second, a server that leaves
 * in order, or whose death a supervisor tells of, is out of all views at once, but for servers that are cut off and
 * have not heard of it: those still take it for the root, and serve copies of its values. So a server that comes to be
 * of the majority waits for a hold before it serves at all, and a server that comes to be root of a key waits for a
 * hold before it changes it.
 */
#include "services/kvcache/authority.h"

#include "base/check.h"
#include "services/kvcache/walk.h"

enum { DRIFT_PARTS = 32 }; /* a hold grows by 1/32: two clocks drift by 1 % each, and room */

bool kv_settled(const struct kvcache *k)
{
    return (k->settled || KV_MUTANT(KEEPS_MINORITY)) && cw_in_majority(k->svc);
}

bool kv_serving(const struct kvcache *k)
{
    cw_key ours = cw_key_at(k->svc, cw_self(k->svc), 0);
    return cw_is_root(k->svc, &ours);
}

bool kv_steady(const struct kvcache *k, const cw_key *id, uint64_t since)
{
    bool ours = kv_settled(k) && since >= k->settled_epoch;
    return (ours || KV_MUTANT(KEEPS_MINORITY)) && cw_key_steady(k->svc, id, since);
}

bool kv_may_change(const struct kvcache *k, const cw_key *id)
{
    bool calm = !cw_key_moved(k->svc, id, k->calm_epoch) || KV_MUTANT(HASTY_HEIR);
    return kv_settled(k) && calm && !cw_time_before(cw_now(k->svc), k->quiet);
}

static cw_span long_enough(const struct kvcache *k)
{
    cw_span hold = cw_hold(k->svc);
    return CW_NS(hold.ns + hold.ns / DRIFT_PARTS);
}

/* This server stores nothing until it is settled: whatever has this epoch, or a later one, was stored afterwards. */
static void settled(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    k->settling = NULL;
    k->settled = true;
    k->settled_epoch = cw_epoch(s);
    CHECK_SLOW(walk_sometimes(k));
}

/* Starts the settling timer when this server comes to be of the majority, and stops it when the server is not. */
static void time_settling(struct kvcache *k)
{
    cw_svc *s = k->svc;
    if (!cw_in_majority(s)) {
        cw_timer_stop(s, k->settling);
        k->settling = NULL;
        k->settled = false;
    } else if (KV_MUTANT(UNSETTLED) && !k->settled) {
        settled(s, k, NULL);
    } else if (!k->settled && k->settling == NULL) {
        k->settling = cw_timer_start(s, long_enough(k), settled, NULL);
    }
}

/* The changes of the view up to the start of the timer are older than a hold now. */
static void calmed(cw_svc *s, void *state, void *arg)
{
    (void)s;
    (void)arg;
    struct kvcache *k = state;
    k->calming = NULL;
    k->calm_epoch = k->calming_epoch;
    authority_review(k);
    CHECK_SLOW(walk_sometimes(k));
}

void authority_review(struct kvcache *k)
{
    time_settling(k);
    if (k->calming == NULL && k->calm_epoch != cw_epoch(k->svc)) {
        k->calming_epoch = cw_epoch(k->svc);
        k->calming = cw_timer_start(k->svc, long_enough(k), calmed, NULL);
    }
}
