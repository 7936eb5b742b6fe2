/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - what is said of a file that is sent: how far it is, how it ended, and each member.
 */
#include "services/multicast/file/internal.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>

enum { SLOW_MOST = 3 };

struct sums {
    unsigned complete, failed, already; /* already: complete, and nothing was sent for it */
    uint64_t there, before;             /* bytes, of those that have not failed */
    /* Bytes: the most that one of those that are complete lacked before anything was sent. */
    uint64_t lacked;
    cw_span took; /* of the last that is complete */
    /* Of those that have not ended, the one that has least; and the one in sight that has least. NULL: none is left. */
    const struct file_goal *slowest, *waited_for;
};

static bool had_it_already(const struct file_send *send, const struct file_goal *goal)
{
    bool any = send->label.bytes > 0; /* of an empty file nothing is sent, whether it was there or not */
    return any && goal->ended && goal->status == 0 && goal->asked && goal->before == send->label.bytes;
}

/* Adds a member that has not failed. */
static void add(struct sums *s, const struct file_send *send, const struct file_goal *goal)
{
    uint64_t lacked = send->label.bytes - goal->before;
    s->there += goal->there;
    s->before += goal->before;
    if (goal->ended) {
        s->complete++;
        s->already += had_it_already(send, goal);
        s->lacked = lacked > s->lacked ? lacked : s->lacked;
        s->took = goal->took.ns > s->took.ns ? goal->took : s->took;
        return;
    }
    s->slowest = s->slowest == NULL || goal->there < s->slowest->there ? goal : s->slowest;
    if (!goal->away && (s->waited_for == NULL || goal->there < s->waited_for->there)) {
        s->waited_for = goal;
    }
}

static struct sums sum_of(const struct file_send *send)
{
    struct sums s = {.complete = 0};
    for (unsigned i = 0; i < send->goals; i++) {
        const struct file_goal *goal = &send->goal[i];
        if (goal->ended && goal->status < 0) {
            s.failed++;
        } else {
            add(&s, send, goal);
        }
    }
    return s;
}

static cw_span left_of_goal(const struct file_send *send, const struct file_goal *goal)
{
    bool known = !goal->ended && !goal->away;
    return known ? file_pace_left(&goal->pace, send->label.bytes, cw_now(send->files->s)) : CW_NS(-1);
}

/*
 * How long it takes until the slowest member in sight has all, by its own pace; but not less than what is still to be
 * dealt out in this round takes. Negative: not known. The paces of the others do not count: a member that lacks little
 * gets nothing until it is the turn of the pieces that it lacks.
 */
static cw_span left_of(const struct file_send *send, const struct file_goal *slowest)
{
    cw_span own = slowest != NULL ? left_of_goal(send, slowest) : CW_NS(-1);
    cw_span deal = file_pace_left(&send->pace, send->given + send->undealt, cw_now(send->files->s));
    return own.ns < 0 || own.ns > deal.ns ? own : deal;
}

static const char *state_of(const struct file_send *send)
{
    if (!send->over) {
        return send->sending ? "sending" : send->digested ? "asking" : "digesting";
    }
    return send->status < 0 ? "ended" : "done";
}

/* Reports the trees and the links by which this server sends the file now. */
static void report_trees(const struct file_send *send, cw_request *r)
{
    const struct cast_session *c =
        send->sending && !send->over ? cast_engine_look(send->files->engine, send->ticket) : NULL;
    static const char names[CW_LINK_COUNT][3] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    cw_links trees = CW_LINKS_NONE, links = CW_LINKS_NONE;
    for (unsigned i = 0; c != NULL && i < c->edges; i++) {
        trees |= cw_links_of(c->edge[i].tree);
        links |= c->edge[i].links;
    }
    for (int pass = 0; c != NULL && pass < 2; pass++) {
        char text[CW_LINK_COUNT * 3 + 1] = "";
        size_t at = 0;
        for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
            if ((pass == 0 ? trees : links) & cw_links_of(link)) {
                at += (size_t)snprintf(text + at, sizeof text - at, at > 0 ? " %s" : "%s", names[link]);
            }
        }
        cw_request_text(r, pass == 0 ? "trees" : "links", text);
    }
}

static void report_digest(const struct file_send *send, cw_request *r)
{
    char hex[2 * FILES_DIGEST_BYTES + 1];
    for (unsigned i = 0; i < FILES_DIGEST_BYTES; i++) {
        snprintf(hex + (size_t)2 * i, 3, "%02x", send->label.digest[i]);
    }
    cw_request_text(r, "sha256", hex);
}

/* Why more is sent than the members lacked. */
static void report_repeats(const struct file_send *send, cw_request *r)
{
    uint64_t piece = send->piece_bytes;
    cw_request_int(r, "lost_bytes", (int64_t)(send->repeats.lost * piece));
    cw_request_int(r, "missed_bytes", (int64_t)(send->repeats.missed * piece));
    cw_request_int(r, "mended_bytes", (int64_t)(send->repeats.mended * piece));
}

/* It has ended there, and the other file of this name may have taken its place since, or may do so. */
static bool is_contested(const struct file_goal *goal)
{
    return goal->contested && goal->ended && goal->status == 0;
}

static void report_common(struct file_send *send, cw_request *r, const struct sums *s)
{
    cw_request_int(r, "id", send->id);
    cw_request_text(r, "name", send->label.name);
    cw_request_text(r, "state", state_of(send));
    cw_request_int(r, "bytes",
                   (int64_t)(send->reader != NULL ? file_reader_facts(send->reader)->bytes : send->label.bytes));
    cw_request_int(r, "members", send->goals);
    cw_request_int(r, "complete", s->complete);
    cw_request_int(r, "failed", s->failed);
    cw_request_int(r, "sent_bytes", (int64_t)send->given);
    cw_request_int(r, "had_already", s->already);
    cw_request_int(r, "before_bytes", (int64_t)(send->goals > s->failed ? s->before / (send->goals - s->failed) : 0));
    if (send->sending) {
        report_repeats(send, r);
    }
    if (send->contested) {
        unsigned contested = 0;
        for (unsigned i = 0; i < send->goals; i++) {
            contested += is_contested(&send->goal[i]);
        }
        tell_server_id(send->files->s, r, "contested_by", send->rival);
        if (send->rival == cw_server_id(send->files->s, cw_self(send->files->s))) {
            cw_request_int(r, "contested_here", 1);
        }
        cw_request_int(r, "contested", contested);
    }
}

void file_rows_progress(struct file_send *send, cw_request *r)
{
    struct files *f = send->files;
    struct sums s = sum_of(send);
    cw_time until = send->over ? send->over_at : cw_now(f->s);
    report_common(send, r, &s);
    if (!send->sending) {
        cw_request_int(r, "digested_bytes", send->reader != NULL ? (int64_t)file_reader_hashed(send->reader) : 0);
    }
    cw_request_int(r, "there_bytes", (int64_t)(send->goals > s.failed ? s.there / (send->goals - s.failed) : 0));
    if (send->sending && !send->over && s.slowest != NULL) {
        cw_span left = left_of(send, s.waited_for);
        tell_server_id(f->s, r, "slowest", s.slowest->server);
        cw_request_int(r, "slowest_bytes", (int64_t)s.slowest->there);
        if (left.ns >= 0) {
            cw_request_int(r, "left_ns", left.ns);
        }
    }
    cw_request_int(r, "took_ns", cw_time_since(until, send->began).ns);
    if (send->over) {
        cw_request_int(r, "ended_ns", cw_time_since(cw_now(f->s), send->over_at).ns);
    }
    if (send->sending) {
        cw_request_int(r, "bits_per_s", file_pace_mean(send->given, cw_time_since(until, send->sent)));
    }
    if (send->over && send->status < 0) {
        cw_request_text(r, "reason", file_reason(send->status));
    }
    report_trees(send, r);
}

static const char *goal_word(const struct file_goal *goal)
{
    if (goal->ended) {
        return goal->status < 0 ? "failed" : "complete";
    }
    if (goal->away) {
        return "away";
    }
    return goal->reported ? file_state_word(goal->state) : "waiting";
}

static void report_member(const struct file_send *send, cw_request *r, const char *what, const struct file_goal *goal)
{
    cw_time now = cw_now(send->files->s);
    cw_span left = left_of_goal(send, goal);
    int64_t rate =
        goal->ended ? file_pace_mean(send->label.bytes - goal->before, goal->took) : file_pace_rate(&goal->pace, now);
    bool failed = goal->ended && goal->status < 0;
    cw_request_text(r, "what", what);
    cw_request_int(r, "id", send->id);
    tell_server_id(send->files->s, r, "server", goal->server);
    cw_request_text(r, "state", goal_word(goal));
    cw_request_int(r, "there_bytes", (int64_t)goal->there);
    if (goal->ended && !failed) {
        cw_request_int(r, "took_ns", goal->took.ns);
    }
    if (goal->asked) {
        cw_request_int(r, "before_bytes", (int64_t)goal->before);
    }
    cw_request_int(r, "missed_bytes", (int64_t)goal->missed);
    if (!failed) {
        cw_request_int(r, "bits_per_s", goal->away ? 0 : rate);
    }
    if (left.ns >= 0) {
        cw_request_int(r, "left_ns", left.ns);
    }
    if (is_contested(goal)) {
        tell_server_id(send->files->s, r, "contested_by", send->rival);
    }
    if (failed) {
        cw_request_int(r, "status", goal->status);
        cw_request_text(r, "reason", file_reason(goal->status));
    }
}

void file_rows_members(struct file_send *send, cw_request *r)
{
    for (unsigned i = 0; i < send->goals; i++) {
        cw_request_row(r);
        report_member(send, r, "member", &send->goal[i]);
    }
}

/* The bytes that at least half of the members have; those that have failed have none. */
static uint64_t median_of(const struct file_send *send)
{
    for (unsigned i = 0; i < send->goals; i++) {
        unsigned more = 0, as_many = 0;
        for (unsigned k = 0; k < send->goals; k++) {
            more += send->goal[k].there > send->goal[i].there;
            as_many += send->goal[k].there == send->goal[i].there;
        }
        if (more < (send->goals + 1) / 2 && more + as_many >= (send->goals + 1) / 2) {
            return send->goal[i].there;
        }
    }
    return 0;
}

unsigned file_rows_slow(struct file_send *send, cw_request *r)
{
    uint64_t most = send->sending && !send->over ? median_of(send) : 0;
    const struct file_goal *last = NULL;
    unsigned made = 0;
    for (; made < SLOW_MOST; made++) {
        const struct file_goal *least = NULL;
        for (unsigned i = 0; i < send->goals; i++) {
            const struct file_goal *goal = &send->goal[i];
            bool behind = !goal->ended && goal->there + send->label.bytes / 10 < most;
            bool told = last != NULL && (goal->there < last->there || (goal->there == last->there && goal <= last));
            least = behind && !told && (least == NULL || goal->there < least->there) ? goal : least;
        }
        if (least == NULL) {
            break;
        }
        report_member(send, r, "slow", least);
        cw_request_row(r);
        last = least;
    }
    return made;
}

void file_rows_end(struct file_send *send, cw_request *r)
{
    struct sums s = sum_of(send);
    cw_request_text(r, "what", "sum");
    report_common(send, r, &s);
    cw_request_int(r, "took_ns", cw_time_since(send->over_at, send->began).ns);
    cw_request_int(r, "slowest_ns", s.took.ns);
    cw_request_int(r, "least_bits_per_s", file_pace_mean(s.lacked, s.took));
    cw_request_int(r, "repeated", (int64_t)send->repeated);
    if (send->status < 0) {
        cw_request_text(r, "reason", file_reason(send->status));
    }
    report_digest(send, r);
    file_rows_members(send, r);
}
