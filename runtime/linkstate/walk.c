/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - what must hold of a link state between two entries. Called when an entry is settled, in debug and sanitizer
 * builds.
 *
 * Sets of servers are compared whole, which is a word for 64 servers. The database is compared with its records one
 * server an entry: the instant of the entry says whose turn it is.
 */
#include "linkstate/internal.h"

#include "base/check.h"

#include <string.h>

enum { WHO = sizeof "server " - 1 + TORUS_TEXT };

static const char *who(const struct linkstate *ls, char text[static WHO])
{
    memcpy(text, "server ", WHO - TORUS_TEXT);
    torus_format(ls->self, text + WHO - TORUS_TEXT);
    return text;
}

/* Every member of a is one of b. */
static bool is_within(const struct reach *a, const struct reach *b)
{
    for (uint32_t i = 0; i < reach_bytes(a->servers) / sizeof(uint64_t); i++) {
        if (a->word[i] & ~b->word[i]) {
            return false;
        }
    }
    return true;
}

/* No member of a is one of b. */
static bool are_apart(const struct reach *a, const struct reach *b)
{
    for (uint32_t i = 0; i < reach_bytes(a->servers) / sizeof(uint64_t); i++) {
        if (a->word[i] & b->word[i]) {
            return false;
        }
    }
    return true;
}

static void walk_views(const struct linkstate *ls)
{
    const struct views *v = &ls->views;
    CHECK_RULE(is_within(&v->committed, &v->optimistic), "invariant 6: C is a subset of O", who(ls, (char[WHO]){0}));
    CHECK_RULE(is_within(&v->held, &v->optimistic) && are_apart(&v->held, &v->committed),
               "semantics 4.2, removing: who is held is in O and not in C", who(ls, (char[WHO]){0}));
    CHECK_RULE(!v->equal || reach_equal(&v->committed, &v->optimistic),
               "semantics 4.2: O is answered by C only while both are the same", who(ls, (char[WHO]){0}));
}

static void walk_link(const struct linkstate *ls, cw_link link)
{
    const struct ls_link *l = &ls->links[link];
    const struct feed *d = &l->feed;
    CHECK_RULE(d->running == adjacency_is_two_way(&l->adj),
               "semantics 4.2, detail 5: a stream runs from the exchange on", who(ls, (char[WHO]){0}));
    if (!d->running) {
        return;
    }
    CHECK_RULE(ls->flood.first <= d->base && d->base <= d->next && d->next <= d->high && d->high <= ls->flood.end,
               "semantics 4.3, in order: the log keeps what a stream may still need", who(ls, (char[WHO]){0}));
    CHECK_RULE(d->sent - d->acked <= d->top - d->acked && d->top - d->acked <= FEED_WINDOW,
               "semantics 4.4: 16 bits of a position name one item", who(ls, (char[WHO]){0}));
}

/* The masks of s say what the records say, by the definition (lsdb.h, 2), and the far ends' masks say the same. */
static bool row_valid(const struct lsdb *db, cw_server s)
{
    const struct record *own = &db->records[s];
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link back = cw_link_opposite(link);
        cw_links bit = cw_links_of(link), far_bit = cw_links_of(back);
        cw_server far = lsdb_neighbour(db, s, link);
        const struct record *other = &db->records[far];
        bool named = own->neighbour[link] == (uint16_t)other->incarnation &&
                     other->neighbour[back] == (uint16_t)own->incarnation;
        bool up = named && (own->up & bit) && (other->up & far_bit);
        bool opt = named && ((own->up | own->pending) & bit) && ((other->up | other->pending) & far_bit);
        if (up != ((db->up[s] & bit) != 0) || up != ((db->up[far] & far_bit) != 0) ||
            opt != ((db->opt[s] & bit) != 0) || opt != ((db->opt[far] & far_bit) != 0)) {
            return false;
        }
    }
    return true;
}

/*
 * An entry that touched one link only noted that one (linkstate_settle_link), and nothing is to be noted of the others.
 * What data frames have heard since then may move their instants back.
 */
static void walk_notes(const struct linkstate *ls)
{
    struct linkstate again = *ls;
    linkstate_note(&again);
    /* A server that has parted wakes for nothing: an acknowledgement that came to be due since is not noted. */
    cw_links late = ls->parted ? again.tx & ~ls->tx : CW_LINKS_NONE;
    bool same = again.tx == (ls->tx | late) && again.owed == ls->owed && again.live == ls->live && again.up == ls->up &&
                memcmp(again.gate, ls->gate, sizeof again.gate) == 0;
    CHECK_RULE(cw_time_due(ls->wake, ls->now) || (same && !cw_time_before(again.wake, ls->wake)),
               "semantics 4.4: what is asked of links between entries is as they are", who(ls, (char[WHO]){0}));
}

bool linkstate_walk(const struct linkstate *ls)
{
    walk_views(ls);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        walk_link(ls, link);
    }
    cw_server turn = (cw_server)((uint64_t)ls->now.ns % ls->config.torus.servers);
    CHECK_RULE(row_valid(&ls->db, turn), "invariant 15: a link counts only while both records list and name each other",
               who(ls, (char[WHO]){0}));
    walk_notes(ls);
    return true;
}
