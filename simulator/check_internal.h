/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_internal.h - struct check. For check_*.c.
 *
 *   check.c           opening, when what is looked at, violations
 *   check_delivery.c  what is asked of every packet: 4 9 10 12 20
 *   check_views.c     what servers know: 3 6 7 13 14 15
 *   check_sample.c    2 5
 *   check_quiet.c     8 17
 */
#ifndef SIMULATOR_CHECK_INTERNAL_H
#define SIMULATOR_CHECK_INTERNAL_H

#include "keyspace/reach.h"
#include "simulator/world_internal.h"

/* A version of a record. */
struct version {
    uint64_t incarnation;
    uint32_t seq;
};

static inline bool version_before(struct version a, struct version b)
{
    return a.incarnation < b.incarnation || (a.incarnation == b.incarnation && a.seq < b.seq);
}

/* What a server was seen to know. */
struct known {
    uint64_t epoch, digest;  /* of its link state */
    struct reach committed;  /* C */
    struct version *version; /* by followed origin */
};

/* Packets delivered lately, by hash: two tables that take turns, so that the older half is forgotten at once. */
struct recent {
    uint64_t *id[2];
    uint32_t mask;
    uint32_t count; /* in id[0] */
    unsigned share; /* ids with so many low zero bits are followed */
};

struct check {
    struct world *world;
    struct prng random;
    struct recent recent;
    struct known *known; /* by server */
    uint64_t *words;     /* of all known[].committed */
    struct version *versions;
    cw_server *origin; /* followed */
    uint32_t origins;
    uint32_t turn;          /* of these, whose it is */
    struct version *newest; /* by server: its own record, as far as was seen */
    bool connected;         /* who is connected changed since members were looked at */
    cw_time members_at;     /* when they were */
    cw_time disturbed;      /* the last time the world was less than perfect; perfect is what was seen since */
    bool perfect;
    struct reach group;      /* scratch: one component */
    cw_server *first, *next; /* scratch: members of components, as lists */
    uint64_t *trusted;       /* by server: oracle.changes when it was seen not to be given up */
    cw_server *order;        /* scratch: a naive search */
    uint64_t *visited;
    unsigned sweep; /* samples until the next */
};

/* check_delivery.c */
CW_MUST_CHECK int recent_open(struct recent *r, uint32_t servers);
void recent_close(struct recent *r);
/* True when the id was there lately. */
bool recent_add(struct recent *r, uint64_t id);

/* check_views.c */
/* Lists the running, active servers of every component in c->first[smallest member], c->next[]. */
void check_group(struct check *c);
void check_members(struct check *c);

/* check_sample.c */
void check_sample(struct check *c);
/* The first reachable server of the key's sequence by the definition (semantics 3.2), slowly. */
cw_server check_naive_root(struct check *c, uint64_t route, const struct reach *reach);
/*
 * Another server that may deliver the route now, with a working cable's way to s, of those that s itself counts as
 * members, in the life they are in: it knew s, and has taken its place. CW_SERVER_NONE: nobody. Who never was a member
 * with s, as who has started since, owns keys of its own, as in any partition (semantics 4.1).
 */
cw_server check_rival(struct check *c, uint64_t route, cw_server s);

#endif
