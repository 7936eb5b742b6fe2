/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "storage/sorted.h"
#include "suite.h"

#include <string.h>

enum { TEXTS = 3000, LONG = SORTED_TEXT_MAX };

/* The reference: an array of flags by number, for texts that are numbers in a fixed width, some of them very long. */
static uint32_t text_of_number(uint32_t n, uint8_t *out)
{
    uint32_t size = n % 97 == 0 ? LONG : 8 + n % 5;
    memset(out, 'x', size);
    for (int i = 7; i >= 0; i--, n /= 10) {
        out[i] = (uint8_t)('0' + n % 10);
    }
    return size;
}

static int naive_next(const uint16_t *there, uint32_t from)
{
    while (from < TEXTS && there[from] == 0) {
        from++;
    }
    return from < TEXTS ? (int)from : -1;
}

START_TEST(agrees_with_an_array)
{
    static uint16_t there[TEXTS];
    uint8_t text[LONG];
    struct sorted list;
    struct prng p = prng_stream(7, 0, 0);
    size_t count = 0;
    sorted_open(&list, 2);
    for (uint32_t step = 1; step < 40000; step++) {
        uint32_t n = (uint32_t)prng_below(&p, TEXTS), size = text_of_number(n, text);
        bool grow = step / 8000 % 2 == 0;
        if (prng_chance(&p, grow ? 3 : 1, 4)) {
            uint16_t tail = (uint16_t)step;
            SUITE_HOLDS(sorted_put(&list, text, size, &tail) == 0);
            count += there[n] == 0;
            there[n] = tail == 0 ? 1 : tail;
        } else {
            SUITE_HOLDS(sorted_remove(&list, text, size) == (there[n] != 0));
            count -= there[n] != 0;
            there[n] = 0;
        }
        SUITE_HOLDS(list.count == count);
        bool behind = prng_chance(&p, 1, 2);
        n = (uint32_t)prng_below(&p, TEXTS);
        size = text_of_number(n, text);
        struct sorted_item item;
        int next = naive_next(there, n + behind);
        SUITE_HOLDS(sorted_seek(&list, text, size, behind, &item) == (next >= 0));
        if (next >= 0) {
            size = text_of_number((uint32_t)next, text);
            SUITE_HOLDS(item.size == size && memcmp(item.text, text, size) == 0);
            SUITE_HOLDS(memcmp(item.tail, &there[next], 2) == 0);
        }
    }
    ck_assert(sorted_valid(&list));
    ck_assert_uint_gt(sorted_memory(&list), count * 10);
    sorted_close(&list);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(shorter_comes_first_and_empty_is_a_text)
{
    struct sorted list;
    struct sorted_item item;
    sorted_open(&list, 0);
    ck_assert(!sorted_seek(&list, "", 0, false, &item));
    ck_assert(!sorted_remove(&list, "a", 1));
    ck_assert_int_eq(sorted_put(&list, "ab", 2, NULL), 0);
    ck_assert_int_eq(sorted_put(&list, "a", 1, NULL), 0);
    ck_assert_int_eq(sorted_put(&list, "", 0, NULL), 0);
    ck_assert(sorted_seek(&list, "", 0, false, &item));
    ck_assert_uint_eq(item.size, 0);
    ck_assert(sorted_seek(&list, "", 0, true, &item));
    ck_assert_uint_eq(item.size, 1);
    ck_assert(sorted_seek(&list, "a", 1, true, &item));
    ck_assert_uint_eq(item.size, 2);
    ck_assert(!sorted_seek(&list, "ab", 2, true, &item));
    sorted_close(&list);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(agrees_with_an_array),
    SUITE_TEST(shorter_comes_first_and_empty_is_a_text),
};
SUITE_MAIN("sorted", tests)
