/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/dense/number.h"

#include "suite.h"

#include <string.h>

START_TEST(sizes)
{
    ck_assert_uint_eq(number_bytes(CW_NUMBER_FLOAT32), 4);
    ck_assert_uint_eq(number_bytes(CW_NUMBER_UINT64), 8);
    ck_assert_uint_eq(number_bytes(CW_NUMBER_BFLOAT16), 2);
    ck_assert_uint_eq(number_bytes((cw_number)0), 0);
    ck_assert_uint_eq(number_bytes((cw_number)13), 0);
    ck_assert_uint_eq(number_element(CW_NUMBER_FLOAT32, CW_COMBINE_SUM), 4);
    ck_assert_uint_eq(number_element(CW_NUMBER_FLOAT64, CW_COMBINE_MAXLOC), 16);
    ck_assert_uint_eq(number_element(CW_NUMBER_INT8, CW_COMBINE_MINLOC), 0);
    ck_assert_uint_eq(number_element(CW_NUMBER_INT32, CW_COMBINE_MEAN), 0);
    ck_assert_uint_eq(number_element(CW_NUMBER_FLOAT32, CW_COMBINE_AND), 0);
    ck_assert_uint_eq(number_element(CW_NUMBER_FLOAT32, (cw_combine)11), 0);
    ck_assert_uint_eq(number_element((cw_number)77, CW_COMBINE_SUM), 0);
}
END_TEST

/* There is a function exactly where there is an element. */
START_TEST(functions)
{
    for (unsigned type = 0; type <= NUMBER_TYPES + 1; type++) {
        for (unsigned operation = 0; operation <= NUMBER_COMBINES + 1; operation++) {
            size_t element = number_element((cw_number)type, (cw_combine)operation);
            SUITE_HOLDS((number_combine((cw_number)type, (cw_combine)operation) != NULL) == (element != 0), "%u %u",
                        type, operation);
            SUITE_HOLDS(element <= NUMBER_ELEMENT_MOST);
        }
    }
}
END_TEST

START_TEST(means)
{
    float f[] = {3, 1, 0x1p24F};
    double d[] = {3, 1};
    uint16_t brain[] = {0x4040}; /* 3 */
    number_combine(CW_NUMBER_FLOAT64, CW_COMBINE_MEAN)(d, (const double[]){4, 1}, 2);
    ck_assert(d[0] == 7 && d[1] == 2);
    number_divide(CW_NUMBER_FLOAT32, f, 3, 3);
    number_divide(CW_NUMBER_FLOAT64, d, 2, 2);
    number_divide(CW_NUMBER_BFLOAT16, brain, 1, 2);
    ck_assert(f[0] == 1 && f[1] == 1.0F / 3 && f[2] == 0x1p24F / 3);
    ck_assert(d[0] == 3.5 && d[1] == 1);
    ck_assert_uint_eq(brain[0], 0x3fc0);
}
END_TEST

START_TEST(names)
{
    cw_number type = CW_NUMBER_INT8;
    cw_combine operation = CW_COMBINE_XOR;
    for (unsigned i = 1; i <= NUMBER_TYPES; i++) {
        ck_assert(number_read(number_name((cw_number)i), &type) && type == i);
    }
    for (unsigned i = 1; i <= NUMBER_COMBINES; i++) {
        ck_assert(number_combine_read(number_combine_name((cw_combine)i), &operation) && operation == i);
    }
    ck_assert(!number_read("float", &type) && (unsigned)type == NUMBER_TYPES);
    ck_assert(!number_combine_read("", &operation) && (unsigned)operation == NUMBER_COMBINES);
    ck_assert(number_name((cw_number)0) == NULL && number_name((cw_number)13) == NULL);
    ck_assert(number_combine_name((cw_combine)0) == NULL && number_combine_name((cw_combine)11) == NULL);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(sizes), SUITE_TEST(functions), SUITE_TEST(means),
                                          SUITE_TEST(names)};
SUITE_MAIN("number", tests)
