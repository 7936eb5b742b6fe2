/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/kernel.h"

#include <string.h>

/*
 * Defines the function `name` for elements of a value and an index. y is taken when `ahead` of (y, x) holds, or when
 * neither is ahead of the other and its index is the lesser. A NaN (never for integers) is ahead of all that is none.
 */
#define PLACE_KERNEL(name, type, index_type, sign)                                  \
    static void name(void *restrict into, const void *restrict from, size_t n)      \
    {                                                                               \
        struct {                                                                    \
            type value;                                                             \
            index_type index;                                                       \
        } *restrict to = into, x, y;                                                \
        const char *restrict bytes = from;                                          \
        for (size_t i = 0; i < n; i++) {                                            \
            memcpy(&x, &to[i], sizeof x);                                           \
            memcpy(&y, bytes + i * sizeof y, sizeof y);                             \
            bool x_none = x.value != x.value, y_none = y.value != y.value;          \
            bool equal = x.value == y.value || (x_none && y_none);                  \
            bool better = (y_none && !x_none) || (!x_none && y.value sign x.value); \
            if (better || (equal && y.index < x.index)) {                           \
                memcpy(&to[i], &y, sizeof y);                                       \
            }                                                                       \
        }                                                                           \
    }

PLACE_KERNEL(least_f32, float, uint32_t, <)
PLACE_KERNEL(least_f64, double, uint64_t, <)
PLACE_KERNEL(least_i32, int32_t, uint32_t, <)
PLACE_KERNEL(least_i64, int64_t, uint64_t, <)
PLACE_KERNEL(least_u32, uint32_t, uint32_t, <)
PLACE_KERNEL(least_u64, uint64_t, uint64_t, <)
PLACE_KERNEL(most_f32, float, uint32_t, >)
PLACE_KERNEL(most_f64, double, uint64_t, >)
PLACE_KERNEL(most_i32, int32_t, uint32_t, >)
PLACE_KERNEL(most_i64, int64_t, uint64_t, >)
PLACE_KERNEL(most_u32, uint32_t, uint32_t, >)
PLACE_KERNEL(most_u64, uint64_t, uint64_t, >)

number_combine_fn kernel_place(cw_number type, cw_combine operation)
{
    static const struct {
        number_combine_fn least, most;
    } table[NUMBER_TYPES + 1] = {
        [CW_NUMBER_FLOAT32] = {least_f32, most_f32}, [CW_NUMBER_FLOAT64] = {least_f64, most_f64},
        [CW_NUMBER_INT32] = {least_i32, most_i32},   [CW_NUMBER_INT64] = {least_i64, most_i64},
        [CW_NUMBER_UINT32] = {least_u32, most_u32},  [CW_NUMBER_UINT64] = {least_u64, most_u64},
    };
    switch (operation) {
    case CW_COMBINE_MINLOC:
        return table[type].least;
    case CW_COMBINE_MAXLOC:
        return table[type].most;
    default:
        return NULL;
    }
}
