/* SPDX-License-Identifier: Apache-2.0 */
#include "store_oracle.h"

#include "base/bytes.h"
#include "base/prng.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void wrong(struct oracle *o, const char *format, ...)
{
    if (o->wrong[0] == '\0') {
        va_list args;
        va_start(args, format);
        vsnprintf(o->wrong, sizeof o->wrong, format, args);
        va_end(args);
    }
}

struct storage_config oracle_config(void)
{
    struct storage_config c = storage_config_default();
    c.class_id = 77;
    c.fresh_id = 1000;
    c.block = DISK_SECTOR;
    c.meta_segment = 12 * DISK_SECTOR;
    c.blob_segment = 16 * DISK_SECTOR;
    c.group_max = 6 * DISK_SECTOR;
    c.inline_max = 300;
    c.checkpoint_every = 24 * DISK_SECTOR;
    return c;
}

struct oracle *oracle_new(const struct storage_config *config)
{
    struct oracle *o = calloc(1, sizeof *o);
    if (o == NULL) {
        abort();
    }
    o->config = *config;
    return o;
}

static void free_values(struct oracle *o, uint32_t n)
{
    for (unsigned i = 0; i < ORACLE_PUTS; i++) {
        free(o->values[n - 1][i]);
        o->values[n - 1][i] = NULL;
    }
}

void oracle_end(struct oracle *o)
{
    if (o->s == NULL) {
        return;
    }
    sim_disk_kill(o->disk);
    storage_close(o->s);
    o->s = NULL;
    for (uint32_t n = 1; n <= o->appended; n++) {
        free_values(o, n);
    }
}

void oracle_free(struct oracle *o)
{
    oracle_end(o);
    free(o);
}

void oracle_copy(struct oracle *o, const struct oracle *from)
{
    o->config = from->config;
    memcpy(o->batch, from->batch, from->appended * sizeof *o->batch);
    o->appended = from->appended;
    o->acked = from->acked;
    o->lives = from->lives;
    o->wrong[0] = '\0';
}

static void fill(uint8_t *out, uint32_t size, uint32_t life, uint32_t n, unsigned put)
{
    uint64_t seed = prng_mix((uint64_t)life << 32 | n, put);
    for (uint32_t i = 0; i < size; i += 8) {
        uint64_t word = prng_mix(seed, i);
        memcpy(out + i, &word, size - i < 8 ? size - i : 8);
    }
}

static uint8_t *value_of(const struct oracle_batch *b, uint32_t n, unsigned put)
{
    uint8_t *value = malloc(b->put[put].size + 1);
    if (value == NULL) {
        abort();
    }
    fill(value, b->put[put].size, b->life, n, put);
    return value;
}

static cw_key key_of(unsigned key)
{
    cw_key k = {{0}};
    k.b[19] = (uint8_t)key;
    return k;
}

static void opened(void *arg, const struct storage_opened *how)
{
    struct oracle *o = arg;
    o->how = *how;
    o->opened = true;
}

static void appended(void *arg, uint64_t ticket, int result, uint64_t position)
{
    struct oracle *o = arg;
    (void)position;
    free_values(o, (uint32_t)ticket);
    o->failed = o->failed || result != 0;
    if (result == 0) {
        if (ticket != o->acked + 1 || o->failed) {
            wrong(o, "order: batch %u is told after batch %u", (unsigned)ticket, o->acked);
        }
        o->acked = (uint32_t)ticket;
    }
}

/* The last put of a key among the first m batches; false: it is not there. */
static bool expected(const struct oracle *o, uint32_t m, unsigned key, uint32_t *batch, unsigned *put)
{
    for (uint32_t n = m; n > 0; n--) {
        const struct oracle_batch *b = &o->batch[n - 1];
        for (unsigned i = b->count; i-- > 0;) {
            if (b->put[i].key == key) {
                *batch = n;
                *put = i;
                return !b->put[i].drop;
            }
        }
    }
    return false;
}

/* Is this the value that put number `put` of batch n wrote? */
static bool is_value(const struct oracle *o, uint32_t n, unsigned put, const void *bytes, uint32_t size)
{
    const struct oracle_batch *b = &o->batch[n - 1];
    if (b->put[put].drop || b->put[put].size != size) {
        return false;
    }
    uint8_t *value = value_of(b, n, put);
    bool same = memcmp(value, bytes, size) == 0;
    free(value);
    return same;
}

static void read_told(void *arg, uint64_t ticket, int result, const struct log_record *r)
{
    struct oracle *o = arg;
    unsigned key = (unsigned)(ticket % ORACLE_KEYS);
    o->reading[key].told = true;
    o->reading[key].result = result;
    if (result != 0) {
        return;
    }
    if (o->judges_sums_only) {
        if (storage_sum(r->value, r->value_size) != r->value_sum) {
            wrong(o, "bytes: register %u was given out with another checksum", key);
        }
        return;
    }
    uint32_t n = r->note_size == 8 ? (uint32_t)get_be64(r->note) : 0;
    unsigned put = n >> 24;
    n &= 0xffffff;
    if (n == 0 || n > o->appended || put >= o->batch[n - 1].count || o->batch[n - 1].put[put].key != key ||
        !is_value(o, n, put, r->value, r->value_size)) {
        wrong(o, "bytes: register %u was given out with bytes that nobody wrote", key);
    }
}

static void room(void *arg)
{
    ((struct oracle *)arg)->room = true;
}

static void stopped(void *arg, int result)
{
    struct oracle *o = arg;
    o->stopped = true;
    o->stop_result = result;
}

static void damaged(void *arg, uint8_t kind, const cw_key *key)
{
    (void)kind;
    (void)key;
    ((struct oracle *)arg)->damaged++;
}

enum storage_opened_as oracle_open(struct oracle *o, struct sim_disk *disk)
{
    struct storage_events events = {o, opened, appended, read_told, room, stopped, damaged};
    o->disk = disk;
    o->opened = o->stopped = o->room = o->failed = false;
    o->damaged = 0;
    o->lives++;
    o->config.fresh_id++;
    if (storage_open(&o->s, &o->config, &events, sim_disk_face(disk)) != 0) {
        abort();
    }
    while (!o->opened && sim_disk_step(disk)) {
    }
    if (!o->opened) {
        wrong(o, "liveness: the opening does not end");
        return STORAGE_FAILED;
    }
    return o->how.as;
}

void oracle_settle(struct oracle *o)
{
    while (sim_disk_step(o->disk)) {
    }
}

int oracle_append(struct oracle *o, const struct oracle_batch *batch)
{
    struct storage_put puts[ORACLE_PUTS];
    uint8_t notes[ORACLE_PUTS][8], names[ORACLE_PUTS][2];
    uint32_t n = o->appended + 1;
    if (n > ORACLE_BATCHES) {
        return -1;
    }
    o->batch[n - 1] = *batch;
    o->batch[n - 1].life = o->lives;
    for (unsigned i = 0; i < batch->count; i++) {
        unsigned key = batch->put[i].key;
        put_be64(notes[i], (uint64_t)i << 24 | n);
        names[i][0] = 'n';
        names[i][1] = (uint8_t)('a' + key);
        o->values[n - 1][i] = value_of(&o->batch[n - 1], n, i);
        puts[i] = (struct storage_put){.kind = 1,
                                       .drop = batch->put[i].drop,
                                       .key = key_of(key),
                                       .space = 5,
                                       .note = notes[i],
                                       .note_size = 8,
                                       .name = names[i],
                                       .name_size = key % 2 == 0 ? 2 : 0,
                                       .value = o->values[n - 1][i],
                                       .value_size = batch->put[i].size,
                                       .value_sum = storage_sum(o->values[n - 1][i], batch->put[i].size)};
    }
    int rc = storage_append(o->s, puts, batch->count, n);
    if (rc != 0) {
        free_values(o, n);
        return rc;
    }
    o->appended = n;
    return (int)n;
}

/* Does the index say what stands there after m batches? Told by lengths and sums, which follow from the batch. */
static bool index_is(const struct oracle *o, uint32_t m)
{
    uint64_t count = 0, at = 0;
    for (unsigned key = 0; key < ORACLE_KEYS; key++) {
        cw_key k = key_of(key);
        const struct key_slot *slot = storage_find(o->s, 1, &k);
        uint32_t n;
        unsigned put;
        bool there = expected(o, m, key, &n, &put);
        if (there != (slot != NULL)) {
            return false;
        }
        if (there) {
            uint32_t size = o->batch[n - 1].put[put].size;
            uint8_t *value = value_of(&o->batch[n - 1], n, put);
            bool same = slot->value.length == size && slot->value_sum == storage_sum(value, size);
            free(value);
            count++;
            if (!same) {
                return false;
            }
        }
    }
    while (storage_next(o->s, &at) != NULL) {
        count--;
    }
    return count == 0;
}

static void judge_names(struct oracle *o, uint32_t m)
{
    struct storage_name found = {.size = 0};
    uint8_t last[LOG_NAME_MAX] = {0};
    bool behind = false;
    uint32_t size = 0;
    for (unsigned key = 0; key < ORACLE_KEYS; key += 2) {
        uint32_t n;
        unsigned put;
        if (!expected(o, m, key, &n, &put)) {
            continue;
        }
        uint8_t name[2] = {'n', (uint8_t)('a' + key)};
        if (!storage_name(o->s, 5, last, size, behind, &found) || found.size != 2 || memcmp(found.name, name, 2) != 0 ||
            found.key.b[19] != key) {
            wrong(o, "names: that of register %u is not listed", key);
            return;
        }
        memcpy(last, name, 2);
        size = 2;
        behind = true;
    }
    if (storage_name(o->s, 5, last, size, behind, &found)) {
        wrong(o, "names: one is listed whose register is gone");
    }
}

static void judge_bytes(struct oracle *o, bool may_break)
{
    for (unsigned key = 0; key < ORACLE_KEYS; key++) {
        cw_key k = key_of(key);
        o->reading[key].told = false;
        if (storage_find(o->s, 1, &k) == NULL) {
            continue;
        }
        if (storage_read(o->s, 1, &k, key) != 0) {
            abort();
        }
        while (!o->reading[key].told && sim_disk_step(o->disk)) {
        }
        if (!o->reading[key].told || (o->reading[key].result != 0 && !may_break)) {
            wrong(o, "bytes: register %u cannot be read: %d", key, o->reading[key].result);
        }
    }
}

void oracle_judge(struct oracle *o, bool exact, bool values_may_break)
{
    uint32_t m = o->acked;
    while (!index_is(o, m)) {
        if (exact || m == o->appended) {
            wrong(o, "%s: not what %u to %u batches leave (life %u)", exact ? "shown" : "lost", o->acked,
                  exact ? o->acked : o->appended, o->lives);
            return;
        }
        m++;
    }
    judge_names(o, m);
    if (!exact) {
        o->appended = o->acked = m;
    }
    judge_bytes(o, values_may_break);
}

void oracle_judge_warm(struct oracle *o)
{
    uint64_t at = 0;
    const struct key_slot *slot;
    while ((slot = storage_next(o->s, &at)) != NULL) {
        if ((slot->flags & KEY_WARM) == 0 && !o->judges_sums_only) {
            wrong(o, "warm: register %u answers although the store id is new", slot->key.b[19]);
        }
    }
    judge_bytes(o, true);
}
