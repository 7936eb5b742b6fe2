/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/kernel.h"

#include <string.h>

/* Sums and products wrap, so a signed type has those of the unsigned one; 16 bits are multiplied as unsigned int. */
KERNEL(sum_8, uint8_t, x + y)
KERNEL(sum_16, uint16_t, x + y)
KERNEL(sum_32, uint32_t, x + y)
KERNEL(sum_64, uint64_t, x + y)
KERNEL(prod_8, uint8_t, (unsigned)x *y)
KERNEL(prod_16, uint16_t, (unsigned)x *y)
KERNEL(prod_32, uint32_t, x *y)
KERNEL(prod_64, uint64_t, x *y)

KERNEL(min_i8, int8_t, y < x ? y : x)
KERNEL(min_i16, int16_t, y < x ? y : x)
KERNEL(min_i32, int32_t, y < x ? y : x)
KERNEL(min_i64, int64_t, y < x ? y : x)
KERNEL(min_u8, uint8_t, y < x ? y : x)
KERNEL(min_u16, uint16_t, y < x ? y : x)
KERNEL(min_u32, uint32_t, y < x ? y : x)
KERNEL(min_u64, uint64_t, y < x ? y : x)
KERNEL(max_i8, int8_t, y > x ? y : x)
KERNEL(max_i16, int16_t, y > x ? y : x)
KERNEL(max_i32, int32_t, y > x ? y : x)
KERNEL(max_i64, int64_t, y > x ? y : x)
KERNEL(max_u8, uint8_t, y > x ? y : x)
KERNEL(max_u16, uint16_t, y > x ? y : x)
KERNEL(max_u32, uint32_t, y > x ? y : x)
KERNEL(max_u64, uint64_t, y > x ? y : x)

KERNEL(and_8, uint8_t, x &y)
KERNEL(and_16, uint16_t, x &y)
KERNEL(and_32, uint32_t, x &y)
KERNEL(and_64, uint64_t, x &y)
KERNEL(or_8, uint8_t, x | y)
KERNEL(or_16, uint16_t, x | y)
KERNEL(or_32, uint32_t, x | y)
KERNEL(or_64, uint64_t, x | y)
KERNEL(xor_8, uint8_t, x ^ y)
KERNEL(xor_16, uint16_t, x ^ y)
KERNEL(xor_32, uint32_t, x ^ y)
KERNEL(xor_64, uint64_t, x ^ y)

number_combine_fn kernel_integer(cw_number type, cw_combine operation)
{
    static const struct {
        number_combine_fn sum, prod, min, max;
    } table[NUMBER_TYPES + 1] = {
        [CW_NUMBER_INT8] = {sum_8, prod_8, min_i8, max_i8},
        [CW_NUMBER_INT16] = {sum_16, prod_16, min_i16, max_i16},
        [CW_NUMBER_INT32] = {sum_32, prod_32, min_i32, max_i32},
        [CW_NUMBER_INT64] = {sum_64, prod_64, min_i64, max_i64},
        [CW_NUMBER_UINT8] = {sum_8, prod_8, min_u8, max_u8},
        [CW_NUMBER_UINT16] = {sum_16, prod_16, min_u16, max_u16},
        [CW_NUMBER_UINT32] = {sum_32, prod_32, min_u32, max_u32},
        [CW_NUMBER_UINT64] = {sum_64, prod_64, min_u64, max_u64},
    };
    switch (operation) {
    case CW_COMBINE_SUM:
        return table[type].sum;
    case CW_COMBINE_PROD:
        return table[type].prod;
    case CW_COMBINE_MIN:
        return table[type].min;
    case CW_COMBINE_MAX:
        return table[type].max;
    default:
        return NULL;
    }
}

number_combine_fn kernel_bits(size_t bytes, cw_combine operation)
{
    static const struct {
        number_combine_fn and, or, xor;
    } table[] = {{and_8, or_8, xor_8}, {and_16, or_16, xor_16}, {and_32, or_32, xor_32}, {and_64, or_64, xor_64}};
    unsigned log = (unsigned)__builtin_ctzl(bytes | 8);
    switch (operation) {
    case CW_COMBINE_AND:
        return table[log].and;
    case CW_COMBINE_OR:
        return table[log].or ;
    case CW_COMBINE_XOR:
        return table[log].xor ;
    default:
        return NULL;
    }
}
