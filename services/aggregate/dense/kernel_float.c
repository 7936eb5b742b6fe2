/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/kernel.h"

#include <string.h>

KERNEL(sum_f32, float, x + y)
KERNEL(sum_f64, double, x + y)
KERNEL(prod_f32, float, x *y)
KERNEL(prod_f64, double, x *y)

/*
 * A comparison with NaN is false, so the choice gives x when one of the two is NaN, as the processor's own minimum
 * does. When y is NaN all bits of the result are set, which is a NaN, too, and needs no second choice.
 */
static inline float or_nan_f32(float chosen, float y)
{
    uint32_t bits;
    memcpy(&bits, &chosen, sizeof bits);
    bits |= y != y ? UINT32_MAX : 0;
    memcpy(&chosen, &bits, sizeof bits);
    return chosen;
}

static inline double or_nan_f64(double chosen, double y)
{
    uint64_t bits;
    memcpy(&bits, &chosen, sizeof bits);
    bits |= y != y ? UINT64_MAX : 0;
    memcpy(&chosen, &bits, sizeof bits);
    return chosen;
}

KERNEL(min_f32, float, or_nan_f32(y < x ? y : x, y))
KERNEL(min_f64, double, or_nan_f64(y < x ? y : x, y))
KERNEL(max_f32, float, or_nan_f32(y > x ? y : x, y))
KERNEL(max_f64, double, or_nan_f64(y > x ? y : x, y))

#ifdef KERNEL_HAS_WIDE
#define READ_F32(p) _mm256_loadu_ps((const float *)(const void *)(p))
#define READ_F64(p) _mm256_loadu_pd((const double *)(const void *)(p))
#define WRITE_F32(p, v) _mm256_storeu_ps((float *)(void *)(p), v)
#define WRITE_F64(p, v) _mm256_storeu_pd((double *)(void *)(p), v)
#define OR_NAN_F32(chosen) _mm256_or_ps(chosen, _mm256_cmp_ps(y, y, _CMP_UNORD_Q))
#define OR_NAN_F64(chosen) _mm256_or_pd(chosen, _mm256_cmp_pd(y, y, _CMP_UNORD_Q))
KERNEL_WIDE(min_f32_wide, min_f32, __m256, 4, READ_F32, WRITE_F32, OR_NAN_F32(_mm256_min_ps(y, x)))
KERNEL_WIDE(max_f32_wide, max_f32, __m256, 4, READ_F32, WRITE_F32, OR_NAN_F32(_mm256_max_ps(y, x)))
KERNEL_WIDE(min_f64_wide, min_f64, __m256d, 8, READ_F64, WRITE_F64, OR_NAN_F64(_mm256_min_pd(y, x)))
KERNEL_WIDE(max_f64_wide, max_f64, __m256d, 8, READ_F64, WRITE_F64, OR_NAN_F64(_mm256_max_pd(y, x)))

static number_combine_fn wide(bool single, cw_combine operation)
{
    bool least = operation == CW_COMBINE_MIN;
    if (!KERNEL_WIDE_WORKS || (!least && operation != CW_COMBINE_MAX)) {
        return NULL;
    }
    return single ? (least ? min_f32_wide : max_f32_wide) : least ? min_f64_wide : max_f64_wide;
}
#else
static number_combine_fn wide(bool single, cw_combine operation)
{
    (void)single;
    (void)operation;
    return NULL;
}
#endif

number_combine_fn kernel_float(cw_number type, cw_combine operation)
{
    bool single = type == CW_NUMBER_FLOAT32;
    if (!single && type != CW_NUMBER_FLOAT64) {
        return NULL;
    }
    if (wide(single, operation) != NULL) {
        return wide(single, operation);
    }
    switch (operation) {
    case CW_COMBINE_SUM:
        return single ? sum_f32 : sum_f64;
    case CW_COMBINE_PROD:
        return single ? prod_f32 : prod_f64;
    case CW_COMBINE_MIN:
        return single ? min_f32 : min_f64;
    case CW_COMBINE_MAX:
        return single ? max_f32 : max_f64;
    default:
        return NULL;
    }
}
