/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/acceptor.h"

#include "store_town.h"
#include "suite.h"

static struct store_acceptor a;
static const struct store_ballot low = {1, 1}, high = {2, 1};

static int accept_it(struct store_ballot b, uint64_t n)
{
    return store_acceptor_accept(&a, b, store_town_make("x", "v", (struct store_tag){b, n}));
}

static uint64_t held(void)
{
    const struct store_name name = {STORE_JOB, (const uint8_t *)"x", 1};
    const struct store_register *r = store_table_find(&a.table, &name);
    return r != NULL ? r->tag.n : 0;
}

START_TEST(promises_rise)
{
    store_acceptor_open(&a, 7);
    ck_assert(store_acceptor_prepare(&a, low));
    ck_assert(store_acceptor_prepare(&a, low));
    ck_assert(store_acceptor_prepare(&a, high));
    ck_assert(!store_acceptor_prepare(&a, low));
    ck_assert(store_acceptor_confirm(&a, high));
    ck_assert(!store_acceptor_confirm(&a, low));
    store_acceptor_close(&a);
}
END_TEST

/* Store rule 2. */
START_TEST(nothing_below_the_promise_is_accepted)
{
    store_acceptor_open(&a, 7);
    ck_assert(store_acceptor_prepare(&a, high));
    ck_assert_int_eq(accept_it(low, 1), 0);
    ck_assert_uint_eq(held(), 0);
    ck_assert_int_eq(accept_it(high, 2), 1);
    ck_assert_uint_eq(held(), 2);
    store_acceptor_close(&a);
}
END_TEST

START_TEST(to_accept_is_to_promise)
{
    store_acceptor_open(&a, 7);
    ck_assert_int_eq(accept_it(high, 5), 1);
    ck_assert(!store_acceptor_prepare(&a, low));
    ck_assert_uint_eq(a.n_max, 5);
    store_acceptor_close(&a);
}
END_TEST

START_TEST(what_is_late_does_not_overwrite)
{
    store_acceptor_open(&a, 7);
    ck_assert_int_eq(accept_it(low, 6), 1);
    ck_assert_int_eq(accept_it(low, 5), 1); /* it had been there before */
    ck_assert_uint_eq(held(), 6);
    ck_assert_int_eq(store_acceptor_adopt(&a, store_town_make("x", "v", (struct store_tag){{0, 1}, 9})), 1);
    ck_assert_uint_eq(held(), 6);
    ck_assert_uint_eq(a.n_max, 9);
    store_acceptor_close(&a);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(promises_rise),
    SUITE_TEST(nothing_below_the_promise_is_accepted),
    SUITE_TEST(to_accept_is_to_promise),
    SUITE_TEST(what_is_late_does_not_overwrite),
};
SUITE_MAIN("store acceptor", tests)
