/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/rounds.h"

#include "services/multicast/cast/engine.h"
#include "services/multicast/cast/mutant.h"

#include <errno.h>

/* The pause before a round that follows one without progress, doubled with each such round. */
static const cw_span barren_least = CW_MS(5);
static const cw_span barren_most = CW_MS(1000);
/* Pieces that may go by a second way (rule 5) besides an eighth of those that were read. */
enum { SECOND_WAYS = 16 };

/* ---- Beginning --------------------------------------------------------------------------------------------------- */

/* All pieces of the round are assigned: the trees have lengths from here on. */
static void close_trees(struct cast_session *c)
{
    cw_time now = cw_now(c->s);
    c->out.assigned = true;
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        c->tree[tree].length = c->out.stripe.lane[tree].next;
    }
    for (unsigned i = 0; i < c->edges; i++) {
        cast_edge_ends(&c->edge[i], c->tree[c->edge[i].tree].length, now);
    }
}

/* The pieces that all waiting members lack together; one that has not reported counts as lacking everything. */
static uint64_t lacking(const struct cast_session *c)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < c->out.members.count; i++) {
        const struct cast_member *m = &c->out.members.member[i];
        sum += m->state == CAST_WAITING ? m->missing : 0;
    }
    return sum;
}

static int begin_round(struct cast_session *c, uint16_t round)
{
    cast_members_set(&c->out.members, c->members, cast_set_bytes(c->torus->servers));
    cast_stripe_round(&c->out.stripe, cw_now(c->s));
    c->out.assigned = c->out.idle = false;
    c->out.round_at = c->out.paused_at = cw_now(c->s);
    c->out.rested = CW_NS(0);
    c->out.lacked = lacking(c);
    int rc = cast_session_round(c, round, c->members);
    if (c->out.stripe.left == 0) {
        close_trees(c);
    }
    return rc;
}

int cast_rounds_begin(struct cast_session *c, bool ask_first)
{
    struct cast_members *members = &c->out.members;
    for (unsigned i = 0; i < members->count; i++) {
        if (!cw_reachable(c->s, torus_coord(c->torus, members->member[i].server))) {
            cast_members_away(members, members->member[i].server, true, c->began);
        }
    }
    if (members->waiting == 0) {
        return -ENETUNREACH;
    }
    if (!ask_first) {
        cast_stripe_want(&c->out.stripe, 0, c->cut.pieces, NULL);
    }
    return begin_round(c, 0);
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* The edges by which pieces of the tree leave this server now. */
static unsigned ways(const struct cast_session *c, uint8_t tree)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < c->edges; i++) {
        const struct cast_edge *e = &c->edge[i];
        sum += e->tree == tree && e->heard && !e->out;
    }
    return sum;
}

/* Of rule 5: something is left of the budget. */
static bool may_spend(const struct cast_session *c)
{
    return c->repeats.mended < SECOND_WAYS + c->out.made_count / 8 || CAST_MUTANT(ANY_TREE);
}

/* Of rule 5: no other tree takes a piece away from here in fewer packets. */
static bool thrifty(const struct cast_session *c, uint8_t tree)
{
    unsigned here = ways(c, tree);
    for (uint8_t other = 0; other < CW_LINK_COUNT && here > 1; other++) {
        unsigned there = ways(c, other);
        if (there > 0 && there < here) {
            return false;
        }
    }
    return true;
}

bool cast_rounds_may_assign(const struct cast_session *c, uint8_t tree)
{
    const struct cast_lane *lane = &c->out.stripe.lane[tree];
    return !c->out.assigned && !c->out.starved && !c->out.paused && !c->ended && c->out.stripe.left > 0 &&
           lane->next - lane->base < cast_stripe_room(&c->out.stripe, tree) && (may_spend(c) || thrifty(c, tree));
}

void cast_rounds_assigned(struct cast_session *c)
{
    if (!c->out.assigned && c->out.stripe.left == 0) {
        close_trees(c);
    }
}

bool cast_rounds_made(const struct cast_session *c, uint8_t tree, uint32_t index)
{
    uint32_t piece = cast_stripe_piece(&c->out.stripe, tree, index);
    return c->out.made[piece / 8] >> piece % 8 & 1;
}

int cast_rounds_read(struct cast_session *c, uint8_t tree, uint32_t index, uint8_t *out, struct cast_head *h)
{
    struct cast_sending *o = &c->out;
    if (o->closed) {
        return -ESHUTDOWN;
    }
    h->piece = cast_stripe_piece(&o->stripe, tree, index);
    h->rest_bytes = cast_cut_length(&c->cut, h->piece);
    int rc = o->from.read(o->from.context, (uint64_t)h->piece * c->cut.piece_bytes, out, h->rest_bytes);
    if (rc < 0) {
        o->starved = rc == -EAGAIN;
        o->failed = rc == -EAGAIN ? 0 : rc;
        return rc;
    }
    h->sum = cast_sum(h->piece, out, h->rest_bytes);
    uint8_t bit = (uint8_t)(1 << h->piece % 8);
    if (!(o->made[h->piece / 8] & bit)) {
        o->made[h->piece / 8] |= bit;
        o->made_count++;
        o->sum += h->sum;
    }
    return 0;
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static void done(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    bool known = c->out.made_count == c->cut.pieces && h->sum != 0;
    int status = h->status == 0 && known && h->sum != c->out.sum ? -EBADMSG : h->status;
    if (status == 0) {
        cast_members_lacks(&c->out.members, from, 0, c->out.made_count > 0);
    }
    cast_members_end(&c->out.members, from, status, cw_now(c->s));
}

bool cast_rounds_report(struct cast_session *c, const struct cast_head *h, cw_server from)
{
    c->heard = cw_now(c->s);
    if (h->kind == CAST_DONE) {
        done(c, h, from);
        return true;
    }
    if (h->round != c->round || !c->out.assigned) {
        return false;
    }
    const struct cast_member *m = cast_members_find(&c->out.members, from);
    if (m == NULL || m->state != CAST_WAITING || m->reported) {
        return m != NULL && m->reported;
    }
    cast_stripe_want(&c->out.stripe, h->piece, CAST_MUTANT(FORGETS_LACK) ? 0 : h->count,
                     h->rest_bytes > 0 ? h->rest : NULL);
    if (h->count == 0) {
        uint32_t missing = h->missing < c->cut.pieces ? h->missing : c->cut.pieces;
        cast_members_lacks(&c->out.members, from, missing, c->out.made_count > 0);
        cast_members_report(&c->out.members, from, h->missing, cw_now(c->s));
    }
    return true;
}

/* Keeps rule 4. */
static void pause_or_go_on(struct cast_session *c)
{
    struct cast_sending *o = &c->out;
    cw_time now = cw_now(c->s);
    cw_span most = c->limits->patience, pause = o->paused ? cw_time_since(now, o->paused_at) : CW_NS(0);
    bool room = o->rested.ns + pause.ns < most.ns;
    bool should = !c->ended && room && cast_members_flap(&o->members, most, now);
    if (should && !o->paused) {
        o->paused_at = now;
    } else if (!should && o->paused) {
        o->rested = cw_span_add(o->rested, pause);
    }
    o->paused = should;
}

void cast_rounds_away(struct cast_session *c, cw_server server, bool away)
{
    if (!c->ended) {
        cast_members_away(&c->out.members, server, away, cw_now(c->s));
        pause_or_go_on(c);
    }
}

void cast_rounds_view(struct cast_session *c)
{
    for (uint8_t tree = 0; tree < CW_LINK_COUNT; tree++) {
        cast_session_advance(c, tree);
    }
    cast_stripe_careful(&c->out.stripe);
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* No child is waited for any more. */
static bool idle(const struct cast_session *c)
{
    for (unsigned i = 0; i < c->edges; i++) {
        if (!cast_edge_complete(&c->edge[i]) && !c->edge[i].out) {
            return false;
        }
    }
    return true;
}

static bool round_over(struct cast_session *c)
{
    cw_time now = cw_now(c->s);
    if (!c->out.assigned) {
        return false;
    }
    if (cast_members_all_reported(&c->out.members)) {
        return true;
    }
    if (!idle(c)) {
        c->out.idle = false;
        return false;
    }
    if (!c->out.idle) {
        c->out.idle = true;
        c->out.idle_at = now;
    }
    return cw_time_since(now, c->out.idle_at).ns >= cast_session_patience(c).ns;
}

static void give_up_on_the_rest(struct cast_session *c)
{
    for (unsigned i = 0; i < c->out.members.count; i++) {
        const struct cast_member *m = &c->out.members.member[i];
        if (m->state == CAST_WAITING) {
            cast_members_end(&c->out.members, m->server, m->reported ? -ENODATA : -ETIMEDOUT, cw_now(c->s));
        }
    }
}

/* This server sees nobody: it is itself what is out of sight, since the last member went away. */
static bool alone(const struct cast_session *c)
{
    cw_time since = c->began;
    for (unsigned i = 0; i < c->out.members.count; i++) {
        const struct cast_member *m = &c->out.members.member[i];
        since = m->state == CAST_AWAY && cw_time_before(since, m->away_at) ? m->away_at : since;
    }
    for (cw_server i = 0; i < c->torus->servers; i++) {
        if (i != c->self && cw_reachable(c->s, torus_coord(c->torus, i))) {
            return false;
        }
    }
    return cw_time_since(cw_now(c->s), since).ns < c->limits->patience.ns;
}

/* No member is waited for; but some are away, and may come back soon. */
static bool all_may_return(const struct cast_session *c)
{
    const struct cast_members *members = &c->out.members;
    return cast_members_flap(members, c->limits->patience, cw_now(c->s)) ||
           (cast_members_any_away(members) && alone(c));
}

int cast_rounds_tick(struct cast_session *c)
{
    struct cast_sending *o = &c->out;
    cw_time now = cw_now(c->s);
    if (o->failed < 0) {
        return o->failed;
    }
    pause_or_go_on(c);
    if (o->members.waiting == 0) {
        return all_may_return(c) ? 0 : 1;
    }
    if (!round_over(c)) {
        return 0;
    }
    if (o->once) {
        give_up_on_the_rest(c);
        return 1;
    }
    int64_t pause = o->barren == 0 ? 0 : barren_least.ns << (o->barren < 10 ? o->barren : 10);
    if (cw_time_since(now, o->round_at).ns < (pause < barren_most.ns ? pause : barren_most.ns)) {
        return 0;
    }
    o->barren = lacking(c) < o->lacked ? 0 : o->barren + 1;
    cast_members_round(&o->members, c->limits->limit, now);
    if (o->members.waiting == 0) {
        return all_may_return(c) ? 0 : 1;
    }
    if (c->round == UINT16_MAX) {
        return -ETIMEDOUT;
    }
    int rc = begin_round(c, (uint16_t)(c->round + 1));
    return rc < 0 ? rc : 0;
}

void cast_rounds_close(struct cast_session *c)
{
    if (!c->out.closed && c->out.from.close != NULL) {
        c->out.from.close(c->out.from.context);
    }
    c->out.closed = true;
    if (!c->out.assigned) {
        close_trees(
            c); /* it ends before all was assigned: the trees end there, or nobody below would ever hear of an end */
    }
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void stop_at(struct cast_session *c, cw_server server, int status)
{
    const struct cast_head stop = {
        .kind = CAST_STOP, .round = c->round, .origin = c->origin, .number = c->number, .status = status};
    cast_session_send(c, server, &stop);
}

void cast_rounds_finish(struct cast_session *c, int status)
{
    if (c->ended) {
        return;
    }
    c->ended = true;
    c->ended_at = cw_now(c->s);
    cast_rounds_close(c);
    const struct cast_members *members = &c->out.members;
    for (cw_server i = 0; status < 0 && i < c->torus->servers; i++) {
        if (i != c->self) {
            stop_at(c, i, status);
        }
    }
    for (unsigned i = 0; status == 0 && i < members->count; i++) {
        if (members->member[i].status == -ETIMEDOUT) {
            stop_at(c, members->member[i].server, -ETIMEDOUT);
        }
    }
    struct cast_result result = {.ticket = c->ticket,
                                 .status = status,
                                 .bytes = c->cut.bytes,
                                 .member = members->member,
                                 .count = members->count,
                                 .piece_bytes = c->cut.piece_bytes,
                                 .repeated = c->repeated,
                                 .repeats = c->repeats};
    for (unsigned i = 0; i < members->count; i++) {
        const struct cast_member *m = &members->member[i];
        result.took = m->state == CAST_HAS && m->took.ns > result.took.ns ? m->took : result.took;
    }
    if (c->out.done != NULL) {
        c->out.done(c->out.context, &result);
    }
}
