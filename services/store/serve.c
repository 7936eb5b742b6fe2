/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/serve.h"

#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/peers.h"
#include "services/store/quota.h"
#include "services/store/txn.h"
#include "services/store/writing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Answers ----------------------------------------------------------------------------------------------------- */

/* An asker that hears nothing asks again. */
static void reply(struct store *s, const struct store_right *to, const struct store_answer *answer)
{
    const size_t size = store_answer_size(answer);
    if (to->call == 0) {
        struct store_parcel *parcel = store_parcel_new(s, STORE_HAND_ASKS, size, 0);
        if (parcel != NULL) {
            store_answer_encode(answer, parcel->bytes);
            store_carry_give(s, to, parcel);
        }
        return;
    }
    cw_packet *p = cw_packet_new(s->svc, size);
    if (p != NULL) {
        store_answer_encode(answer, cw_packet_data(p, NULL));
        (void)cw_reply(s->svc, to->call, 0, p);
    }
}

void store_serve_refuse(struct store *s, const struct store_right *to, enum store_answer_state state,
                        cw_store_status status, cw_server server, uint64_t n)
{
    const struct store_answer answer = {.state = state, .status = status, .server = server, .n = n};
    if (state == STORE_ANSWER_MOVED) {
        store_note(s, STORE_COUNT_MOVED);
    }
    reply(s, to, &answer);
}

static void release(struct store_serving *o)
{
    o->store->serving_count--;
    o->store->watchers -= o->watching;
    store_page_free(o->page);
    store_parcel_drop(o->parcel);
    free(o);
}

void store_serve_answer(struct store_serving *o, const struct store_answer *answer)
{
    reply(o->store, &o->right, answer);
    release(o);
}

static bool is_read(const struct store_serving *o)
{
    return store_order_reads(&o->order);
}

/* Tells what a verdict says, and of a read what the register holds. */
static void tell(struct store_lead *lead, struct store_serving *o, const struct store_register *have,
                 const struct store_verdict *v)
{
    uint64_t held = have != NULL ? have->tag.n : 0; /* by a majority: no write of it is under way */
    struct store_answer answer = {
        .state = v->kind == STORE_VERDICT_STALE ? STORE_ANSWER_STALE : STORE_ANSWER_DONE,
        .status = v->status,
        .server = CW_SERVER_NONE,
        .n = STORE_MUTANT(UNSEEN_N) ? lead->n
             : held > lead->settled ? held
                                    : lead->settled,
        .version = v->version,
    };
    if (is_read(o) && v->status == CW_STORE_OK) {
        answer.flags = have->flags;
        answer.length = have->value_length;
        answer.carries = o->order.op == CW_STORE_GET;
        answer.value = store_register_value(have);
    }
    if (o->order.op == STORE_OP_TXN) {
        answer.flags = v->which;
    }
    store_note(o->store, is_read(o) ? STORE_COUNT_SERVED_GETS : STORE_COUNT_SERVED_WRITES);
    if (v->status == CW_STORE_CONFLICT) {
        store_note(o->store, STORE_COUNT_CONFLICTS);
    }
    store_serve_answer(o, &answer);
}

void store_serve_deny(struct store_serving *o, cw_store_status status, uint64_t n)
{
    store_note(o->store, status == CW_STORE_NO_SPACE ? STORE_COUNT_FULL
                         : status == CW_STORE_QUOTA  ? STORE_COUNT_OVER_QUOTA
                                                     : STORE_COUNT_BUSY);
    store_serve_refuse(o->store, &o->right, STORE_ANSWER_DONE, status, CW_SERVER_NONE, n);
    release(o);
}

void store_serve_written(struct store_lead *lead, struct store_serving *o, const struct store_verdict *v)
{
    tell(lead, o, NULL, v);
}

static bool may_lead(const struct store *s, const struct store_shard *shard, unsigned m)
{
    return !shard->lost[m] && cw_reachable(s->svc, cw_server_coord(s->svc, shard->config.member[m]));
}

/* Another member that may lead, the next one in their order. */
static cw_server next_member(const struct store *s, const struct store_shard *shard)
{
    for (unsigned i = 1; i < shard->config.count; i++) {
        unsigned m = (shard->me + i) % shard->config.count;
        if (may_lead(s, shard, m)) {
            return shard->config.member[m];
        }
    }
    return CW_SERVER_NONE;
}

cw_server store_serve_instead(const struct store *s, const struct store_shard *shard)
{
    bool is_over = shard->aside_of_disk && s->disk_waits == 0; /* or all that hung at once send askers to one another */
    return cw_time_before(cw_now(s->svc), shard->aside) && !is_over ? next_member(s, shard) : CW_SERVER_NONE;
}

/* What this server alone has seen of n is nothing to tell: a leader of others may count from below it. */
static void send_back(struct list *orders, enum store_answer_state state, cw_store_status status, cw_server server,
                      uint64_t n)
{
    struct list_node *node;
    while ((node = list_pop_front(orders)) != NULL) {
        struct store_serving *o = container_of(node, struct store_serving, node);
        store_serve_refuse(o->store, &o->right, state, status, server, n);
        release(o);
    }
}

void store_serve_end(struct store *s, struct store_shard *shard, struct list *maybe, struct list * not,
                     enum store_end how)
{
    const bool no_quorum = how == STORE_END_NO_QUORUM;
    struct store_ballot promised = shard->acceptor.promised;
    struct store_ballot above = store_ballot_compare(shard->heard, promised) > 0 ? shard->heard : promised;
    cw_server leads = store_ballot_is_none(above) ? CW_SERVER_NONE : store_ballot_server(above);
    leads = how == STORE_END_ASIDE ? next_member(s, shard) : leads == s->self ? CW_SERVER_NONE : leads;
    const uint64_t n = STORE_MUTANT(UNSEEN_N) ? shard->acceptor.n_max : 0;
    send_back(maybe, STORE_ANSWER_MAYBE, CW_STORE_UNKNOWN, leads, n);
    send_back(not, no_quorum ? STORE_ANSWER_DONE : STORE_ANSWER_MOVED, no_quorum ? CW_STORE_NO_QUORUM : CW_STORE_OK,
              leads, n);
}

/* ---- Rounds of CONFIRM ------------------------------------------------------------------------------------------- */

static void ask_members(struct store_lead *lead)
{
    const struct store_item item = {.kind = STORE_ITEM_CONFIRM};
    store_peers_send_all(lead, store_lead_all(lead) & ~lead->confirmed, item, lead->round_number);
}

static void begin_round(struct store_lead *lead)
{
    if (lead->confirming || list_is_empty(&lead->reads)) {
        return;
    }
    list_splice_back(&lead->round, &lead->reads);
    lead->confirming = true;
    lead->round_number++;
    lead->confirmed = 1u << lead->shard->me;
    lead->confirmations = 1;
    lead->round_begun = cw_now(lead->store->svc);
    ask_members(lead);
    store_lead_wind(lead);
}

void store_serve_confirm(struct store_lead *lead, struct store_serving *o)
{
    list_push_back(&lead->reads, &o->node);
    begin_round(lead);
}

void store_serve_no_space(struct store_lead *lead, struct store_serving *o)
{
    if (o->confirmed) {
        store_serve_deny(o, CW_STORE_NO_SPACE, lead->settled);
    } else {
        store_serve_confirm(lead, o);
    }
}

void store_serve_resend(struct store_lead *lead)
{
    store_note(lead->store, STORE_COUNT_RESENT);
    ask_members(lead);
}

void store_serve_confirmed(struct store_lead *lead, unsigned member, uint64_t round)
{
    struct list done;
    struct list_node *node;
    if (!lead->confirming || round != lead->round_number) {
        return;
    }
    lead->confirmed |= 1u << member;
    lead->confirmations++;
    unsigned votes = STORE_MUTANT(DOUBLE_COUNT) ? lead->confirmations : (unsigned)__builtin_popcount(lead->confirmed);
    if (votes < store_lead_majority(lead)) {
        return;
    }
    lead->confirming = false;
    list_init(&done);
    list_splice_back(&done, &lead->round);
    while ((node = list_pop_front(&done)) != NULL) {
        struct store_serving *o = container_of(node, struct store_serving, node);
        o->confirmed = true;
        store_serve_go(lead, o);
    }
    begin_round(lead);
}

/* ---- What an operation waits for --------------------------------------------------------------------------------- */

void store_serve_wait(struct store_lead *lead, struct store_write *w, struct store_serving *o)
{
    if (w->waiting_count >= STORE_KEY_MOST) {
        store_serve_deny(o, CW_STORE_BUSY, lead->settled);
        return;
    }
    w->waiting_count++;
    list_push_back(&w->waiting, &o->node);
}

static bool has_space(const struct store_lead *lead, const struct store_serving *o)
{
    return o->order.op != CW_STORE_PUT || !store_lead_is_full(lead);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static void tell_page(struct store_lead *lead, struct store_serving *o)
{
    const struct store_answer answer = {
        .state = STORE_ANSWER_DONE,
        .status = CW_STORE_OK,
        .server = CW_SERVER_NONE,
        .n = lead->settled,
        .flags = o->page->is_full ? STORE_LIST_MORE : 0,
        .length = (uint32_t)o->page->length,
        .value = o->page->bytes,
        .carries = true,
    };
    store_note(o->store, STORE_COUNT_SERVED_LISTS);
    store_serve_answer(o, &answer);
}

/*
 * Each name is read as a get would read it: after the leader was confirmed, and when no write of it is under way, nor
 * one to come of a transaction of which somebody was told already.
 */
static void go_list(struct store_lead *lead, struct store_serving *o)
{
    if (!o->confirmed && !STORE_MUTANT(NO_CONFIRM)) {
        store_serve_confirm(lead, o);
        return;
    }
    struct store_write *owed = store_txn_owed(lead);
    if (owed != NULL) {
        store_serve_wait(lead, owed, o);
        return;
    }
    if (o->page == NULL) {
        o->page = store_page_new(store_page_room(o->store));
    }
    if (o->page == NULL) {
        store_serve_deny(o, CW_STORE_BUSY, lead->settled);
        return;
    }
    const struct store_register *waits =
        store_page_read(o->page, &lead->shard->acceptor.table, &o->order, !STORE_MUTANT(READS_IN_FLIGHT));
    if (waits != NULL) {
        store_serve_wait(lead, waits->under_way, o);
    } else {
        tell_page(lead, o);
    }
}

/* ---- Watchers ---------------------------------------------------------------------------------------------------- */

/* So often is looked whose time is over; and longer than this no question is held, whatever it says. */
enum { WATCH_TICKS = 4, HOLD_MOST_MS = 10000 };

static void watch_due(cw_svc *svc, void *state, void *arg);

static void wind_watch(struct store_lead *lead)
{
    struct store *s = lead->store;
    if (lead->watch_timer == NULL && !list_is_empty(&lead->watching)) {
        lead->watch_timer = cw_timer_start(s->svc, CW_NS(WATCH_TICKS * s->limits.tick.ns), watch_due, lead);
    }
}

static void tell_changes(struct store_lead *lead, struct store_serving *o, struct store_cursor to)
{
    uint8_t *bytes = o->page->bytes;
    size_t length = o->page->length;
    memmove(bytes + STORE_CURSOR_BYTES, bytes, length);
    store_cursor_encode(to, bytes);
    const struct store_answer answer = {
        .state = STORE_ANSWER_DONE,
        .status = CW_STORE_OK,
        .server = CW_SERVER_NONE,
        .n = lead->settled,
        .length = (uint32_t)(STORE_CURSOR_BYTES + length),
        .value = bytes,
        .carries = true,
    };
    store_note(o->store, STORE_COUNT_SERVED_WATCHES);
    store_serve_answer(o, &answer);
}

/* Nothing has changed yet. */
static void watch_on(struct store_lead *lead, struct store_serving *o)
{
    struct store *s = lead->store;
    if (!o->watching && s->watchers >= STORE_WATCHERS_MOST) {
        store_serve_deny(o, CW_STORE_BUSY, lead->settled);
        return;
    }
    s->watchers += !o->watching;
    o->watching = true;
    list_push_back(&lead->watching, &o->node);
    wind_watch(lead);
}

/* Up to which n all writes are over. */
static uint64_t settled_before(const struct store_lead *lead)
{
    struct list_node *first = list_first(&lead->writes);
    return first != NULL && !STORE_MUTANT(WATCH_AHEAD)
               ? store_write_first(container_of(first, struct store_write, node)) - 1
               : lead->n;
}

/* The leader is confirmed once, when it comes: what it tells is chosen, and who was deposed finds out the next time. */
static void go_watch(struct store_lead *lead, struct store_serving *o)
{
    struct store *s = lead->store;
    if (!o->confirmed) {
        store_serve_confirm(lead, o);
        return;
    }
    if (o->page == NULL) {
        o->page = store_page_new(store_page_room(s));
        int64_t hold = o->order.ttl_ms < HOLD_MOST_MS ? o->order.ttl_ms : HOLD_MOST_MS;
        o->ends = cw_time_add(cw_now(s->svc), CW_MS(hold));
    }
    if (o->page == NULL) {
        store_serve_deny(o, CW_STORE_BUSY, lead->settled);
        return;
    }
    o->upto = settled_before(lead);
    o->page->room = store_page_room(s) - STORE_CURSOR_BYTES;
    const struct store_cursor to = store_page_changes(o->page, &lead->shard->acceptor.table, &o->order,
                                                      (struct store_cursor){lead->ballot, o->upto});
    if (o->page->count > 0 || !cw_time_before(cw_now(s->svc), o->ends)) {
        tell_changes(lead, o, to);
        return;
    }
    if (o->upto < lead->n) { /* what is written already behind a write that is not over is told when that is */
        uint64_t newest = store_page_newest(&lead->shard->acceptor.table, &o->order);
        o->stirred = newest > o->stirred ? newest : o->stirred;
    }
    watch_on(lead, o);
}

static void go_watchers(struct store_lead *lead, struct list *woken)
{
    struct list_node *node;
    while ((node = list_pop_front(woken)) != NULL) {
        go_watch(lead, container_of(node, struct store_serving, node));
    }
}

void store_serve_changed(struct store_lead *lead, const struct store_register *r)
{
    struct list woken;
    struct list_node *node = list_first(&lead->watching);
    const uint64_t settled = settled_before(lead);
    list_init(&woken);
    while (node != NULL) {
        struct store_serving *o = container_of(node, struct store_serving, node);
        node = list_next(&lead->watching, node);
        if (store_page_watches(&o->order, r) && r->tag.n > o->stirred) {
            o->stirred = r->tag.n;
        }
        if (o->stirred > o->upto && settled > o->upto) {
            list_remove(&o->node);
            list_push_back(&woken, &o->node);
        }
    }
    go_watchers(lead, &woken);
}

/* Those whose time is over are told that nothing has changed. */
static void watch_due(cw_svc *svc, void *state, void *arg)
{
    struct store_lead *lead = arg;
    struct list woken;
    struct list_node *node = list_first(&lead->watching);
    (void)state;
    lead->watch_timer = NULL;
    list_init(&woken);
    while (node != NULL) {
        struct store_serving *o = container_of(node, struct store_serving, node);
        node = list_next(&lead->watching, node);
        if (!cw_time_before(cw_now(svc), o->ends)) {
            list_remove(&o->node);
            list_push_back(&woken, &o->node);
        }
    }
    go_watchers(lead, &woken);
    wind_watch(lead);
}

/* ---- An operation in an open shard ------------------------------------------------------------------------------- */

static void write_it(struct store_lead *lead, struct store_serving *o, const struct store_register *have,
                     struct store_verdict *v)
{
    const bool room = v->kind != STORE_VERDICT_WRITE || has_space(lead, o);
    if (!room && !STORE_MUTANT(ROOM_LATE)) {
        store_serve_no_space(lead, o);
        return;
    }
    bool allowed = v->kind != STORE_VERDICT_WRITE || store_quota_allows(lead->store, have, &o->order);
    if (!allowed && !STORE_MUTANT(QUOTA_LATE)) {
        store_serve_deny(o, CW_STORE_QUOTA, lead->settled);
        return;
    }
    struct store_register *r = store_verdict_write(have, &o->order, store_writing_tag(lead), v);
    store_parcel_drop(o->parcel); /* what it says is in the register now */
    o->parcel = NULL;
    const bool soon = r != NULL && store_durable_room(lead->store, 1 + store_register_size(r), 0) == JOURNAL_ROOM_SOON;
    if (r == NULL || store_writing_begin(lead, r, allowed && room ? o : NULL, v) < 0) {
        store_serve_deny(o, soon ? CW_STORE_BUSY : CW_STORE_NO_SPACE, lead->settled);
    } else if (!allowed || !room) {
        store_serve_deny(o, room ? CW_STORE_QUOTA : CW_STORE_NO_SPACE, lead->settled);
    }
}

/* A value that fits no packet is asked for again by a letter: nothing is claimed of it yet. */
static bool is_too_large(const struct store_lead *lead, const struct store_serving *o,
                         const struct store_register *have)
{
    return o->order.op == CW_STORE_GET && o->right.call != 0 &&
           !store_carry_fits(lead->store, STORE_ANSWER_HEAD + have->value_length);
}

static void tell_large(struct store_lead *lead, struct store_serving *o, const struct store_register *have)
{
    const struct store_answer answer = {
        .state = STORE_ANSWER_LARGE, .server = CW_SERVER_NONE, .n = lead->settled, .length = have->value_length};
    store_serve_answer(o, &answer);
}

void store_serve_go(struct store_lead *lead, struct store_serving *o)
{
    if (o->order.op == STORE_OP_LIST) {
        go_list(lead, o);
        return;
    }
    if (o->order.op == STORE_OP_WATCH) {
        go_watch(lead, o);
        return;
    }
    if (o->order.op == STORE_OP_TXN) {
        store_txn_go(lead, o);
        return;
    }
    struct store_register *have = store_table_find(&lead->shard->acceptor.table, &o->order.name);
    struct store_write *under_way =
        have != NULL && have->under_way != NULL ? have->under_way : store_txn_claims(lead, &o->order.name);
    bool passes = STORE_MUTANT(READS_IN_FLIGHT) && is_read(o);
    if (under_way != NULL && !passes) {
        store_serve_wait(lead, under_way, o);
        return;
    }
    struct store_verdict v = store_verdict_of(have, &o->order);
    switch (v.kind) {
    case STORE_VERDICT_SAY:
        if (v.status == CW_STORE_OK && is_too_large(lead, o, have)) {
            tell_large(lead, o, have);
            return;
        }
        if (o->confirmed || STORE_MUTANT(NO_CONFIRM)) {
            tell(lead, o, have, &v);
            return;
        }
        store_serve_confirm(lead, o);
        return;
    case STORE_VERDICT_TOLD:
    case STORE_VERDICT_STALE:
        store_note(o->store, v.kind == STORE_VERDICT_TOLD ? STORE_COUNT_REPEATED : STORE_COUNT_STALE);
        tell(lead, o, have, &v);
        return;
    case STORE_VERDICT_WRITE:
    case STORE_VERDICT_NOTE:
        if (store_change_stops(lead)) {
            list_push_back(&lead->waiting, &o->node);
            return;
        }
        write_it(lead, o, have, &v);
        return;
    }
}

/* ---- Coming ------------------------------------------------------------------------------------------------------ */

/* A letter stays where it is. */
static struct store_serving *keep(struct store *s, const struct store_ask *ask, const struct store_caller *from)
{
    const struct store_order *o = &ask->order;
    const size_t copied = from->parcel == NULL ? o->name.length + o->value_length : 0;
    struct store_serving *kept = s->serving_count < STORE_SERVING_MOST ? malloc(sizeof *kept + copied) : NULL;
    if (kept == NULL) {
        return NULL;
    }
    *kept = (struct store_serving){.store = s, .right = from->right, .order = *o};
    s->serving_count++;
    if (from->parcel != NULL) {
        kept->parcel = store_parcel_share(from->parcel);
        return kept;
    }
    if (o->name.length > 0) {
        memcpy(kept->bytes, o->name.bytes, o->name.length);
    }
    if (o->value_length > 0) {
        memcpy(kept->bytes + o->name.length, o->value, o->value_length);
    }
    kept->order.name.bytes = kept->bytes;
    kept->order.value = kept->bytes + o->name.length;
    return kept;
}

cw_server store_serve_other_leader(const struct store *s, const struct store_shard *shard, bool sure)
{
    struct store_ballot promised = shard->acceptor.promised;
    struct store_ballot above = store_ballot_compare(shard->heard, promised) > 0 ? shard->heard : promised;
    unsigned leads = store_ballot_is_none(above) ? shard->config.count
                                                 : store_config_place(&shard->config, store_ballot_server(above));
    if (leads < shard->config.count && !(sure && shard->unsure[leads])) {
        return leads != shard->me && may_lead(s, shard, leads) ? shard->config.member[leads] : CW_SERVER_NONE;
    }
    for (unsigned m = 0; m < shard->config.count && m != shard->me; m++) {
        if (may_lead(s, shard, m) && !(sure && shard->unsure[m])) {
            return shard->config.member[m];
        }
    }
    return CW_SERVER_NONE;
}

void store_serve_take(struct store *s, struct store_shard *shard, const struct store_ask *ask,
                      const struct store_caller *from)
{
    cw_server other = shard->lead == NULL ? store_serve_instead(s, shard) : CW_SERVER_NONE;
    if (other == CW_SERVER_NONE && shard->lead == NULL && !ask->lead) {
        other = store_serve_other_leader(s, shard, false);
    }
    if (other != CW_SERVER_NONE) {
        store_serve_refuse(s, &from->right, STORE_ANSWER_MOVED, CW_STORE_OK, other, 0);
        return;
    }
    struct store_serving *o = keep(s, ask, from);
    if (o == NULL || store_lead_begin(s, shard) < 0) {
        store_note(s, STORE_COUNT_BUSY);
        store_serve_refuse(s, &from->right, STORE_ANSWER_DONE, CW_STORE_BUSY, CW_SERVER_NONE, 0);
        if (o != NULL) {
            release(o);
        }
        return;
    }
    struct store_lead *lead = shard->lead;
    if (lead->phase == STORE_PHASE_OPEN) {
        store_serve_go(lead, o);
    } else {
        list_push_back(&lead->waiting, &o->node);
    }
}
