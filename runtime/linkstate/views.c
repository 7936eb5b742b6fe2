/* SPDX-License-Identifier: Apache-2.0 */
#include "linkstate/views.h"

#include "base/check.h"
#include "linkstate/mutant.h"

#include <stdalign.h>

#define AT_ONCE ((cw_time){INT64_MIN})

static void carve_set(struct reach *set, uint32_t servers, struct arena *arena)
{
    void *memory = arena_carve(arena, 1, reach_bytes(servers), alignof(uint64_t));
    if (!arena_is_measuring(arena)) {
        reach_init(set, servers, memory);
    }
}

void views_init(struct views *v, cw_server self, uint32_t servers, cw_span hold, struct arena *arena)
{
    *v = (struct views){
        .self = self,
        .equal = true,
        .hold = hold,
        .spacing = CW_NS((int64_t)servers * 250),
        .next_search = AT_ONCE,
        .next_release = CW_NEVER,
        .links = arena_carve(arena, servers, sizeof *v->links, 1),
        .incarnation = arena_carve(arena, servers, sizeof *v->incarnation, alignof(uint64_t)),
        .until = arena_carve(arena, servers, sizeof *v->until, alignof(cw_time)),
        .order = arena_carve(arena, servers + 1, sizeof *v->order, alignof(cw_server)),
    };
    struct reach *const sets[] = {&v->committed, &v->optimistic, &v->held,   &v->touched,
                                  &v->renewed,   &v->ended,      &v->scratch};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        carve_set(sets[i], servers, arena);
    }
    routes_init(&v->routes, servers, self, arena);
    routes_init(&v->wide, servers, self, arena);
    if (!arena_is_measuring(arena)) {
        reach_add(&v->committed, self);
        reach_add(&v->optimistic, self);
    }
}

void views_applied(struct views *v, const struct lsdb *db, const struct lsdb_change *change)
{
    cw_links up = change->up_gained | change->up_lost, opt = change->opt_gained | change->opt_lost;
    if (change->renewed) {
        reach_add(&v->renewed, change->origin);
    }
    repair_note(&v->up_moves, db->neighbours, change->origin, up);
    repair_note(&v->opt_moves, db->neighbours, change->origin, opt);
    /* What changes no link, no flag and no incarnation (a refresh, a repeated round) is seen by nobody. */
    v->up_moved |= up != 0;
    v->opt_moved |= opt != 0;
    v->stale |= change->renewed || change->flags || v->up_moved || v->opt_moved;
}

void views_goodbye(struct views *v, cw_server s, uint64_t incarnation)
{
    if (!reach_has(&v->optimistic, s) || v->incarnation[s] > incarnation) {
        return;
    }
    reach_add(&v->ended, s);
    if (reach_has(&v->held, s)) {
        v->next_release = AT_ONCE;
    }
}

/*
 * Makes *set the servers that the table reaches, except leaving ones: packets pass through those, and they own no key.
 */
static void members_of(const struct routes *r, const struct lsdb *db, struct reach *set)
{
    routes_members(r, set);
    for (cw_server s = reach_next(&db->leaving, 0); s != CW_SERVER_NONE; s = reach_next(&db->leaving, s + 1)) {
        reach_remove(set, s);
    }
}

/* Publishes the links inside the component; true when that changed anything. */
static bool publish_links(struct views *v, const struct lsdb *db)
{
    cw_links changed = CW_LINKS_NONE, *restrict published = v->links;
    const cw_links *restrict up = db->up;
    const struct routes routes = v->routes;
    for (cw_server s = 0; s < routes.servers; s++) {
        cw_links links = routes_reaches(&routes, s) ? up[s] : CW_LINKS_NONE;
        changed |= links ^ published[s];
        published[s] = links;
    }
    return changed != CW_LINKS_NONE;
}

static void touch_changes(struct views *v, const struct reach *before, const struct reach *after)
{
    for (cw_server s = reach_next_change(before, after, 0); s != CW_SERVER_NONE;
         s = reach_next_change(before, after, s + 1)) {
        reach_add(&v->touched, s);
    }
}

/* Brings the table up to date with these links, of which some have moved since the table was made. */
static void follow_links(struct views *v, const struct lsdb *db, const cw_links *links, struct routes *r,
                         struct repair_moves *moves)
{
    if (!repair_routes(r, db->neighbours, links, v->self, moves, v->order)) {
        routes_search(r, db->neighbours, links, v->self, v->order);
    }
    repair_forget(moves);
    CHECK_SLOW(routes_are_right(r, db->neighbours, links, v->self));
}

/* Finds C and the routes over it. True when C or its links have changed. */
static bool search_committed(struct views *v, const struct lsdb *db)
{
    bool changed = false;
    if (v->up_moved) {
        v->up_moved = false;
        if (!lsdb_is_whole(db)) {
            follow_links(v, db, db->up, &v->routes, &v->up_moves);
        } else if (!v->whole) {
            routes_whole(&v->routes, &db->torus, v->self);
        }
        repair_forget(&v->up_moves);
        v->whole = lsdb_is_whole(db);
        changed = publish_links(v, db);
    }
    members_of(&v->routes, db, &v->scratch);
    if (!reach_equal(&v->committed, &v->scratch)) {
        touch_changes(v, &v->committed, &v->scratch);
        reach_copy(&v->committed, &v->scratch);
        changed = true;
    }
    return changed;
}

/* Mutant NO_LOOKTHROUGH: O is C, and what this server's own pending links lead to. */
static void see_own_pending_only(struct views *v, const struct lsdb *db, struct reach *set)
{
    reach_copy(set, &v->committed);
    cw_links pending = db->opt[v->self] & (cw_links)~db->up[v->self];
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (pending & cw_links_of(link)) {
            routes_search(&v->wide, db->neighbours, db->up, lsdb_neighbour(db, v->self, link), v->order);
            for (cw_server s = 0; s < v->wide.servers; s++) {
                if (routes_reaches(&v->wide, s) && !lsdb_is_leaving(db, s)) {
                    reach_add(set, s);
                }
            }
        }
    }
}

/* The servers that O's graph reaches; borrowed until the next search. */
static const struct reach *search_optimistic(struct views *v, const struct lsdb *db)
{
    bool current = v->pending && !v->opt_moved;
    v->opt_moved = false;
    v->pending = lsdb_has_pending(db);
    if (!v->pending) {
        return &v->committed;
    }
    /* Semantics 4.2, detail 2: through the pending links of others, too. */
    if (MUTANT(NO_LOOKTHROUGH)) {
        see_own_pending_only(v, db, &v->scratch);
        routes_search(&v->wide, db->neighbours, db->opt, v->self, v->order);
        repair_forget(&v->opt_moves);
        return &v->scratch;
    }
    if (!current) {
        follow_links(v, db, db->opt, &v->wide, &v->opt_moves);
    }
    members_of(&v->wide, db, &v->scratch);
    return &v->scratch;
}

/* O's graph reaches s now: whatever s was before, it is a member without a hold, in its incarnation of now. */
static bool admit(struct views *v, const struct lsdb *db, cw_server s)
{
    reach_remove(&v->held, s);
    bool joined = reach_add(&v->optimistic, s);
    uint64_t incarnation = lsdb_incarnation(db, s);
    if (joined || v->incarnation[s] != incarnation) {
        v->incarnation[s] = incarnation;
        v->renewals++;
        reach_add(&v->touched, s);
        reach_remove(&v->ended, s);
    }
    return joined;
}

/* True when s, a member out of reach, cannot deliver any more, whatever it has heard. */
static bool is_harmless(const struct views *v, const struct lsdb *db, cw_server s)
{
    return lsdb_is_leaving(db, s) || reach_has(&v->ended, s);
}

static void forget(struct views *v, cw_server s)
{
    reach_remove(&v->held, s);
    reach_remove(&v->optimistic, s);
    reach_add(&v->touched, s);
}

/*
 * Brings O after its graph. Members whom it has just lost are held: their leases may run for another `dead` (semantics
 * 4.2, remove). True when O changed.
 */
static bool follow_graph(struct views *v, const struct lsdb *db, const struct reach *graph, cw_time now)
{
    bool changed = false;
    for (cw_server s = reach_next(&v->renewed, 0); s != CW_SERVER_NONE; s = reach_next(&v->renewed, s + 1)) {
        if (reach_has(graph, s)) {
            changed |= admit(v, db, s);
        }
    }
    reach_clear(&v->renewed);
    for (cw_server s = reach_next(&v->held, 0); s != CW_SERVER_NONE; s = reach_next(&v->held, s + 1)) {
        if (reach_has(graph, s)) {
            changed |= admit(v, db, s);
        }
    }
    for (cw_server s = reach_next_change(&v->optimistic, graph, 0); s != CW_SERVER_NONE;
         s = reach_next_change(&v->optimistic, graph, s + 1)) {
        if (reach_has(graph, s)) {
            changed |= admit(v, db, s);
        } else if (is_harmless(v, db, s) || MUTANT(NO_HOLD)) {
            forget(v, s);
            changed = true;
        } else if (reach_add(&v->held, s)) {
            v->until[s] = cw_time_add(now, v->hold);
        }
    }
    return changed;
}

/* Ends holds, and finds the next end. True when O changed. */
static bool release_held(struct views *v, const struct lsdb *db, cw_time now)
{
    bool changed = false;
    v->next_release = CW_NEVER;
    for (cw_server s = reach_next(&v->held, 0); s != CW_SERVER_NONE; s = reach_next(&v->held, s + 1)) {
        if (cw_time_due(v->until[s], now) || is_harmless(v, db, s)) {
            forget(v, s);
            changed = true;
        } else {
            v->next_release = cw_time_min(v->next_release, v->until[s]);
        }
    }
    return changed;
}

bool views_refresh(struct views *v, const struct lsdb *db, cw_time now)
{
    if (!v->stale && !cw_time_due(v->next_release, now)) {
        return false;
    }
    uint64_t renewals = v->renewals;
    bool committed = false, optimistic = false;
    if (v->stale) {
        v->stale = false;
        v->next_search = cw_time_add(now, v->spacing);
        committed = search_committed(v, db);
        optimistic = follow_graph(v, db, search_optimistic(v, db), now);
    }
    optimistic |= release_held(v, db, now);
    v->equal = reach_equal(&v->committed, &v->optimistic);
    v->routes_epoch += committed;
    v->epoch += committed || optimistic;
    return committed || optimistic || v->renewals != renewals;
}

cw_time views_wake(const struct views *v)
{
    return v->stale ? cw_time_min(v->next_search, v->next_release) : v->next_release;
}

size_t views_within(const struct views *v, const cw_server *neighbours, unsigned hops)
{
    const struct reach *members = &v->committed;
    const uint8_t *levels = routes_levels(&v->routes);
    size_t count = 0;
    for (cw_server s = reach_next(members, 0); s != CW_SERVER_NONE; s = reach_next(members, s + 1)) {
        count += (v->routes.is_deep ? views_hops(v, neighbours, s) : levels[s]) <= hops;
    }
    return count;
}

/* Leaves at most self in the set. True when somebody else was in it. */
static bool shrink(struct reach *set, cw_server self)
{
    bool member = reach_has(set, self);
    bool changed = set->members != member;
    reach_clear(set);
    if (member) {
        reach_add(set, self);
    }
    return changed;
}

void views_shrink(struct views *v)
{
    cw_links links = v->links[v->self];
    for (cw_server s = reach_next(&v->optimistic, 0); s != CW_SERVER_NONE; s = reach_next(&v->optimistic, s + 1)) {
        reach_add(&v->touched, s);
    }
    reach_add(&v->touched, v->self); /* another life of ours begins */
    routes_clear(&v->routes, v->self);
    repair_give_up(&v->up_moves);
    for (cw_server s = 0; s < v->routes.servers; s++) {
        v->links[s] = CW_LINKS_NONE;
    }
    bool committed = shrink(&v->committed, v->self) || links != CW_LINKS_NONE;
    bool optimistic = shrink(&v->optimistic, v->self);
    reach_clear(&v->held);
    v->next_release = CW_NEVER;
    v->pending = false;
    v->whole = false;
    v->equal = true;
    v->stale = v->up_moved = v->opt_moved = true;
    v->routes_epoch += committed;
    v->epoch += committed || optimistic;
}
