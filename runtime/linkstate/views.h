/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - the two views of one server: whom it routes to (C) and whom it must fear (O). Semantics 4.2.
 *
 *   C  committed: reachable from self over up links of the database
 *   O  optimistic: reachable over up or pending links, anybody's, plus whoever left O less than `hold` ago
 *
 * Guarantees, at every instant between two calls:
 *  1. C is a subset of O;
 *  2. nobody leaves O before `hold` has passed since views_refresh() first missed it, except a server that says LEAVING
 *     or whose incarnation is known to have ended (views_goodbye()), or by views_shrink();
 *  3. a refresh makes epoch grow exactly when C, O or a link inside C is not what the last one found, routes_epoch
 *     exactly when C or a link inside C is not, renewals exactly when O gains a server or one it has a new incarnation;
 *     every server on account of which C, O or renewals changed is in touched, however short its coming or going was.
 *
 * A LEAVING server is in neither set, at once and without hold; routes lead to it and through it nevertheless. Self
 * belongs to both unless it is leaving.
 *
 * Lazy: views_applied() is O(1) and only marks; views_refresh() does what is due, O(servers), and is called before
 * anything is asked and when views_wake() is due. Between records of a burst nothing is computed unless somebody asks:
 * a cold start of 4,096 servers does not search once per packet.
 */
#ifndef LINKSTATE_VIEWS_H
#define LINKSTATE_VIEWS_H

#include "cubeway/time.h"
#include "keyspace/reach.h"
#include "linkstate/lsdb.h"
#include "linkstate/repair.h"
#include "linkstate/routes.h"

/* Read freely what is not marked private; written by the functions below only. */
struct views {
    /* What a packet in transit needs lies together. */
    struct reach committed;
    struct reach optimistic;
    struct routes routes; /* over C's graph, leaving servers included */
    bool equal;           /* committed and optimistic are the same set */
    cw_server self;
    uint64_t epoch;
    uint64_t routes_epoch;
    uint64_t renewals;
    struct reach held;    /* members of optimistic that are there by their hold only */
    struct reach touched; /* came to or left C or O, or began another life in O, since views_forget_touched() */

    /* private */
    struct routes wide; /* over O's graph; out of date unless pending */
    /* Links of C's graph, and of O's, that have come or gone since `routes`, or `wide`, was made. */
    struct repair_moves up_moves, opt_moves;
    bool pending;   /* the O graph is not the C graph */
    bool stale;     /* the database changed since the last search */
    bool up_moved;  /* links of C's graph did */
    bool opt_moved; /* links of O's graph did */
    bool whole;     /* routes were made by routes_whole() */
    cw_span hold;
    cw_span spacing;       /* between two searches that nobody asked for */
    cw_time next_search;   /* when a stale view is searched though nobody asks */
    cw_time next_release;  /* the earliest end of a hold */
    cw_links *links;       /* by server: C's graph inside the component, as published; 0 outside */
    uint64_t *incarnation; /* by server: of the member of O */
    cw_time *until;        /* by held server: when its hold ends */
    struct reach renewed;  /* servers with another incarnation since the last search */
    struct reach ended;    /* of members of O: their incarnation is known to have ended */
    struct reach scratch;
    cw_server *order; /* for searches and repairs */
};

/*
 * Carves about 26 bytes a server. Starts with C = O = {self}, as over an empty database. hold as in ls_timers. Searches
 * that nobody asked for are servers / 4 microseconds apart, some 5 % of the time. Over a measuring arena it
 * only counts.
 */
void views_init(struct views *v, cw_server self, uint32_t servers, cw_span hold, struct arena *arena);

/* Call after every LSDB_NEWER, before the next refresh; db has the change in it. O(1). */
void views_applied(struct views *v, const struct lsdb *db, const struct lsdb_change *change);

/*
 * Brings everything up to date with the database and with now (ends of holds): afterwards all that is read here is
 * right until the next views_applied(), views_goodbye() or end of a hold. Cheap when nothing is due. True when epoch or
 * renewals grew.
 */
bool views_refresh(struct views *v, const struct lsdb *db, cw_time now);

/* What touched said has been noted. */
static inline void views_forget_touched(struct views *v)
{
    reach_clear(&v->touched);
}

/* When views_refresh() wants to be called though nobody asks; CW_NEVER when nothing is under way. */
cw_time views_wake(const struct views *v);

/* True while the database is ahead of the views. */
static inline bool views_is_stale(const struct views *v)
{
    return v->stale;
}

/*
 * This incarnation of s, and all before it, have ended (goodbye: leaving, or dead by its supervisor's word): no hold
 * for it, now or when it becomes unreachable. Takes effect with the next refresh.
 */
void views_goodbye(struct views *v, cw_server s, uint64_t incarnation);

/*
 * After a fence (semantics 4.2): C = O = {self} at once, all holds forgotten. The caller has just applied its own
 * record of a new incarnation, which lists no link, so that the next refresh finds the same. The epochs grow unless
 * both sets were {self} already.
 */
void views_shrink(struct views *v);

/* ---- What is asked, after a refresh ---------------------------------------------------------------------------- */

static inline const struct reach *views_committed(const struct views *v)
{
    return &v->committed;
}

/* The same pointer as views_committed() while the sets are equal: nobody is held or behind a pending link. */
static inline const struct reach *views_optimistic(const struct views *v)
{
    return v->equal ? &v->committed : &v->optimistic;
}

/* Links of self on shortest paths over C's graph; none for self and the unreachable. A load. */
static inline cw_links views_next_hops(const struct views *v, cw_server to)
{
    return routes_next(&v->routes, to);
}

/* Brings near what will be asked of s. */
static inline void views_expect(const struct views *v, cw_server s)
{
    __builtin_prefetch(&v->routes.way[s]);
    __builtin_prefetch(&v->committed.word[s / 64]);
}

/* ROUTES_UNREACHABLE when there is no path over C's graph. neighbours as in lsdb.h. O(hops). */
static inline unsigned views_hops(const struct views *v, const cw_server *neighbours, cw_server to)
{
    return routes_hops(&v->routes, neighbours, v->links, to);
}

/* How many members of C are at most so many hops away, self included. O(servers). neighbours as in lsdb.h. */
size_t views_within(const struct views *v, const cw_server *neighbours, unsigned hops);

/* As views_next_hops(), over O's graph: the way of admission acks, which must cross pending links. */
static inline cw_links views_wide_next_hops(const struct views *v, cw_server to)
{
    return routes_next(v->pending ? &v->wide : &v->routes, to);
}

/* The incarnation with which a member of O is in it; unspecified for others. */
static inline uint64_t views_incarnation(const struct views *v, cw_server s)
{
    return v->incarnation[s];
}

#endif
