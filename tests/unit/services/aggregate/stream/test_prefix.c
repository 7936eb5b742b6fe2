/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/prefix.h"

#include "base/prng.h"
#include "services/aggregate/sorted/record.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { KEYS = 12, RECORDS = 60 };

/* Records of ascending keys, `each` of a key at most, in blocks cut anywhere; the judge's copy of their keys. */
static unsigned fill(struct prefix *p, struct prng *random, unsigned each, unsigned key[static RECORDS])
{
    static uint8_t bytes[RECORD_BLOCK];
    unsigned n = 0;
    struct record_writer w;
    record_writer_init(&w, bytes, sizeof bytes);
    for (unsigned k = 0; k < KEYS; k++) {
        for (unsigned i = (unsigned)prng_below(random, each + 1); i > 0 && n < RECORDS; i--) {
            char text[16];
            int length = snprintf(text, sizeof text, "k%02u", k);
            ck_assert_int_eq(record_write(&w, (cw_bytes){(const uint8_t *)text, (size_t)length},
                                          (cw_bytes){(const uint8_t *)"v", 1}),
                             0);
            key[n++] = k;
            if (prng_below(random, 3) == 0) {
                ck_assert_int_eq(prefix_add(p, bytes, w.used), 0);
                record_writer_init(&w, bytes, sizeof bytes);
            }
        }
    }
    ck_assert_int_eq(prefix_add(p, bytes, w.used), 0); /* it may be empty */
    return n;
}

/* It has the first n of these records, and no others, and counts their bytes. */
static void has(const struct prefix *p, const unsigned *key, unsigned n)
{
    struct record_reader r;
    unsigned i = 0;
    uint64_t bytes = 0;
    record_reader_init(&r);
    for (const struct prefix_block *b = p->first; b != NULL; b = b->next) {
        record_reader_block(&r, b->bytes, b->size);
        while (record_reader_next(&r) == 1) {
            char text[16];
            int length = snprintf(text, sizeof text, "k%02u", i < n ? key[i] : 99);
            ck_assert(r.key_length == (uint32_t)length && memcmp(r.key, text, (size_t)length) == 0);
            i++;
        }
        bytes += b->size;
    }
    ck_assert_uint_eq(i, n);
    ck_assert_uint_eq(bytes, p->bytes);
}

static void goes_on_behind(const struct prefix *p, unsigned key)
{
    char text[16];
    cw_bytes after = prefix_after(p);
    snprintf(text, sizeof text, "k%02u", key);
    ck_assert(after.length == 3 && memcmp(after.bytes, text, 3) == 0);
}

/* A record of each key: nothing is taken away. Many: those of the last key are, wherever the blocks were cut. */
START_TEST(what_is_complete_stays)
{
    struct prng random = prng_stream(1, 0, 1);
    for (unsigned draw = 0; draw < 2000; draw++) {
        unsigned key[2 * RECORDS], each = 1 + draw % 9;
        struct prefix p;
        prefix_init(&p);
        unsigned n = fill(&p, &random, each, key), keep = n;
        while (each > 1 && keep > 0 && key[keep - 1] == key[n - 1]) {
            keep--;
        }
        prefix_cut(&p, each == 1);
        has(&p, key, keep);
        if (keep > 0) {
            goes_on_behind(&p, key[keep - 1]);
        } else {
            ck_assert(prefix_after(&p).length == 0 && p.bytes == 0);
        }
        prefix_cut(&p, each == 1); /* nothing has come since */
        has(&p, key, keep);
        prefix_clear(&p);
        ck_assert(p.first == NULL && p.bytes == 0 && prefix_after(&p).length == 0);
    }
}
END_TEST

/* What comes behind the cut is added, and the next cut is behind that. */
START_TEST(again_and_again)
{
    static uint8_t bytes[RECORD_BLOCK];
    static const unsigned key[] = {1, 2, 3, 4};
    struct prefix p;
    prefix_init(&p);
    for (unsigned i = 0; i < 4; i++) {
        struct record_writer w;
        char text[16];
        record_writer_init(&w, bytes, sizeof bytes);
        snprintf(text, sizeof text, "k%02u", key[i]);
        ck_assert_int_eq(record_write(&w, (cw_bytes){(const uint8_t *)text, 3}, (cw_bytes){(const uint8_t *)"v", 1}),
                         0);
        ck_assert_int_eq(prefix_add(&p, bytes, w.used), 0);
        prefix_cut(&p, true);
        goes_on_behind(&p, key[i]);
    }
    has(&p, key, 4);
    prefix_clear(&p);
}
END_TEST

/* Bytes that are no records are no prefix. */
START_TEST(damaged)
{
    struct prefix p;
    prefix_init(&p);
    ck_assert_int_eq(prefix_add(&p, (const uint8_t *)"\xff\xff\xff", 3), 0);
    prefix_cut(&p, true);
    ck_assert(p.first == NULL && prefix_after(&p).length == 0);
    prefix_clear(&p);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(what_is_complete_stays), SUITE_TEST(again_and_again),
                                          SUITE_TEST(damaged)};
SUITE_MAIN("prefix", tests)
