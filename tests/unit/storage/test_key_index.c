/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"
#include "storage/key_index.h"
#include "suite.h"

#include <string.h>

enum { KEYS = 2000, STEPS = 30000 };

static cw_key key_of(uint32_t n)
{
    cw_key key = {{0}};
    memcpy(key.b, &n, sizeof n);
    return key;
}

/* Beside an array: what was put is found, what was removed is not, and a walk sees each once. */
START_TEST(agrees_with_an_array)
{
    static uint64_t there[KEYS];
    struct key_index index;
    struct prng p = prng_stream(5, 0, 0);
    uint64_t count = 0, at = 0, walked = 0;
    key_index_open(&index, 17);
    for (uint32_t step = 1; step < STEPS; step++) {
        uint32_t n = (uint32_t)prng_below(&p, KEYS);
        uint8_t kind = (uint8_t)(n % 3);
        cw_key key = key_of(n / 3);
        struct key_slot *slot = key_index_find(&index, kind, &key);
        SUITE_HOLDS((slot != NULL) == (there[n] != 0) && (slot == NULL || slot->position == there[n]));
        if (prng_chance(&p, step / 10000 % 2 == 0 ? 3 : 1, 4)) {
            slot = key_index_put(&index, kind, &key);
            SUITE_HOLDS(slot != NULL);
            count += there[n] == 0;
            slot->position = there[n] = step;
        } else if (slot != NULL) {
            key_index_remove(&index, slot);
            there[n] = 0;
            count--;
        }
        SUITE_HOLDS(index.count == count);
    }
    ck_assert(key_index_valid(&index));
    while (key_index_next(&index, &at) != NULL) {
        walked++;
    }
    ck_assert_uint_eq(walked, count);
    ck_assert_uint_ge(key_index_memory(&index), count * 64);
    key_index_close(&index);
    ck_assert_uint_eq(index.count, 0);
}
END_TEST

START_TEST(an_empty_index_has_no_memory)
{
    struct key_index index;
    uint64_t at = 0;
    key_index_open(&index, 1);
    cw_key key = key_of(1);
    ck_assert_ptr_null(key_index_find(&index, 0, &key));
    ck_assert_ptr_null(key_index_next(&index, &at));
    ck_assert_uint_eq(key_index_memory(&index), 0);
    key_index_close(&index);
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(agrees_with_an_array),
    SUITE_TEST(an_empty_index_has_no_memory),
};
SUITE_MAIN("key_index", tests)
