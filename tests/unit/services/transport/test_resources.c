/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/internal.h"

#include "suite.h"

START_TEST(memory_is_counted_to_its_limit)
{
    struct transport t = {.config = {.memory_max = 100}};
    ck_assert(transport_charge(&t, 60));
    ck_assert(!transport_charge(&t, 41));
    ck_assert_uint_eq(t.stats.memory, 60);
    ck_assert(transport_charge(&t, 40));
    transport_uncharge(&t, 70);
    ck_assert_uint_eq(t.stats.memory, 30);
    ck_assert_uint_eq(t.stats.memory_most, 100);
    ck_assert(!transport_charge(&t, SIZE_MAX)); /* no sum wraps round */
}
END_TEST

START_TEST(more_than_was_counted_is_not_given_back)
{
    struct transport t = {.config = {.memory_max = 100}};
    ck_assert(transport_charge(&t, 10));
    transport_uncharge(&t, 11);
}
END_TEST

START_TEST(what_is_due_keeps_one_place)
{
    struct transport t = {.orders = 0};
    char memory[1024];
    ck_assert_uint_le(heap_size(2), sizeof memory);
    heap_init(&t.due, memory, 2);
    struct due one = {.order = 1}, two = {.order = 2};
    transport_due(&t, &one, (cw_time){30});
    transport_due(&t, &two, (cw_time){20});
    ck_assert_ptr_eq(heap_min(&t.due), &two.entry);
    transport_due(&t, &one, (cw_time){10}); /* moved, not added */
    ck_assert_ptr_eq(heap_min(&t.due), &one.entry);
    transport_due(&t, &one, CW_NEVER);
    transport_due(&t, &one, CW_NEVER);
    ck_assert_ptr_eq(heap_min(&t.due), &two.entry);
    transport_due(&t, &two, CW_NEVER);
    ck_assert_ptr_null(heap_min(&t.due));
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(memory_is_counted_to_its_limit),
    SUITE_ABORTS(more_than_was_counted_is_not_given_back),
    SUITE_TEST(what_is_due_keeps_one_place),
};
SUITE_MAIN("resources", tests)
