/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "services/aggregate/stream/internal.h"
#include "services/aggregate/stream/lead.h"
#include "services/reply/refuse.h"
#include "services/reply/servers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 64, HEIRS = 400, TEXT_ROW = 36 * 1024 };

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static const char *const to_names[] = {
    [LEAD_TO_SERVERS] = "servers", [LEAD_TO_EACH] = "each", [LEAD_TO_ALL] = "all", [LEAD_TO_CALLER] = "caller"};

static void row_server(const struct lead *l, cw_server s, const char *state, int status, const char *why)
{
    cw_request *r = l->request;
    cw_request_row(r);
    tell_server_id(l->st->s, r, "server", s);
    cw_request_text(r, "state", state);
    cw_request_int(r, "status", status);
    cw_request_text(r, "reason", why);
}

/* The server is gone, and nobody stands in for it. */
static int refuse_heirless(cw_request *r, const struct lead *l, const char *name)
{
    char unlike[TORUS_TEXT + 200] = "", server[TORUS_TEXT];
    if (l->unlike != CW_SERVER_NONE) {
        torus_format(torus_coord(&l->st->torus, l->unlike), server);
        snprintf(unlike, sizeof unlike, "; server %s: %s", server,
                 l->unlike_status == -EILSEQ ? "it has another file" : muster_reason(l->unlike_status));
    }
    return refuse_with(
        r, -ECONNRESET,
        "the run failed: server %s has died, restarted or left, and nobody in view can read its copy (%s)%s", name,
        l->copies, unlike);
}

static int refuse_inputs(cw_request *r, const struct lead *l)
{
    const struct refusal *f = &l->refusal[0];
    char name[TORUS_TEXT] = "", why[MUSTER_REASON], others[32] = "";
    torus_format(torus_coord(&l->st->torus, f->server), name);
    if (f->status == -ECONNRESET && l->copies[0] != '\0' && !f->writing) {
        return refuse_heirless(r, l, name);
    }
    muster_tell(why, l, f->status, f->line, f->limit);
    if (l->refusals > 1) {
        snprintf(others, sizeof others, "; and %u others", l->refusals - 1);
    }
    if (f->status == -ELIBACC || f->status == -ELIBBAD) {
        return refuse_with(r, f->status, "server %s: %s%s", name, why, others);
    }
    return f->writing ? refuse_with(r, f->status, "server %s, which is to write the result: %s%s", name, why, others)
                      : refuse_with(r, f->status, "server %s, %s: %s%s", name, l->wish.from, why, others);
}

static int refuse_failed(cw_request *r, const struct lead *l)
{
    const struct torus *torus = &l->st->torus;
    char name[TORUS_TEXT] = "", why[MUSTER_REASON];
    muster_tell(why, l, l->status, 0, l->limit);
    if (l->cancelled) {
        return refuse_with(r, -ECANCELED, "it was cancelled");
    }
    if (l->refusals > 0) {
        return refuse_inputs(r, l);
    }
    if (l->who >= torus->servers) {
        return refuse_with(r, l->status, "the run failed: %s", why);
    }
    torus_format(torus_coord(torus, l->who), name);
    if (l->at_root) {
        return refuse_with(r, l->status, "server %s, which is to write the result: %s", name, why);
    }
    if (l->copies[0] != '\0' && l->status == -ECONNRESET) {
        return refuse_heirless(r, l, name);
    }
    bool hint = l->status == -ECONNRESET && (l->wish.flags & LETTER_WITHOUT) == 0;
    return refuse_with(r, l->status, "the run failed: server %s: %s%s", name, why,
                       hint ? " (--without goes on without servers that are gone)" : "");
}

/* Writers that have the result. */
static unsigned with_result(const struct lead *l)
{
    unsigned n = 0;
    for (size_t i = 0; i < stream_words(l->st); i++) {
        n += (unsigned)__builtin_popcountll(l->writers[i] & ~l->bare[i]);
    }
    return n;
}

static void row_end(const struct lead *l, bool well)
{
    static const char *const ways[] = {[LETTER_TREES] = "trees", [LETTER_PAST] = "direct", [LETTER_SHORT] = "shortest"};
    const struct stream *st = l->st;
    cw_request *r = l->request;
    uint64_t records = 0, keys = 0, bytes = 0;
    uint32_t attempts = 0;
    for (cw_server s = 0; s < st->torus.servers; s++) {
        records += trees_set_has(l->counted, s) ? l->records[s] : 0;
    }
    for (unsigned i = 0; i < l->parts; i++) {
        keys += l->part[i].keys;
        bytes += l->part[i].bytes;
        attempts = l->part[i].attempts > attempts ? l->part[i].attempts : attempts;
    }
    cw_request_int(r, "id", l->number);
    cw_request_text(r, "operation", l->wish.combine);
    cw_request_text(r, "type", l->wish.mapper);
    cw_request_text(r, "to", to_names[l->to]);
    if (l->parts == 1 && l->to != LEAD_TO_ALL) {
        tell_server_id(st->s, r, "root", l->part[0].root);
    }
    cw_request_text(r, "file", l->wish.to);
    cw_request_int(r, "counted", well ? stream_count_of(st, l->counted) : 0);
    cw_request_int(r, "members", stream_count_of(st, l->members));
    cw_request_int(r, "parts", l->parts);
    cw_request_text(r, "path", ways[l->way]);
    if (l->to != LEAD_TO_CALLER) {
        cw_request_int(r, "with_result", well ? with_result(l) : 0);
    }
    char heirs[HEIRS];
    heir_text(l, heirs, sizeof heirs);
    if (heirs[0] != '\0') {
        cw_request_text(r, "stood_in", heirs);
    }
    cw_request_int(r, "attempts", l->attempts + attempts);
    cw_request_int(r, "took_ns", cw_time_since(cw_now(st->s), l->began).ns);
    cw_request_int(r, "records", (int64_t)records);
    if (l->to != LEAD_TO_CALLER) {
        cw_request_int(r, "keys", (int64_t)keys);
        cw_request_int(r, "bytes", (int64_t)bytes);
    }
    if (l->cancelled && well) {
        cw_request_int(r, "cancelled_late", 1);
    }
}

static void rows_servers(const struct lead *l, bool well)
{
    unsigned rows = 0;
    for (unsigned i = 0; i < l->refusals; i++) {
        char why[MUSTER_REASON];
        muster_tell(why, l, l->refusal[i].status, l->refusal[i].line, l->refusal[i].limit);
        row_server(l, l->refusal[i].server, "refused", l->refusal[i].status, why);
    }
    for (cw_server s = 0; s < l->st->torus.servers && well && rows < ROWS_MOST; s++) {
        bool lost = trees_set_has(l->members, s) && !trees_set_has(l->counted, s);
        if (lost || trees_set_has(l->bare, s)) {
            int why = lost && l->why[s] < 0 ? l->why[s] : -ECONNRESET;
            row_server(l, s, lost ? "not counted" : "no result", why, muster_reason(why));
            rows++;
        }
    }
}

void asker_conclude(struct lead *l)
{
    if (l->done != NULL) {
        patron_conclude(l);
        return;
    }
    if (l->taker != NULL) {
        cw_request_done(l->taker, refuse_failed(l->taker, l));
        l->taker = NULL;
    }
    if (l->request == NULL) {
        return;
    }
    int rc = l->status < 0 ? refuse_failed(l->request, l) : 0;
    row_end(l, rc == 0);
    rows_servers(l, rc == 0);
    cw_request_done(l->request, rc);
    l->request = NULL;
}

/* ---- A result for the caller ------------------------------------------------------------------------------------- */

static void give(void *arg, int status, const uint8_t *text, size_t length, bool last)
{
    static const char none[] = "";
    struct lead *l = arg;
    cw_request *r = l->taker;
    char *row = malloc((TEXT_ROW + 2) / 3 * 4 + 1);
    l->taker = NULL;
    l->moved = cw_now(l->st->s);
    status = row == NULL ? -ENOMEM : status;
    if (status < 0) {
        cw_request_done(r, refuse_with(r, status, "the run failed: %s", muster_reason(status)));
        l->limit = account_limit(l->st, status);
        lead_fail(l, status, l->st->self, false);
        free(row);
        return;
    }
    for (size_t at = 0; at < length; at += TEXT_ROW) {
        base64_encode(text + at, length - at < TEXT_ROW ? length - at : TEXT_ROW, row);
        cw_request_text(r, "data", row);
        cw_request_row(r);
    }
    const struct collector *c = collector_of_lead(l->st, &l->run);
    cw_request_int(r, "last", last);
    cw_request_int(r, "keys", c != NULL ? (int64_t)result_keys(c->result) : 0);
    cw_request_int(r, "bytes", c != NULL ? (int64_t)result_bytes(c->result) : 0);
    cw_request_text(r, "data", none);
    cw_request_done(r, 0);
    free(row);
    if (last) {
        lead_fail(l, 0, CW_SERVER_NONE, false); /* and that is its end */
    }
}

int asker_take(struct stream *st, cw_request *r, uint32_t number)
{
    struct lead *l = lead_of_number(st, number);
    struct collector *c = l != NULL && l->state == LEAD_GIVES && !l->over ? collector_of_lead(st, &l->run) : NULL;
    if (c == NULL || c->state != COLLECTOR_HOLDS) {
        return refuse_with(r, -ENOENT, "no result of a run %u waits here for its caller", number);
    }
    if (l->taker != NULL || result_give(c->result, give, l) < 0) {
        return refuse_with(r, -EBUSY, "somebody else fetches this result");
    }
    l->taker = r;
    l->moved = cw_now(st->s);
    return 1;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

int asker_command(struct stream *st, cw_request *r, int argc, const char *const *argv, uint32_t number)
{
    struct lead *l;
    if (argc > 2 && (strcmp(argv[1], "check=word") == 0 || strcmp(argv[1], "check=run") == 0)) {
        return wording_check(st, r, argc, argv);
    }
    int rc = wording_read(st, AGGREGATE_JOB, r, argc, argv, &l);
    if (rc < 0) {
        return rc;
    }
    l->request = r;
    l->number = number;
    lead_begin(st, l);
    return 1;
}

int asker_cancel(struct stream *st, uint32_t number)
{
    struct lead *l = lead_of_number(st, number);
    if (l == NULL) {
        return -ENOENT;
    }
    lead_cancel(l);
    return 0;
}

void asker_status(const struct stream *st, cw_request *r, bool *first)
{
    static const char *const states[] = {"inputs are read", "roots collect", "results get their names",
                                         "the caller fetches it"};
    for (struct list_node *n = list_first(&st->leads); n != NULL; n = list_next(&st->leads, n)) {
        const struct lead *l = (const struct lead *)(const void *)n;
        unsigned held = 0;
        for (unsigned i = 0; i < l->parts; i++) {
            held += l->part[i].state == LEAD_PART_HELD;
        }
        if (!*first) {
            cw_request_row(r);
        }
        *first = false;
        cw_request_int(r, "id", l->number);
        cw_request_text(r, "role", "desk");
        cw_request_int(r, "job", l->wish.job);
        if (l->parts == 1) {
            tell_server_id(st->s, r, "root", l->part[0].root);
        }
        cw_request_text(r, "name", l->wish.to);
        cw_request_text(r, "to", to_names[l->to]);
        cw_request_text(r, "operation", l->wish.combine);
        cw_request_text(r, "type", l->wish.mapper);
        cw_request_text(r, "state", l->cancelled ? "is cancelled" : states[l->state]);
        cw_request_int(r, "members", stream_count_of(st, l->members));
        cw_request_int(r, "parts", l->parts);
        cw_request_int(r, "held_parts", held);
        cw_request_int(r, "took_ns", cw_time_since(cw_now(st->s), l->began).ns);
        stream_tell_set(st, r, "waits_for", l->silent);
    }
}

void asker_collector(const struct collector *c, cw_request *r)
{
    static const char *const states[] = {"pauses",
                                         "announced",
                                         "runs",
                                         "result is written",
                                         "result is held",
                                         "result gets its name",
                                         "result has its name"};
    const struct stream *st = c->st;
    cw_request_text(r, "role", "root");
    tell_server_id(st->s, r, "root", st->self);
    cw_request_int(r, "job", c->wish.job);
    cw_request_text(r, "name", c->wish.to);
    cw_request_text(r, "operation", c->wish.combine);
    cw_request_text(r, "type", c->wish.mapper);
    cw_request_text(r, "state", states[c->state]);
    cw_request_int(r, "attempts", c->attempt);
    cw_request_int(r, "bytes", (int64_t)c->bytes);
    cw_request_int(r, "still_ns", cw_time_since(cw_now(st->s), c->moved).ns);
    cw_request_int(r, "settled_bytes", (int64_t)(c->bytes * result_count(c->result) / c->count));
    cw_request_int(r, "partitions", c->count);
    cw_request_int(r, "settled_partitions", result_count(c->result));
    cw_request_int(r, "members", stream_count_of(st, c->members));
    stream_tell_set(st, r, "waits_for", c->silent);
}
