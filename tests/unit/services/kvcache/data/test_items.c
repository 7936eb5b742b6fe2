/* SPDX-License-Identifier: Apache-2.0 */
/* Values in memory: against a plain list where nothing is evicted, and within their bytes where it is. */
#include "services/kvcache/data/items.h"

#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static const cw_time never = {INT64_MAX};
static const cw_time start = {1000};

/* Names 0..: the id is a hash's stand-in; `alike` of them share one id, so that the whole key has to be compared. */
struct named {
    uint8_t key[8];
    struct item_name name;
};

static struct item_name *name_of(struct named *n, unsigned number, unsigned alike)
{
    *n = (struct named){.name = {.job = 1 + number % 3, .key_length = sizeof(n->key)}};
    memcpy(n->key, &number, sizeof(number));
    n->name.key = n->key;
    uint64_t mixed = (number / alike) * UINT64_C(0x9e3779b97f4a7c15);
    memcpy(n->name.id.b, &mixed, sizeof(mixed));
    return &n->name;
}

static bool put(struct items *t, unsigned number, size_t length, uint8_t fill)
{
    struct named n;
    struct item *i = items_new(t, name_of(&n, number, 4), length);
    if (i == NULL) {
        return false;
    }
    memset(item_value(i), fill, length);
    items_place(t, i, start);
    return true;
}

static struct item *find(struct items *t, unsigned number, cw_time now)
{
    struct named n;
    return items_find(t, name_of(&n, number, 4), now);
}

enum { NAMES = 5000 };

START_TEST(as_a_list)
{
    static struct {
        bool there;
        uint8_t fill;
        size_t length;
    } naive[NAMES];
    struct items t;
    struct prng rng = prng_stream(7, 0, 0);
    ck_assert_int_eq(items_open(&t, 64 * 1024 * 1024), 0);
    size_t count = 0;
    for (unsigned step = 0; step < 200000; step++) {
        unsigned number = (unsigned)prng_below(&rng, NAMES);
        struct item *i = find(&t, number, start);
        ck_assert(naive[number].there == (i != NULL));
        if (i != NULL) {
            ck_assert_uint_eq(i->length, naive[number].length);
            for (size_t b = 0; b < i->length; b++) {
                SUITE_HOLDS(item_value(i)[b] == naive[number].fill, "byte %zu of %u", b, number);
            }
        }
        if (prng_below(&rng, 3) > 0) {
            count += !naive[number].there;
            naive[number].there = true;
            naive[number].fill = (uint8_t)step;
            naive[number].length = prng_below(&rng, 100);
            ck_assert(put(&t, number, naive[number].length, (uint8_t)step));
        } else if (i != NULL) {
            items_remove(&t, i);
            naive[number].there = false;
            count--;
        }
        ck_assert_uint_eq(t.count, count);
    }
    ck_assert_uint_eq(t.evicted, 0);
    items_close(&t);
}
END_TEST

START_TEST(within_its_bytes)
{
    struct items t;
    struct prng rng = prng_stream(8, 0, 0);
    ck_assert_int_eq(items_open(&t, 256 * 1024), 0);
    for (unsigned step = 0; step < 100000; step++) {
        put(&t, (unsigned)prng_below(&rng, 100000), prng_below(&rng, 3000), 1);
        ck_assert_uint_le(items_bytes(&t), 256 * 1024 + 2 * 8 * t.mask); /* a table that has just grown */
    }
    ck_assert_uint_gt(t.evicted, 1000);
    ck_assert(!put(&t, 1, 200 * 1024, 1)); /* above a half */
    items_close(&t);
}
END_TEST

/* What is asked for again stays, whatever passes by once. */
START_TEST(a_scan_takes_nothing_that_is_used)
{
    struct items t;
    ck_assert_int_eq(items_open(&t, 1024 * 1024), 0);
    enum { HOT = 500 };
    for (unsigned n = 0; n < HOT; n++) {
        put(&t, n, 500, 1);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned n = 0; n < HOT; n++) {
            ck_assert_ptr_nonnull(find(&t, n, start));
        }
    }
    for (unsigned n = 0; n < 50000; n++) {
        put(&t, 10000 + n, 500, 2);
    }
    unsigned left = 0;
    for (unsigned n = 0; n < HOT; n++) {
        left += find(&t, n, start) != NULL;
    }
    ck_assert_uint_eq(left, HOT);
    items_close(&t);
}
END_TEST

static unsigned went;

static void count_left(void *context, const struct item *i)
{
    (void)i;
    ck_assert_ptr_eq(context, &went);
    went++;
}

/* It takes the memory of the one before, and nothing else of it but how often it was asked for. */
START_TEST(a_value_of_the_same_length)
{
    struct items t;
    ck_assert_int_eq(items_open(&t, 1024 * 1024), 0);
    put(&t, 1, 100, 1);
    put(&t, 2, 100, 2);
    struct item *i = find(&t, 1, start);
    size_t bytes = items_bytes(&t);
    i->expires = (cw_time){2000};
    i->flags = i->stamp = 7;
    i->cas = i->epoch = 8;
    i->marks = 9;
    items_renew(&t, i);
    memset(item_value(i), 3, 100);
    ck_assert_ptr_eq(find(&t, 1, (cw_time){3000}), i);
    ck_assert(i->flags == 0 && i->stamp == 0 && i->cas == 0 && i->epoch == 0 && i->marks == 0 && i->uses == 2);
    ck_assert(item_value(i)[99] == 3 && items_bytes(&t) == bytes && t.count == 2);
    put(&t, 1, 101, 4);
    ck_assert(find(&t, 1, start)->length == 101 && items_bytes(&t) == bytes + 1 && t.count == 2);
    items_close(&t);
}
END_TEST

START_TEST(expiry)
{
    struct items t;
    went = 0;
    ck_assert_int_eq(items_open(&t, 1024 * 1024), 0);
    t.left = count_left;
    t.context = &went;
    put(&t, 1, 10, 1);
    put(&t, 2, 10, 1);
    struct item *i = find(&t, 1, start);
    ck_assert_int_eq(i->expires.ns, never.ns);
    i->expires = (cw_time){2000};
    ck_assert_ptr_nonnull(find(&t, 1, (cw_time){1999}));
    ck_assert_ptr_null(find(&t, 1, (cw_time){2000}));
    ck_assert_ptr_nonnull(find(&t, 2, (cw_time){2000}));
    ck_assert_uint_eq(t.count, 1);
    ck_assert_uint_eq(t.expired, 1);
    ck_assert_uint_eq(went, 1);
    items_close(&t);
}
END_TEST

static bool odd(void *context, const struct item *i)
{
    unsigned number;
    (void)context;
    memcpy(&number, item_key(i), sizeof(number));
    return number % 2 == 1;
}

/* The same, counting how often each is looked at. */
static bool odd_ones(void *context, struct item *i)
{
    unsigned number, *looked = context;
    memcpy(&number, item_key(i), sizeof(number));
    looked[number]++;
    return number % 2 == 1;
}

START_TEST(a_sweep)
{
    struct items t;
    ck_assert_int_eq(items_open(&t, 1024 * 1024), 0);
    for (unsigned n = 0; n < 1000; n++) {
        put(&t, n, 10, 1);
    }
    ck_assert_uint_eq(items_sweep(&t, odd, NULL), 500);
    for (unsigned n = 0; n < 1000; n++) {
        ck_assert(n % 2 == 1 ? find(&t, n, start) == NULL : find(&t, n, start) != NULL);
    }
    items_close(&t);
}
END_TEST

/* By steps, while the table grows: whatever was there from the beginning is looked at. */
START_TEST(a_sweep_by_steps)
{
    for (size_t chains = 1; chains <= 4096; chains = chains * 5 + 2) {
        static unsigned looked[2000];
        struct items t;
        size_t cursor = 0;
        unsigned steps = 0;
        memset(looked, 0, sizeof looked);
        ck_assert_int_eq(items_open(&t, 1024 * 1024), 0);
        for (unsigned n = 0; n < 1000; n++) {
            put(&t, n, 10, 1);
        }
        while (!items_sweep_some(&t, &cursor, chains, odd_ones, looked)) {
            put(&t, 1000 + steps % 1000, 10, 1);
            ck_assert_uint_lt(steps++, 100000);
        }
        ck_assert_uint_eq(cursor, 0);
        for (unsigned n = 0; n < 1000; n++) {
            ck_assert_uint_ge(looked[n], 1); /* more than once when the table grew meanwhile */
            ck_assert((find(&t, n, start) != NULL) == (n % 2 == 0));
        }
        items_close(&t);
    }
}
END_TEST

/* An empty table takes its steps, and a cursor that was left in the middle may begin again. */
START_TEST(a_sweep_of_nothing_and_one_given_up)
{
    static unsigned looked[2000];
    struct items t;
    size_t cursor = 0;
    ck_assert_int_eq(items_open(&t, 1024 * 1024), 0);
    while (!items_sweep_some(&t, &cursor, 7, odd_ones, looked)) {
    }
    for (unsigned n = 0; n < 1000; n++) {
        put(&t, n, 10, 1);
    }
    ck_assert(!items_sweep_some(&t, &cursor, 3, odd_ones, looked));
    cursor = 0;
    while (!items_sweep_some(&t, &cursor, 7, odd_ones, looked)) {
    }
    ck_assert_uint_eq(t.count, 500);
    items_close(&t);
}
END_TEST

START_TEST(limits)
{
    struct items t;
    ck_assert_int_eq(items_open(&t, ITEMS_BYTES_LEAST - 1), -EINVAL);
    ck_assert_int_eq(items_open(&t, ITEMS_BYTES_LEAST), 0);
    ck_assert(put(&t, 1, 0, 0));
    ck_assert_uint_eq(find(&t, 1, start)->length, 0);
    items_close(&t);
    items_close(&t);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(as_a_list),
                                          SUITE_TEST(a_value_of_the_same_length),
                                          SUITE_TEST(within_its_bytes),
                                          SUITE_TEST(a_scan_takes_nothing_that_is_used),
                                          SUITE_TEST(expiry),
                                          SUITE_TEST(a_sweep),
                                          SUITE_TEST(a_sweep_by_steps),
                                          SUITE_TEST(a_sweep_of_nothing_and_one_given_up),
                                          SUITE_TEST(limits)};
SUITE_MAIN("items", tests)
