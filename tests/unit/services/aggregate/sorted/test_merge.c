/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/merge.h"

#include "plain_records.h"
#include "suite.h"

#include <errno.h>

enum { RECORDS = 600, ROUNDS = 400, BLOCKS = 2 * RECORDS, SOURCES = 40 };

/* Sources as lists of blocks, each in memory of its own so that a sanitizer sees who uses it too long. */
struct source {
    struct plain_record *first;
    unsigned count, next;
    uint8_t *block;
};

static struct plain_record plain[RECORDS];
static struct source source[SOURCES];
static struct merge merge;
static struct merge_source places[SOURCES];
static struct record_writer writer, made;
static struct record_reader reader;
static uint8_t out[RECORD_BLOCK], scratch[RECORD_BLOCK];

/* Takes the source's block away, and gives it a next one of some records, or its end. */
static void feed(struct rng *rng, unsigned i)
{
    struct source *s = &source[i];
    free(s->block);
    s->block = NULL;
    if (s->next == s->count) {
        merge_end(&merge, i);
        return;
    }
    record_writer_init(&made, scratch, sizeof scratch);
    for (uint64_t n = rng_below(rng, 8); n > 0 && s->next < s->count; n--, s->next++) {
        SUITE_HOLDS(record_write(&made, plain_key(&s->first[s->next]), plain_value(&s->first[s->next])) == 0);
    }
    s->block = malloc(made.used + 1);
    memcpy(s->block, scratch, made.used);
    merge_feed(&merge, i, s->block, made.used);
}

/* Draws records for each source. The order in which equal keys meet is that of sources. */
static void draw(struct rng *rng, unsigned sources, unsigned records)
{
    unsigned at = 0;
    for (unsigned i = 0; i < sources; i++) {
        unsigned count =
            i + 1 == sources ? records - at : (unsigned)rng_below(rng, 2 * (records - at) / (sources - i) + 1);
        count = count > records - at ? records - at : count;
        source[i] = (struct source){.first = &plain[at], .count = count};
        for (unsigned k = 0; k < count; k++) {
            plain_draw(rng, &plain[at + k], at + k);
        }
        qsort(source[i].first, count, sizeof *plain, plain_order);
        at += count;
    }
}

/* Reads what was written, as records of plain, from `at` on. With a sum: one for each key. */
static unsigned compare(const struct plain_record *sorted, unsigned records, unsigned at, bool sum)
{
    int rc;
    record_reader_block(&reader, out, writer.used);
    while ((rc = record_reader_next(&reader)) == 1) {
        SUITE_HOLDS(at < records);
        const struct plain_record *p = &sorted[at];
        char value[64];
        long long total = 0;
        unsigned n = 0;
        for (; at < records && plain_same_key(p, &sorted[at]) && (sum || n == 0); at++, n++) {
            total += atoll(sorted[at].value);
        }
        snprintf(value, sizeof value, "%lld", total);
        SUITE_HOLDS(reader.key_length == p->key_length && memcmp(reader.key, p->key, p->key_length) == 0);
        SUITE_HOLDS(reader.value_length == strlen(value) && memcmp(reader.value, value, reader.value_length) == 0,
                    "%s instead of %.*s", value, (int)reader.value_length, (const char *)reader.value);
    }
    SUITE_HOLDS(rc == 0);
    return at;
}

static void one_round(unsigned seed, bool sum)
{
    struct rng rng = {seed};
    static struct plain_record sorted[RECORDS];
    struct combine combine;
    unsigned sources = 1 + (unsigned)rng_below(&rng, seed % 2 ? 7 : SOURCES);
    unsigned records = (unsigned)rng_below(&rng, RECORDS + 1), at = 0;
    size_t room = seed % 3 == 0 ? RECORD_KEY_MOST + 100 : RECORD_BLOCK;
    ck_assert_int_eq(combine_read(sum ? "sum" : "none", &combine), 0);
    draw(&rng, sources, records);
    memcpy(sorted, plain, sizeof sorted);
    qsort(sorted, records, sizeof *sorted, plain_order);
    merge_open(&merge, places, sources, &combine);
    record_writer_init(&writer, out, room);
    record_reader_init(&reader);
    for (int rc = MERGE_WAITS; rc != MERGE_DONE;) {
        rc = merge_run(&merge, &writer);
        SUITE_HOLDS(rc >= 0);
        if (rc == MERGE_WAITS) {
            SUITE_HOLDS(merge.waits < sources && merge_hungry(&merge, merge.waits));
            feed(&rng, merge.waits);
        }
        if (rc != MERGE_WAITS || rng_below(&rng, 20) == 0) { /* a block may go before it is full */
            at = compare(sorted, records, at, sum);
            record_writer_init(&writer, out, room);
        }
    }
    SUITE_HOLDS(at == records, "seed %u", seed);
    SUITE_HOLDS(merge.records_in == records);
    for (unsigned i = 0; i < sources; i++) {
        free(source[i].block);
        source[i].block = NULL;
    }
}

START_TEST(merges)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        one_round(seed, false);
    }
}
END_TEST

START_TEST(combines)
{
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        one_round(seed, true);
    }
}
END_TEST

/* At the beginning any source may be fed; and the merge then says which one it waits for. */
START_TEST(waits_for)
{
    struct combine combine;
    ck_assert_int_eq(combine_read("sum", &combine), 0);
    merge_open(&merge, places, 3, &combine);
    record_writer_init(&writer, out, sizeof out);
    merge_feed(&merge, 2, "\0\1\1a1", 5);
    merge_feed(&merge, 0,
               "\0\1\1a2\1\0\1"
               "3",
               9);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_WAITS);
    ck_assert_uint_eq(merge.waits, 1);
    merge_feed(&merge, 1, "", 0);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_WAITS);
    ck_assert_uint_eq(merge.waits, 1);
    ck_assert(!merge_hungry(&merge, 0) && merge_hungry(&merge, 1) && !merge_hungry(&merge, 2));
    merge_feed(&merge, 1, "\0\1\1z4", 5);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_WAITS);
    ck_assert_uint_eq(merge.waits, 0);
    ck_assert_uint_eq(writer.used, 0); /* source 0 may have more of "a" */
    merge_end(&merge, 0);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_WAITS);
    ck_assert_uint_eq(merge.waits, 2);
    merge_end(&merge, 2);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_WAITS);
    ck_assert_uint_eq(merge.waits, 1);
    ck_assert_uint_eq(writer.used, 5);
    ck_assert_mem_eq(out, "\0\1\1a6", 5);
    merge_end(&merge, 1);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_DONE);
    ck_assert_uint_eq(writer.used, 10);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_DONE);
}
END_TEST

START_TEST(nothing)
{
    merge_open(&merge, places, 2, NULL);
    record_writer_init(&writer, out, sizeof out);
    merge_end(&merge, 0);
    merge_end(&merge, 1);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_DONE);
    ck_assert_uint_eq(writer.used, 0);
}
END_TEST

/* Values that grow: the combination does not fit, and the key is named. Other wrong things are, too. */
START_TEST(errors)
{
    struct combine combine;
    ck_assert_int_eq(combine_read("sum", &combine), 0);
    merge_open(&merge, places, 2, &combine);
    record_writer_init(&writer, out, sizeof out);
    merge_feed(&merge, 0, "\0\3\1odd1", 7);
    merge_feed(&merge, 1, "\0\3\1odd?", 7);
    ck_assert_int_eq(merge_run(&merge, &writer), MERGE_WAITS);
    merge_end(&merge, 0);
    ck_assert_int_eq(merge_run(&merge, &writer), -EINVAL);
    ck_assert_uint_eq(merge_key(&merge).length, 3);
    ck_assert_mem_eq(merge_key(&merge).bytes, "odd", 3);

    merge_open(&merge, places, 2, NULL);
    record_writer_init(&writer, out, sizeof out);
    merge_feed(&merge, 0, "\0\1\1b1", 5);
    merge_feed(&merge, 1, "\0\1\1a1\1", 6);
    ck_assert_int_eq(merge_run(&merge, &writer), -EBADMSG);
    ck_assert_uint_eq(merge.waits, 1);
}
END_TEST

/* One key, many values, each of its own block: more than are combined at a time. */
START_TEST(many_values)
{
    struct combine combine;
    char block[16];
    unsigned fed = 0;
    int rc;
    ck_assert_int_eq(combine_read("sum", &combine), 0);
    merge_open(&merge, places, 7, &combine);
    record_writer_init(&writer, out, sizeof out);
    uint8_t *lent[7] = {NULL};
    while ((rc = merge_run(&merge, &writer)) == MERGE_WAITS) {
        unsigned i = merge.waits;
        free(lent[i]);
        lent[i] = NULL;
        if (fed++ >= 500) {
            merge_end(&merge, i);
            continue;
        }
        memcpy(block,
               "\0\1\1k7\1\0\1"
               "1\1\0\1"
               "0",
               13);
        lent[i] = malloc(13);
        memcpy(lent[i], block, 13);
        merge_feed(&merge, i, lent[i], 13);
    }
    ck_assert_int_eq(rc, MERGE_DONE);
    ck_assert_uint_eq(writer.used, 8);
    ck_assert_mem_eq(out, "\0\1\4k4000", 8);
    ck_assert_uint_eq(merge.records_in, 1500);
    ck_assert_uint_eq(merge.records_out, 1);
}
END_TEST

START_TEST(fed_twice)
{
    merge_open(&merge, places, 1, NULL);
    merge_feed(&merge, 0, "", 0);
    merge_feed(&merge, 0, "", 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(merges), SUITE_TEST(combines),    SUITE_TEST(waits_for),   SUITE_TEST(nothing),
    SUITE_TEST(errors), SUITE_TEST(many_values), SUITE_ABORTS(fed_twice),
};
SUITE_MAIN("merge", tests)
