/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/kernel.h"

#include "kernel_kit.h"

#include <math.h>

static cw_number type;
static cw_combine operation;

static long double value(const void *at)
{
    const void *p = at;
    switch (type) {
    case CW_NUMBER_FLOAT32:
        return (long double)*(const float *)p;
    case CW_NUMBER_FLOAT64:
        return (long double)*(const double *)p;
    case CW_NUMBER_INT32:
        return (long double)*(const int32_t *)p;
    case CW_NUMBER_UINT32:
        return (long double)*(const uint32_t *)p;
    case CW_NUMBER_INT64:
        return (long double)*(const int64_t *)p;
    default:
        return (long double)*(const uint64_t *)p; /* 64 bits of fraction hold it */
    }
}

static uint64_t place(const void *at)
{
    size_t bytes = number_bytes(type);
    uint64_t index = 0;
    memcpy(&index, (const uint8_t *)at + bytes, bytes);
    return index;
}

/* -1, 0, 1: a is to be taken before b, neither, b before a; by value alone. */
static int order(long double a, long double b)
{
    if (isnan(a) || isnan(b)) {
        return (isnan(a) ? 0 : 1) - (isnan(b) ? 0 : 1);
    }
    int less = a < b ? -1 : a > b;
    return operation == CW_COMBINE_MINLOC ? less : -less;
}

static void naive(const void *x, const void *y, void *out)
{
    int first = order(value(y), value(x));
    bool take = first < 0 || (first == 0 && place(y) < place(x));
    memcpy(out, take ? y : x, 2 * number_bytes(type));
}

/* Few values and few places, so that many are equal; and the ends. */
static void draw(uint64_t random, void *out)
{
    size_t bytes = number_bytes(type);
    static const float f32[] = {0, -1, 1, NAN, INFINITY, -INFINITY, 0x1p-149F, 2};
    double f64 = (double)f32[random % 8];
    uint64_t word = random % 16 < 12 ? random % 4 : UINT64_C(0x7fffffff7fffffff) + random / 16 % 2;
    const void *from = &word;
    from = type == CW_NUMBER_FLOAT32 ? (const void *)&f32[random % 8] : from;
    from = type == CW_NUMBER_FLOAT64 ? (const void *)&f64 : from;
    memcpy(out, from, bytes);
    uint64_t index = random >> 60 != 0 ? random >> 40 & 3 : UINT64_MAX;
    memcpy((uint8_t *)out + bytes, &index, bytes);
}

START_TEST(least_and_most)
{
    static const cw_number types[] = {CW_NUMBER_FLOAT32, CW_NUMBER_FLOAT64, CW_NUMBER_INT32,
                                      CW_NUMBER_INT64,   CW_NUMBER_UINT32,  CW_NUMBER_UINT64};
    for (unsigned i = 0; i < 6; i++) {
        type = types[i];
        for (operation = CW_COMBINE_MINLOC; operation <= CW_COMBINE_MAXLOC; operation++) {
            number_combine_fn kernel = kernel_place(type, operation);
            SUITE_HOLDS(kernel != NULL);
            kernel_try(number_name(type), kernel, 2 * number_bytes(type), naive, draw);
        }
    }
}
END_TEST

START_TEST(nothing_else)
{
    ck_assert(kernel_place(CW_NUMBER_INT16, CW_COMBINE_MINLOC) == NULL);
    ck_assert(kernel_place(CW_NUMBER_INT32, CW_COMBINE_MIN) == NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(least_and_most), SUITE_TEST(nothing_else)};
SUITE_MAIN("kernel_place", tests)
