/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_kit.h"
#include "services/aggregate/dense/kernel.h"

#include <float.h>
#include <math.h>

static cw_combine operation;

/* Sums and products of float32 are exact in double or nearly so; those of float64 are the machine's own. */
static double result(double x, double y)
{
    switch (operation) {
    case CW_COMBINE_SUM:
        return x + y;
    case CW_COMBINE_PROD:
        return x * y;
    case CW_COMBINE_MIN:
        return isnan(x) ? x : isnan(y) ? y : y < x ? y : x;
    default:
        return isnan(x) ? x : isnan(y) ? y : y > x ? y : x;
    }
}

/* Which NaN it is, nobody promises: the kernels' NaNs and the naive ones are compared as one. */
static void naive_f32(const void *x, const void *y, void *out)
{
    float a, b, r;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    r = (float)result(a, b);
    memcpy(out, &r, sizeof r);
}

static void naive_f64(const void *x, const void *y, void *out)
{
    double a, b, r;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    r = result(a, b);
    memcpy(out, &r, sizeof r);
}

static void draw_f32(uint64_t random, void *out)
{
    static const float edges[] = {0,       -0.0F,     INFINITY,   -INFINITY, FLT_MAX, -FLT_MAX,
                                  FLT_MIN, 0x1p-149F, -0x1p-140F, 1,         0x1p24F, 1 + FLT_EPSILON};
    float f = random % 3 == 0 ? edges[random / 3 % (sizeof edges / sizeof *edges)]
                              : ldexpf((float)(int32_t)(random >> 32), (int)(random >> 3 & 255) - 160);
    memcpy(out, &f, sizeof f);
}

static void draw_f64(uint64_t random, void *out)
{
    static const double edges[] = {0,       -0.0,      INFINITY,   -INFINITY, DBL_MAX, -DBL_MAX,
                                   DBL_MIN, 0x1p-1074, -0x1p-1070, 1,         0x1p53,  1 + DBL_EPSILON};
    double f = random % 3 == 0 ? edges[random / 3 % (sizeof edges / sizeof *edges)]
                               : ldexp((double)(int64_t)random, (int)(random >> 3 & 2047) - 1100);
    memcpy(out, &f, sizeof f);
}

/* Replaces NaNs by one of them, so that bytes can be compared. */
static number_combine_fn under;
static void one_nan_f32(void *restrict into, const void *restrict from, size_t n)
{
    under(into, from, n);
    for (float *f = into; n > 0; n--, f++) {
        *f = isnan(*f) ? NAN : *f;
    }
}

static void one_nan_f64(void *restrict into, const void *restrict from, size_t n)
{
    under(into, from, n);
    for (double *f = into; n > 0; n--, f++) {
        *f = isnan(*f) ? (double)NAN : *f;
    }
}

static void naive_f32_one_nan(const void *x, const void *y, void *out)
{
    float f;
    naive_f32(x, y, &f);
    f = isnan(f) ? NAN : f;
    memcpy(out, &f, sizeof f);
}

static void naive_f64_one_nan(const void *x, const void *y, void *out)
{
    double f;
    naive_f64(x, y, &f);
    f = isnan(f) ? (double)NAN : f;
    memcpy(out, &f, sizeof f);
}

START_TEST(arithmetic)
{
    for (operation = CW_COMBINE_SUM; operation <= CW_COMBINE_MAX; operation++) {
        under = kernel_float(CW_NUMBER_FLOAT32, operation);
        SUITE_HOLDS(under != NULL);
        kernel_try(number_combine_name(operation), one_nan_f32, sizeof(float), naive_f32_one_nan, draw_f32);
        under = kernel_float(CW_NUMBER_FLOAT64, operation);
        SUITE_HOLDS(under != NULL);
        kernel_try(number_combine_name(operation), one_nan_f64, sizeof(double), naive_f64_one_nan, draw_f64);
    }
}
END_TEST

/* min and max give NaN when any is NaN, whichever comes first. */
START_TEST(nan_stays)
{
    for (operation = CW_COMBINE_MIN; operation <= CW_COMBINE_MAX; operation++) {
        for (unsigned where = 0; where < 17; where++) {
            float x[17], y[17];
            double a[17], b[17];
            for (unsigned i = 0; i < 17; i++) {
                x[i] = (float)(a[i] = i);
                y[i] = (float)(b[i] = -1.0 * i);
            }
            x[where] = y[16 - where] = NAN;
            a[where] = b[16 - where] = (double)NAN;
            kernel_float(CW_NUMBER_FLOAT32, operation)(x, y, 17);
            kernel_float(CW_NUMBER_FLOAT64, operation)(a, b, 17);
            for (unsigned i = 0; i < 17; i++) {
                bool must = i == where || i == 16 - where;
                SUITE_HOLDS((isnan(x[i]) != 0) == must && (isnan(a[i]) != 0) == must, "element %u", i);
            }
        }
    }
}
END_TEST

START_TEST(nothing_else)
{
    ck_assert(kernel_float(CW_NUMBER_INT32, CW_COMBINE_SUM) == NULL);
    ck_assert(kernel_float(CW_NUMBER_FLOAT32, CW_COMBINE_XOR) == NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(arithmetic), SUITE_TEST(nan_stays), SUITE_TEST(nothing_else)};
SUITE_MAIN("kernel_float", tests)
