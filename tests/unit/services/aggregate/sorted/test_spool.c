/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/spool.h"

#include "fake_spool.h"
#include "plain_records.h"
#include "suite.h"

enum { RECORDS = 20000, MEMORY = BATCH_LEAST };

static struct plain_record plain[RECORDS];
static struct fake_spool fake;
static struct spool spool;
static struct shelf shelf;
static struct batch batch;
static struct record_writer writer;
static struct record_reader reader;
static uint8_t out[RECORD_BLOCK];
static _Alignas(8) uint8_t memory[MEMORY];

/* Draws records and puts them on the shelf, in batches of up to `each`; the last one stays in memory, or not. */
static uint32_t fill(struct rng *rng, uint32_t records, uint32_t each, bool keep)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < records; i++) {
        plain_draw(rng, &plain[i], i);
        int rc = held == each ? -ENOSPC : batch_add(&batch, plain_key(&plain[i]), plain_value(&plain[i]));
        if (rc == -ENOSPC) {
            batch_sort(&batch);
            SUITE_HOLDS(shelf_put(&shelf, &batch) == 0);
            batch_clear(&batch);
            held = 0;
            rc = batch_add(&batch, plain_key(&plain[i]), plain_value(&plain[i]));
        }
        SUITE_HOLDS(rc == 0);
        held++;
    }
    batch_sort(&batch);
    if (keep) {
        shelf_keep(&shelf, &batch);
    } else {
        SUITE_HOLDS(shelf_put(&shelf, &batch) == 0);
    }
    qsort(plain, records, sizeof *plain, plain_order);
    return records;
}

static uint32_t next_plain(uint32_t from, uint32_t count, uint32_t partition)
{
    while (from < count && record_partition(plain_key(&plain[from]), shelf.partitions) != partition) {
        from++;
    }
    return from;
}

/* Reads a partition from a key on, and compares it with the sorted list. */
static void read_partition(uint32_t count, uint32_t partition, bool sum, const struct plain_record *after)
{
    struct shelf_reader *r = NULL;
    cw_bytes key, above = {NULL, 0};
    uint32_t at = 0;
    if (after != NULL) {
        above = plain_key(after);
        while (at < count && (plain_order(&plain[at], after) <= 0 || plain_same_key(&plain[at], after))) {
            at++;
        }
    }
    SUITE_HOLDS(shelf_reader_open(&shelf, partition, after != NULL ? &above : NULL, &r) == 0);
    record_reader_init(&reader);
    for (int rc = 1; rc != 0;) {
        record_writer_init(&writer, out, sizeof out);
        rc = shelf_reader_next(r, &writer, &key);
        SUITE_HOLDS(rc >= 0, "%d", rc);
        record_reader_block(&reader, out, writer.used);
        while (record_reader_next(&reader) == 1) {
            at = next_plain(at, count, partition);
            SUITE_HOLDS(at < count);
            const struct plain_record *p = &plain[at];
            char value[32];
            long long total = atoll(plain[at++].value);
            for (; sum && at < count && plain_same_key(p, &plain[at]); at++) {
                total += atoll(plain[at].value);
            }
            snprintf(value, sizeof value, "%lld", total);
            SUITE_HOLDS(reader.key_length == p->key_length && memcmp(reader.key, p->key, p->key_length) == 0);
            SUITE_HOLDS(reader.value_length == strlen(value) && memcmp(reader.value, value, strlen(value)) == 0);
        }
    }
    SUITE_HOLDS(next_plain(at, count, partition) == count);
    shelf_reader_close(r);
}

static void begin(const char *combine_word, uint32_t partitions)
{
    struct combine combine;
    SUITE_HOLDS(combine_read(combine_word, &combine) == 0);
    fake_spool_init(&fake);
    spool_open(&spool, &fake.host, "folder", UINT64_MAX);
    shelf_open(&shelf, &spool, NULL, partitions, &combine);
    batch_open(&batch, memory, MEMORY, partitions, &combine);
}

static void end(void)
{
    shelf_close(&shelf);
    ck_assert_uint_eq(atomic_load(&spool.used), 0);
    ck_assert_uint_eq(fake.open, 0);
    ck_assert_uint_eq(fake.used, 0);
}

/* Whatever was spilled, merged on the way, and kept, a partition is what a sort gives; from any key on. */
START_TEST(sorted)
{
    for (unsigned seed = 0; seed < 24; seed++) {
        struct rng rng = {seed};
        bool sum = seed % 2;
        uint32_t partitions = 1 + (uint32_t)rng_below(&rng, 7);
        begin(sum ? "sum" : "none", partitions);
        uint32_t records = (uint32_t)rng_below(&rng, seed % 6 == 0 ? RECORDS : 500);
        uint32_t count = fill(&rng, records, 1 + records / (1 + (uint32_t)rng_below(&rng, 40)), seed % 3 != 0);
        SUITE_HOLDS(shelf.runs <= SHELF_RUNS && fake.open == shelf.runs);
        SUITE_HOLDS(atomic_load(&spool.used) == fake.used && fake.used == shelf.bytes);
        for (uint32_t p = 0; p < partitions; p++) {
            struct plain_record after;
            read_partition(count, p, sum, NULL);
            plain_draw(&rng, &after, UINT32_MAX);
            read_partition(count, p, sum, &after);
            if (count > 0) {
                read_partition(count, p, sum, &plain[rng_below(&rng, count)]);
            }
        }
        end();
    }
}
END_TEST

/* Nothing that is full leaves anything behind, or loses what was there. */
START_TEST(spool_is_full)
{
    struct rng rng = {7};
    cw_bytes key;
    for (unsigned at = 0; at < 2; at++) {
        begin("none", 2);
        (void)fill(&rng, 2000, 700, false);
        uint64_t used = fake.used;
        unsigned open = fake.open;
        fake.room = at == 0 ? used + 10 : fake.room;
        spool.limit = at == 1 ? used + 10 : spool.limit;
        batch_clear(&batch);
        ck_assert_int_eq(batch_add(&batch, plain_key(&plain[0]), (cw_bytes){out, 500}), 0);
        batch_sort(&batch);
        ck_assert_int_eq(shelf_put(&shelf, &batch), -ENOSPC);
        ck_assert_uint_eq(shelf.key.length, 0);
        ck_assert_uint_eq(fake.open, open);
        ck_assert_uint_eq(fake.used, used);
        ck_assert_uint_eq(atomic_load(&spool.used), used);
        read_partition(2000, 0, false, NULL);
        read_partition(2000, 1, false, NULL);
        struct shelf_reader *r = NULL;
        ck_assert_int_eq(shelf_reader_open(&shelf, 0, NULL, &r), 0);
        fake.reads = 0;
        fake.fail_read = 3;
        record_writer_init(&writer, out, sizeof out);
        ck_assert_int_eq(shelf_reader_next(r, &writer, &key), -EIO);
        ck_assert_uint_eq(key.length, 0);
        shelf_reader_close(r);
        end();
    }
}
END_TEST

/* Who shares has no more than its share, and gives it back; others have what is left. */
START_TEST(shares)
{
    struct shelf mine, other;
    begin("none", 1);
    struct spool_share share = {.limit = 3000}, rest = {.limit = 3000};
    spool_open(&spool, &fake.host, "folder", 5000);
    shelf_open(&mine, &spool, &share, 1, NULL);
    shelf_open(&other, &spool, &rest, 1, NULL);
    uint8_t much[1000] = {1};
    ck_assert_int_eq(batch_add(&batch, (cw_bytes){much, 1}, (cw_bytes){much, sizeof much}), 0);
    batch_sort(&batch);
    ck_assert_int_eq(shelf_put(&mine, &batch), 0);
    ck_assert_int_eq(shelf_put(&mine, &batch), 0);
    ck_assert_int_eq(shelf_put(&mine, &batch), -EXFULL);
    ck_assert(share.used == mine.bytes && spool.used == mine.bytes && mine.runs == 2);
    ck_assert_int_eq(shelf_put(&other, &batch), 0);
    ck_assert_int_eq(shelf_put(&other, &batch), 0);
    ck_assert_int_eq(shelf_put(&other, &batch), -EXFULL);
    rest.limit = 9000;
    ck_assert_int_eq(shelf_put(&other, &batch), -ENOSPC); /* that is the limit of both */
    ck_assert_uint_eq(rest.used, other.bytes);
    shelf_close(&mine);
    ck_assert(share.used == 0 && shelf_put(&other, &batch) == 0);
    shelf_close(&other);
    ck_assert(rest.used == 0 && spool.used == 0);
    end();
}
END_TEST

START_TEST(no_spool)
{
    begin("none", 1);
    spool_open(&spool, NULL, "folder", 1000);
    batch_sort(&batch);
    ck_assert_int_eq(shelf_put(&shelf, &batch), -ENOTDIR);
    spool_open(&spool, &fake.host, "", 1000);
    ck_assert_int_eq(shelf_put(&shelf, &batch), -ENOTDIR);
    struct shelf_reader *r = NULL;
    cw_bytes key;
    record_writer_init(&writer, out, sizeof out);
    ck_assert_int_eq(shelf_reader_open(&shelf, 0, NULL, &r), 0);
    ck_assert_int_eq(shelf_reader_next(r, &writer, &key), 0);
    shelf_reader_close(r);
    end();
}
END_TEST

/* A value that cannot be combined is told with its key, when runs are written and when they are merged. */
START_TEST(names_the_key)
{
    static const char much[] = "99999999999999999999999999999999999999";
    cw_bytes odd = {(const uint8_t *)"odd", 3}, value = {(const uint8_t *)much, sizeof much - 1}, key;
    struct shelf_reader *r = NULL;
    begin("sum", 1);
    for (unsigned run = 0; run < 2; run++) {
        batch_clear(&batch);
        ck_assert_int_eq(batch_add(&batch, odd, value), 0);
        batch_sort(&batch);
        ck_assert_int_eq(shelf_put(&shelf, &batch), 0);
    }
    ck_assert_int_eq(shelf_reader_open(&shelf, 0, NULL, &r), 0);
    record_writer_init(&writer, out, sizeof out);
    ck_assert_int_eq(shelf_reader_next(r, &writer, &key), -ERANGE);
    ck_assert(key.length == 3 && memcmp(key.bytes, "odd", 3) == 0);
    shelf_reader_close(r);
    for (unsigned run = 2; run < SHELF_RUNS; run++) {
        ck_assert_int_eq(shelf_put(&shelf, &batch), 0);
    }
    ck_assert_int_eq(shelf_put(&shelf, &batch), -ERANGE);
    ck_assert(shelf.key.length == 3 && memcmp(shelf.key.bytes, "odd", 3) == 0);
    ck_assert_uint_eq(shelf.runs, SHELF_RUNS);
    end();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sorted), SUITE_TEST(spool_is_full), SUITE_TEST(shares),
                                          SUITE_TEST(no_spool), SUITE_TEST(names_the_key)};
SUITE_MAIN("spool", tests)
