/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/engine.h"

#include "base/check.h"
#include "base/words.h"
#include "services/multicast/cast/audit.h"
#include "services/multicast/cast/flow.h"
#include "services/multicast/cast/head.h"
#include "services/multicast/cast/mutant.h"
#include "services/multicast/cast/rounds.h"
#include "services/multicast/cast/session_table.h"
#include "services/reply/metrics.h"
#include "services/reply/refuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time between two ticks while a session is busy, and while all are quiet. */
static const cw_span beat = CW_MS(2);
static const cw_span beat_quiet = CW_MS(100);
/* A quiet session is remembered for so long: longer than a source waits for a member (limit_ms). */
static const cw_span keep_quiet = CW_SEC(40);
/* A session that is not quiet is given up when it has heard nothing for so long. */
static const cw_span keep_silent = CW_SEC(60);

/* A member that is still receiving, and has lost sight of the source, gives up after so long. */
static const cw_span keep_out_of_sight = CW_SEC(5);

enum { COUNT_TAKEN, COUNT_MALFORMED, COUNT_DAMAGED, COUNT_STRANGE, COUNT_REFUSED, COUNTS };
static const struct metric metrics[COUNTS] = {
    [COUNT_TAKEN] = {"packets", "Packets of messages that arrived and could be decoded."},
    [COUNT_MALFORMED] = {"malformed", "Packets that could not be decoded, or did not come from the multicast."},
    [COUNT_DAMAGED] = {"damaged", "Pieces that arrived with a wrong sum."},
    [COUNT_STRANGE] = {"strange", "Packets of no use: of no message known here, late, or beyond the window."},
    [COUNT_REFUSED] = {"refused", "Messages that were put off because there was no room for them."},
};

/* The accept function of a kind of messages. */
struct acceptor {
    cast_accept_fn accept;
    void *context;
};

struct cast_engine {
    cw_svc *s;
    struct cast_session_table table;
    struct acceptor kind[CAST_CONTENTS];
    cw_timer *timer;
    bool slow; /* the timer runs with beat_quiet */
    uint64_t numbers;
    /* The links for which the node asks us for packets, each until it gets none. */
    cw_links polled;
    /* Round-robin position by link; may dangle, so it is compared and never dereferenced. */
    struct cast_session *turn[CW_LINK_COUNT];
    cw_counter *count[COUNTS];
};

/* ---- A member's beginning ---------------------------------------------------------------------------------------- */

static int ask_kind(struct cast_engine *e, const struct cast_session *c, struct cast_sink *sink)
{
    const struct acceptor *k = &e->kind[c->content < CAST_CONTENTS ? c->content : 0];
    if (k->accept == NULL) {
        return -EPROTONOSUPPORT;
    }
    struct cast_offer offer = {.ticket = c->ticket,
                               .origin = c->origin,
                               .kind = c->content,
                               .bytes = c->cut.bytes,
                               .pieces = c->cut.pieces,
                               .piece_bytes = c->cut.piece_bytes,
                               .label = c->label,
                               .label_bytes = c->label_bytes};
    memcpy(offer.id, c->id, CAST_ID_BYTES);
    return k->accept(k->context, &offer, sink);
}

/*
 * A source that begins the same bytes anew replaces its earlier message with them. The same bytes from another source
 * are the business of the sinks.
 */
static void end_same(struct cast_engine *e, const struct cast_session *c)
{
    struct cast_session *next;
    for (struct cast_session *old = e->table.first; old != NULL; old = next) {
        next = old->next;
        if (old != c && old->origin == c->origin && old->in.accepted && !old->ended && old->content == c->content &&
            memcmp(old->id, c->id, CAST_ID_BYTES) == 0) {
            cast_session_table_remove(&e->table, old, -ESTALE);
        }
    }
}

static void accept_message(struct cast_engine *e, struct cast_session *c)
{
    struct cast_sink sink;
    end_same(e, c);
    int rc = ask_kind(e, c, &sink);
    if (rc == -EAGAIN) {
        return;
    }
    if (rc == 0) {
        rc = cast_receiver_open(&c->in.receiver, &sink, &c->cut);
        if (rc < 0) {
            (void)sink.end(sink.context, rc);
        }
    }
    if (rc < 0) {
        cast_receiver_refuse(&c->in.receiver, &c->cut, rc);
    }
    c->in.accepted = true;
    c->in.report_at = c->ended_at = cw_now(e->s);
    c->ended = c->in.receiver.state == CAST_ENDED;
}

/* ---- Time and events --------------------------------------------------------------------------------------------- */

static void tick(cw_svc *s, void *state, void *arg);

static void poll_links(struct cast_engine *e, cw_links links)
{
    e->polled |= links;
    cw_poll_links(e->s, CW_PLACE_MAIN, e->polled);
}

static void wake(struct cast_engine *e)
{
    cw_links links = CW_LINKS_NONE;
    for (const struct cast_session *c = e->table.first; c != NULL; c = c->next) {
        links |= cast_flow_links(c, CW_LINK_COUNT);
    }
    poll_links(e, links);
}

static void set_timer(struct cast_engine *e)
{
    cw_timer_stop(e->s, e->timer);
    e->slow = cast_session_table_busy(&e->table) == 0;
    e->timer = e->table.first != NULL ? cw_timer_start(e->s, e->slow ? beat_quiet : beat, tick, e) : NULL;
}

static void set_timer_if_slow(struct cast_engine *e)
{
    if (e->timer == NULL || e->slow) {
        set_timer(e);
    }
}

/* A member's source is gone, or was out of sight for too long. */
static void end_unfinished(struct cast_engine *e, struct cast_session *c)
{
    char text[96], name[TORUS_TEXT];
    torus_format(torus_coord(&e->table.torus, c->origin), name);
    snprintf(text, sizeof text, "a message from %s ended unfinished: its source left", name);
    cw_log(e->s, CW_LOG_WARN, text);
    cast_session_table_remove(&e->table, c, -ENETUNREACH);
}

/* Does what is due in a session. False: it was removed. */
static bool tick_session(struct cast_engine *e, struct cast_session *c)
{
    if (c->source && !c->ended) {
        int rc = cast_rounds_tick(c);
        if (rc != 0) {
            cast_rounds_finish(c, rc < 0 ? rc : 0);
        }
    }
    bool quiet = cast_session_quiet(c);
    cw_span silent = cw_time_since(cw_now(e->s), c->heard);
    bool waits = c->source && !c->ended;
    if (c->left && !c->ended && silent.ns > keep_out_of_sight.ns) {
        end_unfinished(e, c);
        return false;
    }
    if (!waits && silent.ns > (quiet || c->source ? keep_quiet.ns : keep_silent.ns)) {
        cast_session_table_remove(&e->table, c, -ETIMEDOUT);
        return false;
    }
    cast_flow_tick(c);
    return true;
}

static void tick(cw_svc *s, void *state, void *arg)
{
    struct cast_engine *e = arg;
    struct cast_session *next;
    (void)s;
    (void)state;
    e->timer = NULL;
    e->table.walked = true;
    for (struct cast_session *c = e->table.first; c != NULL; c = next) {
        next = c->next;
        (void)tick_session(e, c);
    }
    e->table.walked = false;
    set_timer(e);
    wake(e);
    CHECK_SLOW(cast_audit_table(&e->table));
}

/*
 * The source may only be out of sight: links flap, and this server or the source stalls. So a member that has
 * everything remembers that, or the source would send it all again; and one that is still receiving keeps its sink for
 * a while, or it would lack what passes by until its sink is open again.
 */
static void source_gone(struct cast_engine *e, struct cast_session *c)
{
    bool keeps = c->in.accepted && !(c->ended && CAST_MUTANT(FORGETS_END));
    if (keeps) {
        cast_session_leave(c);
    } else if (c->in.accepted && !c->ended) {
        end_unfinished(e, c);
    } else {
        cast_session_table_remove(&e->table, c, -ENETUNREACH);
    }
}

void cast_engine_event(struct cast_engine *e, const cw_event *ev)
{
    cw_server server = cw_server_id(e->s, ev->server);
    struct cast_session *next;
    e->table.walked = true;
    for (struct cast_session *c = e->table.first; c != NULL; c = next) {
        next = c->next;
        bool view = ev->kind == CW_EVENT_SERVER_DOWN || ev->kind == CW_EVENT_SERVER_UP;
        if (ev->kind == CW_EVENT_SERVER_DOWN && server == c->origin && !c->source) {
            source_gone(e, c);
            continue;
        }
        if (c->left) {
            continue; /* this server is not on the way until an OPEN comes */
        }
        if (ev->kind == CW_EVENT_SERVER_DOWN) {
            cast_flow_gone(c, server);
        }
        if (c->source && view) {
            cast_rounds_away(c, server, ev->kind == CW_EVENT_SERVER_DOWN);
        }
        if (cast_session_replan(c) < 0) {
            cw_log(e->s, CW_LOG_ERROR, "no memory to plan a message anew: some servers may not get it");
        }
        if (c->source && view) {
            cast_rounds_view(c);
        }
        (void)tick_session(e, c);
    }
    e->table.walked = false;
    wake(e);
    CHECK_SLOW(cast_audit_table(&e->table));
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

cw_packet *cast_engine_next(struct cast_engine *e, cw_link link)
{
    struct cast_session *first = e->table.first;
    while (first != NULL && first != e->turn[link]) {
        first = first->next;
    }
    first = first != NULL ? first : e->table.first;
    struct cast_session *c = first;
    while (c != NULL) {
        cw_packet *p = cast_flow_next(c, link);
        struct cast_session *after = c->next != NULL ? c->next : e->table.first;
        if (p != NULL) {
            CHECK_SLOW(cast_audit_session(c));
            e->turn[link] = after;
            return p;
        }
        c = after != first ? after : NULL;
    }
    e->polled &= (cw_links)~cw_links_of(link);
    return NULL;
}

/*
 * A member's report to us as its source. One about a message that we have forgotten is confirmed too, as the member
 * repeats it until then.
 */
static int take_report(struct cast_engine *e, struct cast_session *c, const struct cast_head *h, cw_server from)
{
    struct cast_head answer = {.kind = CAST_HEARD, .round = h->round, .origin = h->origin, .number = h->number};
    answer.piece = h->kind == CAST_DONE ? CAST_HEARD_DONE : h->piece;
    if (h->origin != cw_server_id(e->s, cw_self(e->s))) {
        return -EINVAL;
    }
    bool ended = c == NULL || c->ended;
    if (ended && h->kind == CAST_LACK) {
        answer.kind = CAST_STOP;
        answer.status = c != NULL && c->out.failed < 0 ? c->out.failed : -ETIMEDOUT;
    } else if (!ended && !cast_rounds_report(c, h, from)) {
        return -ESTALE;
    }
    cast_session_reply(e->s, from, &answer);
    if (!ended && (c->out.members.waiting == 0 || cast_members_all_reported(&c->out.members))) {
        (void)tick_session(e, c);
    }
    return 0;
}

/*
 * The source ends the message. The session stays: an OPEN that arrives after the STOP would offer the message to the
 * sink anew, and the servers below hear from us that the trees have ended.
 */
static void stop_here(struct cast_engine *e, struct cast_session *c, int status)
{
    if (c->in.accepted) {
        cast_receiver_stop(&c->in.receiver, status);
    } else {
        cast_receiver_refuse(&c->in.receiver, &c->cut, status);
    }
    c->ended_at = c->ended ? c->ended_at : cw_now(e->s);
    c->in.accepted = c->in.confirmed = c->ended = true;
    cast_flow_tick(c);
}

/* The source's HEARD or STOP to us as a member. */
static int take_answer(struct cast_engine *e, struct cast_session *c, const struct cast_head *h, cw_server from)
{
    if (c == NULL || c->source || from != c->origin) {
        return -ESTALE;
    }
    if (h->kind == CAST_STOP) {
        stop_here(e, c, h->status < 0 ? h->status : -ETIMEDOUT);
        return 0;
    }
    cast_flow_confirmed(c, h->piece);
    cast_flow_tick(c);
    return 0;
}

/* Takes an OPEN: of a message that is new here, of a new round, or of what is known. */
static int take_open(struct cast_engine *e, struct cast_session **at, const struct cast_head *h)
{
    struct cast_session *c = *at;
    if (h->origin == cw_server_id(e->s, cw_self(e->s)) || h->servers != e->table.torus.servers ||
        h->origin >= h->servers) {
        return -EINVAL;
    }
    if ((c == NULL || c->left) && !cw_reachable(e->s, torus_coord(&e->table.torus, h->origin))) {
        /* The parent has not heard yet that the source is gone; we would wait for the message in vain. */
        return -ENETUNREACH;
    }
    if (c == NULL) {
        int rc = cast_session_table_begin(&e->table, h, &c);
        if (rc < 0) {
            cw_counter_add(e->count[COUNT_REFUSED], 1);
            return rc;
        }
        *at = c;
    } else if ((int16_t)(h->round - c->round) > 0) {
        int rc = cast_session_round(c, h->round, h->rest);
        if (rc < 0) {
            return rc;
        }
    }
    if ((c->left || (c->edges == 0 && !c->tree[h->tree].open)) && cast_session_replan(c) < 0) {
        return -ENOMEM; /* it comes again */
    }
    c->left = false;
    if (c->wanted && !c->in.accepted) {
        accept_message(e, c);
    }
    set_timer_if_slow(e);
    return 0;
}

static int take(struct cast_engine *e, const struct cast_head *h, cw_server from)
{
    struct cast_session *c = cast_session_table_find(&e->table, h->origin, h->number);
    if (h->kind == CAST_DONE || h->kind == CAST_LACK) {
        return take_report(e, c, h, from);
    }
    if (h->kind == CAST_HEARD || h->kind == CAST_STOP) {
        return take_answer(e, c, h, from);
    }
    if (h->kind == CAST_OPEN) {
        int rc = take_open(e, &c, h);
        if (rc < 0) {
            return rc;
        }
    }
    if (c == NULL || c->round != h->round) {
        return -ESTALE;
    }
    int rc = cast_flow_take(c, h, from);
    poll_links(e, cast_flow_links(c, h->tree));
    CHECK_SLOW(cast_audit_session(c));
    return rc;
}

cw_verdict cast_engine_packet(struct cast_engine *e, const uint8_t *bytes, size_t length, const cw_rx *rx)
{
    struct cast_head h;
    if (rx->src_job != MULTICAST_JOB || rx->src_process >= e->table.torus.servers ||
        cast_head_decode(bytes, length, &h) < 0) {
        cw_counter_add(e->count[COUNT_MALFORMED], 1);
        return CW_DROP;
    }
    if (h.kind == CAST_DATA && cast_sum(h.piece, h.rest, h.rest_bytes) != h.sum) {
        cw_counter_add(e->count[COUNT_DAMAGED], 1);
        return CW_DROP;
    }
    cw_counter_add(e->count[COUNT_TAKEN], 1);
    if (take(e, &h, rx->src_process) < 0) {
        cw_counter_add(e->count[COUNT_STRANGE], 1);
    }
    return CW_FORWARD;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

static int first_round(struct cast_engine *e, const struct cast_order *o, const uint8_t *rest,
                       struct cast_session **out)
{
    size_t piece = cw_mtu(e->s) - CAST_DATA_HEAD;
    struct cast_head open = {
        .kind = CAST_OPEN,
        .origin = cw_server_id(e->s, cw_self(e->s)),
        .number = (cw_random(e->s) << 16 | (++e->numbers & 0xffff)) | UINT64_C(1) << 63,
        .content = (uint8_t)o->kind,
        .bytes = o->bytes,
        .piece_bytes = (uint32_t)(piece < CAST_PIECE_MOST ? piece : CAST_PIECE_MOST) / 8 * 8,
        .servers = e->table.torus.servers,
        .label_bytes = (uint16_t)o->label_bytes,
        .rest = rest,
    };
    memcpy(open.id, o->id, CAST_ID_BYTES);
    struct cast_session *c;
    int rc = cast_session_table_begin(&e->table, &open, &c);
    if (rc < 0) {
        return rc;
    }
    c->out.once = o->once;
    rc = cast_rounds_begin(c, o->ask_first);
    if (rc < 0) {
        c->out.closed = true; /* the source is still the caller's */
        cast_session_table_remove(&e->table, c, rc);
        return rc;
    }
    c->out.from = o->from;
    c->out.done = o->done;
    c->out.context = o->context;
    *out = c;
    return 0;
}

int cast_engine_send(struct cast_engine *e, const struct cast_order *o, uint64_t *ticket)
{
    size_t set = cast_set_bytes(e->table.torus.servers);
    if (o->bytes == 0 || o->label_bytes > CAST_LABEL_MOST) {
        return -EINVAL;
    }
    if (cw_mtu(e->s) < CAST_OPEN_HEAD + set + o->label_bytes || cw_mtu(e->s) < CAST_DATA_HEAD + CAST_PIECE_LEAST) {
        return -EMSGSIZE;
    }
    uint8_t *rest = malloc(set + o->label_bytes);
    if (rest == NULL) {
        return -ENOMEM;
    }
    memcpy(rest, o->members, set);
    if (o->label_bytes > 0) {
        memcpy(rest + set, o->label, o->label_bytes);
    }
    struct cast_session *c;
    int rc = first_round(e, o, rest, &c);
    free(rest);
    if (rc < 0) {
        return rc;
    }
    *ticket = c->ticket;
    cast_flow_tick(c);
    set_timer_if_slow(e);
    wake(e);
    CHECK_SLOW(cast_audit_table(&e->table));
    return 0;
}

int cast_engine_cancel(struct cast_engine *e, uint64_t ticket, int status)
{
    struct cast_session *c = cast_session_table_ticket(&e->table, ticket);
    if (c == NULL || !c->source || c->ended) {
        return -ENOENT;
    }
    c->out.failed = status < 0 ? status : -ECANCELED;
    cast_rounds_finish(c, c->out.failed);
    return 0;
}

void cast_engine_resume(struct cast_engine *e, uint64_t ticket)
{
    struct cast_session *c = cast_session_table_ticket(&e->table, ticket);
    if (c == NULL) {
        return;
    }
    c->out.starved = false;
    if (c->wanted && !c->in.accepted) {
        accept_message(e, c);
    }
    cast_flow_tick(c);
    wake(e);
    CHECK_SLOW(cast_audit_session(c));
}

void cast_engine_ended(struct cast_engine *e, uint64_t ticket, int status)
{
    struct cast_session *c = cast_session_table_ticket(&e->table, ticket);
    if (c == NULL || !c->in.accepted || c->in.receiver.state != CAST_ENDING) {
        return;
    }
    cast_receiver_ended(&c->in.receiver, status);
    c->ended = true;
    c->ended_at = c->in.report_at = cw_now(e->s);
    cast_flow_tick(c);
}

const struct cast_session *cast_engine_look(const struct cast_engine *e, uint64_t ticket)
{
    return cast_session_table_ticket(&e->table, ticket);
}

const struct cast_session *cast_engine_each(const struct cast_engine *e, const struct cast_session *before)
{
    return before == NULL ? e->table.first : before->next;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

void cast_engine_kind(struct cast_engine *e, enum cast_content kind, cast_accept_fn accept, void *context)
{
    e->kind[kind] = (struct acceptor){accept, context};
}

static int read_span(struct cast_engine *e, const char *name, uint64_t normal, cw_span *out)
{
    const char *word = cw_option(e->s, name);
    uint64_t ms = normal;
    if (word != NULL && words_number(word, 10, 600000, &ms) < 0) {
        return refuse_setting(e->s, name, word, "milliseconds, from 10 to 600000");
    }
    *out = CW_MS((int64_t)ms);
    return 0;
}

int cast_engine_open(struct cast_engine **out, cw_svc *s)
{
    struct cast_engine *e = calloc(1, sizeof *e);
    if (e == NULL) {
        return -ENOMEM;
    }
    e->s = s;
    int rc = cast_session_table_open(&e->table, s);
    rc = rc < 0 ? rc : read_span(e, "patience_ms", 2000, &e->table.limits.patience);
    rc = rc < 0 ? rc : read_span(e, "limit_ms", 30000, &e->table.limits.limit);
    if (rc < 0) {
        free(e);
        return rc;
    }
    metrics_counters(s, metrics, COUNTS, e->count);
    *out = e;
    return 0;
}

void cast_engine_close(struct cast_engine *e)
{
    if (e == NULL) {
        return;
    }
    cw_timer_stop(e->s, e->timer);
    for (struct cast_session *c = e->table.first; c != NULL; c = c->next) {
        if (c->source) {
            cast_rounds_finish(c, -ESHUTDOWN);
        }
    }
    cast_session_table_close(&e->table);
    free(e);
}
