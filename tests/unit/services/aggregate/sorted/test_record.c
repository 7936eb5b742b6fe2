/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/record.h"

#include "plain_records.h"
#include "suite.h"

#include <errno.h>

enum { RECORDS = 4000, ROUNDS = 20 };

static struct plain_record plain[RECORDS];
static uint8_t block[RECORD_BLOCK], again[RECORD_BLOCK];
static struct record_reader reader;
static struct record_writer writer, second;

static cw_bytes text(const char *words)
{
    return (cw_bytes){(const uint8_t *)words, strlen(words)};
}

static int read_all(const void *bytes, size_t length)
{
    int rc, records = 0;
    uint8_t *exact = malloc(length + 1); /* a sanitizer sees one byte too many */
    memcpy(exact, bytes, length);
    record_reader_init(&reader);
    record_reader_block(&reader, exact, length);
    while ((rc = record_reader_next(&reader)) == 1) {
        records++;
    }
    free(exact);
    return rc < 0 ? rc : records;
}

/* What the picture of record.h says. */
START_TEST(picture)
{
    static const uint8_t known[] = "\0\3\1abcX"
                                   "\2\1\0d"
                                   "\3\1\2\0YZ"
                                   "\4\0\0";
    record_writer_init(&writer, block, sizeof block);
    ck_assert_int_eq(record_write(&writer, text("abc"), text("X")), 0);
    ck_assert_int_eq(record_write(&writer, text("abd"), text("")), 0);
    ck_assert_int_eq(record_write(&writer, (cw_bytes){(const uint8_t *)"abd\0", 4}, text("YZ")), 0);
    ck_assert_int_eq(record_write(&writer, (cw_bytes){(const uint8_t *)"abd\0", 4}, text("")), 0);
    ck_assert_uint_eq(writer.used, sizeof known - 1);
    ck_assert_mem_eq(block, known, writer.used);
    ck_assert_int_eq(read_all(known, sizeof known - 1), 4);
}
END_TEST

/* Sorted records come back, over many blocks, with what they share; written again they are the same bytes. */
START_TEST(round_trip)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct rng rng = {seed};
        size_t room = seed % 2 ? RECORD_BLOCK : 1200;
        for (unsigned i = 0; i < RECORDS; i++) {
            plain_draw(&rng, &plain[i], i);
        }
        qsort(plain, RECORDS, sizeof *plain, plain_order);
        record_reader_init(&reader);
        for (unsigned i = 0, from = 0; i < RECORDS; from = i) {
            record_writer_init(&writer, block, room);
            while (i < RECORDS && record_write(&writer, plain_key(&plain[i]), plain_value(&plain[i])) == 0) {
                i++;
            }
            record_writer_init(&second, again, room);
            record_reader_block(&reader, block, writer.used);
            for (; from < i; from++) {
                const struct plain_record *p = &plain[from];
                SUITE_HOLDS(record_reader_next(&reader) == 1);
                SUITE_HOLDS(reader.key_length == p->key_length && memcmp(reader.key, p->key, p->key_length) == 0);
                SUITE_HOLDS(reader.value_length == strlen(p->value));
                SUITE_HOLDS(memcmp(reader.value, p->value, reader.value_length) == 0);
                size_t shared = from == 0 ? 0 : record_common(p[-1].key, p[-1].key_length, p->key, p->key_length, 0);
                SUITE_HOLDS(reader.shared == shared, "%u", from);
                SUITE_HOLDS(record_write_shared(&second, plain_key(p), plain_value(p), shared) == 0);
            }
            SUITE_HOLDS(record_reader_next(&reader) == 0);
            SUITE_HOLDS(second.used == writer.used && memcmp(block, again, writer.used) == 0);
        }
    }
}
END_TEST

START_TEST(longest)
{
    static uint8_t key[RECORD_KEY_MOST], value[RECORD_MOST];
    record_writer_init(&writer, block, sizeof block);
    ck_assert_int_eq(record_write(&writer, (cw_bytes){key, sizeof key}, (cw_bytes){value, RECORD_MOST - sizeof key}),
                     0);
    ck_assert_uint_eq(writer.used, RECORD_BLOCK);
    ck_assert_int_eq(record_write(&writer, (cw_bytes){key, sizeof key}, (cw_bytes){value, 0}), -ENOSPC);
    ck_assert_uint_eq(writer.used, RECORD_BLOCK);
    ck_assert_int_eq(read_all(block, RECORD_BLOCK), 1);
    record_writer_init(&writer, block, sizeof block);
    ck_assert_int_eq(record_write(&writer, (cw_bytes){key, 1}, (cw_bytes){value, RECORD_MOST - 1}), 0);
    ck_assert_int_eq(read_all(block, writer.used), 1);
}
END_TEST

START_TEST(bad_blocks)
{
    static const struct {
        const char *bytes;
        size_t length;
    } bad[] = {
        {"\0", 1},                  /* lengths end */
        {"\0\1", 2},                /* lengths end */
        {"\0\0\0", 3},              /* no key */
        {"\1\1\0a", 4},             /* the first shares something */
        {"\0\2\0a", 4},             /* the key ends */
        {"\0\1\2ab", 5},            /* the value ends */
        {"\0\x81\0\0a", 5},         /* not the shortest form */
        {"\0\1\0b\0\1\0a", 8},      /* descends */
        {"\0\2\0ab\1\0\0", 8},      /* descends: begins the one before */
        {"\0\1\0a\2\1\0b", 8},      /* shares more than there is */
        {"\0\2\0ab\1\1\0b", 9},     /* shares less than it could */
        {"\0\x81\x80\0\0a", 6},     /* a length of three bytes */
        {"\0\1\x80\x80\x80\1a", 7}, /* a value of four */
        {"\0\x81\x08\0", 4},        /* a key of 1,025 bytes */
        {"\0\1\xff\xff\x03"
         "a",
         6}, /* a record that is too long */
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(read_all(bad[i].bytes, bad[i].length) == -EBADMSG, "%u", i);
    }
    ck_assert_int_eq(read_all("", 0), 0);
}
END_TEST

/* The second block does not begin below the first one's end. */
START_TEST(descending_blocks)
{
    record_reader_init(&reader);
    record_reader_block(&reader, "\0\2\0ab", 5);
    ck_assert_int_eq(record_reader_next(&reader), 1);
    ck_assert_int_eq(record_reader_next(&reader), 0);
    struct record_reader copy = reader;
    record_reader_block(&reader, "\0\2\0ab\2\1\0c", 9);
    ck_assert_int_eq(record_reader_next(&reader), 1);
    ck_assert_uint_eq(reader.shared, 2);
    record_reader_block(&copy, "\0\2\0aa", 5);
    ck_assert_int_eq(record_reader_next(&copy), -EBADMSG);
}
END_TEST

/* What is above a key, wherever it is cut, is the rest of the records. */
START_TEST(cut)
{
    static uint8_t rest[RECORD_BLOCK + RECORD_KEY_MOST];
    for (unsigned seed = 0; seed < 200; seed++) {
        struct rng rng = {seed};
        unsigned n = 1 + (unsigned)rng_below(&rng, 100);
        struct plain_record after;
        for (unsigned i = 0; i < n; i++) {
            plain_draw(&rng, &plain[i], i);
        }
        qsort(plain, n, sizeof *plain, plain_order);
        record_writer_init(&writer, block, sizeof block);
        for (unsigned i = 0; i < n; i++) {
            SUITE_HOLDS(record_write(&writer, plain_key(&plain[i]), plain_value(&plain[i])) == 0);
        }
        plain_draw(&rng, &after, UINT32_MAX);
        after = seed % 2 ? plain[rng_below(&rng, n)] : after;
        int length = record_block_after(block, writer.used, plain_key(&after), rest);
        SUITE_HOLDS(length >= 0);
        unsigned at = 0;
        while (at < n && (plain_order(&plain[at], &after) < 0 || plain_same_key(&plain[at], &after))) {
            at++;
        }
        record_reader_init(&reader);
        record_reader_block(&reader, rest, (size_t)length);
        for (; record_reader_next(&reader) == 1; at++) {
            SUITE_HOLDS(at < n && reader.key_length == plain[at].key_length);
            SUITE_HOLDS(memcmp(reader.key, plain[at].key, reader.key_length) == 0);
        }
        SUITE_HOLDS(at == n, "seed %u", seed);
    }
    ck_assert_int_eq(record_block_after("\1\1\0a", 4, text("a"), rest), -EBADMSG);
}
END_TEST

START_TEST(partitions)
{
    unsigned counts[7] = {0};
    for (unsigned i = 0; i < 7000; i++) {
        char key[16];
        snprintf(key, sizeof key, "key %u", i);
        uint32_t p = record_partition(text(key), 7);
        SUITE_HOLDS(p < 7);
        counts[p]++;
    }
    for (unsigned i = 0; i < 7; i++) {
        SUITE_HOLDS(counts[i] > 800 && counts[i] < 1200, "%u of 7,000 are in partition %u", counts[i], i);
    }
    ck_assert_uint_eq(record_partition(text("a"), 1), 0);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(picture),    SUITE_TEST(round_trip),        SUITE_TEST(longest),
                                          SUITE_TEST(bad_blocks), SUITE_TEST(descending_blocks), SUITE_TEST(cut),
                                          SUITE_TEST(partitions)};
SUITE_MAIN("record", tests)
