/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settle.c - what follows from what is known: states of links, the own record, acks (semantics 4.2, add).
 *
 * Two rules hold everywhere here. What we do is what we say: a link changes to PENDING or UP only together with the
 * version of our record that tells it. And decisions are made on views that are up to date, never on stale ones.
 */
#include "linkstate/internal.h"

#include "base/check.h"
#include "linkstate/mutant.h"

/* ---- Knowledge --------------------------------------------------------------------------------------------------- */

/* Does what follows from a record at once; the rest follows from the views. */
static void note_change(struct linkstate *ls, const struct record *record, const struct lsdb_change *change)
{
    views_applied(&ls->views, &ls->db, change);
    admission_applied(&ls->admission, change->origin, record, change->renewed);
    if (change->opt_gained != CW_LINKS_NONE && !MUTANT(GAIN_BY_SERVER)) {
        admission_gained(&ls->admission, linkstate_own(ls)->seq);
    }
    if (change->opt_lost != CW_LINKS_NONE) {
        admission_repeat(&ls->admission); /* acks may have been on that link */
    }
    ls->acks_due = true;
}

/* Judges a record in our own name that others brought. True: it was outbid, and all that was under way has ended. */
static bool outbid(struct linkstate *ls, const struct record *theirs)
{
    if (!lsdb_outbids(theirs, linkstate_own(ls))) {
        return false;
    }
    ls->counts[LS_OUTBIDS]++;
    if (theirs->boot_nonce != ls->nonce) {
        for (unsigned i = LS_FIGHTS; i > 0; i--) {
            ls->fights[i] = ls->fights[i - 1];
        }
        ls->fights[0] = ls->now;
        /*
         * One such record is our own past. Many in a short time are another server that says it is us: stay away and
         * say so.
         */
        if (ls->fights[LS_FIGHTS].ns != 0 &&
            cw_time_since(ls->now, ls->fights[LS_FIGHTS]).ns < CW_SEC(LS_FIGHT_SEC).ns) {
            ls->counts[LS_DUPLICATES]++;
            for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
                adjacency_rest(&ls->links[link].adj, cw_time_add(ls->now, ls->config.timers.damp_max));
            }
        }
    }
    linkstate_fence(ls, theirs->incarnation + 1);
    return true;
}

void linkstate_apply(struct linkstate *ls, const struct record *records, uint32_t count, cw_link from)
{
    cw_links others = from == CW_LINK_SELF ? CW_LINKS_ALL : CW_LINKS_ALL & (cw_links)~cw_links_of(from);
    bool more = count > 1 && !MUTANT(OPEN_EXCHANGE);
    for (uint32_t i = 0; i < count; i++) {
        const struct record *record = &records[i];
        struct lsdb_change change;
        cw_server origin = torus_id(&ls->config.torus, record->origin);
        if (from != CW_LINK_SELF && origin == ls->config.self) {
            if (outbid(ls, record)) {
                return;
            }
            continue;
        }
        switch (lsdb_apply(&ls->db, record, &change)) {
        case LSDB_NEWER:
            note_change(ls, record, &change);
            linkstate_owe_record(ls, record, more, others);
            break;
        case LSDB_SAME:
            linkstate_forget_record(ls, origin, from);
            break;
        case LSDB_OLDER: /* ours was sent or is on its way: a stream leaves nothing out */
            break;
        case LSDB_CONFLICT:
            ls->counts[LS_CONFLICTS]++;
            break;
        case LSDB_REFUSED:
            ls->counts[LS_REFUSED]++;
            break;
        }
    }
    if (more) {
        linkstate_owe_synced(ls, others);
    }
}

/* ---- The own record ---------------------------------------------------------------------------------------------- */

/* The next version of our record, which says what our links are now. */
static struct record draw_record(const struct linkstate *ls)
{
    struct record record = {
        .origin = ls->self,
        .incarnation = ls->incarnation,
        .seq = linkstate_own(ls)->incarnation == ls->incarnation ? linkstate_own(ls)->seq + 1 : 1,
        .flags = (uint8_t)((ls->linked ? RECORD_ACTIVE : 0) | (ls->leaving ? RECORD_LEAVING : 0)),
        .boot_nonce = ls->nonce,
    };
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct adjacency *adj = &ls->links[link].adj;
        if (adj->state < ADJ_PENDING) {
            continue;
        }
        if (adj->state == ADJ_UP) {
            record.up |= cw_links_of(link);
        } else {
            record.pending |= cw_links_of(link);
        }
        record.neighbour[link] = (uint16_t)adj->peer_incarnation;
    }
    return record;
}

void linkstate_publish(struct linkstate *ls)
{
    struct record record = draw_record(ls);
    struct lsdb_change change;
    ls->said = false;
    CHECK(lsdb_apply(&ls->db, &record, &change) == LSDB_NEWER);
    views_applied(&ls->views, &ls->db, &change);
    admission_applied(&ls->admission, ls->config.self, &record, change.renewed);
    if (change.opt_gained != CW_LINKS_NONE && !MUTANT(GAIN_BY_SERVER)) {
        admission_announced(&ls->admission, record.seq);
    }
    if (change.opt_lost != CW_LINKS_NONE) {
        admission_repeat(&ls->admission);
        ls->acks_due = true;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link *l = &ls->links[link];
        if (l->adj.state == ADJ_PENDING && l->listed == 0) {
            l->listed = record.seq;
            admission_began(&ls->admission, views_optimistic(&ls->views));
        }
    }
    linkstate_owe_record(ls, &record, false, CW_LINKS_ALL);
    ls->version_at = cw_time_add(ls->now, ls->config.timers.pace);
    ls->refresh_at = cw_time_add(ls->now, ls->config.timers.refresh);
    ls->counts[LS_VERSIONS]++;
}

enum urgency { RECORD_IS_TRUE, RECORD_MAY_WAIT, RECORD_IS_WRONG };

/* How far the record that others have is from the truth, whenever it was sent. */
static enum urgency judge_record(const struct linkstate *ls)
{
    struct record now = draw_record(ls);
    const struct record *said = linkstate_own(ls);
    cw_links listed = now.up | now.pending;
    if ((said->up & ~now.up) | (said->pending & ~listed) | (now.flags & ~said->flags & RECORD_LEAVING)) {
        return RECORD_IS_WRONG;
    }
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((said->up | said->pending) >> link & 1 && said->neighbour[link] != now.neighbour[link]) {
            return RECORD_IS_WRONG;
        }
    }
    bool same = said->up == now.up && said->pending == now.pending && said->flags == now.flags;
    return same ? RECORD_IS_TRUE : RECORD_MAY_WAIT;
}

/*
 * The same, and old records are told again: what only adds may wait for the pace, what takes away may not. The links
 * are looked at only when one has stepped since they were found to be as the record says.
 */
static enum urgency compare_record(struct linkstate *ls)
{
    if (!ls->said) {
        enum urgency urgency = judge_record(ls);
        if (urgency != RECORD_IS_TRUE) {
            return urgency;
        }
        ls->said = true;
    }
    CHECK_SLOW(judge_record(ls) == RECORD_IS_TRUE);
    return cw_time_due(ls->refresh_at, ls->now) ? RECORD_MAY_WAIT : RECORD_IS_TRUE;
}

/* ---- Links on their way up --------------------------------------------------------------------------------------- */

/* Semantics 4.2, detail 5: not before each end has the other's whole database, in the session of now. */
static bool is_exchanged(const struct linkstate *ls, cw_link link)
{
    const struct ls_link *l = &ls->links[link];
    return MUTANT(NO_EXCHANGE) || (l->synced && l->feed.base > l->offered &&
                                   lsdb_incarnation(&ls->db, linkstate_peer(ls, link)) == l->adj.peer_incarnation);
}

/* The far end, as the session knows it, is in C: the link adds nobody. */
static bool is_known(const struct linkstate *ls, cw_link link)
{
    cw_server peer = linkstate_peer(ls, link);
    return reach_has(views_committed(&ls->views), peer) &&
           lsdb_incarnation(&ls->db, peer) == ls->links[link].adj.peer_incarnation;
}

/* The far end's record, of the session's incarnation, lists the link towards our incarnation of now. */
static bool is_listed_by_peer(const struct linkstate *ls, cw_link link, bool up)
{
    const struct record *peer = &ls->db.records[linkstate_peer(ls, link)];
    cw_link back = cw_link_opposite(link);
    return peer->incarnation == ls->links[link].adj.peer_incarnation && ((up ? peer->up : peer->pending) >> back & 1) &&
           peer->neighbour[back] == (uint16_t)ls->incarnation;
}

/* Mutants FOLLOW_WITHOUT_ROUND and ONE_ROUND: only one end asks everybody, the other follows it. */
static bool may_follow(struct linkstate *ls, cw_link link)
{
    struct ls_link *l = &ls->links[link];
    if (ls->config.self < linkstate_peer(ls, link)) {
        return false;
    }
    l->shown |= is_listed_by_peer(ls, link, false);
    return is_listed_by_peer(ls, link, true) && (MUTANT(FOLLOW_WITHOUT_ROUND) || l->shown);
}

static bool is_admitted(struct linkstate *ls, cw_link link)
{
    if ((MUTANT(FOLLOW_WITHOUT_ROUND) || MUTANT(ONE_ROUND)) && ls->config.self > linkstate_peer(ls, link)) {
        return may_follow(ls, link);
    }
    const struct ls_link *l = &ls->links[link];
    return l->listed != 0 && (ls->db.opt[ls->config.self] & cw_links_of(link)) &&
           admission_complete(&ls->admission, l->listed, views_optimistic(&ls->views), &ls->views.held);
}

/* The event that follows for the link now. Events that only add need may_add: a version of the record may be made. */
static enum adjacency_event decide(struct linkstate *ls, cw_link link, bool may_add)
{
    const struct ls_link *l = &ls->links[link];
    switch (l->adj.state) {
    case ADJ_EXCHANGE:
        if (!may_add || !is_exchanged(ls, link)) {
            return ADJ_NOTHING;
        }
        return is_known(ls, link) ? ADJ_FOUND_KNOWN : ADJ_FOUND_NEW;
    case ADJ_PENDING:
        if (!may_add) {
            return ADJ_NOTHING;
        }
        if (is_known(ls, link) && !MUTANT(ONE_ROUND)) {
            return ADJ_FOUND_KNOWN;
        }
        return is_admitted(ls, link) ? ADJ_ADMITTED : ADJ_NOTHING;
    case ADJ_UP:
        /*
         * It went up because the far end was in C by what we knew. The far end knew more, and does not agree: it asks
         * everybody first, and so must we.
         */
        if (!l->by_round && !linkstate_is_committed(ls, link) && !is_known(ls, link)) {
            return ADJ_DOUBTED;
        }
        return ADJ_NOTHING;
    default:
        return ADJ_NOTHING;
    }
}

static void move_links(struct linkstate *ls)
{
    /* After a stall what waits in the rings comes first: the neighbours may have counted us out long ago. */
    bool drained = !cw_time_before(ls->now, ls->judge_from);
    bool may_add = !ls->leaving && drained && !cw_time_before(ls->now, ls->version_at);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link *l = &ls->links[link];
        enum adjacency_event event = decide(ls, link, may_add);
        if (event == ADJ_NOTHING) {
            continue;
        }
        linkstate_step(ls, link, event);
        l->by_round = event == ADJ_ADMITTED;
        l->listed = event == ADJ_DOUBTED ? 0 : l->listed;
        ls->counts[LS_ADMISSIONS] += event == ADJ_ADMITTED;
        ls->counts[LS_SHORTCUTS] += event == ADJ_FOUND_KNOWN;
        ls->counts[LS_DOUBTS] += event == ADJ_DOUBTED;
    }
}

/* True when a pending link waits for a version of our record that was not made yet, and it is time for that version. */
static bool wants_round(struct linkstate *ls)
{
    return linkstate_own(ls)->pending != CW_LINKS_NONE &&
           admission_wants_version(&ls->admission, linkstate_own(ls)->seq, views_optimistic(&ls->views),
                                   &ls->views.held);
}

/*
 * Does what follows from links that are up at both ends now: lease, right to be active, end of waiting for the far end.
 */
static void note_commits(struct linkstate *ls)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct adjacency *adj = &ls->links[link].adj;
        cw_time announced = adj->announced;
        adjacency_commit(adj, linkstate_is_committed(ls, link), ls->now);
        ls->moved |= adj->announced.ns != announced.ns ? cw_links_of(link) : CW_LINKS_NONE;
    }
    linkstate_renew_lease(ls);
    if (!ls->linked && ls->db.up[ls->config.self] != CW_LINKS_NONE && cw_time_before(ls->now, ls->lease)) {
        ls->linked = true;
        ls->said = false;
        ls->epoch++;
    }
}

/* ---- Acks -------------------------------------------------------------------------------------------------------- */

/* Sends the acks that servers with pending links want, to those in our O, by the way that O's graph shows. */
static void give_acks(struct linkstate *ls)
{
    const struct reach *owed = &ls->admission.owed;
    ls->acks_due = false;
    for (cw_server s = reach_next(owed, 0); s != CW_SERVER_NONE; s = reach_next(owed, s + 1)) {
        const struct record *record = &ls->db.records[s];
        cw_links way = views_wide_next_hops(&ls->views, s);
        if (way == CW_LINKS_NONE) {
            continue;
        }
        admission_answer(&ls->admission, s);
        struct ack ack = {
            .acker = ls->self,
            .acker_incarnation = ls->incarnation,
            .origin = record->origin,
            .incarnation = record->incarnation,
            .seq = record->seq,
        };
        linkstate_owe_ack(ls, &ack, (cw_link)__builtin_ctz(way));
    }
}

static void settle(struct linkstate *ls, bool asked)
{
    for (;;) {
        if (compare_record(ls) == RECORD_IS_WRONG) {
            linkstate_publish(ls);
        }
        if (asked || cw_time_due(views_wake(&ls->views), ls->now)) {
            ls->acks_due |= views_refresh(&ls->views, &ls->db, ls->now);
        }
        if (views_is_stale(&ls->views)) {
            return; /* views_wake() says when it goes on */
        }
        if (MUTANT(GAIN_BY_SERVER) && ls->renewals != ls->views.renewals) {
            ls->renewals = ls->views.renewals;
            admission_gained(&ls->admission, linkstate_own(ls)->seq);
        }
        note_commits(ls);
        move_links(ls);
        enum urgency urgency = compare_record(ls);
        bool may_add = !cw_time_before(ls->now, ls->version_at);
        if (urgency == RECORD_IS_TRUE && !(may_add && wants_round(ls))) {
            break;
        }
        if (urgency != RECORD_IS_WRONG && !may_add) {
            break;
        }
        linkstate_publish(ls);
    }
    /* What we do is what we say: whatever takes away has been told, whatever adds was not done. */
    CHECK_SLOW(compare_record(ls) != RECORD_IS_WRONG);
    if (ls->acks_due) {
        give_acks(ls);
    }
}

void linkstate_settle(struct linkstate *ls, bool asked)
{
    ls->calm = false;
    settle(ls, asked);
    linkstate_note_moved(ls);
    ls->notes++;
    CHECK_SLOW(linkstate_walk(ls));
}

void linkstate_settle_link(struct linkstate *ls, cw_link link)
{
    if (cw_time_due(ls->due, ls->now)) {
        linkstate_settle(ls, false);
        return;
    }
    linkstate_note_links(ls, cw_links_of(link));
    CHECK_SLOW(compare_record(ls) != RECORD_IS_WRONG);
    CHECK_SLOW(linkstate_walk(ls));
}
