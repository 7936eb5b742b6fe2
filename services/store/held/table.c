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
    t->intents += r->job == STORE_INTENT_JOB;
    t->ttls += r->ttl_ms != 0;
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
    t->intents -= r->job == STORE_INTENT_JOB;
    t->ttls -= r->ttl_ms != 0;
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
        free(t->bucket[i].slot);
    }
    free(t->bucket);
    t->bucket = NULL;
    t->registers = 0;
    t->bytes = 0;
    t->intents = 0;
    t->ttls = 0;
}

static unsigned bucket_of(struct siphash_tag hash)
{
    return (unsigned)(hash.word[0] >> 56);
}

unsigned store_table_bucket(const struct store_table *t, const struct store_name *name)
{
    return bucket_of(hash_name(t, name));
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* So many registers are looked through one after another; with more there is a slot for each two at least. */
enum { SLOTS_LEAST = 16, FILL_MOST = 2 };

static struct store_register **slot_of(const struct store_bucket *b, const struct store_register *r)
{
    return &b->slot[r->hash.word[1] & (b->slots - 1)];
}

static void hang(const struct store_bucket *b, struct store_register *r)
{
    if (b->slots > 0) {
        struct store_register **slot = slot_of(b, r);
        r->same = *slot;
        *slot = r;
    }
}

static void unhang(const struct store_bucket *b, const struct store_register *r)
{
    if (b->slots > 0) {
        struct store_register **at = slot_of(b, r);
        while (*at != r) {
            at = &(*at)->same;
        }
        *at = r->same;
    }
}

/* Without memory it stays as it is: registers are found all the same, and later. */
static void grow(struct store_bucket *b)
{
    uint32_t slots = b->slots > 0 ? 2 * b->slots : SLOTS_LEAST;
    struct store_register **more =
        b->count > FILL_MOST * b->slots && b->count > SLOTS_LEAST ? calloc(slots, sizeof *more) : NULL;
    if (more == NULL) {
        return;
    }
    free(b->slot);
    b->slot = more;
    b->slots = slots;
    for (struct store_register *r = b->first; r != NULL; r = r->next) {
        hang(b, r);
    }
}

static bool is_named(const struct store_register *r, struct siphash_tag hash, const struct store_name *name)
{
    struct store_name its = store_register_name(r);
    return r->hash.word[0] == hash.word[0] && r->hash.word[1] == hash.word[1] && store_name_equal(&its, name);
}

static struct store_register *find(const struct store_bucket *b, struct siphash_tag hash, const struct store_name *name)
{
    const bool slots = b->slots > 0;
    struct store_register *r = slots ? b->slot[hash.word[1] & (b->slots - 1)] : b->first;
    while (r != NULL && !is_named(r, hash, name)) {
        r = slots ? r->same : r->next;
    }
    return r;
}

struct store_register *store_table_find(const struct store_table *t, const struct store_name *name)
{
    if (t->bucket == NULL) {
        return NULL;
    }
    struct siphash_tag hash = hash_name(t, name);
    return find(&t->bucket[bucket_of(hash)], hash, name);
}

/* ---- Putting ----------------------------------------------------------------------------------------------------- */

/* r stands between these two; NULL: it is the first, or the last. */
static void join(struct store_bucket *b, struct store_register *before, struct store_register *r,
                 struct store_register *next)
{
    r->before = before;
    r->next = next;
    *(before != NULL ? &before->next : &b->first) = r;
    *(next != NULL ? &next->before : &b->last) = r;
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
    struct store_register *had = find(b, r->hash, &name);
    if (had != NULL) {
        subtract(t, b, had);
        unhang(b, had);
        join(b, had->before, r, had->next);
        free(had);
    } else {
        join(b, b->last, r, NULL);
        b->count++;
        t->registers++;
    }
    hang(b, r);
    add(t, b, r);
    grow(b);
    return 0;
}

bool store_table_drop(struct store_table *t, const struct store_name *name)
{
    struct store_register *r = store_table_find(t, name);
    if (r == NULL) {
        return false;
    }
    struct store_bucket *b = &t->bucket[bucket_of(r->hash)];
    subtract(t, b, r);
    unhang(b, r);
    *(r->before != NULL ? &r->before->next : &b->first) = r->next;
    *(r->next != NULL ? &r->next->before : &b->last) = r->before;
    b->count--;
    t->registers--;
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
