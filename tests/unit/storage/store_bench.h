/* SPDX-License-Identifier: Apache-2.0 */
/* store_bench.h - short ways to work with a store on a simulated disk, for the unit tests of storage/. */
#ifndef UNIT_STORE_BENCH_H
#define UNIT_STORE_BENCH_H

#include "storage/segments.h"
#include "store_oracle.h"
#include "suite.h"

#include <string.h>

struct store_bench {
    struct sim_disk *disk;
    struct oracle *o;
};

static inline struct store_bench bench_of(const struct storage_config *config)
{
    struct store_bench b = {.disk = sim_disk_open(&(struct sim_disk_config){.seed = 1}), .o = oracle_new(config)};
    ck_assert_int_eq(oracle_open(b.o, b.disk), STORAGE_FORMATTED);
    oracle_settle(b.o);
    return b;
}

static inline void bench_close(struct store_bench *b)
{
    ck_assert_str_eq(b->o->wrong, "");
    oracle_end(b->o);
    sim_disk_close(b->disk);
    oracle_free(b->o);
}

/* One register of this size; or a drop of it. Returns as oracle_append(). */
static inline int bench_put(struct store_bench *b, uint8_t key, uint32_t size)
{
    struct oracle_batch batch = {.count = 1, .put = {{.key = key, .size = size}}};
    return oracle_append(b->o, &batch);
}

static inline int bench_drop(struct store_bench *b, uint8_t key)
{
    struct oracle_batch batch = {.count = 1, .put = {{.key = key, .drop = true}}};
    return oracle_append(b->o, &batch);
}

/* Everything appended is on the disk, and nothing is under way. */
static inline void bench_flush(struct store_bench *b)
{
    storage_flush(b->o->s);
    oracle_settle(b->o);
    ck_assert_uint_eq(b->o->acked, b->o->appended);
}

/* A put that must be on the disk afterwards, however often room must be waited for. */
static inline void bench_must_put(struct store_bench *b, uint8_t key, uint32_t size)
{
    for (int i = 0; i < 50; i++) {
        int rc = bench_put(b, key, size);
        bench_flush(b);
        if (rc > 0) {
            return;
        }
    }
    ck_abort_msg("no room for %u bytes", size);
}

/* The empty group that follows the last: time passes. */
static inline void bench_quiet(struct store_bench *b)
{
    storage_tick(b->o->s, (cw_time){1});
    storage_tick(b->o->s, cw_time_add((cw_time){1}, CW_SEC(1)));
    oracle_settle(b->o);
}

/* The power goes and comes back; what was not synced is lost. Returns how the store opened. */
static inline enum storage_opened_as bench_reopen(struct store_bench *b)
{
    static const uint8_t none[4096];
    oracle_end(b->o);
    sim_disk_crash(b->disk, none, SIM_DISK_KEEPS);
    enum storage_opened_as as = oracle_open(b->o, b->disk);
    if (as <= STORAGE_RENEWED) {
        oracle_settle(b->o);
    }
    return as;
}

static inline struct storage_status bench_status(const struct store_bench *b)
{
    struct storage_status status;
    storage_status(b->o->s, &status);
    return status;
}

static inline const struct key_slot *bench_slot(const struct store_bench *b, uint8_t key)
{
    cw_key k = {{0}};
    k.b[19] = key;
    return storage_find(b->o->s, 1, &k);
}

/* The name of the file in which the record, or with `value` the value, of a register lies. */
static inline void bench_file_of(const struct store_bench *b, uint8_t key, bool value, char *name)
{
    const struct key_slot *slot = bench_slot(b, key);
    segments_name(!value, value ? slot->value.segment : slot->record.segment, name);
}

#endif
