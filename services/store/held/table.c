/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/table.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Registers --------------------------------------------------------------------------------------------------- */

struct store_register *store_register_new(const struct store_name *name, size_t value_length)
{
    struct store_register *r = malloc(sizeof *r + name->length + value_length);
    if (r == NULL) {
        return NULL;
    }
    memset(r, 0, sizeof *r); /* the value, which may be long, is written once */
    r->job = name->job;
    r->name_length = (uint16_t)name->length;
    r->value_length = (uint32_t)value_length;
    memcpy(r->bytes, name->bytes, name->length);
    return r;
}

size_t store_register_bytes(const struct store_register *r)
{
    return sizeof *r + r->name_length + r->value_length;
}

bool store_name_equal(const struct store_name *a, const struct store_name *b)
{
    return a->job == b->job && a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static struct siphash_tag hash_name(const struct store_table *t, const struct store_name *name)
{
    uint8_t bytes[4 + CW_STORE_NAME_MAX];
    put_be32(bytes, name->job);
    memcpy(bytes + 4, name->bytes, name->length);
    return siphash(&t->key, bytes, 4 + name->length);
}

static struct siphash_tag hash_register(const struct store_table *t, const struct store_register *r)
{
    const uint64_t words[] = {r->hash.word[0], r->hash.word[1], r->tag.ballot.high, r->tag.ballot.low, r->tag.n};
    uint8_t bytes[sizeof words];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        put_be64(bytes + 8 * i, words[i]);
    }
    return siphash(&t->key, bytes, sizeof bytes);
}

static unsigned __int128 whole(const uint64_t word[2])
{
    return (unsigned __int128)word[1] << 64 | word[0];
}

static void set_sum(struct store_sum *s, unsigned __int128 n)
{
    *s = (struct store_sum){{(uint64_t)n, (uint64_t)(n >> 64)}};
}

static void add(struct store_table *t, struct store_bucket *b, const struct store_register *r)
{
    struct siphash_tag h = hash_register(t, r);
    set_sum(&b->sum, whole(b->sum.word) + whole(h.word));
    t->bytes += store_register_bytes(r);
    if (t->tally != NULL && !r->deleted && r->job != STORE_INTENT_JOB) {
        store_tally_add(t->tally, r->job, (uint64_t)r->name_length + r->value_length);
    }
}

static void take_from_tally(struct store_table *t, const struct store_register *r)
{
    if (t->tally != NULL && !r->deleted && r->job != STORE_INTENT_JOB) {
        store_tally_take(t->tally, r->job, (uint64_t)r->name_length + r->value_length);
    }
}

static void subtract(struct store_table *t, struct store_bucket *b, const struct store_register *r)
{
    struct siphash_tag h = hash_register(t, r);
    set_sum(&b->sum, whole(b->sum.word) - whole(h.word));
    t->bytes -= store_register_bytes(r);
    take_from_tally(t, r);
}

struct store_sum store_table_sum(const struct store_table *t, unsigned bucket)
{
    return t->bucket != NULL ? t->bucket[bucket].sum : (struct store_sum){{0, 0}};
}

struct store_sum store_table_root(const struct store_table *t)
{
    unsigned __int128 n = 0;
    struct store_sum sum;
    for (unsigned i = 0; i < STORE_BUCKETS; i++) {
        struct store_sum of = store_table_sum(t, i);
        n += whole(of.word);
    }
    set_sum(&sum, n);
    return sum;
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

void store_table_open(struct store_table *t, uint64_t class_id)
{
    *t = (struct store_table){.key = {{class_id, ~class_id}}};
}

void store_table_close(struct store_table *t)
{
    for (unsigned i = 0; t->bucket != NULL && i < STORE_BUCKETS; i++) {
        struct store_register *r = t->bucket[i].first;
        while (r != NULL) {
            struct store_register *next = r->next;
            take_from_tally(t, r);
            free(r);
            r = next;
        }
    }
    free(t->bucket);
    t->bucket = NULL;
    t->registers = 0;
    t->bytes = 0;
}

static unsigned bucket_of(struct siphash_tag hash)
{
    return (unsigned)(hash.word[0] >> 56);
}

unsigned store_table_bucket(const struct store_table *t, const struct store_name *name)
{
    return bucket_of(hash_name(t, name));
}

/* Where the register of that name hangs; where it would, at the end, when there is none. */
static struct store_register **place(const struct store_table *t, struct siphash_tag hash,
                                     const struct store_name *name)
{
    struct store_register **at = &t->bucket[bucket_of(hash)].first;
    for (; *at != NULL; at = &(*at)->next) {
        struct store_name its = store_register_name(*at);
        if ((*at)->hash.word[0] == hash.word[0] && (*at)->hash.word[1] == hash.word[1] &&
            store_name_equal(&its, name)) {
            break;
        }
    }
    return at;
}

struct store_register *store_table_find(const struct store_table *t, const struct store_name *name)
{
    return t->bucket != NULL ? *place(t, hash_name(t, name), name) : NULL;
}

int store_table_put(struct store_table *t, struct store_register *r)
{
    if (t->bucket == NULL) {
        t->bucket = calloc(STORE_BUCKETS, sizeof *t->bucket);
        if (t->bucket == NULL) {
            return -ENOMEM;
        }
    }
    struct store_name name = store_register_name(r);
    r->hash = hash_name(t, &name);
    struct store_bucket *b = &t->bucket[bucket_of(r->hash)];
    struct store_register **at = place(t, r->hash, &name), *before = *at;
    r->next = NULL;
    if (before != NULL) {
        subtract(t, b, before);
        r->next = before->next;
        free(before);
    } else {
        b->count++;
        t->registers++;
    }
    *at = r;
    add(t, b, r);
    return 0;
}

bool store_table_drop(struct store_table *t, const struct store_name *name)
{
    if (t->bucket == NULL) {
        return false;
    }
    struct siphash_tag hash = hash_name(t, name);
    struct store_register **at = place(t, hash, name), *r = *at;
    if (r == NULL) {
        return false;
    }
    struct store_bucket *b = &t->bucket[bucket_of(hash)];
    subtract(t, b, r);
    b->count--;
    t->registers--;
    *at = r->next;
    free(r);
    return true;
}

struct store_register *store_table_at(const struct store_table *t, unsigned bucket, uint32_t i)
{
    struct store_register *r = t->bucket != NULL ? t->bucket[bucket].first : NULL;
    for (; r != NULL && i > 0; i--) {
        r = r->next;
    }
    return r;
}
