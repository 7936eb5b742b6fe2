/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units: exact or refused, and printed so that they read back as the same. */
#include "simulator/quantity.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

START_TEST(spans_have_units_and_are_exact)
{
    static const struct {
        const char *text;
        int64_t ns; /* or an error */
    } known[] = {
        {"0", 0},
        {"0s", 0},
        {"1ns", 1},
        {"1.5us", 1500},
        {"80ms", 80000000},
        {"2.000000001s", 2000000001},
        {"1min", INT64_C(60000000000)},
        {"0.5h", INT64_C(1800000000000)},
        {"9223372036854775807ns", INT64_MAX},
        {"1.5ns", -EINVAL},
        {"80", -EINVAL},
        {"80 ms", -EINVAL},
        {"-1s", -EINVAL},
        {"1.s", -EINVAL},
        {".5s", -EINVAL},
        {"1.2.3s", -EINVAL},
        {"ms", -EINVAL},
        {"", -EINVAL},
        {"1sec", -EINVAL},
        {"9223372036854775808ns", -ERANGE},
        {"9999999999s", -ERANGE},
        {"00000000000000000000s", -ERANGE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cw_span span = {-77};
        int rc = quantity_span(known[i].text, strlen(known[i].text), &span);
        int64_t expected = known[i].ns < 0 ? -77 : known[i].ns;
        ck_assert_msg(rc == (known[i].ns < 0 ? known[i].ns : 0) && span.ns == expected, "'%s': %d, %lld ns",
                      known[i].text, rc, (long long)span.ns);
    }
}
END_TEST

START_TEST(counts_rates_and_shares)
{
    uint64_t value = 7;
    uint32_t ppm = 7;
    int64_t millionths = 7;
    ck_assert_int_eq(quantity_count("1.5k", 4, &value), 0);
    ck_assert_uint_eq(value, 1500);
    ck_assert_int_eq(quantity_count("1.5", 3, &value), -EINVAL);
    ck_assert_int_eq(quantity_count("2Gx", 2, &value), 0); /* the length ends it, no NUL */
    ck_assert_uint_eq(value, 2000000000);
    ck_assert_int_eq(quantity_count("9223372036854775807", 19, &value), 0);
    ck_assert_uint_eq(value, INT64_MAX);
    ck_assert_int_eq(quantity_count("9223372036854775808", 19, &value), -ERANGE);
    ck_assert_int_eq(quantity_rate("2.5gbit", 7, &value), 0);
    ck_assert_uint_eq(value, 2500000000);
    ck_assert_int_eq(quantity_rate("100", 3, &value), -EINVAL);
    ck_assert_int_eq(quantity_rate("100Mbit", 7, &value), -EINVAL);
    ck_assert_uint_eq(value, 2500000000);
    ck_assert_int_eq(quantity_ppm("0.3%", 4, &ppm), 0);
    ck_assert_uint_eq(ppm, 3000);
    ck_assert_int_eq(quantity_ppm("200ppm", 6, &ppm), 0);
    ck_assert_uint_eq(ppm, 200);
    ck_assert_int_eq(quantity_ppm("0.00001%", 8, &ppm), -EINVAL);
    ck_assert_int_eq(quantity_ppm("500000%", 7, &ppm), -ERANGE);
    ck_assert_uint_eq(ppm, 200);
    ck_assert_int_eq(quantity_millionths("-0.3", 4, &millionths), 0);
    ck_assert_int_eq(millionths, -300000);
    ck_assert_int_eq(quantity_millionths("0.3%", 4, &millionths), 0);
    ck_assert_int_eq(millionths, 3000);
    ck_assert_int_eq(quantity_millionths("0.0000001", 9, &millionths), -EINVAL);
    ck_assert_int_eq(quantity_millionths("--1", 3, &millionths), -EINVAL);
    ck_assert_int_eq(quantity_millionths("-", 1, &millionths), -EINVAL);
    ck_assert_int_eq(millionths, 3000);
}
END_TEST

START_TEST(dims_and_links)
{
    cw_dims d = {7, 7, 7};
    ck_assert_int_eq(quantity_dims("3x4x256", 7, &d), 0);
    ck_assert(d.x == 3 && d.y == 4 && d.z == 256);
    ck_assert_int_eq(quantity_dims("3x4x257", 7, &d), -ERANGE);
    ck_assert_int_eq(quantity_dims("0x4x5", 5, &d), -ERANGE);
    static const char *const wrong[] = {"", "3x4", "3x4x", "x3x4", "3x4x5x6", "3xx5", "3X4X5", "3x4x1000", " 3x4x5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(quantity_dims(wrong[i], strlen(wrong[i]), &d) == -EINVAL, "%s", wrong[i]);
    }
    ck_assert(d.x == 3 && d.y == 4 && d.z == 256);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        cw_link read = CW_LINK_SELF;
        ck_assert_int_eq(quantity_link(quantity_link_name(link), 2, &read), 0);
        ck_assert_uint_eq(read, link);
    }
    cw_link link;
    ck_assert_int_eq(quantity_link("+w", 2, &link), -EINVAL);
    ck_assert_int_eq(quantity_link("x", 1, &link), -EINVAL);
}
END_TEST

static void reads_back(uint64_t value)
{
    char text[QUANTITY_TEXT];
    cw_span span;
    uint64_t rate;
    uint32_t ppm;
    int64_t millionths;
    int n = quantity_span_format((cw_span){(int64_t)value}, text);
    ck_assert_msg(quantity_span(text, (size_t)n, &span) == 0 && span.ns == (int64_t)value, "%s", text);
    n = quantity_rate_format(value, text);
    ck_assert_msg(quantity_rate(text, (size_t)n, &rate) == 0 && rate == value, "%s", text);
    n = quantity_ppm_format((uint32_t)value, text);
    ck_assert_msg(quantity_ppm(text, (size_t)n, &ppm) == 0 && ppm == (uint32_t)value, "%s", text);
    n = quantity_millionths_format((int64_t)value, text);
    ck_assert_uint_eq((size_t)n, strlen(text));
    ck_assert_msg(quantity_millionths(text, (size_t)n, &millionths) == 0 && millionths == (int64_t)value, "%s", text);
    n = quantity_millionths_format(-(int64_t)value, text);
    ck_assert_msg(quantity_millionths(text, (size_t)n, &millionths) == 0 && millionths == -(int64_t)value, "%s", text);
}

START_TEST(what_is_printed_reads_back)
{
    uint64_t power = 1;
    for (int digits = 1; digits <= 19; digits++, power *= 10) {
        reads_back(power);
        reads_back(power - 1);
        reads_back(power + 1);
        reads_back(9 * power);
        reads_back(power / 3 * 7);
    }
    reads_back(INT64_MAX);
    char text[QUANTITY_TEXT];
    quantity_span_format(CW_MS(1500), text);
    ck_assert_str_eq(text, "1500ms");
    quantity_span_format(CW_SEC(120), text);
    ck_assert_str_eq(text, "120s");
    quantity_rate_format(2500000000, text);
    ck_assert_str_eq(text, "2500mbit");
    quantity_ppm_format(980000, text);
    ck_assert_str_eq(text, "98%");
    quantity_millionths_format(-300000, text);
    ck_assert_str_eq(text, "-0.3");
    quantity_dims_format((cw_dims){3, 4, 256}, text);
    ck_assert_str_eq(text, "3x4x256");
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(spans_have_units_and_are_exact),
    SUITE_TEST(counts_rates_and_shares),
    SUITE_TEST(dims_and_links),
    SUITE_TEST(what_is_printed_reads_back),
};
SUITE_MAIN("simulator/quantity", tests)
