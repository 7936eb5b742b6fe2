/* SPDX-License-Identifier: Apache-2.0 */
#include "store_bench.h"

#include <errno.h>

enum { KEYS = ORACLE_KEYS, WALK_PIECES = 600 };

struct walk {
    unsigned found, damaged, ends;
    int result;
    uint32_t size[KEYS]; /* of the value of each key; 0: it was not told */
};

static void on_found(void *arg, int result, const struct log_record *r)
{
    struct walk *w = arg;
    ck_assert_uint_eq(w->ends, 0);
    if (result != 0) {
        ck_assert_int_eq(result, -EBADMSG);
        ck_assert_ptr_null(r);
        w->damaged++;
        return;
    }
    ck_assert_uint_eq(storage_sum(r->value, r->value_size), r->value_sum);
    w->found++;
    for (uint8_t key = 0; key < KEYS; key++) {
        if (r->key.b[19] == key) {
            ck_assert_uint_eq(w->size[key], 0); /* once */
            w->size[key] = r->value_size;
        }
    }
}

static void on_end(void *arg, int result)
{
    struct walk *w = arg;
    w->ends++;
    w->result = result;
}

static void begin(struct store_bench *b, struct walk *w)
{
    *w = (struct walk){.found = 0};
    ck_assert_int_eq(storage_walk(b->o->s, 1, &(struct storage_walker){w, on_found, on_end}), 0);
    ck_assert_uint_eq(w->ends, 0); /* never inside the call */
}

static void walk(struct store_bench *b, struct walk *w)
{
    begin(b, w);
    oracle_settle(b->o);
    ck_assert_uint_eq(w->ends, 1);
}

START_TEST(each_register_is_told_once_short_and_long_ones)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    struct walk w;
    walk(&b, &w);
    ck_assert_uint_eq(w.found, 0);
    for (uint8_t key = 0; key < KEYS; key++) {
        bench_must_put(&b, key, 10u + key);
    }
    bench_must_put(&b, 3, 2000); /* a place of its own */
    bench_must_put(&b, 5, 99);
    ck_assert_int_gt(bench_drop(&b, 7), 0);
    bench_flush(&b);
    walk(&b, &w);
    ck_assert_int_eq(w.result, 0);
    ck_assert_uint_eq(w.found, KEYS - 1);
    ck_assert_uint_eq(w.size[0], 10);
    ck_assert_uint_eq(w.size[3], 2000);
    ck_assert_uint_eq(w.size[5], 99);
    ck_assert_uint_eq(w.size[7], 0);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    walk(&b, &w);
    ck_assert_uint_eq(w.found, KEYS - 1);
    bench_close(&b);
}
END_TEST

/* What is put meanwhile may be told or not; what stood there all the time is told, however the log turns over. */
START_TEST(the_log_may_go_on_meanwhile)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    struct walk w, second;
    for (uint8_t key = 0; key < KEYS; key++) {
        bench_must_put(&b, key, 100u + key);
    }
    begin(&b, &w);
    ck_assert_int_eq(storage_walk(b.o->s, 1, &(struct storage_walker){&second, on_found, on_end}), -EBUSY);
    for (int i = 0; i < WALK_PIECES && w.ends == 0; i++) {
        (void)bench_put(&b, 1, 50);
        storage_flush(b.o->s);
        (void)sim_disk_step(b.disk);
    }
    oracle_settle(b.o);
    ck_assert_uint_eq(w.ends, 1);
    ck_assert_int_eq(w.result, 0);
    ck_assert_uint_eq(w.found, KEYS);
    for (uint8_t key = 2; key < KEYS; key++) {
        ck_assert_uint_eq(w.size[key], 100u + key);
    }
    bench_flush(&b);
    bench_close(&b);
}
END_TEST

START_TEST(what_rotted_is_told_as_damaged)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    char file[DISK_NAME_BYTES];
    struct walk w;
    bench_must_put(&b, 1, 100);
    bench_must_put(&b, 2, 1000);
    bench_file_of(&b, 2, true, file);
    sim_disk_flip(b.disk, file, (bench_slot(&b, 2)->value.offset + 500) * 8);
    walk(&b, &w);
    ck_assert_int_eq(w.result, -EBADMSG);
    ck_assert_uint_eq(w.damaged, 1);
    bench_file_of(&b, 1, false, file);
    sim_disk_flip(b.disk, file, (bench_slot(&b, 1)->record.offset + 70) * 8);
    walk(&b, &w);
    ck_assert_int_eq(w.result, -EBADMSG);
    bench_close(&b);
}
END_TEST

START_TEST(the_end_may_come_in_the_midst_of_it)
{
    struct storage_config c = oracle_config();
    struct store_bench b = bench_of(&c);
    struct walk w;
    bench_must_put(&b, 1, 100);
    begin(&b, &w);
    ck_assert_int_eq(bench_reopen(&b), STORAGE_RECOVERED);
    ck_assert_uint_eq(w.ends, 0);
    walk(&b, &w);
    ck_assert_uint_eq(w.found, 1);
    bench_close(&b);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(each_register_is_told_once_short_and_long_ones),
    SUITE_TEST(the_log_may_go_on_meanwhile),
    SUITE_TEST(what_rotted_is_told_as_damaged),
    SUITE_TEST(the_end_may_come_in_the_midst_of_it),
};
SUITE_MAIN("storage walking", tests)
