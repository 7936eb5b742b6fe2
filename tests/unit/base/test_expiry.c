/* SPDX-License-Identifier: Apache-2.0 */
#include "base/expiry.h"
#include "rng.h"
#include "suite.h"

#include <errno.h>

struct thing {
    struct expiry_item item;
    uint64_t value;
};

START_TEST(handles_name_one_thing_only)
{
    struct expiry t;
    ck_assert_int_eq(expiry_open(&t, sizeof(struct thing), 3, 7), 0);
    struct thing *a = expiry_take(&t, (cw_time){10}), *b = expiry_take(&t, CW_NEVER),
                 *c = expiry_take(&t, (cw_time){5});
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_nonnull(c);
    ck_assert_ptr_null(expiry_take(&t, CW_NEVER));
    uint32_t old = a->item.handle;
    ck_assert(old != 0);
    ck_assert(old != b->item.handle);
    ck_assert(old != c->item.handle);
    ck_assert_ptr_eq(expiry_find(&t, old), a);
    expiry_give(&t, a);
    ck_assert_ptr_null(expiry_find(&t, old));
    struct thing *again = expiry_take(&t, CW_NEVER);
    ck_assert_ptr_eq(again, a);
    ck_assert_ptr_null(expiry_find(&t, old));
    ck_assert_ptr_eq(expiry_find(&t, again->item.handle), again);
    ck_assert_ptr_null(expiry_find(&t, 0));
    ck_assert_ptr_eq(expiry_due(&t, (cw_time){5}), c);
    ck_assert_ptr_null(expiry_due(&t, (cw_time){4}));
    expiry_close(&t);
}
END_TEST

/* No handle is 0 and none comes back to one slot before all its generations have been used. */
START_TEST(generations_go_all_the_way_round)
{
    struct expiry t;
    ck_assert_int_eq(expiry_open(&t, sizeof(struct thing), EXPIRY_LIMIT_MAX, UINT64_MAX), 0);
    struct thing *a = expiry_take(&t, CW_NEVER);
    uint32_t first = a->item.handle, uses = 0;
    /* The slot rests until the others have been used: with one made, it is used again at once. */
    do {
        expiry_give(&t, a);
        a = expiry_take(&t, CW_NEVER);
        uses++;
        ck_assert_uint_ne(a->item.handle, 0);
    } while (a->item.handle != first);
    ck_assert_uint_eq(uses, 65535); /* slot 0 has one generation less: its handle would be 0 */
    expiry_close(&t);
}
END_TEST

/* Against an array that is searched: random takes, gives, moves and expiries, of all sizes of table. */
START_TEST(agrees_with_an_array)
{
    enum { STEPS = 20000, MOST = 300 };
    struct {
        struct thing *thing;
        uint32_t handle;
        int64_t at;
        uint64_t set;
    } model[MOST];
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct rng rng = {seed};
        uint32_t limit = 1 + (uint32_t)rng_below(&rng, MOST), count = 0;
        uint64_t set = 0;
        int64_t now = 0;
        struct expiry t;
        ck_assert_int_eq(expiry_open(&t, sizeof(struct thing), limit, seed), 0);
        for (unsigned step = 0; step < STEPS; step++) {
            unsigned what = (unsigned)rng_below(&rng, 8);
            uint32_t i = count > 0 ? (uint32_t)rng_below(&rng, count) : 0;
            int64_t at = now + (int64_t)rng_below(&rng, 20);
            if (what < 4) {
                struct thing *thing = expiry_take(&t, (cw_time){at});
                ck_assert_int_eq(thing == NULL, count == limit);
                if (thing != NULL) {
                    model[count].thing = thing;
                    model[count].handle = thing->item.handle;
                    model[count].at = at;
                    model[count++].set = ++set;
                    thing->value = thing->item.handle * UINT64_C(3);
                }
            } else if (what < 6 && count > 0) {
                expiry_give(&t, model[i].thing);
                ck_assert_ptr_null(expiry_find(&t, model[i].handle));
                model[i] = model[--count];
            } else if (what == 6 && count > 0) {
                expiry_move(&t, model[i].thing, (cw_time){at});
                model[i].at = at;
                model[i].set = ++set;
            } else {
                now += (int64_t)rng_below(&rng, 10);
                struct thing *due;
                while ((due = expiry_due(&t, (cw_time){now})) != NULL) {
                    uint32_t least = 0;
                    for (uint32_t k = 1; k < count; k++) {
                        bool sooner = model[k].at < model[least].at ||
                                      (model[k].at == model[least].at && model[k].set < model[least].set);
                        least = sooner ? k : least;
                    }
                    ck_assert(count > 0);
                    ck_assert(model[least].thing == due);
                    ck_assert(model[least].at <= now);
                    expiry_give(&t, due);
                    model[least] = model[--count];
                }
                for (uint32_t k = 0; k < count; k++) {
                    ck_assert_int_gt(model[k].at, now);
                }
            }
            if (step % 64 == 0) {
                uint32_t place = 0, seen = 0;
                for (struct thing *thing; (thing = expiry_each(&t, &place)) != NULL; seen++) {
                    ck_assert_uint_eq(thing->value, thing->item.handle * UINT64_C(3));
                    ck_assert_ptr_eq(expiry_find(&t, thing->item.handle), thing);
                }
                ck_assert_uint_eq(seen, count);
                ck_assert_uint_eq(expiry_count(&t), count);
                ck_assert(heap_valid(&t.heap));
            }
        }
        expiry_close(&t);
    }
}
END_TEST

START_TEST(made_up_handles_are_found_out)
{
    struct expiry t;
    struct rng rng = {3};
    ck_assert_int_eq(expiry_open(&t, sizeof(struct thing), 100, 9), 0);
    struct thing *a = expiry_take(&t, CW_NEVER);
    for (unsigned i = 0; i < 100000; i++) {
        uint32_t handle = (uint32_t)rng_next(&rng);
        ck_assert_ptr_eq(expiry_find(&t, handle), handle == a->item.handle ? a : NULL);
        ck_assert(expiry_was_given(&t, handle) == (handle == a->item.handle));
    }
    expiry_close(&t);
}
END_TEST

START_TEST(handles_that_were_given_are_known)
{
    enum { SLOTS = 5, ROUNDS = 200 };
    struct expiry t;
    struct thing *now[SLOTS] = {NULL};
    static uint32_t given[ROUNDS];
    struct rng rng = {4};
    ck_assert_int_eq(expiry_open(&t, sizeof(struct thing), SLOTS, 9), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct thing **slot = &now[rng_next(&rng) % SLOTS];
        if (*slot != NULL) {
            expiry_give(&t, *slot);
        }
        *slot = expiry_take(&t, CW_NEVER);
        given[i] = (*slot)->item.handle;
        ck_assert(!expiry_was_given(&t, given[i] + (UINT32_C(1) << t.index_bits)) || i > 0);
        for (unsigned k = 0; k <= i; k++) {
            ck_assert(expiry_was_given(&t, given[k]));
        }
    }
    unsigned others = 0;
    for (unsigned i = 0; i < 100000; i++) {
        others += expiry_was_given(&t, (uint32_t)rng_next(&rng));
    }
    ck_assert_uint_eq(others, 0); /* 200 of 2^32 */
    ck_assert(!expiry_was_given(&t, 0));
    expiry_close(&t);
}
END_TEST

START_TEST(salts_set_lives_apart)
{
    struct expiry one, two;
    ck_assert_int_eq(expiry_open(&one, sizeof(struct thing), 4096, 1), 0);
    ck_assert_int_eq(expiry_open(&two, sizeof(struct thing), 4096, 2), 0);
    for (unsigned i = 0; i < 4096; i++) {
        struct thing *a = expiry_take(&one, CW_NEVER);
        ck_assert_ptr_nonnull(expiry_take(&two, CW_NEVER));
        ck_assert_ptr_null(expiry_find(&two, a->item.handle));
    }
    expiry_close(&one);
    expiry_close(&two);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(handles_name_one_thing_only), SUITE_TEST(generations_go_all_the_way_round),
    SUITE_TEST(agrees_with_an_array),        SUITE_TEST(made_up_handles_are_found_out),
    SUITE_TEST(salts_set_lives_apart),       SUITE_TEST(handles_that_were_given_are_known),
};
SUITE_MAIN("expiry", tests)
