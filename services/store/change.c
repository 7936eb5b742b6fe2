/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/change.h"

#include "base/bytes.h"
#include "services/store/common.h"
#include "services/store/compare.h"
#include "services/store/durable.h"
#include "services/store/members.h"
#include "services/store/peers.h"
#include "services/store/serve.h"
#include "services/store/warden.h"

/*
 * Writes are stopped once a comparison has found no more than this, or there were so many comparisons: what is left is
 * given in a moment. When the moment takes too long, writes go on, and it is tried again.
 */
enum { FEW = 16, PASSES_MOST = 4, STOPPED_PATIENCES = 3 };
/*
 * A newcomer that is silent for so long is passed over. Until then all goes on, so there is time: one whose disk is new
 * writes its first files full of zeros, and what it answers waits for that. A member that came back with an empty disk
 * would lose its place to a server that has none of its neighbours.
 */
enum { SILENT_PATIENCES = 25 };

bool store_change_stops(const struct store_lead *lead)
{
    return lead->change.step >= STORE_CHANGE_STOPPED && !STORE_MUTANT(WRITES_ON);
}

bool store_change_sees(const struct store_lead *lead)
{
    return lead->change.step != STORE_CHANGE_NONE &&
           cw_reachable(lead->store->svc, cw_server_coord(lead->store->svc, lead->change.server));
}

/* ---- Learning ---------------------------------------------------------------------------------------------------- */

static void send_lesson(struct store_lead *lead)
{
    const struct store_lesson lesson = {lead->store->of, lead->n, lead->shard->config};
    uint8_t bytes[STORE_LESSON_MOST];
    struct store_item item = {.kind = STORE_ITEM_LEARN, .bytes = bytes};
    item.length = store_lesson_encode(&lesson, bytes);
    store_peers_send(lead, store_change_newcomer(lead), item, lead->change.number);
}

static void learn(struct store_lead *lead)
{
    lead->change.number++;
    lead->change.waits = true;
    send_lesson(lead);
    store_lead_wind(lead);
}

void store_change_begin(struct store_lead *lead, unsigned place, cw_server server)
{
    lead->change = (struct store_change){.step = STORE_CHANGE_LEARN,
                                         .number = lead->change.number,
                                         .place = (uint8_t)place,
                                         .server = server,
                                         .begun = cw_now(lead->store->svc)};
    lead->store->filling++;
    learn(lead);
}

void store_change_drop(struct store_lead *lead)
{
    struct store_change *c = &lead->change;
    if (c->step != STORE_CHANGE_NONE) {
        lead->store->filling--;
        c->step = STORE_CHANGE_NONE;
        c->waits = false;
    }
}

/* Operations that waited go on. */
static void let_write(struct store_lead *lead)
{
    struct list waiting;
    struct list_node *node;
    list_init(&waiting);
    list_splice_back(&waiting, &lead->waiting);
    while ((node = list_pop_front(&waiting)) != NULL) {
        store_serve_go(lead, container_of(node, struct store_serving, node));
    }
}

/* unfit: another server is to be tried the next time. */
static void give_up(struct store_lead *lead, bool unfit)
{
    if (lead->comparison.runs && lead->comparison.how == STORE_COMPARE_FILL) {
        store_compare_drop(lead);
    }
    lead->shard->skip = unfit ? lead->shard->skip + 1 : 0;
    store_change_drop(lead);
    let_write(lead);
    store_warden_wake(lead->store);
}

/* A member that has no room for what it is given does not hold up a newcomer. */
static void compare(struct store_lead *lead)
{
    const struct store_comparison *c = &lead->comparison;
    if (c->runs && c->how == STORE_COMPARE_LATE && c->stage == COMPARE_GIVE && !STORE_MUTANT(GIVES_ON)) {
        store_compare_drop(lead);
    }
    if (!c->runs) {
        lead->change.waits = false;
        store_compare_begin(lead, store_change_newcomer(lead), STORE_COMPARE_FILL);
    }
}

/* ---- Sealing ----------------------------------------------------------------------------------------------------- */

static unsigned staying(const struct store_lead *lead)
{
    return store_lead_all(lead) & ~(1u << lead->change.place);
}

static void send_seal(struct store_lead *lead)
{
    uint8_t bytes[STORE_CONFIG_MOST];
    struct store_item item = {.kind = STORE_ITEM_SEAL, .bytes = bytes};
    item.length = store_config_encode(&lead->shard->seal.next, bytes);
    store_peers_send_all(lead, staying(lead) & ~lead->change.sealed, item, lead->change.number);
}

static void look_whether_decided(struct store_lead *lead)
{
    struct store_change *c = &lead->change;
    unsigned own = 1u << lead->shard->me;
    unsigned needed = STORE_MUTANT(DECIDED_EARLY) ? own : staying(lead);
    if (c->step == STORE_CHANGE_SEALING && (needed & ~c->sealed) == 0) {
        const struct store_config next = lead->shard->seal.next;
        store_note(lead->store, STORE_COUNT_REPLACED);
        store_change_decided(lead, &next);
    }
}

static void seal(struct store_lead *lead)
{
    struct store_change *c = &lead->change;
    struct store_shard *shard = lead->shard;
    c->step = STORE_CHANGE_SEALING;
    c->begun = cw_now(lead->store->svc);
    c->number++;
    shard->seal = (struct store_seal){lead->ballot, shard->config};
    shard->seal.next.epoch++;
    shard->seal.next.member[c->place] = c->server;
    shard->seal.next.store_id[c->place] = c->store_id;
    store_durable_shard(lead->store, shard);
    c->sealed = store_durable_vote(lead, STORE_ITEM_SEAL, 0) ? 1u << shard->me : 0;
    send_seal(lead);
    store_lead_wind(lead);
    look_whether_decided(lead);
}

void store_change_voted(struct store_lead *lead)
{
    if (lead->change.step == STORE_CHANGE_SEALING) {
        lead->change.sealed |= 1u << lead->shard->me;
        look_whether_decided(lead);
    }
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static void stop_writes(struct store_lead *lead)
{
    lead->change.step = STORE_CHANGE_STOPPED;
    lead->change.begun = cw_now(lead->store->svc);
    store_lead_wind(lead);
}

/* All writes are over: the newcomer is told the last n, and compared with for the last time. */
static void look_whether_quiet(struct store_lead *lead)
{
    if (lead->change.step == STORE_CHANGE_STOPPED && !lead->comparison.runs &&
        (lead->write_count == 0 || STORE_MUTANT(WRITES_ON))) {
        lead->change.step = STORE_CHANGE_LAST;
        learn(lead);
    }
}

void store_change_compared(struct store_lead *lead, unsigned given)
{
    struct store_change *c = &lead->change;
    c->passes++;
    if (c->step == STORE_CHANGE_LAST) {
        if (given == 0) {
            seal(lead);
        } else {
            compare(lead);
        }
    } else if (c->step == STORE_CHANGE_LEARN) {
        if (given <= FEW || c->passes >= PASSES_MOST) {
            stop_writes(lead);
            look_whether_quiet(lead);
        } else {
            compare(lead);
        }
    }
}

static void newcomer_heard(struct store_lead *lead, uint64_t number, const struct store_reply *reply)
{
    struct store_change *c = &lead->change;
    if (c->step == STORE_CHANGE_NONE || c->step == STORE_CHANGE_SEALING) {
        return;
    }
    c->begun = c->step == STORE_CHANGE_LEARN ? cw_now(lead->store->svc) : c->begun;
    if (reply->why == STORE_REPLY_STRANGE || (reply->full && c->step == STORE_CHANGE_LEARN)) {
        give_up(lead, true);
    } else if (reply->why == STORE_REPLY_YES && reply->kind == STORE_ITEM_LEARN && c->waits && number == c->number) {
        c->store_id = get_be64(reply->bytes);
        if (STORE_MUTANT(VOTES_EMPTY)) {
            c->step = STORE_CHANGE_LAST;
            seal(lead);
            return;
        }
        compare(lead);
    } else if (reply->kind != STORE_ITEM_LEARN && reply->why == STORE_REPLY_YES) {
        store_compare_heard(lead, store_change_newcomer(lead), number, reply);
    }
}

void store_change_heard(struct store_lead *lead, unsigned member, uint64_t number, const struct store_reply *reply)
{
    struct store_change *c = &lead->change;
    if (member == store_change_newcomer(lead)) {
        newcomer_heard(lead, number, reply);
    } else if (reply->kind == STORE_ITEM_SEAL && reply->why == STORE_REPLY_YES && number == c->number &&
               c->step == STORE_CHANGE_SEALING) {
        c->sealed |= 1u << member;
        look_whether_decided(lead);
    }
}

void store_change_review(struct store_lead *lead, bool resend)
{
    struct store_change *c = &lead->change;
    const struct store_limits *limits = &lead->store->limits;
    cw_span waited = cw_time_since(cw_now(lead->store->svc), c->begun);
    cw_span carried = store_carry_span(lead->store, store_compare_bytes(lead));
    if (c->step == STORE_CHANGE_NONE) {
        return;
    }
    if (c->step == STORE_CHANGE_SEALING) {
        /* What is sealed may be decided without this server's knowing: a new leadership finds out. */
        if (waited.ns >= limits->patience.ns) {
            store_lead_end(lead, STORE_END_NO_QUORUM);
        } else if (resend) {
            send_seal(lead);
        }
        return;
    }
    bool stopped = c->step != STORE_CHANGE_LEARN;
    bool is_back = !lead->shard->lost[c->place] && store_lead_sees(lead, c->place);
    bool silent = !stopped && waited.ns >= limits->patience.ns * SILENT_PATIENCES + carried.ns;
    if (is_back || !store_change_sees(lead) || silent ||
        (stopped && waited.ns >= limits->patience.ns * STOPPED_PATIENCES + carried.ns)) {
        give_up(lead, silent);
        return;
    }
    if (c->waits && resend) {
        send_lesson(lead);
    } else if (!c->waits && c->step != STORE_CHANGE_STOPPED) {
        compare(lead);
    }
    look_whether_quiet(lead);
}

/* ---- The next epoch ---------------------------------------------------------------------------------------------- */

static void send_config(struct store_lead *lead, unsigned member)
{
    uint8_t bytes[STORE_CONFIG_MOST];
    struct store_item item = {.kind = STORE_ITEM_INSTALL, .bytes = bytes};
    item.length = store_config_encode(&lead->shard->config, bytes);
    store_peers_send(lead, member, item, 0);
}

void store_change_epoch(struct store_lead *lead, unsigned member, const struct store_reply *reply)
{
    struct store_config config;
    if (!store_config_decode(reply->bytes, reply->length, &config)) {
        return;
    }
    if (config.epoch > lead->shard->config.epoch) {
        store_change_decided(lead, &config);
    } else if (member < lead->shard->config.count) {
        send_config(lead, member);
    }
}

void store_change_decided(struct store_lead *lead, const struct store_config *next)
{
    struct store *s = lead->store;
    struct store_shard *shard = lead->shard;
    struct list orders;
    list_init(&orders);
    list_splice_back(&orders, &lead->waiting);
    list_splice_back(&orders, &lead->reads);
    list_splice_back(&orders, &lead->round);
    store_members_follow(s, shard, next); /* which ends the leadership */
    shard->quiet = cw_now(s->svc);        /* and nobody else's has begun */
    if (shard->role != STORE_ROLE_MEMBER || store_lead_begin(s, shard) < 0) {
        struct list none;
        list_init(&none);
        store_serve_end(s, shard, &none, &orders, STORE_END_DEPOSED);
        return;
    }
    if (shard->lead->phase != STORE_PHASE_OPEN) {
        list_splice_back(&shard->lead->waiting, &orders);
        return;
    }
    struct list_node *node;
    while ((node = list_pop_front(&orders)) != NULL) {
        store_serve_go(shard->lead, container_of(node, struct store_serving, node));
    }
}
