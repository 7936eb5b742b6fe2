/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.c - values and copies that are as good as gone: their key moved, their job was cut, or their generation is
 * over. They are found when they are used, and by a sweep that gives their memory back.
 */
#include "services/kvcache/sweep.h"

#include "base/check.h"
#include "services/kvcache/authority.h"
#include "services/kvcache/common.h"
#include "services/kvcache/walk.h"

enum { SWEEP_CHAINS = 256 }; /* of a table, at one go */

bool sweep_is_cut(const struct kvcache *k, const struct item *i)
{
    for (unsigned n = 0; n < k->cuts; n++) {
        if ((k->cut[n].job == i->job || k->cut[n].job == KV_EVERY_JOB) && i->cas <= k->cut[n].cas) {
            return true;
        }
    }
    return false;
}

/*
 * Exactly the items whose key moved go. The others are as good as learned now: so it does not matter that only the
 * latest changes of the view are remembered.
 */
static bool has_moved(void *context, struct item *i)
{
    struct kvcache *k = context;
    bool kept = KV_MUTANT(NO_LEASE);
    if (k->sweeping_copies ? i->stamp != k->generation : sweep_is_cut(k, i)) {
        return true;
    }
    if (k->sweeping_copies) {
        kept |= KV_MUTANT(KEEPS_MOVED_COPIES);
    }
    if (!k->sweeping_copies) {
        kept |= KV_MUTANT(NO_TENURE);
    }
    if (!kv_steady(k, &i->id, i->epoch) && !kept) {
        kv_count(k, KV_COUNT_MOVED);
        return true;
    }
    i->epoch = kept ? i->epoch : cw_epoch(k->svc);
    return false;
}

/*
 * Looking at every value at once could take longer than a server may stall. It need not be at once: a value is looked
 * at whenever it is used, and one that moved is as good as gone from the moment the view changed. The sweep gives
 * memory back.
 */
static void sweep_due(cw_svc *s, void *state, void *arg)
{
    (void)arg;
    struct kvcache *k = state;
    struct items *t = k->sweeping_copies ? &k->copies : &k->values;
    k->sweep = NULL;
    if (items_sweep_some(t, &k->sweep_at, SWEEP_CHAINS, has_moved, k)) {
        if (k->sweeping_copies) {
            CHECK_SLOW(walk_sometimes(k));
            return;
        }
        k->cuts = 0;
        k->sweeping_copies = true;
    }
    k->sweep = cw_timer_start(s, CW_US(100), sweep_due, NULL);
    CHECK_SLOW(walk_sometimes(k));
}

void sweep_begin(struct kvcache *k)
{
    k->sweeping_copies = false;
    k->sweep_at = 0;
    if (k->sweep == NULL) {
        k->sweep = cw_timer_start(k->svc, CW_US(100), sweep_due, NULL);
    }
}

void sweep_cut(struct kvcache *k, cw_job job)
{
    unsigned n = 0;
    while (n < k->cuts && k->cut[n].job != job && k->cut[n].job != KV_EVERY_JOB) {
        n++;
    }
    if (n == KV_CUTS_MOST) {
        k->cuts = n = 0;
        job = KV_EVERY_JOB; /* too many cuts to remember: all jobs are cut, as values may be lost at any time */
    }
    k->cut[n] = (struct kv_cut){n < k->cuts ? k->cut[n].job : job, k->cas};
    k->cuts = n < k->cuts ? k->cuts : n + 1;
    sweep_begin(k);
}
