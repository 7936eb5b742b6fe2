/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_internal.h - struct check. For check_*.c.
 *
 *   check.c           1 18, opening, what is checked when, violations
 *   check_delivery.c  4 9 10 12 20: what is checked of every packet
 *   check_views.c     3 6 7 13 14 15: what servers know
 *   check_sample.c    2 5: random keys
 *   check_relay.c     39 to 44: what relays go by
 *   check_quiet.c     8 17: nothing is lost, and at rest all agree
 */
#ifndef SIMULATOR_CHECK_INTERNAL_H
#define SIMULATOR_CHECK_INTERNAL_H

#include "keyspace/reach.h"
#include "simulator/check_relay.h"
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

/* What a server knew when it was looked at last. */
struct known {
    uint64_t epoch, digest;  /* ls_epoch() and ls_digest() */
    struct reach committed;  /* C */
    struct version *version; /* of the records that it held, by followed origin */
};

/* Ids of packets that were delivered lately: two hash tables; when the first is half full, the second is emptied. */
struct recent {
    uint64_t *id[2];
    uint32_t mask;
    uint32_t count; /* of ids in id[0] */
    unsigned share; /* only ids whose so many low bits are zero are followed */
};

struct check {
    struct world *world;
    struct prng random;
    struct recent recent;
    struct known *known;       /* by server */
    uint64_t *words;           /* memory of all known[].committed */
    struct version *versions;  /* memory of all known[].version */
    cw_server *origin;         /* the origins that are followed */
    uint32_t origins;          /* how many */
    uint32_t turn;             /* the place in origin[] whose turn it is */
    struct version *newest;    /* by server: the newest version of its own record that was seen */
    bool connected;            /* the oracle has changed since members were looked at */
    cw_time members_at;        /* when they were */
    cw_time disturbed;         /* when the world was last seen to be less than perfect */
    bool perfect;              /* since then everything works, and all servers know */
    struct reach group;        /* scratch: one component */
    cw_server *first, *next;   /* scratch: members of components, as lists */
    uint64_t *trusted;         /* by server: oracle.changes when it was last seen not to be given up */
    cw_server *order;          /* scratch of a naive search: servers in the key's order */
    uint64_t *visited;         /* scratch of a naive search: servers that are in it */
    unsigned sweep;            /* samples since the last sweep */
    struct check_relay *relay; /* NULL: the world has no relays */
};

/* check_delivery.c */
CW_MUST_CHECK int recent_open(struct recent *r, uint32_t servers);
void recent_close(struct recent *r);
/* Adds the id, if it is among those that are followed. True: it was there already. */
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
 * A server that has taken the place of s: it may deliver the route now, working cables lead from it to s, and s counts
 * it, in the life that it is in, as a member. CW_SERVER_NONE: there is none. A server that was never a member together
 * with s, such as one that started later, owns keys of its own, as in any partition (semantics 4.1).
 */
cw_server check_rival(struct check *c, uint64_t route, cw_server s);

#endif
