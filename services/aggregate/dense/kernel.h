/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - the loops behind number.h, a source for each family. Each function gives NULL for a pair that is not of
 * its family.
 *
 * They are compiled for the processors of KERNEL_CLONES and for any other, and the right one is taken when the program
 * is loaded: one compare and a blend instead of a branch for each element is four times as fast for min, and more for
 * bfloat16. The floating-point results are the same on all of them: nothing here multiplies and adds in one expression.
 */
#ifndef SERVICES_AGGREGATE_DENSE_KERNEL_H
#define SERVICES_AGGREGATE_DENSE_KERNEL_H

#include "services/aggregate/dense/number.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vectors of numbers are exchanged as little-endian machines hold them"
#endif

/*
 * Several machine codes for one function. The choice is made while the program is loaded, before a sanitizer is ready
 * to be asked: sanitized programs do without. So does clang: its version 14 knows the word, and makes no use of it.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define KERNEL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define KERNEL_CLONES
#endif

/*
 * Defines the function `name` with the loop of one operation: x is an element of `into`, y the one of `from` (which is
 * not aligned), and result the expression that becomes the new x.
 */
#define KERNEL(name, type, result)                                                           \
    KERNEL_CLONES static void name(void *restrict into, const void *restrict from, size_t n) \
    {                                                                                        \
        type *restrict to = into;                                                            \
        const char *restrict bytes = from;                                                   \
        for (size_t i = 0; i < n; i++) {                                                     \
            type x = to[i], y;                                                               \
            memcpy(&y, bytes + i * sizeof y, sizeof y);                                      \
            to[i] = (type)(result);                                                          \
        }                                                                                    \
    }

/*
 * Where the compiler does not find the processor's own instructions: result is an expression of vectors x and y of that
 * type, several elements each, for processors with AVX2 and F16C (KERNEL_WIDE_WORKS). What is left over has the
 * function `rest`, defined before, which must give the same.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define KERNEL_HAS_WIDE 1
#define KERNEL_WIDE_TARGET __attribute__((target("avx2,f16c")))
#define KERNEL_WIDE(name, rest, vector, bytes_each, read, write, result)                          \
    KERNEL_WIDE_TARGET static vector name##_one(vector x, vector y)                               \
    {                                                                                             \
        return result;                                                                            \
    }                                                                                             \
    KERNEL_WIDE_TARGET static void name(void *restrict into, const void *restrict from, size_t n) \
    {                                                                                             \
        char *restrict to = into;                                                                 \
        const char *restrict bytes = from;                                                        \
        size_t all = n * (bytes_each), i = 0;                                                     \
        for (; i + KERNEL_WIDE_BYTES(bytes_each) <= all; i += KERNEL_WIDE_BYTES(bytes_each)) {    \
            write(to + i, name##_one(read(to + i), read(bytes + i)));                             \
        }                                                                                         \
        rest(to + i, bytes + i, (all - i) / (bytes_each));                                        \
    }
/* Numbers of 2 bytes are computed as eight of 4. */
#define KERNEL_WIDE_BYTES(bytes_each) ((bytes_each) == 2 ? sizeof(__m128i) : sizeof(__m256i))
#define KERNEL_WIDE_WORKS (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"))
#endif

/* SUM, PROD, MIN, MAX of integers. */
number_combine_fn kernel_integer(cw_number type, cw_combine operation);
/* AND, OR, XOR of numbers of 1, 2, 4 or 8 bytes. */
number_combine_fn kernel_bits(size_t bytes, cw_combine operation);
/* SUM, PROD, MIN, MAX of float32 and float64. */
number_combine_fn kernel_float(cw_number type, cw_combine operation);
/* SUM, PROD, MIN, MAX of bfloat16 and float16, computed in float32. */
number_combine_fn kernel_half(cw_number type, cw_combine operation);
/* MINLOC, MAXLOC of types of 32 and 64 bits. */
number_combine_fn kernel_place(cw_number type, cw_combine operation);

/* number_divide() of bfloat16 and float16. */
void kernel_half_divide(cw_number type, void *v, size_t n, uint32_t by);
/*
 * bfloat16 or float16 to float32, which is exact, and back, rounded to the nearest, ties to even. The vectors do not
 * overlap, and are aligned. NaN stays NaN, and becomes a quiet one.
 */
void kernel_half_widen(cw_number type, float *restrict out, const uint16_t *restrict in, size_t n);
void kernel_half_narrow(cw_number type, uint16_t *restrict out, const float *restrict in, size_t n);

#endif
