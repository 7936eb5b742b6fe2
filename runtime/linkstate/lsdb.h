/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsdb.h - the link-state database: the newest record of every server, and the links that follow from them.
 *
 * Guarantees:
 *  1. for one origin the version (incarnation, seq) held never goes back;
 *  2. a link counts only while both ends' records list it and each names the other's current incarnation (semantics
 *     4.2, detail 5): the old record of a server that died and the new one of its neighbour never make a live link;
 *  3. two databases with the same records have the same digest, in whatever order the records came.
 *
 * lsdb_apply() is O(1): it touches the six links of one origin. Nothing else here costs more.
 * By the two records a link is
 *
 *   up   both list it up: an edge of C's graph
 *   opt  both list it up or pending: an edge of O's graph; every up link is one
 *
 * Both are symmetric: link l of a is in a's mask exactly when link l ^ 1 of its neighbour is in the neighbour's.
 * No clock, no allocation after lsdb_init(); one owner.
 */
#ifndef LINKSTATE_LSDB_H
#define LINKSTATE_LSDB_H

#include "base/arena.h"
#include "base/digest.h"
#include "keyspace/reach.h"
#include "keyspace/torus.h"
#include "wire/record.h"

/* Read freely; written by the functions below only. */
struct lsdb {
    struct torus torus;
    const cw_server *neighbours; /* borrowed: servers * CW_LINK_COUNT, see torus_neighbours_fill() */
    struct record *records;      /* by server; incarnation 0 where none is known */
    cw_links *up;                /* by server */
    cw_links *opt;
    struct reach leaving; /* whose record says LEAVING */
    uint32_t known;       /* records held */
    uint32_t up_ends;     /* bits set in up[] */
    uint32_t opt_ends;    /* bits set in opt[] */
    uint32_t cable_ends;  /* what both are when every link of the torus is up */
    struct digest_set digest;
};

enum lsdb_verdict {
    LSDB_NEWER,    /* taken (or, from lsdb_judge(): worth taking) */
    LSDB_SAME,     /* the very version we hold */
    LSDB_OLDER,    /* we hold a newer one: whoever sent it should get ours */
    LSDB_CONFLICT, /* the version we hold, with other content: a lie, or two servers of one coordinate. Not taken */
    LSDB_REFUSED,  /* an origin outside the torus, or a link that the torus does not have. Not taken */
};

/* What one newer record changed. A link lost and a link gained are both of the origin's own numbering. */
struct lsdb_change {
    cw_server origin;
    bool renewed; /* the first record, or another incarnation than before */
    bool flags;   /* its flags are not those of the record before (none: 0) */
    cw_links up_gained, up_lost;
    cw_links opt_gained, opt_lost;
};

/*
 * Carves servers * 34 bytes and one bit a server (`leaving`), and starts empty; over a measuring arena it only counts.
 * Borrows neighbours for life.
 */
void lsdb_init(struct lsdb *db, const struct torus *torus, const cw_server *neighbours, struct arena *arena);

/*
 * Takes a copy of the record if it is newer than what is held of its origin: by (incarnation, seq). *change is written
 * on LSDB_NEWER only, and nothing is touched on any other verdict. Own records go the same way as those of others; what
 * another server's idea of our own record means is asked of lsdb_outbids() first.
 */
CW_MUST_CHECK enum lsdb_verdict lsdb_apply(struct lsdb *db, const struct record *record, struct lsdb_change *change);

/* How a version (an entry of a summary) compares with what is held: SAME, OLDER, or NEWER, also when none is held. */
enum lsdb_verdict lsdb_judge(const struct lsdb *db, cw_server origin, uint64_t incarnation, uint32_t seq);

/*
 * True when theirs, a record in our own name that others brought, must be outbid by a new incarnation of ours
 * (semantics 4.6): its version is above mine, or it has my incarnation but was made by another boot.
 */
bool lsdb_outbids(const struct record *theirs, const struct record *mine);

/* The record held, borrowed until the next lsdb_apply(); NULL when none is. */
static inline const struct record *lsdb_record(const struct lsdb *db, cw_server origin)
{
    const struct record *record = &db->records[origin];
    return record->incarnation == 0 ? NULL : record;
}

/* The newest incarnation known of a server; 0 when none is. */
static inline uint64_t lsdb_incarnation(const struct lsdb *db, cw_server s)
{
    return db->records[s].incarnation;
}

static inline bool lsdb_is_leaving(const struct lsdb *db, cw_server s)
{
    return reach_has(&db->leaving, s);
}

static inline cw_server lsdb_neighbour(const struct lsdb *db, cw_server s, cw_link link)
{
    return db->neighbours[s * CW_LINK_COUNT + link];
}

/* True when every link of the torus is up: routes are then those of torus_minimal_links(). */
static inline bool lsdb_is_whole(const struct lsdb *db)
{
    return db->up_ends == db->cable_ends;
}

/* True when some link, anywhere, is in O's graph and not in C's. */
static inline bool lsdb_has_pending(const struct lsdb *db)
{
    return db->opt_ends != db->up_ends;
}

/*
 * Equal in two servers exactly when (but for chance) they hold the same records. It is sent to others, so it does not
 * depend on the byte order.
 */
static inline uint64_t lsdb_digest(const struct lsdb *db)
{
    return db->digest.value;
}

#endif
