/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/batch.h"

#include "plain_records.h"
#include "suite.h"

#include <errno.h>

enum { RECORDS = 3000, ROUNDS = 30, MEMORY = 8 << 20 };

static struct plain_record plain[RECORDS];
static struct batch batch;
static struct record_writer writer;
static struct record_reader reader;
static uint8_t out[RECORD_BLOCK], scratch[2 * RECORD_BLOCK];
static _Alignas(8) uint8_t memory[MEMORY];

static cw_bytes text(const char *words)
{
    return (cw_bytes){(const uint8_t *)words, strlen(words)};
}

/* What a partition must give from `from` on: the plain records of it, summed by key or not. */
static uint32_t next_plain(uint32_t from, uint32_t count, uint32_t partition, uint32_t partitions)
{
    while (from < count && record_partition(plain_key(&plain[from]), partitions) != partition) {
        from++;
    }
    return from;
}

static void read_partition(uint32_t count, uint32_t partition, bool sum, const struct plain_record *after)
{
    cw_bytes key = {NULL, 0}, above = after != NULL ? plain_key(after) : key;
    struct batch_cursor cursor = batch_seek(&batch, partition, after != NULL ? &above : NULL, scratch);
    uint32_t at = 0;
    while (after != NULL && at < count && (plain_order(&plain[at], after) <= 0 || plain_same_key(&plain[at], after))) {
        at++;
    }
    record_reader_init(&reader);
    for (int rc = 1; rc != 0;) {
        record_writer_init(&writer, out, count % 2 ? 3000 : RECORD_BLOCK);
        rc = batch_read(&batch, &cursor, &writer, &key);
        SUITE_HOLDS(rc >= 0);
        record_reader_block(&reader, out, writer.used);
        while (record_reader_next(&reader) == 1) {
            at = next_plain(at, count, partition, batch.partitions);
            SUITE_HOLDS(at < count);
            const struct plain_record *p = &plain[at];
            SUITE_HOLDS(reader.key_length == p->key_length && memcmp(reader.key, p->key, p->key_length) == 0);
            char value[32];
            long long total = atoll(plain[at++].value);
            for (; sum && at < count && plain_same_key(p, &plain[at]); at++) {
                total += atoll(plain[at].value);
            }
            snprintf(value, sizeof value, "%lld", total);
            SUITE_HOLDS(reader.value_length == strlen(value) && memcmp(reader.value, value, strlen(value)) == 0);
        }
    }
    SUITE_HOLDS(next_plain(at, count, partition, batch.partitions) == count);
}

START_TEST(sorts)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct rng rng = {seed};
        struct combine combine;
        uint32_t partitions = 1 + (uint32_t)rng_below(&rng, 9), count = (uint32_t)rng_below(&rng, RECORDS + 1);
        ck_assert_int_eq(combine_read(seed % 2 ? "sum" : "none", &combine), 0);
        batch_open(&batch, memory, MEMORY - seed, partitions, &combine);
        for (unsigned again = 0; again < 2; again++) {
            for (uint32_t i = 0; i < count; i++) {
                plain_draw(&rng, &plain[i], i);
                SUITE_HOLDS(batch_add(&batch, plain_key(&plain[i]), plain_value(&plain[i])) == 0);
            }
            ck_assert(seed % 2 ? batch_records(&batch) <= count : batch_records(&batch) == count);
            batch_sort(&batch);
            qsort(plain, count, sizeof *plain, plain_order);
            for (uint32_t p = 0; p < partitions; p++) {
                read_partition(count, p, seed % 2, NULL);
                if (count > 0) {
                    struct plain_record above = plain[rng_below(&rng, count)];
                    read_partition(count, p, seed % 2, &above);
                    plain_draw(&rng, &above, UINT32_MAX);
                    read_partition(count, p, seed % 2, &above);
                }
            }
            batch_clear(&batch);
        }
    }
}
END_TEST

/* A full batch says so in time; records of all lengths fit until then, and come out again. */
START_TEST(full)
{
    static uint8_t value[RECORD_MOST];
    uint8_t *exact = malloc(BATCH_LEAST);
    uint64_t records = 0;
    cw_bytes key;
    struct rng rng = {1};
    for (unsigned round = 0; round < 20; round++) {
        uint32_t n = 0;
        batch_open(&batch, exact, BATCH_LEAST, 1, NULL);
        size_t most = round % 2 ? RECORD_MOST : 10;
        while (batch_add(&batch, text("k"), (cw_bytes){value, (size_t)rng_below(&rng, most)}) == 0) {
            n++;
        }
        SUITE_HOLDS(n >= 3 && n == batch_records(&batch));
        batch_sort(&batch);
        struct batch_cursor cursor = batch_seek(&batch, 0, NULL, scratch);
        record_reader_init(&reader);
        for (int rc = 1; rc != 0;) {
            record_writer_init(&writer, out, sizeof out);
            rc = batch_read(&batch, &cursor, &writer, &key);
            record_reader_block(&reader, out, writer.used);
            for (; record_reader_next(&reader) == 1; records++, n--) {
            }
        }
        ck_assert_uint_eq(n, 0);
    }
    free(exact);
    ck_assert_uint_gt(records, 1000);
}
END_TEST

static void add_hash(void *context, uint64_t hash)
{
    *(uint64_t *)context += hash;
}

/* Each key's hash is told, whether its values have met or not. */
START_TEST(hashes)
{
    struct combine combine;
    uint64_t sum = 0;
    ck_assert_int_eq(combine_read("count", &combine), 0);
    batch_open(&batch, memory, MEMORY, 5, &combine);
    for (unsigned i = 0; i < 6; i++) {
        ck_assert_int_eq(batch_add(&batch, text(i % 2 ? "odd" : "even"), text("x")), 0);
    }
    batch_hashes(&batch, add_hash, &sum);
    ck_assert_uint_eq(sum, record_hash(text("odd")) + record_hash(text("even")));
    batch_clear(&batch);
    batch_hashes(&batch, add_hash, &sum);
    ck_assert_uint_eq(sum, record_hash(text("odd")) + record_hash(text("even")));
}
END_TEST

START_TEST(refuses)
{
    static uint8_t longest[RECORD_MOST + 1];
    struct combine combine;
    batch_open(&batch, memory, MEMORY, 1, NULL);
    ck_assert_int_eq(batch_add(&batch, text(""), text("1")), -EMSGSIZE);
    ck_assert_int_eq(batch_add(&batch, (cw_bytes){longest, RECORD_KEY_MOST + 1}, text("1")), -EMSGSIZE);
    ck_assert_int_eq(batch_add(&batch, text("k"), (cw_bytes){longest, RECORD_MOST}), -EMSGSIZE);
    ck_assert_int_eq(batch_add(&batch, text("k"), (cw_bytes){longest, RECORD_MOST - 1}), 0);
    ck_assert_int_eq(combine_read("sum", &combine), 0);
    batch_open(&batch, memory, MEMORY, 1, &combine);
    ck_assert_int_eq(batch_add(&batch, text("k"), text("pear")), -EINVAL);
    ck_assert_uint_eq(batch_records(&batch), 0);
    static const char much[] = "99999999999999999999999999999999999999";
    ck_assert_int_eq(batch_add(&batch, text("a"), text("1")), 0);
    ck_assert_int_eq(batch_add(&batch, text("k"), text(much)), 0);
    ck_assert_int_eq(batch_add(&batch, text("k"), text(much)), -ERANGE);
    ck_assert_uint_eq(batch_records(&batch), 2);
}
END_TEST

/* Fails when there are three values or more: only reading the batch brings so many together. */
static int two_at_most(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *into,
                       size_t room)
{
    (void)key, (void)argument, (void)room;
    memcpy(into, values[count - 1].bytes, values[count - 1].length);
    return count > 2 ? -ERANGE : (int)values[count - 1].length;
}

static const cw_combiner two = {
    .size = sizeof two, .api = CW_COMBINE_API, .name = "two", .associative = true, .combine = two_at_most};

/* Long values do not meet as they come. When they meet and cannot, the key is told. */
START_TEST(long_values)
{
    static uint8_t value[65];
    cw_bytes key;
    batch_open(&batch, memory, MEMORY, 1, &(struct combine){&two, 0});
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(batch_add(&batch, text("a"), (cw_bytes){value, 64}), 0);
        ck_assert_int_eq(batch_add(&batch, text("k"), (cw_bytes){value, 65}), 0);
    }
    ck_assert_uint_eq(batch_records(&batch), 4);
    batch_sort(&batch);
    struct batch_cursor cursor = batch_seek(&batch, 0, NULL, scratch);
    record_writer_init(&writer, out, sizeof out);
    ck_assert_int_eq(batch_read(&batch, &cursor, &writer, &key), -ERANGE);
    ck_assert(key.length == 1 && key.bytes[0] == 'k');
}
END_TEST

/* More keys than the table has room for, and values that grow and grow: all are there once. */
START_TEST(many_keys)
{
    struct combine combine;
    cw_bytes key;
    long long total = 0, sum = 0;
    uint32_t keys = 0;
    ck_assert_int_eq(combine_read("sum", &combine), 0);
    batch_open(&batch, memory, MEMORY, 1, &combine);
    for (uint32_t i = 0; i < 120000; i++) {
        char name[16], value[32];
        snprintf(name, sizeof name, "%u", i % 60000);
        snprintf(value, sizeof value, "%llu", 1ULL << (i % 50));
        SUITE_HOLDS(batch_add(&batch, text(name), text(value)) == 0);
        for (unsigned k = 0; i < 10 && k < 15; k++) { /* a value of one digit becomes one of many */
            long long more = i;
            for (unsigned digits = 0; digits < k; digits++) {
                more *= 10;
            }
            snprintf(value, sizeof value, "%lld", more);
            SUITE_HOLDS(batch_add(&batch, text(name), text(value)) == 0);
            sum += more;
        }
        sum += 1LL << (i % 50);
    }
    ck_assert_uint_gt(batch_records(&batch), 60000);
    ck_assert_uint_lt(batch_records(&batch), 120000);
    batch_sort(&batch);
    struct batch_cursor cursor = batch_seek(&batch, 0, NULL, scratch);
    record_reader_init(&reader);
    for (int rc = 1; rc != 0;) {
        record_writer_init(&writer, out, sizeof out);
        rc = batch_read(&batch, &cursor, &writer, &key);
        record_reader_block(&reader, out, writer.used);
        for (; record_reader_next(&reader) == 1; keys++) {
            char value[32] = "";
            memcpy(value, reader.value, reader.value_length);
            total += atoll(value);
        }
    }
    ck_assert_uint_eq(keys, 60000);
    ck_assert_int_eq(total, sum);
}
END_TEST

START_TEST(unsorted)
{
    batch_open(&batch, memory, MEMORY, 1, NULL);
    (void)batch_seek(&batch, 0, NULL, scratch);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sorts),     SUITE_TEST(full),        SUITE_TEST(refuses),
                                          SUITE_TEST(hashes),    SUITE_TEST(long_values), SUITE_TEST(many_keys),
                                          SUITE_ABORTS(unsorted)};
SUITE_MAIN("batch", tests)
