/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/warden.h"

#include "keyspace/facet.h"
#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/serve.h"

enum { FILLS_MOST = 8 };

static bool in_view(const struct store *s, cw_server server)
{
    return cw_reachable(s->svc, cw_server_coord(s->svc, server));
}

/* Has this server to see to the shard? */
static bool is_mine(const struct store *s, const struct store_shard *shard)
{
    return shard->lead != NULL || store_serve_other_leader(s, shard, true) == CW_SERVER_NONE;
}

/* ---- Newcomers --------------------------------------------------------------------------------------------------- */

/*
 * The first server of the shard's sequence in view that is no member, or is one that was lost and stands at that place
 * as another life; of those that would do, as many are passed over as failed before. CW_SERVER_NONE: there is none.
 */
static cw_server newcomer(const struct store *s, const struct store_shard *shard, unsigned place, unsigned skip)
{
    struct facet_walk w;
    cw_server found = CW_SERVER_NONE;
    facet_walk_init(&w, &s->torus, store_places_home(shard->number), shard->number % STORE_SHARDS_PER_SERVER);
    do {
        cw_server server = facet_walk_server(&w);
        unsigned at = store_config_place(&shard->config, server);
        bool fits = at == shard->config.count || (at == place && shard->lost[place]);
        if (fits && in_view(s, server)) {
            found = server;
            if (skip-- == 0) {
                return found;
            }
        }
    } while (facet_walk_next(&w));
    return found;
}

/* Who could not be replaced without: the others have to seal it. */
static bool can_replace(const struct store *s, const struct store_shard *shard, unsigned place)
{
    for (unsigned m = 0; m < shard->config.count; m++) {
        if (m != place && (shard->lost[m] || !in_view(s, shard->config.member[m]))) {
            return false;
        }
    }
    return true;
}

static bool is_due(const struct store *s, const struct store_shard *shard, unsigned m)
{
    return shard->lost[m] ||
           (shard->gone[m].ns != CW_NEVER.ns && cw_time_since(cw_now(s->svc), shard->gone[m]).ns >= s->limits.away.ns);
}

static void replace(struct store *s, struct store_shard *shard, unsigned place)
{
    cw_server server = newcomer(s, shard, place, shard->skip);
    if (server != CW_SERVER_NONE && can_replace(s, shard, place) && s->filling < FILLS_MOST) {
        store_change_begin(shard->lead, place, server);
    }
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

/* Notes who is there. Gives when the shard is to be looked at again; CW_NEVER: all are. */
static cw_time look(struct store *s, struct store_shard *shard, bool *amiss)
{
    cw_time now = cw_now(s->svc), again = CW_NEVER;
    *amiss = false;
    for (unsigned m = 0; m < shard->config.count; m++) {
        if (m == shard->me) {
            continue;
        }
        bool there = in_view(s, shard->config.member[m]);
        if (there) {
            shard->gone[m] = CW_NEVER;
        } else if (shard->gone[m].ns == CW_NEVER.ns) {
            shard->gone[m] = now;
        }
        bool due = is_due(s, shard, m) || (shard->unsure[m] && there);
        *amiss = *amiss || due;
        if (due) {
            again = cw_time_min(again, cw_time_add(now, s->limits.settle));
        } else if (!there) {
            again = cw_time_min(again, cw_time_add(shard->gone[m], s->limits.away));
        }
    }
    return again;
}

static void mend(struct store *s, struct store_shard *shard)
{
    if (!is_mine(s, shard)) {
        for (unsigned m = 0; m < shard->config.count; m++) {
            shard->unsure[m] = false; /* whoever leads next asks all members */
        }
        return;
    }
    if (shard->lead == NULL && (store_serve_instead(s, shard) != CW_SERVER_NONE || store_lead_begin(s, shard) < 0)) {
        return;
    }
    struct store_lead *lead = shard->lead;
    if (lead == NULL || lead->phase != STORE_PHASE_OPEN) {
        return; /* it is looked at once more */
    }
    for (unsigned m = 0; m < shard->config.count; m++) {
        if (shard->unsure[m] && store_lead_sees(lead, m)) {
            lead->lagging |= 1u << m; /* it is asked for a promise, and what it holds is compared */
            store_lead_wind(lead);
        }
    }
    for (unsigned m = 0; m < shard->config.count && lead->change.step == STORE_CHANGE_NONE; m++) {
        if (m != shard->me && is_due(s, shard, m)) {
            replace(s, shard, m);
        }
    }
}

static void due(cw_svc *svc, void *state, void *arg);

/* The next round is at that time at the latest. */
static void wake_by(struct store *s, cw_time at)
{
    if (s->warden_timer != NULL && !cw_time_before(at, s->warden_at)) {
        return;
    }
    cw_span rest = cw_time_since(at, cw_now(s->svc));
    cw_timer_stop(s->svc, s->warden_timer);
    s->warden_at = at;
    s->warden_timer = cw_timer_start(s->svc, rest.ns > 0 ? rest : CW_NS(0), due, NULL);
}

static void due(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    cw_time again = CW_NEVER;
    bool amiss;
    (void)svc;
    (void)arg;
    s->warden_timer = NULL;
    for (unsigned i = 0; i < s->shards && s->health == STORE_WELL; i++) {
        struct store_shard *shard = s->shard[i];
        if (shard->role == STORE_ROLE_MEMBER) {
            again = cw_time_min(again, look(s, shard, &amiss));
            if (amiss) {
                mend(s, shard);
            }
        }
    }
    if (again.ns != CW_NEVER.ns) {
        wake_by(s, again);
    }
}

void store_warden_wake(struct store *s)
{
    wake_by(s, cw_time_add(cw_now(s->svc), s->limits.settle));
}

void store_warden_begin(struct store *s)
{
    for (unsigned i = 0; i < s->shards; i++) {
        for (unsigned m = 0; m < s->shard[i]->config.count; m++) {
            s->shard[i]->unsure[m] = m != s->shard[i]->me && in_view(s, s->shard[i]->config.member[m]);
        }
    }
    store_warden_wake(s);
}

void store_warden_seen(struct store *s, cw_server who, bool up)
{
    bool concerned = false;
    for (unsigned i = 0; i < s->shards; i++) {
        struct store_shard *shard = s->shard[i];
        unsigned m = shard->role == STORE_ROLE_MEMBER ? store_config_place(&shard->config, who) : shard->config.count;
        if (m == shard->config.count || m == shard->me) {
            continue;
        }
        concerned = true;
        shard->unsure[m] = up;
        shard->gone[m] = up ? CW_NEVER : cw_now(s->svc);
        if (shard->lead != NULL) {
            store_lead_review(shard->lead);
        }
    }
    if (concerned) {
        store_warden_wake(s); /* sooner than a round that waits for a member to have been away for long */
    }
}

/* ---- Status ------------------------------------------------------------------------------------------------------ */

struct store_warden_status store_warden_status(const struct store *s)
{
    struct store_warden_status status = {.filling = 0};
    for (unsigned i = 0; i < s->shards; i++) {
        const struct store_shard *shard = s->shard[i];
        const struct store_lead *lead = shard->lead;
        const struct store_table *t = &shard->acceptor.table;
        bool missing = lead != NULL && lead->lagging != 0, replacing = false;
        if (shard->role != STORE_ROLE_MEMBER || !is_mine(s, shard)) {
            continue;
        }
        for (unsigned m = 0; m < shard->config.count; m++) {
            bool gone = m != shard->me && (shard->lost[m] || !in_view(s, shard->config.member[m]));
            missing = missing || gone || shard->unsure[m]; /* nobody knows yet what it holds */
            replacing = replacing || gone;
        }
        status.copies_missing += missing ? t->registers : 0;
        status.replacing += replacing;
        if (lead != NULL && lead->change.step != STORE_CHANGE_NONE) {
            unsigned done = lead->comparison.runs ? lead->comparison.bucket : 0;
            status.filling++;
            status.to_go += lead->change.passes == 0 ? t->bytes / STORE_BUCKETS * (STORE_BUCKETS - done) : 0;
        }
    }
    return status;
}
