/* SPDX-License-Identifier: Apache-2.0 */
#include "store_census.h"

#include "services/store/lead.h"

/* One server's word about one shard. */
struct word {
    uint32_t shard;
    bool whole, known, learner, member;
    uint64_t store_id;
    struct store_config config;
    struct store_seal seal;
    struct store_sum root;
    unsigned to_expire;
};

/* Values that are to go by themselves, where this server serves the shard. */
static unsigned to_expire(const struct store_shard *shard)
{
    const struct store_table *t = &shard->acceptor.table;
    unsigned count = 0;
    bool serves = shard->lead != NULL && shard->lead->phase == STORE_PHASE_OPEN && t->bucket != NULL;
    for (unsigned b = 0; serves && b < STORE_BUCKETS; b++) {
        for (const struct store_register *r = t->bucket[b].first; r != NULL; r = r->next) {
            count += r->ttl_ms > 0;
        }
    }
    return count;
}

static void look(void *context, cw_svc *svc, const void *exports)
{
    struct word *o = context;
    struct store *s = cw_state(svc);
    const struct store_shard *shard = store_shard_find(s, o->shard);
    (void)exports;
    o->whole = s->health == STORE_WELL;
    o->store_id = s->store_id;
    if (shard != NULL && shard->config.count > 0) {
        o->known = true;
        o->member = shard->role == STORE_ROLE_MEMBER;
        o->learner = shard->role == STORE_ROLE_LEARNER;
        o->config = shard->config;
        o->seal = shard->seal;
        o->root = store_table_root(&shard->acceptor.table);
        o->to_expire = to_expire(shard);
    }
}

static struct word word_of(struct world *w, cw_server server, uint32_t shard)
{
    struct word o = {.shard = shard};
    if (world_visit(w, server, "store", CW_STORE_API, look, &o) != 0) {
        o.whole = false;
    }
    return o;
}

static bool lives(struct world *w, const struct store_config *c, unsigned m, uint32_t shard, struct word *o)
{
    *o = word_of(w, c->member[m], shard);
    return o->whole && o->known && o->store_id == c->store_id[m];
}

struct store_census store_census_of(struct world *w, uint32_t shard)
{
    struct store_census census = {.live = 0};
    struct word o, first = {.whole = false};
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        o = word_of(w, s, shard);
        census.whole += o.whole;
        census.to_expire += o.to_expire;
        if (o.known && o.config.epoch > census.config.epoch) {
            census.config = o.config;
        }
    }
    const struct store_config *c = &census.config;
    struct store_ballot highest = {0, 0};
    for (unsigned m = 0; m < c->count; m++) {
        if (!lives(w, c, m, shard, &o)) {
            continue;
        }
        census.live++;
        first = first.whole ? first : o;
        census.full += o.member && o.config.epoch == c->epoch && store_sum_equal(o.root, first.root);
        if (o.config.epoch == c->epoch && store_ballot_compare(o.seal.ballot, highest) > 0) {
            highest = o.seal.ballot;
            unsigned leaves = store_config_changed(c, &o.seal.next);
            census.doubt = false;
            for (unsigned other = 0; other < c->count; other++) {
                struct word its;
                census.doubt = census.doubt || (other != leaves && !lives(w, c, other, shard, &its));
            }
        }
    }
    return census;
}

struct asked_last {
    uint32_t shard;
    const struct store_name *name;
    struct store_last last;
};

static void look_last(void *context, cw_svc *svc, const void *exports)
{
    struct asked_last *a = context;
    const struct store_shard *shard = store_shard_find(cw_state(svc), a->shard);
    (void)exports;
    if (shard == NULL || shard->lead == NULL || shard->lead->phase != STORE_PHASE_OPEN ||
        shard->lead->write_count > 0) {
        return;
    }
    const struct store_register *r = store_table_find(&shard->acceptor.table, a->name);
    a->last = (struct store_last){true, r == NULL || r->deleted, r != NULL ? r->version : 0};
}

struct store_last store_census_last(struct world *w, uint32_t shard, const struct store_name *name)
{
    struct asked_last a = {.shard = shard, .name = name};
    unsigned leaders = 0;
    for (cw_server s = 0; s < world_torus(w)->servers; s++) {
        a.last.served = false;
        struct asked_last one = a;
        if (world_visit(w, s, "store", CW_STORE_API, look_last, &one) == 0 && one.last.served) {
            leaders++;
            a.last = one.last;
        }
    }
    a.last.served = leaders == 1; /* one of two has not found out yet */
    return a.last;
}
