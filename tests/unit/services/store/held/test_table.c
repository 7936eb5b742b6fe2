/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/table.h"

#include "base/prng.h"
#include "store_town.h"
#include "suite.h"

#include <string.h>

static struct store_tag tag(uint64_t n)
{
    return (struct store_tag){{1, 1}, n};
}

static void put(struct store_table *t, const char *name, const char *value, uint64_t n)
{
    ck_assert_int_eq(store_table_put(t, store_town_make(name, value, tag(n))), 0);
}

static struct store_register *find(const struct store_table *t, const char *name)
{
    const struct store_name n = {STORE_JOB, (const uint8_t *)name, strlen(name)};
    return store_table_find(t, &n);
}

START_TEST(names_are_found)
{
    struct store_table t;
    store_table_open(&t, 7);
    ck_assert_ptr_null(find(&t, "a"));
    put(&t, "a", "one", 1);
    put(&t, "b", "", 2);
    put(&t, "a", "three", 3);
    ck_assert_uint_eq(t.registers, 2);
    ck_assert_uint_eq(find(&t, "a")->tag.n, 3);
    ck_assert_uint_eq(find(&t, "a")->value_length, 5);
    ck_assert_uint_eq(t.bytes, store_register_bytes(find(&t, "a")) + store_register_bytes(find(&t, "b")));
    const struct store_name other = {11, (const uint8_t *)"a", 1};
    ck_assert_ptr_null(store_table_find(&t, &other)); /* another job's */
    store_table_close(&t);
}
END_TEST

/* Whatever the way to it, one state has one sum, and two states have two. */
START_TEST(sums_tell_states_apart)
{
    struct store_table a, b;
    struct prng p = prng_stream(5, 0, 1);
    char name[16];
    store_table_open(&a, 7);
    store_table_open(&b, 7);
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "n%u", (unsigned)prng_below(&p, 300));
        put(&a, name, "x", i + 1);
    }
    ck_assert(!store_sum_equal(store_table_root(&a), store_table_root(&b)));
    for (unsigned bucket = STORE_BUCKETS; bucket-- > 0;) {
        const struct store_register *r;
        for (uint32_t i = 0; (r = store_table_at(&a, bucket, i)) != NULL; i++) {
            snprintf(name, sizeof name, "%.*s", (int)r->name_length, (const char *)r->bytes);
            put(&b, name, "other bytes, one tag", r->tag.n);
        }
        ck_assert(store_sum_equal(store_table_sum(&a, bucket), store_table_sum(&b, bucket)));
    }
    ck_assert(store_sum_equal(store_table_root(&a), store_table_root(&b)));
    put(&b, "n7", "y", 9999);
    ck_assert(!store_sum_equal(store_table_root(&a), store_table_root(&b)));
    store_table_close(&a);
    store_table_close(&b);
}
END_TEST

START_TEST(registers_keep_their_places)
{
    struct store_table t;
    char name[16];
    store_table_open(&t, 7);
    put(&t, "first", "", 1);
    const struct store_name first = {STORE_JOB, (const uint8_t *)"first", 5};
    unsigned bucket = store_table_bucket(&t, &first);
    for (unsigned i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "n%u", i);
        put(&t, name, "", i + 2);
    }
    put(&t, "first", "again", 5000);
    ck_assert_uint_eq(store_table_at(&t, bucket, 0)->tag.n, 5000);
    ck_assert_ptr_null(store_table_at(&t, bucket, t.bucket[bucket].count));
    store_table_close(&t);
}
END_TEST

enum { KEYS = 6000 };

static uint64_t newest[KEYS]; /* of each name, the n that was put last; 0: it is not there */

/* The buckets say the same in both directions as the names say one by one. */
static void compare(const struct store_table *t)
{
    size_t there = 0, chained = 0, ttls = 0;
    char name[16];
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(name, sizeof name, "n%u", i);
        const struct store_register *r = find(t, name);
        there += newest[i] != 0;
        SUITE_HOLDS((r != NULL ? r->tag.n : 0) == newest[i]);
    }
    for (unsigned b = 0; b < STORE_BUCKETS; b++) {
        const struct store_register *last = NULL;
        uint32_t count = 0;
        for (const struct store_register *r = t->bucket[b].first; r != NULL; last = r, r = r->next, count++) {
            SUITE_HOLDS(r->before == last);
            ttls += r->ttl_ms != 0;
        }
        SUITE_HOLDS(t->bucket[b].last == last && t->bucket[b].count == count);
        chained += count;
    }
    ck_assert_uint_eq(chained, there);
    ck_assert_uint_eq(t->registers, there);
    ck_assert_uint_eq(t->ttls, ttls);
}

/* Buckets grow to several hundred registers, and some go. */
START_TEST(many_come_and_go)
{
    struct store_table t;
    struct prng p = prng_stream(9, 0, 1);
    char name[16];
    store_table_open(&t, 7);
    memset(newest, 0, sizeof newest);
    for (unsigned i = 1; i <= 60000; i++) {
        const unsigned key = (unsigned)prng_below(&p, i < 3000 ? 40 : KEYS);
        snprintf(name, sizeof name, "n%u", key);
        if (prng_below(&p, 4) == 0) {
            const struct store_name n = {STORE_JOB, (const uint8_t *)name, strlen(name)};
            SUITE_HOLDS(store_table_drop(&t, &n) == (newest[key] != 0));
            newest[key] = 0;
            continue;
        }
        struct store_register *r = store_town_make(name, "x", tag(i));
        r->ttl_ms = prng_below(&p, 8) == 0;
        SUITE_HOLDS(store_table_put(&t, r) == 0);
        newest[key] = i;
        if (i % 20000 == 0) {
            compare(&t);
        }
    }
    compare(&t);
    store_table_close(&t);
    ck_assert_uint_eq(t.bytes, 0);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(names_are_found),
    SUITE_TEST(sums_tell_states_apart),
    SUITE_TEST(registers_keep_their_places),
    SUITE_TEST(many_come_and_go),
};
SUITE_MAIN("store table", tests)
