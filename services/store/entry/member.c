/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/member.h"

#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/entry/learner.h"
#include "services/store/hearing.h"
#include "services/store/held/bundle.h"
#include "services/store/lead.h"
#include "services/store/members.h"
#include "services/store/serve.h"

#include <stdlib.h>
#include <string.h>

/* ---- Items of a leader ------------------------------------------------------------------------------------------- */

struct telling {
    struct store *store;
    struct store_shard *shard;
    const struct store_item *item;
    const struct store_caller *from;
    struct store_reply reply;
    uint8_t *longer; /* what does not fit into bytes[], to be freed */
    uint8_t bytes[STORE_LIST_ROOM];
};

static void take_prepare(struct telling *t)
{
    struct store_acceptor *a = &t->shard->acceptor;
    if (!store_acceptor_prepare(a, t->item->ballot)) {
        t->reply.why = STORE_REPLY_PROMISED;
        return;
    }
    store_durable_promise(t->store, t->shard);
    t->reply.n = a->n_max;
    t->reply.root = store_table_root(&a->table);
    t->reply.length = store_seal_encode(&t->shard->seal, t->bytes);
}

/* Store rule 9: what a leader has had sealed is the last that it has written. */
static void take_seal(struct telling *t)
{
    struct store_shard *shard = t->shard;
    struct store_config next;
    if (!store_config_decode(t->item->bytes, t->item->length, &next) ||
        store_config_changed(&shard->config, &next) == shard->config.count) {
        store_note(t->store, STORE_COUNT_MALFORMED);
        t->reply.why = STORE_REPLY_MEMORY;
        return;
    }
    if (!store_acceptor_prepare(&shard->acceptor, t->item->ballot)) {
        t->reply.why = STORE_REPLY_PROMISED;
        return;
    }
    shard->seal = (struct store_seal){t->item->ballot, next};
    store_durable_shard(t->store, shard);
}

static void take_install(struct telling *t)
{
    struct store_config config;
    if (!store_config_decode(t->item->bytes, t->item->length, &config)) {
        store_note(t->store, STORE_COUNT_MALFORMED);
        t->reply.why = STORE_REPLY_MEMORY;
        return;
    }
    store_members_follow(t->store, t->shard, &config);
}

static void tell_config(struct telling *t)
{
    store_note(t->store, STORE_COUNT_WRONG_EPOCH);
    t->reply.why = STORE_REPLY_EPOCH;
    t->reply.length = store_config_encode(&t->shard->config, t->bytes);
}

/* The register's name, in memory of the caller's: who takes the register may drop it. */
static struct store_name keep_name(const struct store_register *r, uint8_t text[static CW_STORE_NAME_MAX])
{
    struct store_name name = store_register_name(r);
    memcpy(text, name.bytes, name.length);
    name.bytes = text;
    return name;
}

static void take_accept(struct telling *t)
{
    struct store_acceptor *a = &t->shard->acceptor;
    size_t bytes = a->table.bytes, registers = a->table.registers;
    struct store_register *r = store_register_decode(t->item->bytes, t->item->length);
    if (r == NULL || store_ballot_compare(r->tag.ballot, t->item->ballot) != 0) {
        store_note(t->store, STORE_COUNT_MALFORMED);
        t->reply.why = STORE_REPLY_MEMORY;
        free(r);
        return;
    }
    if (!store_durable_has_room(t->store, r)) { /* what comes behind, deletes as well, would wait with it */
        t->reply.why = STORE_REPLY_MEMORY;
        free(r);
        return;
    }
    uint8_t text[CW_STORE_NAME_MAX];
    const struct store_name name = keep_name(r, text);
    t->reply.n = r->tag.n;
    store_members_unseal(t->shard, store_ballot_compare(t->item->ballot, a->promised) >= 0
                                       ? t->item->ballot
                                       : (struct store_ballot){0, 0});
    int rc = store_acceptor_accept(a, t->item->ballot, r);
    t->reply.why = rc == 1 ? STORE_REPLY_YES : rc == 0 ? STORE_REPLY_PROMISED : STORE_REPLY_MEMORY;
    store_count_registers(t->store, t->shard, bytes, registers);
    if (rc == 1) {
        store_durable_register(t->store, t->shard, &name, t->from->parcel, STORE_PARCEL_ITEM);
    }
}

/* An open leader gives what is chosen: a member that has missed it takes it as if it had come in time. */
static void take_given(struct telling *t)
{
    struct store_acceptor *a = &t->shard->acceptor;
    size_t bytes = a->table.bytes, registers = a->table.registers;
    if (!store_acceptor_confirm(a, t->item->ballot)) {
        t->reply.why = STORE_REPLY_PROMISED;
        return;
    }
    struct store_register *r = store_register_decode(t->item->bytes, t->item->length);
    t->reply.why = STORE_REPLY_MEMORY;
    if (r == NULL || store_ballot_compare(r->tag.ballot, t->item->ballot) > 0 || !store_durable_has_room(t->store, r)) {
        free(r);
        return;
    }
    uint8_t text[CW_STORE_NAME_MAX];
    const struct store_name name = keep_name(r, text);
    if (store_acceptor_adopt(a, r) == 1) {
        t->reply.why = STORE_REPLY_YES;
        store_durable_register(t->store, t->shard, &name, t->from->parcel, STORE_PARCEL_ITEM);
    }
    store_count_registers(t->store, t->shard, bytes, registers);
}

static void tell_sums(struct telling *t)
{
    for (unsigned i = 0; i < STORE_SUMS; i++) {
        store_sum_encode(store_table_sum(&t->shard->acceptor.table, t->item->from + i), t->bytes + 16 * i);
    }
    t->reply.length = (size_t)STORE_SUMS * STORE_SUM_BYTES;
}

static void tell_list(struct telling *t)
{
    const struct store_register *r = store_table_at(&t->shard->acceptor.table, t->item->bucket, t->item->from);
    size_t at = 0;
    while (r != NULL && at + STORE_LISTED_HEAD + r->name_length <= STORE_LIST_ROOM) {
        at += store_listed_encode(r, t->bytes + at);
        r = r->next;
    }
    t->reply.length = at;
    t->reply.more = r != NULL;
}

static void tell_register(struct telling *t)
{
    const struct store_register *r = store_table_find(&t->shard->acceptor.table, &t->item->name);
    size_t size = r != NULL ? store_register_size(r) : 0;
    if (t->from->right.call != 0 && !store_carry_fits(t->store, STORE_REPLY_HEAD + size)) {
        t->reply.why = STORE_REPLY_LARGE;
        return;
    }
    t->longer = r != NULL ? malloc(size) : NULL;
    if (t->longer != NULL) {
        store_register_encode(r, t->longer);
        t->reply.length = size;
    } else if (r != NULL) {
        t->reply.why = STORE_REPLY_MEMORY;
    }
}

/* What only the leader of the ballot that stands may ask. */
static void take_question(struct telling *t)
{
    if (!store_acceptor_confirm(&t->shard->acceptor, t->item->ballot)) {
        t->reply.why = STORE_REPLY_PROMISED;
    } else if (t->item->kind == STORE_ITEM_BUCKETS) {
        tell_sums(t);
    } else if (t->item->kind == STORE_ITEM_LIST) {
        tell_list(t);
    } else if (t->item->kind == STORE_ITEM_FETCH) {
        tell_register(t);
    }
}

/* The item is for this server in this life, for a shard that it knows of, and of a server that speaks for itself. */
static bool is_meant(const struct store *s, const struct store_shard *shard, const struct store_item *item,
                     const struct store_caller *from)
{
    return shard != NULL && shard->config.count > 0 && s->health == STORE_WELL && item->class_id == s->of.id &&
           from->server != s->self && store_ballot_server(item->ballot) == from->server &&
           (item->store_id == s->store_id || STORE_MUTANT(AMNESIA));
}

/* Who prepares or writes under a higher ballot than that of a leadership here ends it first. */
static void step_aside(struct telling *t)
{
    struct store_lead *lead = t->shard->lead;
    bool rises =
        t->item->kind == STORE_ITEM_PREPARE || t->item->kind == STORE_ITEM_ACCEPT || t->item->kind == STORE_ITEM_SEAL;
    if (lead != NULL && rises && lead->phase != STORE_PHASE_RESTING &&
        store_ballot_compare(t->item->ballot, lead->ballot) > 0) {
        t->shard->heard = t->item->ballot;
        store_lead_end(lead, STORE_END_DEPOSED);
    }
}

/* Store rule 1: a confirmation tells of the promise alone, every other answer of all that this member holds. */
static void reply(struct telling *t)
{
    struct store *s = t->store;
    bool now = t->reply.why == STORE_REPLY_STRANGE ||
               (t->reply.kind == STORE_ITEM_CONFIRM && store_durable_promise_stands(s, t->shard));
    t->reply.bytes = t->longer != NULL ? t->longer : t->bytes;
    t->reply.position = store_durable_position(s);
    const size_t size = store_reply_size(&t->reply);
    uint8_t *bytes = malloc(size); /* a leader that hears nothing asks again */
    if (bytes != NULL) {
        store_reply_encode(&t->reply, bytes);
    }
    if (bytes != NULL && now) {
        store_carry_answer(s, &t->from->right, bytes, size);
    } else if (bytes != NULL) {
        store_durable_answer(s, &t->from->right, bytes, size, STORE_REPLY_POSITION);
    }
    free(bytes);
    free(t->longer);
}

/* As a member of the epoch that the item is of. */
static void take_as_member(struct telling *t)
{
    step_aside(t);
    if (t->item->kind == STORE_ITEM_PREPARE) {
        take_prepare(t);
    } else if (t->item->kind == STORE_ITEM_ACCEPT) {
        take_accept(t);
    } else if (t->item->kind == STORE_ITEM_GIVE) {
        take_given(t);
    } else if (t->item->kind == STORE_ITEM_SEAL) {
        take_seal(t);
    } else {
        take_question(t);
    }
}

static void take_item(struct telling *t)
{
    struct store *s = t->store;
    const struct store_item *item = t->item;
    unsigned from = store_config_place(&t->shard->config, t->from->server);
    uint32_t epoch = store_ballot_epoch(item->ballot);
    bool current = epoch == t->shard->config.epoch || (STORE_MUTANT(OLD_EPOCH) && epoch < t->shard->config.epoch);
    t->reply.why = STORE_REPLY_YES;
    if (from < t->shard->config.count) {
        store_hearing_note(s, t->from->server, t->shard->config.store_id[from], item->position);
    }
    if (item->kind == STORE_ITEM_INSTALL) {
        take_install(t);
    } else if (item->kind == STORE_ITEM_DROP ||
               (item->kind == STORE_ITEM_GIVE && t->shard->role != STORE_ROLE_MEMBER)) {
        store_learner_item(s, t->shard, item, t->from->parcel, &t->reply);
    } else if (store_learner_heeds(t->shard, item->ballot)) {
        take_question(t);
    } else if (t->shard->role == STORE_ROLE_MEMBER && current && from < t->shard->config.count) {
        t->shard->unsure[from] = false; /* another life would be no member */
        take_as_member(t);
    } else {
        tell_config(t);
    }
}

/* Why an item or a question is not for this server, where that is known. */
static void note_strange(struct store *s, const struct store_shard *shard, uint64_t class_id, bool my_life)
{
    const bool here = shard != NULL && shard->config.count > 0;
    store_note(s, STORE_COUNT_STRANGE);
    if (class_id != s->of.id || !my_life) {
        store_note(s, STORE_COUNT_WRONG_STORE);
    } else if (!here) {
        store_note(s, STORE_COUNT_WRONG_SHARD);
    }
}

static void note_malformed(struct store *s, size_t size, size_t head)
{
    store_note(s, STORE_COUNT_MALFORMED);
    if (size < head) {
        store_note(s, STORE_COUNT_WRONG_LENGTH);
    }
}

void store_member_item(struct store *s, const uint8_t *bytes, size_t size, const struct store_caller *from)
{
    struct store_item item;
    struct telling t;
    if (from->job != STORE_JOB || !store_item_decode(bytes, size, &item)) {
        note_malformed(s, size, STORE_ITEM_HEAD);
        return;
    }
    if ((!s->joined && item.store_id == s->store_id) || s->health == STORE_OPENING || s->health == STORE_HEARING) {
        return; /* the class is being made, and its record is on its way here; or what is there is not known yet */
    }
    t.store = s;
    t.item = &item;
    t.from = from;
    t.longer = NULL;
    t.shard = store_shard_find(s, item.shard);
    t.reply = (struct store_reply){.kind = item.kind, .why = STORE_REPLY_STRANGE, .shard = item.shard};
    if (item.kind == STORE_ITEM_LEARN) {
        store_learner_begin(s, &item, &t.reply, t.bytes);
        t.reply.full = store_is_full(s);
        reply(&t);
        return;
    }
    if (!is_meant(s, t.shard, &item, from)) {
        note_strange(s, t.shard, item.class_id, item.store_id == s->store_id);
        reply(&t);
        return;
    }
    take_item(&t);
    if (t.reply.why == STORE_REPLY_PROMISED) {
        store_note(s, STORE_COUNT_WRONG_BALLOT);
    }
    t.reply.full = store_is_full(s);
    t.reply.promised = t.shard->acceptor.promised;
    reply(&t);
}

/* ---- Operations of askers ---------------------------------------------------------------------------------------- */

/* What a transaction writes has come by the port for writing: does it read as well? */
static bool gets_too(const struct store_order *o)
{
    struct store_bundle b;
    bool gets = false;
    if (o->op != STORE_OP_TXN || store_order_reads(o) ||
        !store_bundle_decode(o->value, o->value_length, &o->name, &b)) {
        return false;
    }
    for (unsigned i = 0; i < b.steps; i++) {
        gets = gets || b.step[i].op == CW_STORE_GET;
    }
    return gets;
}

/*
 * A job asks about its own names, and by the port that its privilege is for: so what both reads and writes it does not
 * ask at all. The store's own asker names any job.
 */
static bool is_allowed(const struct store_order *o, const struct store_caller *from)
{
    return (from->job == STORE_JOB || !gets_too(o)) && (from->job == STORE_JOB || from->job == o->name.job) &&
           from->port == (unsigned)(store_order_reads(o) ? STORE_PORT_READ : STORE_PORT_WRITE);
}

void store_member_ask(struct store *s, const uint8_t *bytes, size_t size, const struct store_caller *from)
{
    struct store_ask ask;
    if (!store_ask_decode(bytes, size, &ask)) {
        note_malformed(s, size, STORE_ASK_HEAD);
        return;
    }
    if (!is_allowed(&ask.order, from)) {
        store_note(s, STORE_COUNT_DENIED);
        store_serve_refuse(s, &from->right, STORE_ANSWER_DONE, CW_STORE_DENIED, CW_SERVER_NONE, 0);
        return;
    }
    struct store_shard *shard = store_shard_find(s, store_order_shard(&s->torus, &ask.order));
    if (ask.class_id != s->of.id || shard == NULL || s->health != STORE_WELL || shard->role != STORE_ROLE_MEMBER) {
        note_strange(s, shard != NULL && shard->role == STORE_ROLE_MEMBER ? shard : NULL, ask.class_id, true);
        store_serve_refuse(s, &from->right, STORE_ANSWER_STRANGE, CW_STORE_OK, CW_SERVER_NONE, 0);
        return;
    }
    store_serve_take(s, shard, &ask, from);
}
