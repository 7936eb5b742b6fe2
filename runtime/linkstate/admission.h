/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.h - rounds: a pending link may go up when everybody whom it concerns is known to know of it (semantics
 * 4.2).
 *
 * Guarantee: if acks never overtake records and every server's knowledge is closed (semantics 4.3), then at the moment
 * admission_complete() is true for a link of mine, every server S in my O had, when it sent its ack, O(S) containing my
 * O (invariant 19).
 *
 * The rule. A link may go up at my end when
 *   1. both ends list it (so that the far end and all behind it are in my O),
 *   2. nobody is held in my O: it is what the graph says,
 *   3. every server in my O has acked, in its current incarnation, a version of my record that I made
 *      a. when the link was in it as pending, and
 *      b. after the last time O's graph gained a link, anywhere, that I know of.
 * Each end does this for itself; data may use the link when both have.
 *
 * Why: S acked version v, so S knew what I knew at v, and perhaps more: of links gained, which only add to O(S), and of
 * links lost. Of the latter S had told its neighbours before the ack, so I know of them too (acks overtake nothing). I
 * have learned of no gain since v, and hold nobody; so all that I still reach, S reached.
 *
 * Also here: which versions of others' records I have acked. A leaf: numbers and sets in, answers out.
 */
#ifndef LINKSTATE_ADMISSION_H
#define LINKSTATE_ADMISSION_H

#include "base/arena.h"
#include "keyspace/reach.h"
#include "wire/record.h"

/* Read freely; written by the functions below only. */
struct admission {
    uint32_t servers;
    cw_server self;
    uint32_t round;  /* the least seq of my record whose ack counts (3b); above my seq while no such version was made */
    uint32_t *acked; /* by server: the newest seq of my incarnation that its incarnation of now acked; 0 */
    struct reach waiting; /* servers whose record lists a pending link: they want acks */
    struct reach owed;    /* other servers in `waiting` whose newest version I have not acked yet */
    struct reach frozen;  /* mutant FROZEN_WAIT_SET only: O when the round began */
    cw_server missing;    /* the server whose ack was missing when I looked last; 0 at first */
};

/* Carves 4 bytes and 3 bits a server; over a measuring arena it only counts. */
void admission_init(struct admission *a, cw_server self, uint32_t servers, struct arena *arena);

/* ---- My own rounds ----------------------------------------------------------------------------------------------- */

/* I have a new incarnation, of which nothing was acked yet. */
void admission_reset(struct admission *a);

/* O's graph gained a link while my record's newest version was seq: what was acked up to it no longer counts. */
void admission_gained(struct admission *a, uint32_t seq);

/* The same when the gain is told by my own record's new version seq: that version's acks count. */
void admission_announced(struct admission *a, uint32_t seq);

/* Mutant FROZEN_WAIT_SET: a link was listed as pending while O was this. */
void admission_began(struct admission *a, const struct reach *optimistic);

/* s acked version seq of my present incarnation. */
void admission_acked(struct admission *a, cw_server s, uint32_t seq);

/*
 * True when it is time for a version of my record above seq, the newest: rounds need one, and everybody who still can
 * has acked that one. So there is one version under way at a time, and gains that come meanwhile share the next: while
 * a whole cluster boots the versions follow the round trip and not the gains.
 */
bool admission_wants_version(struct admission *a, uint32_t seq, const struct reach *optimistic,
                             const struct reach *held);

/* Conditions 2 and 3 for a link that my record lists since version `listed`. held: who is in O by a hold only. */
bool admission_complete(struct admission *a, uint32_t listed, const struct reach *optimistic, const struct reach *held);

/* ---- The rounds of others ---------------------------------------------------------------------------------------- */

/* A newer record of origin was applied; renewed when its incarnation is another one than before. */
void admission_applied(struct admission *a, cw_server origin, const struct record *record, bool renewed);

/* I send my ack of the newest version of origin's record; origin is in `owed`. */
static inline void admission_answer(struct admission *a, cw_server origin)
{
    reach_remove(&a->owed, origin);
}

/* Acks may have been lost with a link: I owe all of them again. */
void admission_repeat(struct admission *a);

#endif
