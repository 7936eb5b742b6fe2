/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/found.h"

#include "base/bytes.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/genesis.h"
#include "services/store/members.h"

#include <stdlib.h>
#include <string.h>

cw_key store_found_key(uint64_t number)
{
    cw_key key = {.b = {0}};
    put_be64(key.b, number);
    return key;
}

/*
 * A shard's record: version:8 shard:32 promised:128 n:64, in version 2 also role:8, bytes of the config:16, the config
 * and the seal. In version 1, which knew of no others, the members are the first ones.
 */
enum { SHARD_HEAD = 28, SHARD_AT_CONFIG = 32 };

size_t store_found_shard(const struct store_shard *shard, uint8_t out[static STORE_FOUND_SHARD_MOST])
{
    const struct store_acceptor *a = &shard->acceptor;
    size_t size = store_config_size(&shard->config);
    out[0] = STORE_FOUND_VERSION + 1;
    put_be32(out + 1, shard->number);
    put_be64(out + 5, a->promised.high);
    put_be64(out + 13, a->promised.low);
    put_be64(out + 21, a->n_max);
    out[29] = (uint8_t)shard->role;
    put_be16(out + 30, (uint16_t)size);
    size_t at = SHARD_AT_CONFIG + store_config_encode(&shard->config, out + SHARD_AT_CONFIG);
    return at + store_seal_encode(&shard->seal, out + at);
}

/* Words are as they were in that version of the wire, though other messages are not: a folder outlives both. */
enum { WORDS_SINCE = 2 };

/* These give false for a record that they cannot read, or have no memory for. */
static bool found_class(struct store *s, const uint8_t *bytes, size_t size)
{
    uint8_t now[STORE_WORD_HEAD + STORE_ENTRIES_MOST * STORE_ENTRY_BYTES];
    struct store_word w;
    if (size == 0 || size > sizeof now || bytes[0] < WORDS_SINCE || bytes[0] > STORE_WIRE_VERSION) {
        return false;
    }
    memcpy(now, bytes, size);
    now[0] = STORE_WIRE_VERSION;
    if (!store_word_decode(now, size, &w)) {
        return false;
    }
    return !w.of.disk || s->of.id != 0 || store_genesis_take(s, &w) == 0;
}

static bool found_members(struct store *s, struct store_shard *shard, const uint8_t *bytes, size_t size)
{
    size_t length = size >= SHARD_AT_CONFIG ? get_be16(bytes + 30) : SIZE_MAX;
    struct store_config config;
    struct store_seal seal;
    if (length > size - SHARD_AT_CONFIG || bytes[29] > STORE_ROLE_LEFT ||
        !store_config_decode(bytes + SHARD_AT_CONFIG, length, &config) ||
        !store_seal_decode(bytes + SHARD_AT_CONFIG + length, size - SHARD_AT_CONFIG - length, &seal)) {
        return false;
    }
    unsigned me = store_config_place(&config, s->self);
    shard->config = config;
    shard->seal = seal;
    shard->role = (enum store_role)bytes[29];
    shard->me = me < config.count ? (uint8_t)me : 0;
    store_members_note(s, &config);
    return true;
}

static bool found_shard(struct store *s, const uint8_t *bytes, size_t size)
{
    if (s->of.id == 0) {
        return true; /* of a class that this server was never told all of */
    }
    struct store_shard *shard = size > SHARD_HEAD ? store_members_shard(s, get_be32(bytes + 1)) : NULL;
    if (shard == NULL || (bytes[0] != STORE_FOUND_VERSION && !found_members(s, shard, bytes, size))) {
        return false;
    }
    shard->acceptor.promised = (struct store_ballot){get_be64(bytes + 5), get_be64(bytes + 13)};
    shard->acceptor.n_max = get_be64(bytes + 21);
    return true;
}

/* Whoever accepted a register had promised its ballot. */
static bool found_register(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_register *r = store_register_decode(bytes, size);
    if (r == NULL) {
        return false;
    }
    struct store_name name = store_register_name(r);
    cw_key key = store_places_key(&name);
    struct store_shard *shard = store_shard_find(s, store_places_shard(&s->torus, &key));
    if (shard == NULL || shard->role == STORE_ROLE_LEFT) {
        free(r);
        return true;
    }
    store_members_unseal(shard, r->tag.ballot);
    struct store_acceptor *a = &shard->acceptor;
    size_t before = a->table.bytes, registers = a->table.registers;
    a->promised = store_ballot_compare(r->tag.ballot, a->promised) > 0 ? r->tag.ballot : a->promised;
    bool kept = store_acceptor_adopt(a, r) == 1;
    store_count_registers(s, shard, before, registers);
    return kept;
}

/*
 * The log's sums are right: what cannot be read is of a later release, or there is no memory for it. A member that went
 * on without it would have forgotten what it acknowledged, and vote (store rule 21): so it does not vote at all.
 */
void store_found(void *arg, uint8_t kind, const uint8_t *value, size_t size)
{
    struct store *s = arg;
    bool good = false;
    if (size > 1 && kind == STORE_FOUND_SHARD && value[0] <= STORE_FOUND_VERSION + 1) {
        good = found_shard(s, value, size);
    } else if (size > 1 && kind != STORE_FOUND_SHARD && value[0] == STORE_FOUND_VERSION) {
        good = (kind == STORE_FOUND_CLASS ? found_class : found_register)(s, value + 1, size - 1);
    }
    s->found_strange += !good;
}

/* ---- What rots --------------------------------------------------------------------------------------------------- */

enum { LOOK_MOST = 1024 }; /* registers whose keys are computed in one upcall */

/* Everything is in memory as well: what rots on the disk is written again. */
static void write_if_sought(struct store *s, struct store_shard *shard, const struct store_register *r)
{
    struct store_damage *d = &s->damage;
    const struct store_name name = store_register_name(r);
    const cw_key its = store_places_record(&name);
    for (unsigned i = 0; i < d->sought; i++) {
        if (memcmp(its.b, d->key[i].b, sizeof its.b) == 0) {
            store_durable_register(s, shard, &name, NULL, 0);
            d->key[i] = d->key[--d->sought];
            d->key[d->sought] = d->key[--d->count];
            return;
        }
    }
}

/* The first shard from that number on that holds anything; NULL: there is none. */
static struct store_shard *holder(const struct store *s, uint32_t number)
{
    for (unsigned i = 0; i < s->shards; i++) {
        if (s->shard[i]->number >= number && s->shard[i]->acceptor.table.bucket != NULL) {
            return s->shard[i];
        }
    }
    return NULL;
}

/* Looks at some registers more. False: that was all. */
static bool look(struct store *s)
{
    struct store_damage *d = &s->damage;
    unsigned looked = 0;
    struct store_shard *shard;
    while (d->sought > 0 && (shard = holder(s, d->shard)) != NULL) {
        d->bucket = shard->number == d->shard ? d->bucket : 0;
        d->at = shard->number == d->shard ? d->at : 0;
        d->shard = shard->number;
        for (; d->bucket < STORE_BUCKETS; d->bucket++, d->at = 0) {
            const struct store_register *r = store_table_at(&shard->acceptor.table, d->bucket, d->at);
            for (; r != NULL && looked < LOOK_MOST; r = r->next, d->at++, looked++) {
                write_if_sought(s, shard, r);
            }
            if (r != NULL) {
                return true;
            }
        }
        d->shard++;
        d->bucket = 0;
    }
    return false;
}

/* At the end, what was not found is not held any more; what was damaged meanwhile is looked for from the beginning. */
static void walk(cw_svc *svc, void *state, void *arg)
{
    struct store *s = state;
    struct store_damage *d = &s->damage;
    (void)arg;
    d->timer = NULL;
    if (!look(s)) {
        d->count -= d->sought;
        memmove(d->key, d->key + d->sought, d->count * sizeof *d->key);
        d->sought = d->count;
        d->shard = 0;
        d->bucket = 0;
        d->at = 0;
    }
    if (d->sought > 0) {
        d->timer = cw_timer_start(svc, CW_NS(0), walk, NULL);
    }
}

/* The key says neither the name nor the shard. Where there are too many of them the next scrub finds the rest. */
static void seek(struct store *s, const cw_key *key)
{
    struct store_damage *d = &s->damage;
    for (unsigned i = 0; i < d->count; i++) {
        if (memcmp(d->key[i].b, key->b, sizeof key->b) == 0) {
            return;
        }
    }
    if (d->count < STORE_DAMAGED_MOST) {
        d->key[d->count++] = *key;
    }
    if (d->timer == NULL) {
        d->sought = d->count;
        d->timer = cw_timer_start(s->svc, CW_NS(0), walk, NULL);
    }
}

void store_found_damaged(void *arg, uint8_t kind, const cw_key *key)
{
    struct store *s = arg;
    if (kind == STORE_FOUND_REGISTER) {
        seek(s, key);
    }
    for (unsigned i = 0; i < s->shards && kind == STORE_FOUND_SHARD; i++) {
        cw_key its = store_found_key(s->shard[i]->number);
        if (memcmp(its.b, key->b, sizeof its.b) == 0) {
            store_durable_shard(s, s->shard[i]);
        }
    }
}
