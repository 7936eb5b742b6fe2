/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - what is said of a file that is sent: how far it is, how it ended, and each member.
 */
#include "services/multicast/file/internal.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <stdio.h>

struct sums {
    unsigned complete, failed;
    uint64_t there, least; /* bytes; of those that have not failed */
    cw_server slowest;
    cw_span took; /* of the last that is complete */
};

static struct sums sum_of(const struct file_send *send)
{
    struct sums s = {.least = send->label.bytes, .slowest = CW_SERVER_NONE};
    for (unsigned i = 0; i < send->goals; i++) {
        const struct file_goal *goal = &send->goal[i];
        bool failed = goal->ended && goal->status < 0;
        s.complete += goal->ended && !failed;
        s.failed += failed;
        s.there += failed ? 0 : goal->there;
        s.took = goal->ended && !failed && goal->took.ns > s.took.ns ? goal->took : s.took;
        if (!goal->ended && (goal->there < s.least || s.slowest == CW_SERVER_NONE)) {
            s.least = goal->there;
            s.slowest = goal->server;
        }
    }
    return s;
}

static int64_t rate_of(uint64_t bytes, cw_span took)
{
    unsigned __int128 bits = (unsigned __int128)bytes * 8 * 1000000000;
    return took.ns > 0 ? (int64_t)(bits / (uint64_t)took.ns) : 0;
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
    if (send->contested) {
        tell_server_id(send->files->s, r, "contested_by", send->rival);
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
    if (send->sending && !send->over && s.slowest != CW_SERVER_NONE) {
        tell_server_id(f->s, r, "slowest", s.slowest);
        cw_request_int(r, "slowest_bytes", (int64_t)s.least);
    }
    cw_request_int(r, "took_ns", cw_time_since(until, send->began).ns);
    if (send->sending) {
        cw_request_int(r, "bits_per_s", rate_of(send->given, cw_time_since(until, send->sent)));
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
    return goal->reported ? file_state_word(goal->state) : "waiting";
}

void file_rows_members(struct file_send *send, cw_request *r)
{
    for (unsigned i = 0; i < send->goals; i++) {
        const struct file_goal *goal = &send->goal[i];
        cw_request_row(r);
        cw_request_text(r, "what", "member");
        cw_request_int(r, "id", send->id);
        tell_server_id(send->files->s, r, "server", goal->server);
        cw_request_text(r, "state", goal_word(goal));
        cw_request_int(r, "there_bytes", (int64_t)goal->there);
        if (goal->ended && goal->status == 0) {
            cw_request_int(r, "took_ns", goal->took.ns);
        }
        if (goal->ended && goal->status < 0) {
            cw_request_int(r, "status", goal->status);
            cw_request_text(r, "reason", file_reason(goal->status));
        }
    }
}

void file_rows_end(struct file_send *send, cw_request *r)
{
    struct sums s = sum_of(send);
    cw_request_text(r, "what", "sum");
    report_common(send, r, &s);
    cw_request_int(r, "took_ns", cw_time_since(send->over_at, send->began).ns);
    cw_request_int(r, "slowest_ns", s.took.ns);
    cw_request_int(r, "least_bits_per_s", s.complete > 0 ? rate_of(send->label.bytes, s.took) : 0);
    cw_request_int(r, "repeated", (int64_t)send->repeated);
    if (send->status < 0) {
        cw_request_text(r, "reason", file_reason(send->status));
    }
    report_digest(send, r);
    file_rows_members(send, r);
}
