/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/lead.h"

#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/compare.h"
#include "services/store/durable.h"
#include "services/store/peers.h"
#include "services/store/serve.h"
#include "services/store/txn.h"
#include "services/store/warden.h"
#include "services/store/writing.h"

#include <errno.h>
#include <stdlib.h>

enum {
    REST_LEAST_MS = 5,
    REST_MORE_MS = 45,
    ASIDE_MS = 5000,
    SYNC_WINDOW = 32,
    WRITE_PATIENCES = 3,
    OWN_PATIENCES = 2
};
enum { LOOK_MOST = 4096 }; /* registers that are looked at in one upcall */

bool store_lead_sees(const struct store_lead *lead, unsigned member)
{
    const struct store_shard *shard = lead->shard;
    if (member == store_change_newcomer(lead)) {
        return store_change_sees(lead);
    }
    return member != shard->me && !shard->lost[member] &&
           cw_reachable(lead->store->svc, cw_server_coord(lead->store->svc, shard->config.member[member]));
}

bool store_lead_is_full(const struct store_lead *lead)
{
    unsigned full = STORE_MUTANT(FULL_FOR_EVER) ? lead->full : 0;
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        full |= store_lead_sees(lead, m) ? lead->full & 1u << m : 0;
    }
    return full != 0 || store_is_full(lead->store);
}

static void enter(struct store_lead *lead, enum store_phase phase)
{
    lead->phase = phase;
    lead->begun = cw_now(lead->store->svc);
}

/* ---- Promises ---------------------------------------------------------------------------------------------------- */

static void ask_promises(struct store_lead *lead, unsigned set)
{
    const struct store_item item = {.kind = STORE_ITEM_PREPARE};
    store_peers_send_all(lead, set, item, 0);
}

static void prepare(struct store_lead *lead)
{
    struct store_shard *shard = lead->shard;
    struct store_acceptor *own = &shard->acceptor;
    bool above = store_ballot_compare(shard->heard, own->promised) > 0;
    lead->ballot = store_ballot_above(above ? shard->heard : own->promised, shard->config.epoch, lead->store->self,
                                      lead->store->boot);
    bool promised = store_acceptor_prepare(own, lead->ballot);
    CHECK(promised);
    store_durable_promise(lead->store, shard);
    lead->promised = store_durable_vote(lead, STORE_ITEM_PREPARE, 0) ? 1u << shard->me : 0;
    lead->seal[shard->me] = shard->seal;
    lead->promises_min = own->n_max;
    lead->promises_max = own->n_max;
    enter(lead, STORE_PHASE_PREPARING);
    ask_promises(lead, store_lead_all(lead));
}

static void heard_promise(struct store_lead *lead, unsigned member, const struct store_reply *reply)
{
    unsigned bit = 1u << member;
    lead->root[member] = reply->root;
    if (!store_seal_decode(reply->bytes, reply->length, &lead->seal[member])) {
        return;
    }
    if (lead->phase == STORE_PHASE_PREPARING) {
        lead->promised |= bit;
        lead->promises_min = reply->n < lead->promises_min ? reply->n : lead->promises_min;
        lead->promises_max = reply->n > lead->promises_max ? reply->n : lead->promises_max;
        store_lead_go_on(lead);
        return;
    }
    if (lead->phase != STORE_PHASE_OPEN || (lead->lagging & bit) == 0 || lead->write_count > 0 ||
        store_change_stops(lead)) {
        return;
    }
    if (store_sum_equal(reply->root, store_table_root(&lead->shard->acceptor.table))) {
        lead->lagging &= ~bit;
    } else if (!lead->comparison.runs) {
        store_compare_begin(lead, member, STORE_COMPARE_LATE);
    }
}

/* ---- Phases ------------------------------------------------------------------------------------------------------ */

/* A majority is enough; who else is in view is waited for a moment, so that it does not begin by lagging. */
static bool has_promises(const struct store_lead *lead)
{
    unsigned silent = 0;
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        silent |= store_lead_sees(lead, m) ? 1u << m : 0;
    }
    silent &= ~lead->promised;
    cw_span waited = cw_time_since(cw_now(lead->store->svc), lead->begun);
    bool own = (lead->promised >> lead->shard->me & 1) != 0;
    return own && (unsigned)__builtin_popcount(lead->promised) >= store_lead_majority(lead) &&
           (silent == 0 || waited.ns >= lead->store->limits.tick.ns);
}

/* True when all voters have been compared with. */
static bool compare(struct store_lead *lead)
{
    for (unsigned m = 0; m < lead->shard->config.count && !lead->comparison.runs; m++) {
        unsigned bit = 1u << m;
        if ((lead->voters & ~lead->compared & bit) == 0) {
            continue;
        }
        if (store_sum_equal(lead->root[m], store_table_root(&lead->shard->acceptor.table))) {
            lead->compared |= bit;
        } else {
            store_compare_begin(lead, m, STORE_COMPARE_TAKEOVER);
        }
    }
    return (lead->voters & ~lead->compared) == 0;
}

static void due(cw_svc *svc, void *state, void *arg);

/* It goes on at once, but not in this upcall: the links have their turn before. */
static void yield(struct store_lead *lead)
{
    cw_svc *svc = lead->store->svc;
    cw_timer_stop(svc, lead->timer);
    lead->timer = cw_timer_start(svc, CW_NS(0), due, lead);
    lead->begun = cw_now(svc);
}

/* False: not now, it goes on when a write is over; without memory it is tried again. */
static bool write_again(struct store_lead *lead, const struct store_register *r)
{
    if (lead->write_count >= SYNC_WINDOW || !store_writing_has_room(lead, r)) {
        return false;
    }
    struct store_register *again = store_register_again(r, store_writing_tag(lead));
    if (again == NULL || store_writing_begin(lead, again, NULL, NULL) < 0) {
        return false;
    }
    store_note(lead->store, STORE_COUNT_SYNCED);
    return true;
}

/* What was fetched is written under the own ballot, and is accepted by that alone. True when nothing is left of it. */
static bool sync_fetched(struct store_lead *lead)
{
    for (; lead->sync_fetched < STORE_BUCKETS; lead->sync_fetched++) {
        const struct store_register *r;
        while ((r = store_table_at(&lead->fetched, lead->sync_fetched, 0)) != NULL) {
            if (!write_again(lead, r)) {
                return false;
            }
            const struct store_name name = store_register_name(r);
            (void)store_table_drop(&lead->fetched, &name);
        }
    }
    return true;
}

/* Writes doubtful registers again, some at a time. True when all of them are. */
static bool sync(struct store_lead *lead)
{
    const struct store_table *own = &lead->shard->acceptor.table;
    unsigned looked = 0;
    if (!sync_fetched(lead)) {
        return false;
    }
    for (; lead->sync_bucket < STORE_BUCKETS; lead->sync_bucket++, lead->sync_at = 0) {
        if (!lead->doubtful[lead->sync_bucket]) {
            continue;
        }
        const struct store_register *behind, *r = store_table_at(own, lead->sync_bucket, lead->sync_at);
        for (; r != NULL; r = behind, lead->sync_at++) {
            behind = r->next; /* what is written again takes the place of the one before */
            if (looked++ == LOOK_MOST) {
                yield(lead);
                return false;
            }
            if (r->doubtful && !STORE_MUTANT(NO_SYNC) && !write_again(lead, r)) {
                return false;
            }
        }
    }
    return lead->write_count == 0;
}

static void open_shard(struct store_lead *lead)
{
    struct store *s = lead->store;
    struct list waiting;
    struct list_node *node;
    enter(lead, STORE_PHASE_OPEN);
    store_note(s, STORE_COUNT_TAKEOVERS);
    store_writing_note_ttls(lead);
    list_init(&waiting);
    list_splice_back(&waiting, &lead->waiting);
    while ((node = list_pop_front(&waiting)) != NULL) {
        store_serve_go(lead, container_of(node, struct store_serving, node));
    }
}

void store_lead_go_on(struct store_lead *lead)
{
    if (lead->phase == STORE_PHASE_PREPARING && has_promises(lead)) {
        unsigned which = 0;
        enum store_seal_verdict verdict = store_seal_judge(&lead->shard->config, lead->promised, lead->seal, &which);
        if (verdict == STORE_SEAL_DECIDED) {
            const struct store_config next = lead->seal[which].next;
            store_change_decided(lead, &next);
            return;
        }
        if (verdict == STORE_SEAL_DOUBT) {
            store_lead_wind(lead);
            return;
        }
        lead->voters = lead->promised;
        lead->compared = 1u << lead->shard->me;
        lead->lagging = store_lead_all(lead) & ~lead->voters;
        lead->n = STORE_MUTANT(VERSIONS_AGAIN) ? lead->shard->acceptor.n_max : lead->promises_max;
        lead->settled = lead->promises_min;
        enter(lead, STORE_PHASE_COMPARING);
    }
    if (lead->phase == STORE_PHASE_COMPARING && compare(lead)) {
        enter(lead, STORE_PHASE_SYNCING);
    }
    if (lead->phase == STORE_PHASE_SYNCING && sync(lead) && store_txn_resume(lead)) {
        open_shard(lead);
    }
    store_lead_wind(lead);
    if (lead->phase == STORE_PHASE_OPEN) {
        store_change_review(lead, false);
    }
}

/* ---- Replies ----------------------------------------------------------------------------------------------------- */

/* Somebody promised another leader. True: this leadership has ended. */
static bool is_deposed(struct store_lead *lead, const struct store_reply *reply)
{
    struct store_shard *shard = lead->shard;
    if (store_ballot_compare(reply->promised, lead->ballot) <= 0) {
        return false;
    }
    if (store_ballot_compare(reply->promised, shard->heard) > 0) {
        shard->heard = reply->promised;
    }
    store_lead_end(lead, STORE_END_DEPOSED);
    return true;
}

void store_lead_heard(struct store_lead *lead, unsigned member, uint64_t number, const struct store_reply *reply)
{
    unsigned bit = 1u << member;
    if (reply->why == STORE_REPLY_EPOCH) {
        store_change_epoch(lead, member, reply);
        return;
    }
    if (is_deposed(lead, reply)) {
        return;
    }
    if (member == store_change_newcomer(lead) || reply->kind == STORE_ITEM_SEAL) {
        store_change_heard(lead, member, number, reply);
        return;
    }
    if (reply->why == STORE_REPLY_STRANGE) {
        lead->shard->lost[member] = true;
        store_warden_wake(lead->store);
        store_lead_review(lead);
        return;
    }
    if (reply->why == STORE_REPLY_LARGE) {
        store_compare_heard(lead, member, number, reply);
        return;
    }
    if (reply->why == STORE_REPLY_MEMORY || reply->why == STORE_REPLY_YES) {
        lead->full = reply->full ? lead->full | bit : lead->full & ~bit;
    }
    if (reply->why == STORE_REPLY_MEMORY && reply->kind == STORE_ITEM_GIVE) {
        store_compare_refused(lead, member, number);
        return;
    }
    if (reply->why != STORE_REPLY_YES) {
        return;
    }
    lead->shard->unsure[member] = false;
    switch (reply->kind) {
    case STORE_ITEM_PREPARE:
        heard_promise(lead, member, reply);
        break;
    case STORE_ITEM_BUCKETS:
    case STORE_ITEM_LIST:
    case STORE_ITEM_FETCH:
    case STORE_ITEM_GIVE:
        store_compare_heard(lead, member, number, reply);
        break;
    case STORE_ITEM_ACCEPT:
        lead->begun = lead->phase == STORE_PHASE_SYNCING ? cw_now(lead->store->svc) : lead->begun;
        store_writing_accepted(lead, member, number);
        break;
    case STORE_ITEM_CONFIRM:
        store_serve_confirmed(lead, member, number);
        break;
    case STORE_ITEM_INSTALL:
        if (lead->phase == STORE_PHASE_PREPARING) {
            ask_promises(lead, bit);
        }
        break;
    case STORE_ITEM_LEARN:
    case STORE_ITEM_DROP:
    case STORE_ITEM_SEAL:
    case STORE_ITEM_KINDS:
        break;
    }
}

void store_lead_voted(struct store_lead *lead, enum store_item_kind kind, uint64_t number)
{
    if (kind == STORE_ITEM_ACCEPT) {
        store_writing_accepted(lead, lead->shard->me, number);
    } else if (kind == STORE_ITEM_SEAL) {
        store_change_voted(lead);
    } else {
        lead->promised |= 1u << lead->shard->me;
        store_lead_go_on(lead);
    }
}

/* ---- Time -------------------------------------------------------------------------------------------------------- */

/* Members that have missed something and can be asked. */
static unsigned to_catch_up(const struct store_lead *lead)
{
    unsigned set = 0;
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        set |= (lead->lagging >> m & 1) != 0 && store_lead_sees(lead, m) ? 1u << m : 0;
    }
    return set;
}

/* Of these, those that had no room for what they have missed a moment ago. */
static unsigned cramped(const struct store_lead *lead)
{
    unsigned set = 0;
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        set |= cw_time_before(cw_now(lead->store->svc), lead->cramped[m]) ? 1u << m : 0;
    }
    return set;
}

/* bytes: of what was to come, which takes longer when it is much. */
static bool has_waited(const struct store_lead *lead, cw_time since, int64_t patiences, size_t bytes)
{
    cw_span waited = cw_time_since(cw_now(lead->store->svc), since);
    return waited.ns >= lead->store->limits.patience.ns * patiences + store_carry_span(lead->store, bytes).ns;
}

static bool is_given_up(const struct store_lead *lead)
{
    size_t most = store_compare_bytes(lead);
    for (struct list_node *n = list_first(&lead->writes); n != NULL; n = list_next(&lead->writes, n)) {
        const struct store_write *w = container_of(n, struct store_write, node);
        size_t bytes = store_register_bytes(w->made);
        most = bytes > most ? bytes : most;
        if (lead->phase == STORE_PHASE_OPEN && has_waited(lead, w->begun, WRITE_PATIENCES, bytes)) {
            return true;
        }
    }
    return lead->phase != STORE_PHASE_OPEN ? has_waited(lead, lead->begun, 1, most)
                                           : lead->confirming && has_waited(lead, lead->round_begun, 1, 0);
}

/* Everything waits for this server's own disk, while enough others have answered? */
static bool is_held_up(const struct store_lead *lead)
{
    const unsigned own = 1u << lead->shard->me;
    for (struct list_node *n = list_first(&lead->writes); n != NULL; n = list_next(&lead->writes, n)) {
        const struct store_write *w = container_of(n, struct store_write, node);
        bool others = (unsigned)__builtin_popcount(w->accepted) >= store_lead_majority(lead);
        if ((w->accepted & own) == 0 && others &&
            has_waited(lead, w->begun, OWN_PATIENCES, store_register_bytes(w->made))) {
            return true;
        }
    }
    return lead->phase == STORE_PHASE_PREPARING && (lead->promised & own) == 0 && lead->promised != 0 &&
           has_waited(lead, lead->begun, 1, 0);
}

/* lead may be gone afterwards. */
static void send_again(struct store_lead *lead)
{
    if (lead->phase == STORE_PHASE_PREPARING) {
        store_note(lead->store, STORE_COUNT_RESENT);
        ask_promises(lead, store_lead_all(lead) & ~lead->promised);
        return;
    }
    if (!lead->comparison.runs && lead->phase == STORE_PHASE_OPEN) {
        ask_promises(lead, to_catch_up(lead) & ~cramped(lead));
    }
    if (lead->confirming) {
        store_serve_resend(lead);
    }
    store_writing_review(lead, true);
    if (lead->comparison.runs && store_lead_sees(lead, lead->comparison.member)) {
        store_compare_resend(lead);
    } else if (lead->comparison.runs && lead->comparison.how == STORE_COMPARE_LATE) {
        store_compare_drop(lead);
    }
}

static void due(cw_svc *svc, void *state, void *arg)
{
    struct store_lead *lead = arg;
    (void)svc;
    (void)state;
    lead->timer = NULL;
    if (lead->phase == STORE_PHASE_RESTING) {
        prepare(lead);
        store_lead_go_on(lead);
        return;
    }
    if (is_held_up(lead) && !STORE_MUTANT(HELD_UP)) {
        store_lead_end(lead, STORE_END_ASIDE);
        return;
    }
    if (is_given_up(lead)) {
        store_lead_end(lead, STORE_END_NO_QUORUM);
        return;
    }
    struct store *s = lead->store;
    struct store_shard *shard = lead->shard;
    send_again(lead);
    if (shard->lead == lead) {
        store_change_review(lead, true);
    }
    if (shard->lead == lead && !s->closing) {
        store_lead_go_on(lead);
    }
}

void store_lead_wind(struct store_lead *lead)
{
    bool busy = lead->phase != STORE_PHASE_OPEN || lead->write_count > 0 || lead->confirming || lead->comparison.runs ||
                to_catch_up(lead) != 0 || lead->change.step != STORE_CHANGE_NONE;
    if (busy && lead->timer == NULL) {
        lead->timer = cw_timer_start(lead->store->svc, lead->store->limits.tick, due, lead);
    }
}

void store_lead_review(struct store_lead *lead)
{
    if (lead->phase == STORE_PHASE_RESTING) {
        return;
    }
    store_writing_review(lead, false);
    store_lead_go_on(lead);
}

/* ---- Begin and end ----------------------------------------------------------------------------------------------- */

int store_lead_begin(struct store *s, struct store_shard *shard)
{
    if (shard->lead != NULL) {
        return 0;
    }
    struct store_lead *lead = calloc(1, sizeof *lead);
    if (lead == NULL) {
        return -ENOMEM;
    }
    lead->store = s;
    lead->shard = shard;
    shard->lead = lead;
    struct list *lists[] = {&lead->writes, &lead->groups, &lead->waiting, &lead->reads, &lead->round, &lead->watching};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        list_init(lists[i]);
    }
    store_table_open(&lead->fetched, s->of.id);
    enter(lead, STORE_PHASE_RESTING);
    cw_span rest = cw_time_since(shard->quiet, cw_now(s->svc));
    if (rest.ns > 0) {
        lead->timer = cw_timer_start(s->svc, rest, due, lead);
    }
    if (lead->timer == NULL) {
        prepare(lead);
        store_lead_go_on(lead);
    }
    return 0;
}

void store_lead_end(struct store_lead *lead, enum store_end how)
{
    struct store *s = lead->store;
    struct store_shard *shard = lead->shard;
    struct list maybe, not ;
    list_init(&maybe);
    list_init(&not );
    store_writing_drop(lead, &maybe, &not );
    store_compare_drop(lead);
    store_change_drop(lead);
    list_splice_back(&not, &lead->waiting);
    list_splice_back(&not, &lead->reads);
    list_splice_back(&not, &lead->round);
    list_splice_back(&not, &lead->watching);
    cw_timer_stop(s->svc, lead->timer);
    cw_timer_stop(s->svc, lead->watch_timer);
    cw_timer_stop(s->svc, lead->expiry_timer);
    cw_span rest = CW_MS(REST_LEAST_MS + (int64_t)cw_random_below(s->svc, REST_MORE_MS));
    shard->quiet = cw_time_add(cw_now(s->svc), rest);
    if (how == STORE_END_ASIDE) {
        shard->aside = cw_time_add(cw_now(s->svc), CW_MS(ASIDE_MS));
        shard->aside_of_disk = s->disk_waits > 0;
    }
    shard->lead = NULL;
    store_table_close(&lead->fetched);
    free(lead);
    store_peers_recall(s, shard);
    if (how != STORE_END_CLOSED) {
        store_note(s, how == STORE_END_DEPOSED ? STORE_COUNT_DEPOSED
                      : how == STORE_END_ASIDE ? STORE_COUNT_ASIDE
                                               : STORE_COUNT_GIVEN_UP);
    }
    store_serve_end(s, shard, &maybe, &not, how);
}
