/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 16 bits, by integers and choices without branches, so that the compiler does eight at a time. */
#include "services/aggregate/dense/kernel.h"

#include <string.h>

/* Fields of float32: its infinity, its sign, and the quiet bit of its NaNs. */
#define F32_INFINITY UINT32_C(0x7f800000)
#define F32_SIGN UINT32_C(0x80000000)

static inline float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* ---- bfloat16: the upper half of a float32 ----------------------------------------------------------------------- */

static inline float widen_brain(uint16_t h)
{
    return as_float((uint32_t)h << 16);
}

static inline uint16_t narrow_brain(float f)
{
    uint32_t bits = as_bits(f);
    uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1); /* the nearest; ties to the even one */
    uint32_t quiet = bits | 0x400000;                    /* a NaN keeps its upper half, and one bit of it is set */
    return (uint16_t)(((bits & ~F32_SIGN) > F32_INFINITY ? quiet : rounded) >> 16);
}

/* ---- float16: 1 sign, 5 exponent (bias 15), 10 fraction ---------------------------------------------------------- */

static inline float widen_ieee(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
    /* Seen as a float32 the number is too small by 2^(127 - 15): one multiplication mends that, subnormals too. */
    uint32_t finite = as_bits(as_float(rest) * as_float(UINT32_C(0x77800000)));
    uint32_t quiet = (h & 0x3ff) != 0 ? UINT32_C(0x400000) : 0;
    return as_float(sign | (rest >= UINT32_C(0x0f800000) ? rest | F32_INFINITY | quiet : finite));
}

static inline uint16_t narrow_ieee(float f)
{
    uint32_t bits = as_bits(f), sign = bits & F32_SIGN, rest = bits & ~F32_SIGN;
    /* Below 2^-14: added to 0.5, whose last place is float16's least number, the fraction is rounded into its place. */
    uint32_t small = as_bits(as_float(rest) + 0.5f) - as_bits(0.5f);
    /* Otherwise the exponent gets the other bias, and the fraction is rounded. */
    uint32_t normal = (rest - UINT32_C(0x38000000) + 0xfff + (rest >> 13 & 1)) >> 13;
    uint32_t out = rest < UINT32_C(0x38800000) ? small : normal;
    out = rest >= UINT32_C(0x47800000) ? 0x7c00 : out; /* 65,536 and more; from 65,520 on the rounding gives infinity */
    out = rest > F32_INFINITY ? 0x7e00 | (rest >> 13 & 0x3ff) : out;
    return (uint16_t)(out | sign >> 16);
}

/* ---- The loops --------------------------------------------------------------------------------------------------- */

static inline float least(float x, float y)
{
    return y != y ? y : (y < x ? y : x);
}

static inline float greatest(float x, float y)
{
    return y != y ? y : (y > x ? y : x);
}

KERNEL(sum_ieee, uint16_t, narrow_ieee(widen_ieee(x) + widen_ieee(y)))
KERNEL(prod_ieee, uint16_t, narrow_ieee(widen_ieee(x) * widen_ieee(y)))
KERNEL(min_ieee, uint16_t, narrow_ieee(least(widen_ieee(x), widen_ieee(y))))
KERNEL(max_ieee, uint16_t, narrow_ieee(greatest(widen_ieee(x), widen_ieee(y))))

#ifdef KERNEL_HAS_WIDE
#define READ_IEEE(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define ROUNDING (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define WRITE_IEEE(p, v) _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtps_ph(v, ROUNDING))
#define OR_NAN(chosen) _mm256_blendv_ps(chosen, y, _mm256_cmp_ps(y, y, _CMP_UNORD_Q))
KERNEL_WIDE(sum_ieee_wide, sum_ieee, __m256, 2, READ_IEEE, WRITE_IEEE, _mm256_add_ps(x, y))
KERNEL_WIDE(prod_ieee_wide, prod_ieee, __m256, 2, READ_IEEE, WRITE_IEEE, _mm256_mul_ps(x, y))
KERNEL_WIDE(min_ieee_wide, min_ieee, __m256, 2, READ_IEEE, WRITE_IEEE, OR_NAN(_mm256_min_ps(y, x)))
KERNEL_WIDE(max_ieee_wide, max_ieee, __m256, 2, READ_IEEE, WRITE_IEEE, OR_NAN(_mm256_max_ps(y, x)))

static number_combine_fn wide(cw_combine operation)
{
    static const number_combine_fn table[] = {[CW_COMBINE_SUM] = sum_ieee_wide,
                                              [CW_COMBINE_PROD] = prod_ieee_wide,
                                              [CW_COMBINE_MIN] = min_ieee_wide,
                                              [CW_COMBINE_MAX] = max_ieee_wide};
    return KERNEL_WIDE_WORKS && operation < sizeof table / sizeof *table ? table[operation] : NULL;
}
#else
static number_combine_fn wide(cw_combine operation)
{
    (void)operation;
    return NULL;
}
#endif

/*
 * A sum or product of two bfloat16, rounded to a bfloat16 that stays where it is: in the upper half. The lower half is
 * rubbish. A NaN needs no care: it is that of x or y with its quiet bit set, or the processor's own, so its lower half
 * is zero, and the rounding does not reach the upper one.
 */
static inline uint32_t round_brain(float f)
{
    uint32_t bits = as_bits(f);
    return bits + 0x7fff + (bits >> 16 & 1);
}

/*
 * Defines the function `name` on bfloat16. Two numbers lie in a word of 32 bits, and each half is nearly a float32
 * already: with the words taken as they are no lane has to be packed, which is most of the work otherwise. x and y are
 * two float32 to be combined; result is a word whose upper half is kept.
 */
#define BRAIN_KERNEL(name, result)                                                           \
    static inline uint32_t name##_one(float x, float y)                                      \
    {                                                                                        \
        return result;                                                                       \
    }                                                                                        \
    KERNEL_CLONES static void name(void *restrict into, const void *restrict from, size_t n) \
    {                                                                                        \
        char *restrict to = into;                                                            \
        const char *restrict bytes = from;                                                   \
        for (size_t i = 0; i < n / 2; i++) {                                                 \
            uint32_t a, b;                                                                   \
            memcpy(&a, to + 4 * i, sizeof a);                                                \
            memcpy(&b, bytes + 4 * i, sizeof b);                                             \
            uint32_t low = name##_one(as_float(a << 16), as_float(b << 16));                 \
            uint32_t high = name##_one(as_float(a & 0xffff0000), as_float(b & 0xffff0000));  \
            a = (high & 0xffff0000) | low >> 16;                                             \
            memcpy(to + 4 * i, &a, sizeof a);                                                \
        }                                                                                    \
        if (n % 2 == 1) {                                                                    \
            uint16_t a, b;                                                                   \
            memcpy(&a, to + 2 * (n - 1), sizeof a);                                          \
            memcpy(&b, bytes + 2 * (n - 1), sizeof b);                                       \
            a = (uint16_t)(name##_one(widen_brain(a), widen_brain(b)) >> 16);                \
            memcpy(to + 2 * (n - 1), &a, sizeof a);                                          \
        }                                                                                    \
    }

BRAIN_KERNEL(sum_brain, round_brain(x + y))
BRAIN_KERNEL(prod_brain, round_brain(x *y))
BRAIN_KERNEL(min_brain, as_bits(least(x, y)))
BRAIN_KERNEL(max_brain, as_bits(greatest(x, y)))

number_combine_fn kernel_half(cw_number type, cw_combine operation)
{
    bool brain = type == CW_NUMBER_BFLOAT16;
    if (!brain && type != CW_NUMBER_FLOAT16) {
        return NULL;
    }
    if (!brain && wide(operation) != NULL) {
        return wide(operation);
    }
    switch (operation) {
    case CW_COMBINE_SUM:
        return brain ? sum_brain : sum_ieee;
    case CW_COMBINE_PROD:
        return brain ? prod_brain : prod_ieee;
    case CW_COMBINE_MIN:
        return brain ? min_brain : min_ieee;
    case CW_COMBINE_MAX:
        return brain ? max_brain : max_ieee;
    default:
        return NULL;
    }
}

KERNEL_CLONES void kernel_half_widen(cw_number type, float *restrict out, const uint16_t *restrict in, size_t n)
{
    if (type == CW_NUMBER_BFLOAT16) {
        for (size_t i = 0; i < n; i++) {
            out[i] = widen_brain(in[i]);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = widen_ieee(in[i]);
    }
}

KERNEL_CLONES void kernel_half_narrow(cw_number type, uint16_t *restrict out, const float *restrict in, size_t n)
{
    if (type == CW_NUMBER_BFLOAT16) {
        for (size_t i = 0; i < n; i++) {
            out[i] = narrow_brain(in[i]);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = narrow_ieee(in[i]);
    }
}

/*
 * The quotient of a number of at most 11 bits and an integer of 32 is rounded to 24 bits, and then to 8 or 11. It can
 * only lie so near to a tie of the second rounding that the first one moves it there when the divisor has more than 12
 * bits; so it is computed in double, whose 53 bits are beyond all of that, and the odd bit kept (round to odd).
 */
static float quotient(float x, uint32_t by)
{
    double exact = (double)x / by;
    float f = (float)exact;
    uint32_t bits = as_bits(f);
    if ((double)f != exact && (bits & 1) == 0 && (bits & ~F32_SIGN) < F32_INFINITY) {
        bool beyond = (f < 0 ? -(double)f : (double)f) > (exact < 0 ? -exact : exact);
        bits = beyond ? bits - 1 : bits | 1;
    }
    return as_float(bits);
}

void kernel_half_divide(cw_number type, void *v, size_t n, uint32_t by)
{
    uint16_t *h = v;
    for (size_t i = 0; i < n; i++) {
        h[i] = type == CW_NUMBER_BFLOAT16 ? narrow_brain(quotient(widen_brain(h[i]), by))
                                          : narrow_ieee(quotient(widen_ieee(h[i]), by));
    }
}
