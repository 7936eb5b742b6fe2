/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_number.h"

#include "base/prng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static summary_value value_of(const char *text)
{
    summary_value v = -1;
    ck_assert_msg(summary_value_read(text, strlen(text), &v), "'%s'", text);
    return v;
}

static bool refused(const char *text)
{
    summary_value v;
    return !summary_value_read(text, strlen(text), &v);
}

START_TEST(lines_that_are_numbers)
{
    ck_assert(value_of("0") == 0 && value_of("-0") == 0);
    ck_assert(value_of("12.5") == 12500000);
    ck_assert(value_of(" -3.000001 ") == -3000001);
    ck_assert(value_of("7\r") == 7000000);
    ck_assert(value_of(".5") == 500000 && value_of("5.") == 5000000);
    ck_assert(value_of("1.99999999") == 1999999);
    ck_assert(value_of("18446744073709551615") == SUMMARY_VALUE_MOST);
    ck_assert(refused("18446744073709551616") && refused("18446744073709551615.1"));
    ck_assert(refused("") && refused("-") && refused(".") && refused("1e5") && refused("0x10") && refused("1 2"));
    ck_assert(refused("+1") && refused("--1") && refused("nan"));
}
END_TEST

static const char *text_of(unsigned of, summary_value v)
{
    static char text[SUMMARY_TEXT];
    ck_assert_uint_eq(summary_value_text(of, v, text), strlen(text));
    return text;
}

START_TEST(numbers_as_text)
{
    ck_assert_str_eq(text_of(SUMMARY_OF_FEED, 0), "0");
    ck_assert_str_eq(text_of(SUMMARY_OF_FEED, -12500000), "-12.5");
    ck_assert_str_eq(text_of(SUMMARY_OF_FEED, 1), "0.000001");
    ck_assert_str_eq(text_of(SUMMARY_OF_FEED, 1020000), "1.02");
    ck_assert_str_eq(text_of(SUMMARY_OF_COUNTER, SUMMARY_VALUE_MOST), "18446744073709551615000000");
    ck_assert_str_eq(text_of(SUMMARY_OF_TIMES, -(summary_value)77), "-77");
    ck_assert(summary_value_mean(SUMMARY_OF_COUNTER, 10, 4) == 2500000);
    ck_assert(summary_value_mean(SUMMARY_OF_FEED, 10000000, 4) == 2500000);
}
END_TEST

/* Merged in any order, they say what one says that has seen everything. */
START_TEST(merging_is_adding)
{
    enum { PARTS = 40 };
    struct prng random = prng_stream(7, 0, 1);
    struct summary_number part[PARTS], all = {.of = SUMMARY_OF_FEED}, back;
    uint8_t bytes[SUMMARY_NUMBER_BYTES];
    for (unsigned i = 0; i < PARTS; i++) {
        part[i] = (struct summary_number){.of = SUMMARY_OF_FEED};
        for (uint64_t k = prng_below(&random, 4); k > 0; k--) {
            summary_value v = (summary_value)prng_next(&random) * 1000 - (summary_value)prng_next(&random) * 999;
            uint64_t times = 1 + prng_below(&random, 3);
            summary_number_add(&part[i], v, times, i);
            summary_number_add(&all, v, times, i);
        }
        part[i].count += i; /* lines that are no numbers */
        all.count += i;
    }
    for (unsigned turn = 0; turn < 5; turn++) {
        struct summary_number sum = {.of = SUMMARY_OF_FEED};
        prng_shuffle(&random, part, PARTS, sizeof *part);
        for (unsigned i = 0; i < PARTS; i++) {
            summary_number_encode(&part[i], bytes);
            ck_assert_int_eq(summary_number_decode(bytes, sizeof bytes, &back), 0);
            ck_assert_int_eq(summary_number_merge(&sum, &back), 0);
        }
        ck_assert(sum.sum == all.sum && sum.least == all.least && sum.greatest == all.greatest);
        ck_assert_uint_eq(sum.count, all.count);
        ck_assert_uint_eq(sum.numbers, all.numbers);
        ck_assert_uint_eq(sum.least_at, all.least_at);
        ck_assert_uint_eq(sum.greatest_at, all.greatest_at);
    }
    struct summary_number other = {.of = SUMMARY_OF_TIMES};
    ck_assert_int_eq(summary_number_merge(&other, &all), -EINVAL);
}
END_TEST

START_TEST(bytes_that_are_none)
{
    struct summary_number n = {.of = SUMMARY_OF_COUNTER}, out;
    uint8_t bytes[SUMMARY_NUMBER_BYTES];
    summary_number_add(&n, 5, 1, 3);
    summary_number_encode(&n, bytes);
    ck_assert_int_eq(summary_number_decode(bytes, sizeof bytes - 1, &out), -EPROTO);
    bytes[0] = 9;
    ck_assert_int_eq(summary_number_decode(bytes, sizeof bytes, &out), -EPROTO);
    bytes[0] = 1;
    bytes[5] = 1;
    ck_assert_int_eq(summary_number_decode(bytes, sizeof bytes, &out), -EPROTO);
    bytes[5] = 0;
    bytes[55] = 9; /* the least is above the greatest */
    ck_assert_int_eq(summary_number_decode(bytes, sizeof bytes, &out), -EPROTO);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(lines_that_are_numbers), SUITE_TEST(numbers_as_text),
                                          SUITE_TEST(merging_is_adding), SUITE_TEST(bytes_that_are_none)};
SUITE_MAIN("summary_number", tests)
