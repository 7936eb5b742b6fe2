/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/kernel.h"

#include <string.h>

KERNEL(sum_f32, float, x + y)
KERNEL(sum_f64, double, x + y)
KERNEL(prod_f32, float, x *y)
KERNEL(prod_f64, double, x *y)

/* A comparison with NaN is false. So the inner choice gives x when one is NaN, and the outer one gives y when y is. */
KERNEL(min_f32, float, y != y ? y : (y < x ? y : x))
KERNEL(min_f64, double, y != y ? y : (y < x ? y : x))
KERNEL(max_f32, float, y != y ? y : (y > x ? y : x))
KERNEL(max_f64, double, y != y ? y : (y > x ? y : x))

number_combine_fn kernel_float(cw_number type, cw_combine operation)
{
    bool single = type == CW_NUMBER_FLOAT32;
    if (!single && type != CW_NUMBER_FLOAT64) {
        return NULL;
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
