/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_kit.h"
#include "services/aggregate/dense/kernel.h"

/* The pair at hand, for the naive function: everything in 128 bits, cut to the type at the end. */
static cw_number type;
static cw_combine operation;

static __int128 value(const void *at)
{
    uint64_t u = 0;
    size_t bytes = number_bytes(type);
    memcpy(&u, at, bytes);
    bool is_signed = type <= CW_NUMBER_INT64;
    bool negative = is_signed && (u >> (8 * bytes - 1) & 1);
    return negative ? (__int128)u - ((__int128)1 << 8 * bytes) : (__int128)u;
}

static void naive(const void *at, const void *and_at, void *out)
{
    __int128 x = value(at), y = value(and_at), r = 0;
    switch (operation) {
    case CW_COMBINE_SUM:
        r = x + y;
        break;
    case CW_COMBINE_PROD:
        r = (__int128)((unsigned __int128)x * (unsigned __int128)y);
        break;
    case CW_COMBINE_MIN:
        r = x < y ? x : y;
        break;
    case CW_COMBINE_MAX:
        r = x > y ? x : y;
        break;
    case CW_COMBINE_AND:
        r = x & y;
        break;
    case CW_COMBINE_OR:
        r = x | y;
        break;
    default:
        r = x ^ y;
        break;
    }
    memcpy(out, &r, number_bytes(type));
}

/* Every fourth is one of the ends of the type. */
static void draw(uint64_t random, void *out)
{
    static const uint64_t ends[] = {0, 1, UINT64_MAX, UINT64_C(0x8000000000000000), UINT64_C(0x7fffffffffffffff)};
    uint64_t v = random % 4 == 0 ? ends[random / 4 % 5] : random;
    v = random % 4 == 0 && random / 4 % 5 >= 3 ? v >> 8 * (8 - number_bytes(type)) | random % 8 / 4 : v;
    memcpy(out, &v, number_bytes(type));
}

START_TEST(arithmetic)
{
    for (type = CW_NUMBER_INT8; type <= CW_NUMBER_UINT64; type++) {
        for (operation = CW_COMBINE_SUM; operation <= CW_COMBINE_MAX; operation++) {
            number_combine_fn kernel = kernel_integer(type, operation);
            SUITE_HOLDS(kernel != NULL);
            kernel_try(number_name(type), kernel, number_bytes(type), naive, draw);
        }
    }
}
END_TEST

START_TEST(bits)
{
    for (type = CW_NUMBER_INT8; type <= CW_NUMBER_UINT64; type++) {
        for (operation = CW_COMBINE_AND; operation <= CW_COMBINE_XOR; operation++) {
            number_combine_fn kernel = kernel_bits(number_bytes(type), operation);
            SUITE_HOLDS(kernel != NULL);
            kernel_try(number_name(type), kernel, number_bytes(type), naive, draw);
        }
    }
}
END_TEST

START_TEST(nothing_else)
{
    ck_assert(kernel_integer(CW_NUMBER_FLOAT32, CW_COMBINE_SUM) == NULL);
    ck_assert(kernel_integer(CW_NUMBER_INT32, CW_COMBINE_AND) == NULL);
    ck_assert(kernel_bits(4, CW_COMBINE_SUM) == NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(arithmetic), SUITE_TEST(bits), SUITE_TEST(nothing_else)};
SUITE_MAIN("kernel_integer", tests)
