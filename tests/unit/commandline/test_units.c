/* SPDX-License-Identifier: Apache-2.0 */
#include "commandline/units.h"

#include "suite.h"

static char text[UNITS_TEXT];

START_TEST(spans)
{
    static const struct {
        int64_t ns;
        const char *is;
    } table[] = {
        {0, "0 ns"},
        {999, "999 ns"},
        {1000, "1.00 us"},
        {12345, "12.3 us"},
        {999999, "999 us"},
        {1000000, "1.00 ms"},
        {59999999999, "59.9 s"},
        {60000000000, "1 min 0 s"},
        {-5, "0 ns"},
        {3599000000000, "59 min 59 s"},
        {7500000000000, "2 h 5 min"},
        {INT64_MAX, "106751 d 23 h"},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        units_span(table[i].ns, text);
        ck_assert_str_eq(text, table[i].is);
    }
}
END_TEST

START_TEST(amounts)
{
    units_bytes(0, text);
    ck_assert_str_eq(text, "0 B");
    units_bytes(999, text);
    ck_assert_str_eq(text, "999 B");
    units_bytes(9000, text);
    ck_assert_str_eq(text, "9.00 kB");
    units_bytes(UINT64_MAX, text);
    ck_assert_str_eq(text, "18446 PB");
    units_rate(0, text);
    ck_assert_str_eq(text, "0");
    units_rate(2500000000, text);
    ck_assert_str_eq(text, "2.50 Gbit/s");
    units_short(999, text);
    ck_assert_str_eq(text, "999");
    units_short(12345, text);
    ck_assert_str_eq(text, "12.3 k");
}
END_TEST

START_TEST(counts)
{
    units_count(0, text);
    ck_assert_str_eq(text, "0");
    units_count(999, text);
    ck_assert_str_eq(text, "999");
    units_count(1000, text);
    ck_assert_str_eq(text, "1,000");
    units_count(-1234567, text);
    ck_assert_str_eq(text, "-1,234,567");
    units_count(INT64_MIN, text);
    ck_assert_str_eq(text, "-9,223,372,036,854,775,808");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(spans), SUITE_TEST(amounts), SUITE_TEST(counts)};
SUITE_MAIN("units", tests)
