/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

/* The checkpoint that is there, or NULL. */
static const struct disk_file *checkpoint_of(const struct store_bench *b)
{
    for (uint32_t i = 0; sim_disk_file(b->disk, i) != NULL; i++) {
        if (strncmp(sim_disk_file(b->disk, i)->name, "index-", 6) == 0) {
            return sim_disk_file(b->disk, i);
        }
    }
    return NULL;
}

START_TEST(a_checkpoint_that_is_not_whole_does_not_count)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    for (uint8_t key = 0; key < 6; key++) {
        bench_must_put(&b, key, 100);
    }
    storage_checkpoint(b.o->s);
    oracle_settle(b.o);
    const struct disk_file *old = checkpoint_of(&b);
    ck_assert_ptr_nonnull(old);
    static uint8_t bytes[8192];
    uint32_t size = (uint32_t)old->size;
    sim_disk_peek(b.disk, old->name, 0, bytes, size);
    sim_disk_put(b.disk, "index-0000000099.ckpt", bytes, size); /* a newer one, by its name */
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    oracle_judge(b.o, true, false);
    ck_assert_ptr_nonnull(checkpoint_of(&b));
    ck_assert_str_ne(checkpoint_of(&b)->name, "index-0000000099.ckpt");
    bench_close(&b);
}
END_TEST

START_TEST(without_its_checkpoint_the_log_alone_does)
{
    struct storage_config c = oracle_config();
    c.checkpoint_every = UINT64_MAX;
    struct store_bench b = bench_of(&c);
    for (uint8_t key = 0; key < 6; key++) {
        bench_must_put(&b, key, 100);
    }
    storage_checkpoint(b.o->s);
    oracle_settle(b.o);
    sim_disk_cut(b.disk, checkpoint_of(&b)->name, 20);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED); /* no segment was used again yet */
    ck_assert_uint_eq(b.o->how.replayed, 6);
    oracle_judge(b.o, true, false);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(a_checkpoint_that_is_not_whole_does_not_count),
    SUITE_TEST(without_its_checkpoint_the_log_alone_does),
};
SUITE_MAIN("loading", tests)
