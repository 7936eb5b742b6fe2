/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.c - may this server speak for a key: as its root, for the values that it stored, and as a holder of a copy?
 * These are the rules that look at the view and at the clock (kvcache rules 4 to 8, 12 to 14 and 18).
 *
 * A view does not say three things. First, servers that restart quickly are a majority together before the servers they
 * left have noticed that their former lives are over: for a while both sides count them. Second, a server that leaves
 * in order, or whose death a supervisor tells of, is out of all views at once, but for servers that are cut off and
 * have not heard of it: those still take it for the root, and serve copies of its values. So a server that comes to be
 * of the majority waits before it serves at all, and a server that comes to be root of a key waits before it changes
 * it.
 *
 * Third, a view tells what was true some time ago, and the farther away, the longer ago. Take servers that are cut off
 * together with one that has just died: by its last record they still reach everybody through it, until its neighbours
 * have missed it for `dead`. If a neighbour dies before it has noticed, its own last record leads to the dead one, and
 * another `dead` goes by. So each server on the way to somebody may make the belief that this somebody is there older
 * by one `dead`, which a hold outlasts. Therefore only servers within reach, so many links away, count for the
 * majority; and whoever waits for others to know better waits for as many holds.
 *
 * Usually the wait is shorter. Those who believe wrongly are missing from the view of whoever waits, and the way from
 * them leads through servers that are missing, too, up to a server in view which has withdrawn its link: from there on
 * it is not believed in by more than those missing ones, a hold for each. So as many holds are enough as servers are
 * missing side by side: one, when a single server has failed.
 */
#include "services/kvcache/authority.h"

#include "base/check.h"
#include "services/kvcache/data/holes.h"
#include "services/kvcache/walk.h"

#include <errno.h>
#include <stdlib.h>

enum { DRIFT_PARTS = 32 }; /* a hold grows by 1/32: two clocks drift by 1 % each, and room */

#define JUST_NOW UINT64_MAX /* kvcache.left: of a server that left the view of which authority_review() is due */

/* ---- What may be done -------------------------------------------------------------------------------------------- */

bool kv_settled(const struct kvcache *k)
{
    bool sure = k->settled && k->sure;
    return (sure || KV_MUTANT(KEEPS_MINORITY)) && cw_in_majority(k->svc);
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

bool kv_is_gone(const struct kvcache *k, cw_server s)
{
    return cw_gone(k->svc, cw_server_coord(k->svc, s)) && k->left[s] <= k->calm_epoch;
}

/* ---- How long to wait -------------------------------------------------------------------------------------------- */

/* How many holds (kvcache rule 18). */
static unsigned holds_to_wait(const struct kvcache *k)
{
    if (cw_servers_reachable(k->svc) == k->servers || KV_MUTANT(ONE_HOLD)) {
        return 1;
    }
    for (cw_server s = 0; s < k->servers; s++) {
        k->missing[s] = !cw_reachable(k->svc, cw_server_coord(k->svc, s));
    }
    uint32_t hole = holes_largest(cw_torus(k->svc), k->missing, k->order);
    return hole < k->reach ? hole : k->reach;
}

static cw_span long_enough(const struct kvcache *k, unsigned holds)
{
    cw_span hold = cw_hold(k->svc);
    return CW_NS((hold.ns + hold.ns / DRIFT_PARTS) * holds);
}

/* ---- Of the majority --------------------------------------------------------------------------------------------- */

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

/*
 * Starts the settling timer when this server comes to be of the majority, and stops it when the server is not. A wait
 * that would be over sooner if it began now, since less is missing, begins now; and so does any wait when somebody is
 * lost, who may have been cut off before it began.
 */
static void time_settling(struct kvcache *k, unsigned holds)
{
    cw_svc *s = k->svc;
    cw_span wait = long_enough(k, holds);
    cw_time due = cw_time_add(cw_now(s), wait);
    bool anew = k->lost ? cw_time_before(k->settles, due) : cw_time_before(due, k->settles);
    if (!k->sure || (k->settling != NULL && anew)) {
        cw_timer_stop(s, k->settling);
        k->settling = NULL;
    }
    if (!k->sure) {
        k->settled = false;
    } else if (KV_MUTANT(UNSETTLED) && !k->settled) {
        settled(s, k, NULL);
    } else if (!k->settled && k->settling == NULL) {
        k->settling = cw_timer_start(s, wait, settled, NULL);
        k->settles = due;
    }
}

/* ---- Calm -------------------------------------------------------------------------------------------------------- */

static void time_calming(struct kvcache *k);

/* The changes of the first entry are calm now. */
static void calmed(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    k->calming = NULL;
    while (k->calms > 0 && cw_time_due(k->calm[0].ready, cw_now(s))) {
        k->calm_epoch = k->calm[0].epoch;
        k->calms--;
        for (unsigned i = 0; i < k->calms; i++) {
            k->calm[i] = k->calm[i + 1];
        }
    }
    time_calming(k);
    CHECK_SLOW(walk_sometimes(k));
}

static void time_calming(struct kvcache *k)
{
    if (k->calming == NULL && k->calms > 0) {
        cw_span left = cw_time_since(k->calm[0].ready, cw_now(k->svc));
        k->calming = cw_timer_start(k->svc, left, calmed, NULL);
    }
}

/*
 * All changes up to now are calm after so many holds; those of before perhaps sooner. When somebody is lost those of
 * before are not calm sooner than this change: who is lost now may have been cut off before them, and not know of them.
 * Changes that would be calm at almost the same time share an entry, so that there is always room for another one.
 */
static void note_change(struct kvcache *k, unsigned holds)
{
    cw_time ready = cw_time_add(cw_now(k->svc), long_enough(k, holds));
    cw_span grain = CW_NS(long_enough(k, k->reach).ns / (KV_CALM_MARKS - 4));
    struct kv_calm mark = {.epoch = cw_epoch(k->svc), .ready = ready, .first = ready};
    if (k->lost && k->calms > 0) {
        mark.ready = mark.first = cw_time_max(ready, k->calm[k->calms - 1].ready);
        k->calms = 0;
    }
    while (k->calms > 0 && !cw_time_before(k->calm[k->calms - 1].ready, ready)) {
        k->calms--;
    }
    if (k->calms > 0 && cw_time_before(ready, cw_time_add(k->calm[k->calms - 1].first, grain))) {
        mark.first = k->calm[--k->calms].first;
    }
    CHECK(k->calms < KV_CALM_MARKS);
    k->calm[k->calms++] = mark;
    cw_timer_stop(k->svc, k->calming);
    k->calming = NULL;
}

/* ---- The view changes -------------------------------------------------------------------------------------------- */

int authority_open(struct kvcache *k)
{
    k->reach = holes_reach(cw_torus(k->svc));
    k->left = calloc(k->servers, sizeof *k->left);
    k->missing = calloc(k->servers, sizeof *k->missing);
    k->order = calloc(k->servers, sizeof *k->order);
    return k->left != NULL && k->missing != NULL && k->order != NULL ? 0 : -ENOMEM;
}

void authority_close(struct kvcache *k)
{
    free(k->left);
    free(k->missing);
    free(k->order);
}

void authority_lost(struct kvcache *k, cw_server s)
{
    k->left[s] = JUST_NOW;
    k->lost = true;
}

/* Now that the view is whole again: which of those that have just left are to be waited for when it does not show? */
static void judge_lost(struct kvcache *k, unsigned holds)
{
    for (cw_server s = 0; s < k->servers && k->lost; s++) {
        if (k->left[s] == JUST_NOW) {
            k->left[s] = holds > 1 ? cw_epoch(k->svc) : 0;
        }
    }
    k->lost = false;
}

void authority_review(struct kvcache *k)
{
    uint64_t noted = k->calms > 0 ? k->calm[k->calms - 1].epoch : k->calm_epoch;
    size_t seen = KV_MUTANT(COUNTS_GHOSTS) ? cw_servers_reachable(k->svc) : cw_servers_within(k->svc, k->reach);
    unsigned holds = holds_to_wait(k);
    k->sure = seen > k->servers / 2;
    time_settling(k, holds);
    if (noted != cw_epoch(k->svc)) {
        note_change(k, holds);
    }
    judge_lost(k, holds);
    time_calming(k);
}
