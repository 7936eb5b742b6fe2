/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_crash.c - a small workload, and then everything that can be tried is tried: the power goes after each order of
 * the disk, with every subset of the unsynced sectors (up to 2^SUBSETS_LOG, beyond that drawn ones), and with each
 * habit of file systems that ALICE found ("All File Systems Are Not Created Equal", OSDI 2014); each order fails in
 * turn; the last segment ends at every byte; every bit of the log is flipped. What must be found is
 * kit/model/store_oracle.h's business.
 *
 * CUBEWAY_SOAK=1 tries longer workloads, and sixteen times as many subsets.
 */
#include "base/prng.h"
#include "sanitized.h"
#include "store_bench.h"

#include <errno.h>

static bool soak(void)
{
    return getenv("CUBEWAY_SOAK") != NULL;
}

static unsigned subsets_log(void)
{
    return soak() ? 12 : SANITIZED ? 4 : 8;
}

/* One append of the workload; values of all kinds, drops, groups of several. */
static struct oracle_batch batch_of(struct prng *p)
{
    struct oracle_batch b = {.count = (uint8_t)(1 + prng_below(p, ORACLE_PUTS))};
    for (unsigned i = 0; i < b.count; i++) {
        bool drop = prng_chance(p, 1, 6), large = prng_chance(p, 1, 4);
        b.put[i].key = (uint8_t)prng_below(p, ORACLE_KEYS);
        b.put[i].drop = drop;
        b.put[i].size = drop ? 0 : (uint32_t)prng_below(p, large ? 1500 : 250);
    }
    return b;
}

static struct storage_config small_config(void)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = 10 * DISK_SECTOR;
    return c;
}

/* Called after each order of the workload's disk. */
typedef void (*after_order)(struct store_bench *b, void *arg);

static void workload(struct store_bench *b, uint64_t seed, unsigned appends, after_order after, void *arg)
{
    struct prng p = prng_stream(seed, 0, 0);
    for (unsigned i = 0; i < appends; i++) {
        struct oracle_batch batch = batch_of(&p);
        int rc = oracle_append(b->o, &batch);
        (void)rc; /* what is refused is not there */
        if (prng_chance(&p, 1, 2)) {
            storage_flush(b->o->s);
        }
        for (uint64_t n = prng_below(&p, 6); n > 0 && sim_disk_step(b->disk); n--) {
            if (after != NULL) {
                after(b, arg);
            }
        }
    }
    storage_flush(b->o->s);
    while (sim_disk_step(b->disk)) {
        if (after != NULL) {
            after(b, arg);
        }
    }
}

struct tries {
    uint64_t crashes, orders;
};

/* The power goes here; what is found must be a prefix, and the next life must work. */
static void try_crash(struct store_bench *b, const uint8_t *keep, unsigned habits, struct tries *t)
{
    struct sim_disk *copy = sim_disk_copy(b->disk);
    static struct oracle *o;
    if (o == NULL) {
        o = oracle_new(&b->o->config);
    }
    oracle_copy(o, b->o);
    sim_disk_crash(copy, keep, habits);
    enum storage_opened_as as = oracle_open(o, copy);
    if (as != STORAGE_RECOVERED && !(as == STORAGE_FORMATTED && b->o->acked == 0)) {
        ck_abort_msg("order %u: opened as %d: %s", (unsigned)t->orders, (int)as, o->how.why);
    }
    oracle_judge(o, false, false);
    if (o->wrong[0] != '\0') {
        ck_abort_msg("order %u: %s", (unsigned)t->orders, o->wrong);
    }
    oracle_end(o);
    sim_disk_close(copy);
    t->crashes++;
}

static void crash_in_all_ways(struct store_bench *b, void *arg)
{
    struct tries *t = arg;
    uint32_t unsynced = sim_disk_unsynced(b->disk);
    uint8_t keep[512] = {0};
    t->orders++;
    SUITE_HOLDS(unsynced <= 8 * sizeof keep);
    if (unsynced <= subsets_log()) {
        for (uint32_t set = 0; set < 1u << unsynced; set++) {
            keep[0] = (uint8_t)set;
            keep[1] = (uint8_t)(set >> 8);
            try_crash(b, keep, SIM_DISK_KEEPS, t);
        }
    } else {
        for (uint32_t n = 0; n < 1u << subsets_log() / 2; n++) {
            try_crash(b, NULL, SIM_DISK_KEEPS, t);
            (void)prng_next(&(struct prng){{n, 1, 2, 3}});
        }
    }
    for (unsigned habits = 1; habits < SIM_DISK_HABITS; habits++) {
        memset(keep, habits % 2 == 0 ? 0xff : 0, sizeof keep);
        try_crash(b, keep, habits, t);
    }
}

START_TEST(after_each_order_with_every_subset)
{
    struct tries t = {0, 0};
    for (uint64_t seed = 1; seed <= (soak() ? 20u : 2u); seed++) {
        struct storage_config c = small_config();
        struct store_bench b = bench_of(&c);
        workload(&b, seed, SANITIZED ? 20 : 60, crash_in_all_ways, &t);
        bench_close(&b);
    }
    printf("%lu orders, %lu losses of power\n", (unsigned long)t.orders, (unsigned long)t.crashes);
}
END_TEST

/* The n-th order of each kind fails, for every n: what was acknowledged stays, and the death is known afterwards. */
static void fail_each(unsigned kinds, int error)
{
    for (uint32_t n = 1;; n++) {
        struct storage_config c = small_config();
        struct store_bench b = bench_of(&c);
        sim_disk_fail_nth(b.disk, n, kinds, error);
        workload(&b, 7, 40, NULL, NULL);
        bool through = sim_disk_fail_pending(b.disk);
        sim_disk_fail_nth(b.disk, 0, 0, 0);
        bool dead = bench_status(&b).dead;
        ck_assert(!dead || !through);
        if (!dead) {
            oracle_judge(b.o, true, false);
        }
        oracle_end(b.o);
        sim_disk_crash(b.disk, NULL, SIM_DISK_KEEPS);
        enum storage_opened_as as = oracle_open(b.o, b.disk);
        ck_assert_int_eq(as, dead ? STORAGE_RENEWED : STORAGE_RECOVERED);
        oracle_judge(b.o, false, false); /* warm or not: what was acknowledged can be read */
        bench_close(&b);
        if (through) {
            break;
        }
    }
}

START_TEST(each_order_fails)
{
    fail_each(1u << DISK_WRITE, EIO);
    fail_each(1u << DISK_SYNC, EIO);
    fail_each(1u << DISK_WRITE, ENOSPC);
    fail_each(1u << DISK_ALLOCATE | 1u << DISK_OPEN, ENOSPC);
    fail_each(1u << DISK_READ, EIO);
    fail_each(1u << DISK_REMOVE, EIO);
}
END_TEST

/* A small log at rest. */
static struct store_bench small_log(void)
{
    struct storage_config c = small_config();
    c.checkpoint_every = UINT64_MAX;
    struct store_bench b = bench_of(&c);
    for (uint8_t i = 0; i < 14; i++) {
        bench_must_put(&b, i % 6, i % 5 == 0 ? 700 : 60);
    }
    storage_checkpoint(b.o->s);
    oracle_settle(b.o);
    for (uint8_t i = 0; i < 6; i++) {
        bench_must_put(&b, i % 4, 80);
    }
    bench_quiet(&b);
    oracle_end(b.o);
    return b;
}

/* Opens a copy that was damaged: right, or said to be damaged; never wrong. */
static void judge_damaged(const struct store_bench *b, struct sim_disk *copy, const char *what, uint64_t where)
{
    static struct oracle *o;
    if (o == NULL) {
        o = oracle_new(&b->o->config);
    }
    oracle_copy(o, b->o);
    enum storage_opened_as as = oracle_open(o, copy);
    if (as == STORAGE_RECOVERED) {
        oracle_judge(o, true, true);
    } else if (as == STORAGE_RENEWED) {
        oracle_judge_warm(o);
    } else if (as != STORAGE_FORMATTED) {
        ck_abort_msg("%s %lu: opened as %d", what, (unsigned long)where, (int)as);
    }
    if (o->wrong[0] != '\0') {
        ck_abort_msg("%s %lu: %s", what, (unsigned long)where, o->wrong);
    }
    oracle_end(o);
    sim_disk_close(copy);
}

START_TEST(every_bit_of_a_small_log)
{
    struct store_bench b = small_log();
    uint32_t step = soak() ? 1 : SANITIZED ? 997 : 7, at = 0;
    for (uint32_t i = 0; sim_disk_file(b.disk, i) != NULL; i++) {
        const struct disk_file *f = sim_disk_file(b.disk, i);
        for (uint64_t bit = at++ % step; bit < f->size * 8; bit += step) {
            uint8_t byte;
            sim_disk_peek(b.disk, f->name, bit / 8, &byte, 1);
            bool in_use = byte != 0 || bit % 8 == 0; /* of a zero one bit stands for all */
            if (in_use) {
                struct sim_disk *copy = sim_disk_copy(b.disk);
                sim_disk_flip(copy, f->name, bit);
                judge_damaged(&b, copy, f->name, bit);
            }
        }
    }
    bench_close(&b);
}
END_TEST

START_TEST(a_file_that_ends_at_every_byte)
{
    struct store_bench b = small_log();
    uint32_t step = soak() ? 1 : SANITIZED ? 101 : 3;
    for (uint32_t i = 0; sim_disk_file(b.disk, i) != NULL; i++) {
        const struct disk_file *f = sim_disk_file(b.disk, i);
        bool last = strcmp(f->name, "meta-000004.seg") >= 0;
        for (uint64_t size = 0; size < f->size && !last; size += step) {
            struct sim_disk *copy = sim_disk_copy(b.disk);
            sim_disk_cut(copy, f->name, size);
            judge_damaged(&b, copy, f->name, size);
        }
    }
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(after_each_order_with_every_subset),
    SUITE_TEST(each_order_fails),
    SUITE_TEST(every_bit_of_a_small_log),
    SUITE_TEST(a_file_that_ends_at_every_byte),
};
SUITE_MAIN("crash", tests)
