/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/kernel.h"

#include "kernel_kit.h"

#include <math.h>

static cw_number type;
static cw_combine operation;

/* ---- A naive reading of the formats: by arithmetic, in double ---------------------------------------------------- */

static unsigned fraction_bits(void)
{
    return type == CW_NUMBER_BFLOAT16 ? 7 : 10;
}

static double value(uint16_t h)
{
    unsigned bits = fraction_bits(), exponents = (1u << (15 - bits)) - 1;
    int bias = (int)(exponents >> 1);
    unsigned fraction = h & ((1u << bits) - 1), exponent = h >> bits & exponents;
    double sign = h & 0x8000 ? -1 : 1;
    if (exponent == exponents) {
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    }
    return sign * ldexp(exponent == 0 ? fraction : fraction + (1u << bits),
                        (exponent == 0 ? 1 : (int)exponent) - bias - (int)bits);
}

/* The 16 bits nearest to a double, ties to even: by search among all. Monotone in the magnitude, as the bits are. */
static uint16_t nearest(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0, infinity = type == CW_NUMBER_BFLOAT16 ? 0x7f80 : 0x7c00;
    double a = fabs(v);
    if (isnan(v)) {
        return 0x7fff; /* the one that stands for all */
    }
    unsigned low = 0, high = infinity;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        *(value((uint16_t)middle) <= a ? &low : &high) = middle;
    }
    if (isinf(a)) {
        return sign | infinity;
    }
    double below = value((uint16_t)low);
    /* Above the greatest there is the one that would come next, if the exponent went on. */
    double above = high == infinity ? 2 * below - value((uint16_t)(low - 1)) : value((uint16_t)high);
    double up = above - a, down = a - below;
    bool take = up < down || (!(down < up) && (low & 1));
    return (uint16_t)(sign | (take ? high : low));
}

static bool none(uint16_t h)
{
    return isnan(value(h));
}

static float rounded(double v)
{
    return (float)v;
}

static void naive(const void *at, const void *and_at, void *out)
{
    uint16_t a, b;
    memcpy(&a, at, sizeof a);
    memcpy(&b, and_at, sizeof b);
    double x = value(a), y = value(b), r;
    switch (operation) {
    case CW_COMBINE_SUM:
        r = (double)rounded(x + y);
        break;
    case CW_COMBINE_PROD:
        r = (double)rounded(x * y);
        break;
    case CW_COMBINE_MIN:
        r = isnan(x) || isnan(y) ? (double)NAN : y < x ? y : x;
        break;
    default:
        r = isnan(x) || isnan(y) ? (double)NAN : y > x ? y : x;
        break;
    }
    uint16_t h = nearest(r);
    memcpy(out, &h, sizeof h);
}

static void draw(uint64_t random, void *out)
{
    static const uint16_t ieee[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0x3c00};
    static const uint16_t brain[] = {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc1, 0x3f80};
    uint16_t edge = (type == CW_NUMBER_BFLOAT16 ? brain : ieee)[random / 3 % 12];
    uint16_t h = random % 3 == 0 ? edge : (uint16_t)(random >> 40);
    memcpy(out, &h, sizeof h);
}

static number_combine_fn under;
static void one_nan(void *restrict into, const void *restrict from, size_t n)
{
    under(into, from, n);
    for (uint16_t *h = into; n > 0; n--, h++) {
        *h = none(*h) ? 0x7fff : *h;
    }
}

START_TEST(arithmetic)
{
    for (type = CW_NUMBER_BFLOAT16; type <= CW_NUMBER_FLOAT16; type++) {
        for (operation = CW_COMBINE_SUM; operation <= CW_COMBINE_MAX; operation++) {
            under = kernel_half(type, operation);
            SUITE_HOLDS(under != NULL);
            kernel_try(number_combine_name(operation), one_nan, 2, naive, draw);
        }
    }
}
END_TEST

/* Each of the 65,536 values becomes the float32 that it is, and comes back. */
START_TEST(there_and_back)
{
    static uint16_t all[65536], back[65536];
    static float wide[65536];
    for (type = CW_NUMBER_BFLOAT16; type <= CW_NUMBER_FLOAT16; type++) {
        for (unsigned i = 0; i < 65536; i++) {
            all[i] = (uint16_t)i;
        }
        kernel_half_widen(type, wide, all, 65536);
        kernel_half_narrow(type, back, wide, 65536);
        for (unsigned i = 0; i < 65536; i++) {
            double v = value((uint16_t)i);
            SUITE_HOLDS(isnan(v) ? isnan(wide[i]) : (double)wide[i] == v && !signbit(wide[i]) == !signbit(v), "%#x", i);
            SUITE_HOLDS(isnan(v) ? none(back[i]) : back[i] == i, "%#x", i);
        }
    }
}
END_TEST

/* At each number, at the ties between it and the next, and just beside the ties. */
START_TEST(rounding)
{
    for (type = CW_NUMBER_BFLOAT16; type <= CW_NUMBER_FLOAT16; type++) {
        unsigned infinity = type == CW_NUMBER_BFLOAT16 ? 0x7f80 : 0x7c00;
        for (unsigned i = 1; i < infinity; i++) {
            double low = value((uint16_t)(i - 1)), high = value((uint16_t)i);
            float tie = (float)((low + high) / 2);
            const float v[] = {tie, nextafterf(tie, 0), nextafterf(tie, INFINITY), -tie, (float)high};
            uint16_t got[5];
            kernel_half_narrow(type, got, v, 5);
            for (unsigned k = 0; k < 5; k++) {
                SUITE_HOLDS(got[k] == nearest((double)v[k]), "%a is %#x", (double)v[k], got[k]);
            }
        }
        const float beyond[] = {65519, 65520, 1e30F, INFINITY, 3.38e38F, 3.4e38F};
        uint16_t got[6];
        kernel_half_narrow(type, got, beyond, 6);
        for (unsigned k = 0; k < 6; k++) {
            SUITE_HOLDS(got[k] == nearest((double)beyond[k]), "%g is %#x", (double)beyond[k], got[k]);
        }
    }
}
END_TEST

/* A mean is rounded once, from the quotient as it is. */
START_TEST(quotients)
{
    static const uint32_t by[] = {1, 2, 3, 7, 27, 511, 4095, 4096, 65535, 1u << 20, (1u << 24) - 1};
    for (type = CW_NUMBER_BFLOAT16; type <= CW_NUMBER_FLOAT16; type++) {
        for (unsigned k = 0; k < sizeof by / sizeof *by; k++) {
            for (unsigned i = 0; i < 65536; i += k % 2 ? 7 : 13) {
                uint16_t h = (uint16_t)i, must = nearest(value(h) / by[k]);
                kernel_half_divide(type, &h, 1, by[k]);
                SUITE_HOLDS(none(must) ? none(h) : h == must, "%#x by %u is %#x, not %#x", i, by[k], h, must);
            }
        }
    }
}
END_TEST

START_TEST(nothing_else)
{
    ck_assert(kernel_half(CW_NUMBER_FLOAT32, CW_COMBINE_SUM) == NULL);
    ck_assert(kernel_half(CW_NUMBER_FLOAT16, CW_COMBINE_XOR) == NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(arithmetic), SUITE_TEST(there_and_back), SUITE_TEST(rounding),
                                          SUITE_TEST(quotients), SUITE_TEST(nothing_else)};
SUITE_MAIN("kernel_half", tests)
