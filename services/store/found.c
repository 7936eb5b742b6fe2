/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/found.h"

#include "base/bytes.h"
#include "services/store/common.h"
#include "services/store/durable.h"
#include "services/store/genesis.h"

#include <stdlib.h>
#include <string.h>

cw_key store_found_key(uint64_t number)
{
    cw_key key = {.b = {0}};
    put_be64(key.b, number);
    return key;
}

void store_found_shard(const struct store_shard *shard, uint8_t out[static STORE_FOUND_SHARD])
{
    const struct store_acceptor *a = &shard->acceptor;
    out[0] = STORE_FOUND_VERSION;
    put_be32(out + 1, shard->number);
    put_be64(out + 5, a->promised.high);
    put_be64(out + 13, a->promised.low);
    put_be64(out + 21, a->n_max);
}

static void found_class(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_word w;
    if (store_word_decode(bytes, size, &w) && w.of.disk && s->of.id == 0) {
        (void)!store_genesis_take(s, &w); /* without memory this server is of no class */
    }
}

static void found_shard(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_shard *shard = size == STORE_FOUND_SHARD - 1 ? store_shard_find(s, get_be32(bytes)) : NULL;
    if (shard != NULL) {
        shard->acceptor.promised = (struct store_ballot){get_be64(bytes + 4), get_be64(bytes + 12)};
        shard->acceptor.n_max = get_be64(bytes + 20);
    }
}

/* Whoever accepted a register had promised its ballot. */
static void found_register(struct store *s, const uint8_t *bytes, size_t size)
{
    struct store_register *r = store_register_decode(bytes, size);
    if (r == NULL) {
        return;
    }
    struct store_name name = store_register_name(r);
    cw_key key = store_places_key(&name);
    struct store_shard *shard = store_shard_find(s, store_places_shard(&s->torus, &key));
    if (shard == NULL) {
        free(r);
        return;
    }
    struct store_acceptor *a = &shard->acceptor;
    size_t before = a->table.bytes, registers = a->table.registers;
    a->promised = store_ballot_compare(r->tag.ballot, a->promised) > 0 ? r->tag.ballot : a->promised;
    (void)!store_acceptor_adopt(a, r);
    store_count_registers(s, shard, before, registers);
}

void store_found(void *arg, uint8_t kind, const uint8_t *value, size_t size)
{
    static void (*const found[])(struct store *, const uint8_t *, size_t) = {[STORE_FOUND_CLASS] = found_class,
                                                                             [STORE_FOUND_SHARD_KIND] = found_shard,
                                                                             [STORE_FOUND_REGISTER] = found_register};
    if (size > 1 && value[0] == STORE_FOUND_VERSION) {
        found[kind](arg, value + 1, size - 1);
    }
}

/* Everything is in memory as well: what rots on the disk is written again. */
void store_found_damaged(void *arg, uint8_t kind, const cw_key *key)
{
    struct store *s = arg;
    for (unsigned i = 0; i < s->shards && kind == STORE_FOUND_REGISTER; i++) {
        const struct store_table *t = &s->shard[i].acceptor.table;
        for (unsigned b = 0; b < STORE_BUCKETS && t->bucket != NULL; b++) {
            for (const struct store_register *r = t->bucket[b].first; r != NULL; r = r->next) {
                struct store_name name = store_register_name(r);
                cw_key its = store_places_record(&name);
                if (memcmp(its.b, key->b, sizeof its.b) == 0) {
                    store_durable_register(s, &s->shard[i], &name);
                    return;
                }
            }
        }
    }
    for (unsigned i = 0; i < s->shards && kind == STORE_FOUND_SHARD_KIND; i++) {
        cw_key its = store_found_key(s->shard[i].number);
        if (memcmp(its.b, key->b, sizeof its.b) == 0) {
            s->shard[i].saved = (struct store_ballot){0, 0};
            store_durable_promise(s, &s->shard[i]);
        }
    }
}
