/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tick.c - time: the lease, silence, repetition, and when to wake.
 */
#include "linkstate/internal.h"

#include "base/check.h"
#include "linkstate/mutant.h"
#include "wire/goodbye.h"

#include <string.h>

void linkstate_fence(struct linkstate *ls, uint64_t incarnation)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        linkstate_step(ls, link, ADJ_CLOSED);
    }
    ls->incarnation = incarnation > ls->incarnation ? incarnation : ls->incarnation + 1;
    ls->linked = false;
    ls->lease = (cw_time){0};
    admission_reset(&ls->admission);
    linkstate_publish(ls);
    views_shrink(&ls->views);
    ls->version_at = ls->now;
    ls->epoch++;
}

void linkstate_renew_lease(struct linkstate *ls)
{
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        const struct ls_link *l = &ls->links[link];
        if (!linkstate_is_committed(ls, link)) {
            continue;
        }
        /*
         * What counts is when the neighbour heard us: it may hear nothing while we hear it well (semantics 4.2,
         * remove).
         */
        cw_time proof = MUTANT(NO_LEASE_ECHO) ? l->adj.heard : l->echo;
        ls->lease = cw_time_max(ls->lease, cw_time_add(proof, ls->config.timers.dead));
    }
}

void linkstate_pass(struct linkstate *ls, cw_time now)
{
    CHECK(!cw_time_before(now, ls->now));
    int64_t stall_ns = cw_time_since(now, ls->now).ns, dead_ns = ls->config.timers.dead.ns;
    bool first = ls->now.ns == INT64_MIN;
    /* Paused, or starved: what waits in the rings may be proof of life. */
    if (stall_ns > dead_ns / 2) {
        ls->judge_from = cw_time_add(now, ls->spans.drain);
        ls->moved = CW_LINKS_ALL;
    }
    ls->now = now;
    /*
     * Before anything else: whoever has no lease must not act on what it knew while it had one. And whoever slept so
     * long that everybody has counted it out must not go on with a round that it slept through, though it had no lease
     * to lose. In a torus of one there is nobody to count it out, and nothing that wakes it: what looks like sleep is
     * rest.
     */
    bool slept = stall_ns >= dead_ns && !first && ls->config.torus.servers > 1;
    bool expired = (ls->linked && !cw_time_before(now, ls->lease)) || slept;
    if (expired && !MUTANT(NO_FENCE)) {
        ls->counts[LS_FENCES]++;
        linkstate_fence(ls, ls->incarnation + 1);
        linkstate_note(ls);
        ls->notes++;
        ls->calm = false;
    }
}

/* Moves the instant at which data frames heard the neighbour to where its silence is judged. */
static void fold_heard(struct linkstate *ls, cw_link link)
{
    struct adjacency *adj = &ls->links[link].adj;
    if (cw_time_before(adj->heard, ls->heard[link])) {
        adj->heard = ls->heard[link];
        ls->moved |= cw_links_of(link);
    }
}

static void judge_links(struct linkstate *ls)
{
    bool drained = !cw_time_before(ls->now, ls->judge_from);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link *l = &ls->links[link];
        fold_heard(ls, link);
        enum adjacency_event event = adjacency_due(&l->adj, &ls->timing, ls->now);
        if (event == ADJ_NOTHING || (event == ADJ_SILENT && !drained)) {
            continue;
        }
        ls->counts[LS_SILENCES] += event == ADJ_SILENT && adjacency_is_two_way(&l->adj);
        ls->counts[LS_OVERDUE] += event == ADJ_OVERDUE;
        linkstate_step(ls, link, event);
    }
}

/* Everyone has been told and what was under way has passed: the end of an orderly leave (semantics 4.6). */
static void part(struct linkstate *ls)
{
    ls->parted = true;
    ls->moved = CW_LINKS_ALL;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        struct ls_link *l = &ls->links[link];
        l->goodbye = l->adj.state >= ADJ_INIT ? GOODBYE_LEAVING : 0;
    }
}

void ls_tick(struct linkstate *ls, cw_time now)
{
    linkstate_enter(ls, now);
    if (cw_time_before(now, cw_time_min(ls->due, ls->repeat_at))) {
        linkstate_note_links(ls, CW_LINKS_NONE); /* nothing but hellos and acknowledgements to send */
        return;
    }
    judge_links(ls);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if (ls->links[link].feed.running && feed_tick(&ls->links[link].feed, ls->config.timers.retry, now)) {
            ls->counts[LS_REPEATS]++;
            ls->moved |= cw_links_of(link);
        }
    }
    if (ls->leaving && !ls->parted && cw_time_due(ls->left_at, now)) {
        part(ls);
    }
    if (cw_time_due(ls->repeat_at, now)) {
        ls->repeat_at = cw_time_add(now, ls->spans.repeat);
        admission_repeat(&ls->admission);
        ls->acks_due = true;
    }
    linkstate_settle(ls, false);
}

bool ls_refresh(struct linkstate *ls, cw_time now)
{
    linkstate_enter(ls, now);
    if (ls->calm && cw_time_before(now, ls->due)) {
        if (cw_time_due(ls->wake, now)) {
            linkstate_note_links(ls, CW_LINKS_NONE);
        }
        return false;
    }
    linkstate_settle(ls, true);
    ls->calm = true;
    return true;
}

/* The instant, unless it has come. */
static inline cw_time later(const struct linkstate *ls, cw_time t)
{
    return cw_time_due(t, ls->now) ? CW_NEVER : t;
}

/* When ls_tx_links() will begin to name the link although nothing happens; what is due already is in it. */
static inline cw_time tx_wake(const struct linkstate *ls, const struct ls_link *l)
{
    if (l->adj.state == ADJ_NO_CARRIER || ls->parted) {
        return CW_NEVER;
    }
    cw_time wake = later(ls, linkstate_hello_at(ls, l));
    if (l->feed.running) {
        wake = cw_time_min(wake, later(ls, l->feed.ack_at));
        wake = feed_has_more(&l->feed) ? cw_time_min(wake, later(ls, l->stream_at)) : wake;
    }
    return wake;
}

/* When the link's silence, its rest or its stream is to be judged. */
static inline cw_time judge_wake(const struct linkstate *ls, const struct ls_link *l)
{
    cw_time wake = adjacency_wake(&l->adj, &ls->timing);
    if (cw_time_due(wake, ls->now)) {
        wake = ls->judge_from; /* a silence that may not be judged yet */
    }
    return l->feed.running ? cw_time_min(wake, feed_wake(&l->feed, ls->config.timers.retry)) : wake;
}

/* When something is due that belongs to no single link. */
static cw_time own_wake(const struct linkstate *ls)
{
    cw_time wake = cw_time_min(views_wake(&ls->views), cw_time_max(ls->refresh_at, ls->version_at));
    if (ls->leaving && !ls->parted) {
        wake = cw_time_min(wake, ls->left_at);
    }
    if (ls->linked && !MUTANT(NO_FENCE)) {
        wake = cw_time_min(wake, ls->lease);
    }
    cw_time add_at = cw_time_max(ls->version_at, ls->judge_from);
    if (cw_time_before(ls->now, add_at)) {
        wake = cw_time_min(wake, add_at);
    }
    if (ls->admission.waiting.members > 0) {
        wake = cw_time_min(wake, ls->repeat_at);
    }
    return wake;
}

/* ---- What is asked between entries ------------------------------------------------------------------------------- */

static void put_bit(cw_links *set, cw_links bit, bool on)
{
    *set = on ? *set | bit : *set & (cw_links)~bit;
}

static void note_one(struct linkstate *ls, cw_link link)
{
    const struct ls_link *l = &ls->links[link];
    const struct feed *feed = &l->feed;
    cw_links bit = cw_links_of(link);
    ls->gate[link] = (struct ls_gate_link){
        .session = (uint16_t)l->adj.session,
        .peer_session = (uint16_t)l->adj.peer_session,
        .frames = ls->gate[link].frames,
        .top = (uint16_t)feed->top,
        .received = (uint16_t)feed->received,
        .two_way = adjacency_is_two_way(&l->adj),
        .up = l->adj.state == ADJ_UP,
    };
    bool lit = l->adj.state != ADJ_NO_CARRIER;
    bool due = l->goodbye != 0 || linkstate_hello_is_due(ls, l) || linkstate_stream_is_due(ls, l);
    put_bit(&ls->tx, bit, lit && due);
    put_bit(&ls->owed, bit, lit && linkstate_stream_is_owed(l));
    put_bit(&ls->live, bit, l->adj.state == ADJ_UP && linkstate_is_committed(ls, link));
    /* Control before data (semantics 4.4): what the window holds back holds back the data behind it. */
    put_bit(&ls->blocked, bit, feed->unsent > 0 && !feed_has_more(feed));
    ls->tx_wake[link] = tx_wake(ls, l);
    ls->judge_wake[link] = judge_wake(ls, l);
}

static void sum_up(struct linkstate *ls)
{
    cw_links up = ls->live & (cw_links)~ls->blocked;
    if (up != ls->up) {
        ls->up = up;
        ls->calm = false;
        ls->notes++;
    }
    cw_time due = own_wake(ls), tx = CW_NEVER;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        due = cw_time_min(due, ls->judge_wake[link]);
        tx = cw_time_min(tx, ls->tx_wake[link]);
    }
    ls->wake = cw_time_min(due, tx);
    /*
     * Not repeat_at, unless somebody waits (own_wake): it passes while nobody ticks, and until the next tick every
     * packet would have settled what is settled.
     */
    ls->due = due;
}

/* Links of which something is due by now that was not when they were noted. */
static cw_links due_links(const struct linkstate *ls)
{
    cw_links due = CW_LINKS_NONE;
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_time wake = cw_time_min(ls->tx_wake[link], ls->judge_wake[link]);
        due |= cw_time_due(wake, ls->now) ? cw_links_of(link) : CW_LINKS_NONE;
    }
    return due;
}

void linkstate_note_links(struct linkstate *ls, cw_links links)
{
    /* No link's instant is before `wake`, the least of all. */
    unsigned left = cw_time_due(ls->wake, ls->now) ? links | due_links(ls) : links;
    for (; left != 0; left &= left - 1) {
        cw_link link = (cw_link)__builtin_ctz(left);
        fold_heard(ls, link);
        note_one(ls, link);
        ls->moved &= (cw_links)~cw_links_of(link);
    }
    sum_up(ls);
}

void linkstate_note(struct linkstate *ls)
{
    ls->whole = ls->views.whole;
    ls->both = ls->db.up[ls->config.self];
    linkstate_note_links(ls, CW_LINKS_ALL);
}

void linkstate_note_moved(struct linkstate *ls)
{
    ls->moved |= ls->both ^ ls->db.up[ls->config.self];
    /* A server that has parted wakes for nothing: an acknowledgement may have come to be due without being noted. */
    ls->moved = ls->parted ? CW_LINKS_ALL : ls->moved;
    ls->both = ls->db.up[ls->config.self];
    ls->whole = ls->views.whole;
    linkstate_note_links(ls, ls->moved);
    CHECK_SLOW(linkstate_noted(ls));
}

/* Notes made of all links now would be these. */
bool linkstate_noted(const struct linkstate *ls)
{
    struct linkstate again = *ls;
    linkstate_note(&again);
    return again.tx == ls->tx && again.owed == ls->owed && again.live == ls->live && again.up == ls->up &&
           again.wake.ns == ls->wake.ns && again.due.ns == ls->due.ns &&
           memcmp(again.gate, ls->gate, sizeof again.gate) == 0 &&
           memcmp(again.tx_wake, ls->tx_wake, sizeof again.tx_wake) == 0 &&
           memcmp(again.judge_wake, ls->judge_wake, sizeof again.judge_wake) == 0;
}

uint64_t ls_notes(const struct linkstate *ls)
{
    return ls->notes;
}

cw_links ls_tx_links(const struct linkstate *ls)
{
    return ls->tx;
}

cw_links ls_owed_links(const struct linkstate *ls)
{
    return ls->owed;
}

cw_links ls_live_links(const struct linkstate *ls)
{
    return ls->live;
}

cw_links ls_up_links(const struct linkstate *ls)
{
    return ls->up;
}

cw_time ls_next_wake(const struct linkstate *ls)
{
    return ls->wake;
}
