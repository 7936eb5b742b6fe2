/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/entry/learner.h"

#include "base/bytes.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/genesis.h"
#include "services/store/members.h"

#include <stdlib.h>

/* Can this server be a member of that class? It is of it from now on. */
static bool joins(struct store *s, const struct store_class *of)
{
    if (s->of.id != 0 && s->of.id != of->id) {
        return false;
    }
    if (s->health != STORE_WELL || (of->disk && !store_durable_ready(s))) {
        return false;
    }
    const struct store_word record = {.kind = STORE_WORD_RECORD, .of = *of};
    if (!s->joined && store_genesis_take(s, &record) == 0) {
        store_durable_class(s, &record);
    }
    return s->joined;
}

void store_learner_begin(struct store *s, const struct store_item *item, struct store_reply *reply, uint8_t *bytes)
{
    struct store_lesson lesson;
    reply->why = STORE_REPLY_STRANGE;
    if (!store_lesson_decode(item, &lesson) || lesson.config.epoch != store_ballot_epoch(item->ballot)) {
        store_note(s, STORE_COUNT_MALFORMED);
        return;
    }
    if (!joins(s, &lesson.of) || (item->store_id != 0 && item->store_id != s->store_id)) {
        return;
    }
    struct store_shard *shard = store_members_shard(s, item->shard);
    if (shard == NULL) {
        return;
    }
    if (lesson.config.epoch < shard->config.epoch) {
        reply->why = STORE_REPLY_EPOCH;
        reply->length = store_config_encode(&shard->config, bytes);
        return;
    }
    if (shard->role == STORE_ROLE_MEMBER) {
        return;
    }
    struct store_acceptor *a = &shard->acceptor;
    bool was = shard->role == STORE_ROLE_LEARNER && shard->config.epoch == lesson.config.epoch;
    if (!store_acceptor_prepare(a, item->ballot)) {
        reply->why = STORE_REPLY_PROMISED;
        reply->promised = a->promised;
        return;
    }
    store_members_learn(s, shard, &lesson.config);
    was = was && a->n_max >= lesson.n;
    a->n_max = lesson.n > a->n_max ? lesson.n : a->n_max;
    if (was) {
        store_durable_promise(s, shard);
    } else {
        store_durable_shard(s, shard);
    }
    put_be64(bytes, s->store_id);
    reply->why = STORE_REPLY_YES;
    reply->length = 8;
    reply->promised = a->promised;
}

bool store_learner_heeds(const struct store_shard *shard, struct store_ballot ballot)
{
    return shard->role == STORE_ROLE_LEARNER && store_acceptor_confirm(&shard->acceptor, ballot);
}

static int give(struct store *s, struct store_shard *shard, const struct store_item *item, struct store_parcel *parcel)
{
    struct store_acceptor *a = &shard->acceptor;
    struct store_register *r = store_register_decode(item->bytes, item->length);
    if (r == NULL) {
        return -1;
    }
    if (!store_durable_has_room(s, r)) {
        free(r);
        return -1;
    }
    a->n_max = r->tag.n > a->n_max ? r->tag.n : a->n_max;
    int rc = store_table_put(&a->table, r);
    if (rc < 0) {
        free(r);
        return rc;
    }
    const struct store_name name = store_register_name(r);
    store_durable_register(s, shard, &name, parcel, STORE_PARCEL_ITEM);
    return 0;
}

void store_learner_item(struct store *s, struct store_shard *shard, const struct store_item *item,
                        struct store_parcel *parcel, struct store_reply *reply)
{
    struct store_table *t = &shard->acceptor.table;
    size_t bytes = t->bytes, registers = t->registers;
    if (!store_learner_heeds(shard, item->ballot)) {
        reply->why = STORE_REPLY_PROMISED;
        return;
    }
    if (item->kind == STORE_ITEM_GIVE) {
        reply->why = give(s, shard, item, parcel) < 0 ? STORE_REPLY_MEMORY : STORE_REPLY_YES;
    } else if (store_table_drop(t, &item->name)) {
        store_durable_drop(s, &item->name);
    }
    store_count_registers(s, shard, bytes, registers);
}
