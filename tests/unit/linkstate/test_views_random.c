/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any history of records, goodbyes, fences and time, against a model that keeps the rules of views.h one server at a
 * time and works everything else out from all records anew.
 */
#include "base/prng.h"
#include "sanitized.h"
#include "views_fixture.h"

struct model {
    bool committed[LINKS_SERVERS_MAX], optimistic[LINKS_SERVERS_MAX], held[LINKS_SERVERS_MAX], ended[LINKS_SERVERS_MAX];
    int64_t until[LINKS_SERVERS_MAX];
    uint64_t incarnation[LINKS_SERVERS_MAX];
    cw_links links[LINKS_SERVERS_MAX]; /* inside C */
    uint64_t epoch, routes_epoch, renewals;
};

struct graphs {
    cw_links up[LINKS_SERVERS_MAX], opt[LINKS_SERVERS_MAX];
    struct naive_distances committed, wide;
};

static void graphs_of(const struct fixture *f, struct graphs *g)
{
    naive_links(&f->db.torus, f->db.records, false, g->up);
    naive_links(&f->db.torus, f->db.records, true, g->opt);
    naive_distances(&f->db.torus, g->up, &g->committed);
    naive_distances(&f->db.torus, g->opt, &g->wide);
}

static void model_drop(struct model *m, cw_server s)
{
    m->optimistic[s] = m->held[s] = m->ended[s] = false;
}

/* One server's place in O. */
static void model_place(struct model *m, const struct record *r, cw_server s, bool seen, int64_t now)
{
    bool leaving = (r->flags & RECORD_LEAVING) != 0;
    if (seen && !leaving) {
        if (!m->optimistic[s] || m->incarnation[s] != r->incarnation) {
            m->renewals++;
            m->ended[s] = false;
        }
        m->optimistic[s] = true;
        m->held[s] = false;
        m->incarnation[s] = r->incarnation;
        return;
    }
    if (!m->optimistic[s]) {
        return;
    }
    if (!m->held[s]) {
        m->held[s] = true;
        m->until[s] = now + CW_US(HOLD_US).ns;
    }
    if (leaving || m->ended[s] || m->until[s] <= now) {
        model_drop(m, s);
    }
}

static void model_refresh(struct model *m, const struct fixture *f, const struct graphs *g)
{
    bool committed = false, optimistic = false;
    cw_server self = f->views.self;
    for (cw_server s = 0; s < f->db.torus.servers; s++) {
        const struct record *r = &f->db.records[s];
        bool reached = g->committed.d[self][s] < LINKS_FAR, was = m->optimistic[s];
        bool member = reached && !(r->flags & RECORD_LEAVING);
        cw_links links = reached ? g->up[s] : CW_LINKS_NONE;
        committed |= member != m->committed[s] || links != m->links[s];
        m->committed[s] = member;
        m->links[s] = links;
        model_place(m, r, s, g->wide.d[self][s] < LINKS_FAR, f->now.ns);
        optimistic |= was != m->optimistic[s];
    }
    m->routes_epoch += committed;
    m->epoch += committed || optimistic;
}

static void model_goodbye(struct model *m, cw_server s, uint64_t incarnation)
{
    if (m->optimistic[s] && m->incarnation[s] <= incarnation) {
        m->ended[s] = true;
    }
}

static void model_shrink(struct model *m, const struct fixture *f)
{
    bool committed = false, optimistic = false;
    for (cw_server s = 0; s < f->db.torus.servers; s++) {
        bool self = s == f->views.self;
        committed |= (!self && m->committed[s]) || m->links[s] != CW_LINKS_NONE;
        optimistic |= !self && m->optimistic[s];
        m->links[s] = CW_LINKS_NONE;
        m->committed[s] &= self;
        m->optimistic[s] &= self;
        m->held[s] = m->ended[s] = false;
    }
    m->routes_epoch += committed;
    m->epoch += committed || optimistic;
}

static void compare_routes(const struct fixture *f, const struct graphs *g, cw_server s)
{
    const struct views *v = &f->views;
    int d = g->committed.d[v->self][s];
    ck_assert_uint_eq(views_hops(v, f->db.neighbours, s), d == LINKS_FAR ? ROUTES_UNREACHABLE : (unsigned)d);
    ck_assert_uint_eq(views_next_hops(v, s), naive_next(&f->db.torus, g->up, &g->committed, v->self, s));
    ck_assert_uint_eq(views_wide_next_hops(v, s), naive_next(&f->db.torus, g->opt, &g->wide, v->self, s));
}

static void compare_within(const struct fixture *f, const struct model *m, const struct graphs *g)
{
    const struct views *v = &f->views;
    for (unsigned hops = 0; hops < 5; hops++) {
        size_t within = 0;
        for (cw_server s = 0; s < f->db.torus.servers; s++) {
            within += m->committed[s] && g->committed.d[v->self][s] <= (int)hops;
        }
        ck_assert_uint_eq(views_within(v, f->db.neighbours, hops), within);
    }
}

static void compare(const struct fixture *f, const struct model *m, const struct graphs *g, unsigned step)
{
    const struct views *v = &f->views;
    bool equal = true;
    int64_t next_release = CW_NEVER.ns;
    for (cw_server s = 0; s < f->db.torus.servers; s++) {
        if (reach_has(views_committed(v), s) != m->committed[s] ||
            reach_has(views_optimistic(v), s) != m->optimistic[s] || reach_has(&v->held, s) != m->held[s] ||
            (m->committed[s] && !m->optimistic[s]) ||
            (m->optimistic[s] && views_incarnation(v, s) != m->incarnation[s])) {
            ck_abort_msg("step %u: server %u", step, s);
        }
        equal &= m->committed[s] == m->optimistic[s];
        if (m->held[s] && m->until[s] < next_release) {
            next_release = m->until[s];
        }
        compare_routes(f, g, s);
    }
    compare_within(f, m, g);
    ck_assert((views_committed(v) == views_optimistic(v)) == equal);
    ck_assert_int_eq(views_wake(v).ns, next_release);
    ck_assert_uint_eq(v->epoch, m->epoch);
    ck_assert_uint_eq(v->routes_epoch, m->routes_epoch);
    ck_assert_uint_eq(v->renewals, m->renewals);
}

/* One thing that happens in the cluster. */
static void happen(struct cluster *c, struct prng *prng)
{
    cw_server s = (cw_server)prng_below(prng, c->torus.servers);
    cw_link link = (cw_link)prng_below(prng, CW_LINK_COUNT);
    if (!(torus_links(&c->torus) & cw_links_of(link))) {
        return;
    }
    switch (prng_below(prng, 40)) {
    case 0:
        cluster_restart(c, s);
        break;
    case 1:
        c->record[s].flags ^= RECORD_LEAVING;
        c->record[s].seq++;
        break;
    case 2:
        cluster_link_all(c, LINK_UP);
        break;
    case 3:
    case 4:
    case 5:
    case 6: /* one end only */
        cluster_list(c, s, link, (enum link_state)prng_below(prng, 3));
        break;
    default:
        cluster_link(c, s, link, (enum link_state)prng_below(prng, 3));
    }
}

/* One thing that happens to the server. */
static void meet(struct fixture *f, struct model *m, struct prng *prng)
{
    cw_server s = (cw_server)prng_below(prng, f->cluster.torus.servers);
    switch (prng_below(prng, 30)) {
    case 0: {
        uint64_t incarnation = f->cluster.record[s].incarnation - prng_below(prng, 2);
        views_goodbye(&f->views, s, incarnation);
        model_goodbye(m, s, incarnation);
        break;
    }
    case 1:
        if (prng_chance(prng, 1, 3)) {
            cluster_restart(&f->cluster, f->views.self);
            hear(f, f->views.self);
            views_shrink(&f->views);
            model_shrink(m, f);
        }
        break;
    case 2:
    case 3:
        hear_all(f);
        break;
    default:
        hear(f, s);
    }
}

static void history(cw_dims dims, uint64_t seed, unsigned steps)
{
    static struct graphs graphs;
    struct prng prng = prng_stream(seed, 0, 0);
    uint32_t servers = (uint32_t)dims.x * dims.y * dims.z;
    struct fixture *f = fixture_open(dims, (cw_server)prng_below(&prng, servers));
    struct model m = {.committed = {false}};
    m.committed[f->views.self] = m.optimistic[f->views.self] = true;
    for (unsigned step = 0; step < steps; step++) {
        for (uint64_t i = prng_below(&prng, 4); i-- > 0;) {
            happen(&f->cluster, &prng);
        }
        for (uint64_t i = prng_below(&prng, 4); i-- > 0;) {
            meet(f, &m, &prng);
        }
        pass(f, (int64_t)prng_below(&prng, UINT64_C(1) << prng_below(&prng, 17))); /* from microseconds to two holds */
        if (prng_chance(&prng, 2, 3)) {
            graphs_of(f, &graphs);
            bool due = cw_time_due(views_wake(&f->views), f->now), stale = f->views.stale;
            uint64_t epoch = f->views.epoch, renewals = f->views.renewals;
            bool grew = refresh(f);
            ck_assert(grew == (f->views.epoch != epoch || f->views.renewals != renewals));
            ck_assert(!grew || due || stale);
            model_refresh(&m, f, &graphs);
            compare(f, &m, &graphs, step);
        }
    }
    fixture_close(f);
}

START_TEST(any_history)
{
    static const struct {
        cw_dims dims;
        unsigned seeds, steps;
    } table[] = {
        {{2, 2, 2}, 60, 300}, {{1, 2, 4}, 60, 300}, {{3, 3, 3}, 10, 300},
        {{2, 3, 4}, 10, 300}, {{4, 4, 4}, 2, 200},  {{1, 1, 1}, 2, 50},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (uint64_t seed = 1; seed <= table[i].seeds / (SANITIZED ? 4 : 1); seed++) {
            history(table[i].dims, seed, table[i].steps);
        }
    }
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(any_history)};
SUITE_MAIN("views_random", tests)
