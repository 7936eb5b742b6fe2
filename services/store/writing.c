/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/writing.h"

#include "services/store/change.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/members.h"
#include "services/store/peers.h"
#include "services/store/serve.h"
#include "services/store/txn.h"

#include <errno.h>
#include <stdlib.h>

static void send(struct store_lead *lead, const struct store_write *w, unsigned set)
{
    if (w->parcel != NULL) {
        store_peers_letter_all(lead, set & ~w->accepted, (struct store_item){.kind = STORE_ITEM_ACCEPT}, w->made->tag.n,
                               w->parcel);
        return;
    }
    size_t size = store_register_size(w->made);
    uint8_t *bytes = malloc(size);
    if (bytes == NULL) {
        return; /* it is sent again later */
    }
    store_register_encode(w->made, bytes);
    const struct store_item item = {.kind = STORE_ITEM_ACCEPT, .bytes = bytes, .length = size};
    store_peers_send_all(lead, set & ~w->accepted, item, w->made->tag.n);
    free(bytes);
}

struct store_tag store_writing_tag(struct store_lead *lead)
{
    return store_writing_tags(lead, 1);
}

struct store_tag store_writing_tags(struct store_lead *lead, unsigned count)
{
    lead->n += count;
    return (struct store_tag){lead->ballot, lead->n};
}

struct store_write *store_writing_blocks(const struct store_lead *lead, const struct store_name *name)
{
    const struct store_register *r = store_table_find(&lead->shard->acceptor.table, name);
    return r != NULL && r->under_way != NULL ? r->under_way : store_txn_claims(lead, name);
}

/* Members that the end of the write waits for. */
static unsigned awaited(const struct store_lead *lead, const struct store_write *w)
{
    unsigned set = 0;
    for (unsigned m = 0; m < lead->shard->config.count; m++) {
        set |= store_lead_sees(lead, m) && (lead->lagging >> m & 1) == 0 ? 1u << m : 0;
    }
    return set & ~w->accepted;
}

static bool is_chosen(const struct store_lead *lead, const struct store_write *w)
{
    unsigned votes = STORE_MUTANT(DOUBLE_COUNT) ? w->acceptances : (unsigned)__builtin_popcount(w->accepted);
    return votes >= store_lead_majority(lead);
}

static bool is_over(const struct store_lead *lead, const struct store_write *w)
{
    if (w->group != NULL && w->group->chosen) {
        return false; /* its changes are waited for: store_txn_changed() */
    }
    cw_span waited = cw_time_since(cw_now(lead->store->svc), w->begun);
    cw_span slow = CW_NS(lead->store->limits.slow.ns + store_carry_span(lead->store, store_register_bytes(w->made)).ns);
    bool own = (w->accepted >> lead->shard->me & 1) != 0;
    return own && is_chosen(lead, w) && (STORE_MUTANT(DOUBLE_COUNT) || awaited(lead, w) == 0 || waited.ns >= slow.ns);
}

/* ---- Values that go by themselves -------------------------------------------------------------------------------- */

/* Looking for them takes a walk over all of the shard: not more often than this, and only so many at a time. */
enum { EXPIRY_PAUSE_MS = 20, EXPIRED_MOST = 32 };

static void expiry_due(cw_svc *svc, void *state, void *arg);

/* Has the timer end at that time, if not before. */
static void wind_expiry(struct store_lead *lead, cw_time at)
{
    cw_svc *svc = lead->store->svc;
    cw_time soon = cw_time_add(cw_now(svc), CW_MS(EXPIRY_PAUSE_MS));
    at = cw_time_before(at, soon) ? soon : at;
    if (lead->expiry_timer != NULL && !cw_time_before(at, lead->expiry_at)) {
        return;
    }
    cw_timer_stop(svc, lead->expiry_timer);
    lead->expiry_at = at;
    lead->expiry_timer = cw_timer_start(svc, cw_time_since(at, cw_now(svc)), expiry_due, lead);
}

void store_writing_note_ttl(struct store_lead *lead, struct store_register *r)
{
    if (r->ttl_ms == 0) {
        return;
    }
    if (r->expires == 0) {
        r->expires = cw_time_add(cw_now(lead->store->svc), CW_MS((int64_t)r->ttl_ms)).ns;
    }
    wind_expiry(lead, (cw_time){r->expires});
}

void store_writing_note_ttls(struct store_lead *lead)
{
    const struct store_table *t = &lead->shard->acceptor.table;
    for (unsigned i = 0; t->ttls > 0 && i < STORE_BUCKETS; i++) {
        for (struct store_register *r = t->bucket[i].first; r != NULL; r = r->next) {
            store_writing_note_ttl(lead, r);
        }
    }
}

/* Deletes the value of a register whose time has come. False: not now. */
static bool expire(struct store_lead *lead, const struct store_register *r)
{
    const struct store_name name = store_register_name(r);
    bool waits = store_change_stops(lead) || store_writing_blocks(lead, &name) != NULL;
    struct store_register *gone = waits ? NULL : store_verdict_expire(r, store_writing_tag(lead));
    if (gone == NULL || store_writing_begin(lead, gone, NULL, NULL) < 0) {
        return false;
    }
    store_note(lead->store, STORE_COUNT_EXPIRED);
    return true;
}

/* What has a write under way is looked at when that is over. */
static void expiry_due(cw_svc *svc, void *state, void *arg)
{
    struct store_lead *lead = arg;
    const struct store_table *t = &lead->shard->acceptor.table;
    int64_t now = cw_now(svc).ns, next = INT64_MAX;
    unsigned expired = 0;
    (void)state;
    lead->expiry_timer = NULL;
    for (unsigned i = 0; lead->phase == STORE_PHASE_OPEN && t->bucket != NULL && i < STORE_BUCKETS; i++) {
        for (struct store_register *r = t->bucket[i].first, *behind; r != NULL; r = behind) {
            behind = r->next; /* a register that is written takes the place of the one before */
            if (r->ttl_ms == 0 || r->under_way != NULL) {
                continue;
            }
            bool gone = r->expires <= now && expired < EXPIRED_MOST && expire(lead, r);
            expired += gone;
            next = !gone && r->expires < next ? r->expires : next;
        }
    }
    if (next != INT64_MAX) {
        wind_expiry(lead, (cw_time){next});
    }
}

/* ---- Writes ------------------------------------------------------------------------------------------------------ */

void store_writing_retire(struct store_lead *lead, struct store_write *w)
{
    struct store *s = lead->store;
    struct store_write *of = w->of;
    struct list waiting;
    struct list_node *n;
    w->made->under_way = NULL;
    store_writing_note_ttl(lead, w->made);
    list_remove(&w->node);
    lead->write_count--;
    list_init(&waiting);
    list_splice_back(&waiting, &w->waiting);
    cw_histogram_note(s->took[STORE_TIME_COMMIT], cw_time_since(cw_now(s->svc), w->begun));
    if (w->order != NULL) {
        store_serve_written(lead, w->order, &w->verdict);
    }
    store_txn_drop(w);
    store_serve_changed(lead, w->made);
    store_parcel_drop(w->parcel);
    free(w);
    while ((n = list_pop_front(&waiting)) != NULL) {
        store_serve_go(lead, container_of(n, struct store_serving, node));
    }
    if (of != NULL) {
        store_txn_changed(lead, of);
    }
}

/* The order is answered, and whoever waited for it is served, in the order of their coming. */
static void finish(struct store_lead *lead, struct store_write *w)
{
    lead->lagging |= store_lead_all(lead) & ~w->accepted;
    lead->settled = w->made->tag.n > lead->settled ? w->made->tag.n : lead->settled;
    if (w->group != NULL) {
        store_txn_chosen(lead, w);
    } else {
        store_writing_retire(lead, w);
    }
}

int store_writing_begin(struct store_lead *lead, struct store_register *r, struct store_serving *order,
                        const struct store_verdict *verdict)
{
    struct store *s = lead->store;
    struct store_acceptor *own = &lead->shard->acceptor;
    size_t bytes = own->table.bytes, registers = own->table.registers;
    struct store_write *w = calloc(1, sizeof *w);
    if (w != NULL && !store_carry_fits_item(s, r)) {
        w->parcel = store_parcel_of(s, STORE_HAND_ASKS, r);
        if (w->parcel == NULL) {
            free(w);
            w = NULL;
        }
    }
    if (w != NULL && !store_durable_has_room(s, r)) {
        store_parcel_drop(w->parcel);
        free(w);
        w = NULL;
    }
    if (w == NULL) {
        free(r);
        return -ENOMEM;
    }
    int rc = store_acceptor_accept(own, lead->ballot, r);
    store_count_registers(s, lead->shard, bytes, registers);
    if (rc < 0) {
        store_parcel_drop(w->parcel);
        free(w);
        return rc;
    }
    CHECK(rc == 1); /* its own promise stands while it leads */
    store_members_unseal(lead->shard, lead->ballot);
    w->made = r;
    w->made->under_way = w;
    const struct store_name name = store_register_name(r);
    store_durable_register(s, lead->shard, &name, w->parcel, 0);
    bool counts = store_durable_vote(lead, STORE_ITEM_ACCEPT, r->tag.n);
    w->accepted = counts ? 1u << lead->shard->me : 0;
    w->acceptances = counts;
    w->begun = cw_now(s->svc);
    w->order = order;
    w->verdict = verdict != NULL ? *verdict : (struct store_verdict){STORE_VERDICT_WRITE, CW_STORE_OK, 0, 0};
    list_init(&w->waiting);
    list_push_back(&lead->writes, &w->node);
    lead->write_count++;
    send(lead, w, store_lead_all(lead));
    store_lead_wind(lead);
    return 0;
}

bool store_writing_has_room(const struct store_lead *lead, const struct store_register *r)
{
    return lead->write_count == 0 || store_carry_fits_item(lead->store, r) ||
           !store_carry_is_full(lead->store, STORE_HAND_ASKS, store_register_bytes(r));
}

int store_writing_again(struct store_lead *lead, const struct store_register *r)
{
    const struct store_name name = store_register_name(r);
    if (store_writing_blocks(lead, &name) != NULL) {
        return 0;
    }
    struct store_register *again = store_register_again(r, store_writing_tag(lead));
    return again != NULL ? store_writing_begin(lead, again, NULL, NULL) : -ENOMEM;
}

int store_writing_absent(struct store_lead *lead, const struct store_name *name)
{
    struct store_register *r = store_register_new(name, 0);
    if (r == NULL) {
        return -ENOMEM;
    }
    r->tag = store_writing_tag(lead);
    r->deleted = true; /* and of no version: it never was */
    return store_writing_begin(lead, r, NULL, NULL);
}

void store_writing_accepted(struct store_lead *lead, unsigned member, uint64_t n)
{
    for (struct list_node *at = list_first(&lead->writes); at != NULL; at = list_next(&lead->writes, at)) {
        struct store_write *w = container_of(at, struct store_write, node);
        if (w->made->tag.n == n) {
            w->accepted |= 1u << member;
            w->acceptances++;
            if (is_over(lead, w)) {
                finish(lead, w);
                store_lead_go_on(lead);
            }
            return;
        }
    }
}

void store_writing_review(struct store_lead *lead, bool resend)
{
    struct list_node *at = list_first(&lead->writes);
    while (at != NULL) {
        struct store_write *w = container_of(at, struct store_write, node);
        at = list_next(&lead->writes, at);
        if (is_over(lead, w)) {
            finish(lead, w); /* it may begin others, behind all that are here */
        } else if (w->group != NULL && w->group->chosen) {
            if (resend) {
                store_txn_again(lead, w);
            }
        } else if (resend && cw_time_since(cw_now(lead->store->svc), w->begun).ns >= lead->store->limits.tick.ns) {
            store_note(lead->store, STORE_COUNT_RESENT);
            send(lead, w, store_lead_all(lead));
        }
    }
}

void store_writing_drop(struct store_lead *lead, struct list *maybe, struct list * not )
{
    struct list_node *n;
    while ((n = list_pop_front(&lead->writes)) != NULL) {
        struct store_write *w = container_of(n, struct store_write, node);
        w->made->under_way = NULL;
        if (w->order != NULL) {
            list_push_back(maybe, &w->order->node);
        }
        list_splice_back(not, &w->waiting);
        store_txn_drop(w);
        store_parcel_drop(w->parcel);
        free(w);
    }
    lead->write_count = 0;
}
