/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantity.c - numbers with units: exact, or refused. */
#include "base/quantity.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

struct row {
    const char *text;
    int rc;
    int64_t value;
};

static void try_rows(const struct row *row, size_t count, int (*read)(const char *text, int64_t *out))
{
    for (size_t i = 0; i < count; i++) {
        int64_t value = -77;
        int rc = read(row[i].text, &value);
        ck_assert_msg(rc == row[i].rc, "'%s': %d, not %d", row[i].text, rc, row[i].rc);
        ck_assert_msg(value == (rc == 0 ? row[i].value : -77), "'%s' gave %lld", row[i].text, (long long)value);
    }
}
#define TRY(rows, read) try_rows(rows, sizeof(rows) / sizeof *(rows), read)

static int read_span(const char *text, int64_t *out)
{
    cw_span span;
    int rc = quantity_span(text, strlen(text), &span);
    *out = rc == 0 ? span.ns : *out;
    return rc;
}

START_TEST(spans)
{
    static const struct row rows[] = {
        {"80ms", 0, 80000000},
        {"1.5s", 0, 1500000000},
        {"0", 0, 0},
        {"0.25us", 0, 250},
        {"2min", 0, INT64_C(120000000000)},
        {"1h", 0, INT64_C(3600000000000)},
        {"9223372036s", 0, INT64_C(9223372036000000000)},
        {"9223372037s", -ERANGE, 0},
        {"1.5ns", -EINVAL, 0},
        {"1", -EINVAL, 0},
        {"ms", -EINVAL, 0},
        {"", -EINVAL, 0},
        {".5s", -EINVAL, 0},
        {"5.s", -EINVAL, 0},
        {"1.2.3s", -EINVAL, 0},
        {"-1s", -EINVAL, 0},
        {"1 s", -EINVAL, 0},
        {"1S", -EINVAL, 0},
        {"10000000000000000000ns", -ERANGE, 0}, /* 20 digits */
    };
    TRY(rows, read_span);
}
END_TEST

static int read_rate(const char *text, int64_t *out)
{
    uint64_t value;
    int rc = quantity_rate(text, strlen(text), &value);
    *out = rc == 0 ? (int64_t)value : *out;
    return rc;
}

static int read_count(const char *text, int64_t *out)
{
    uint64_t value;
    int rc = quantity_count(text, strlen(text), &value);
    *out = rc == 0 ? (int64_t)value : *out;
    return rc;
}

static int read_ppm(const char *text, int64_t *out)
{
    uint32_t value;
    int rc = quantity_ppm(text, strlen(text), &value);
    *out = rc == 0 ? (int64_t)value : *out;
    return rc;
}

static int read_millionths(const char *text, int64_t *out)
{
    return quantity_millionths(text, strlen(text), out);
}

START_TEST(others)
{
    static const struct row rates[] = {
        {"1gbit", 0, 1000000000}, {"2.5gbit", 0, 2500000000}, {"100mbit", 0, 100000000}, {"64kbit", 0, 64000},
        {"7bit", 0, 7},           {"1Gbit", -EINVAL, 0},      {"1000", -EINVAL, 0},
    };
    static const struct row counts[] = {
        {"1000", 0, 1000},  {"10k", 0, 10000},   {"1.5k", 0, 1500},
        {"3M", 0, 3000000}, {"0.5", -EINVAL, 0}, {"x", -EINVAL, 0},
    };
    static const struct row ppms[] = {
        {"5%", 0, 50000},         {"0.05%", 0, 500}, {"20ppm", 0, 20},
        {"0.00001%", -EINVAL, 0}, {"5", -EINVAL, 0}, {"500000%", -ERANGE, 0},
    };
    static const struct row millionths[] = {
        {"0", 0, 0},       {"0.3", 0, 300000}, {"-2", 0, -2000000},
        {"0.3%", 0, 3000}, {"-", -EINVAL, 0},  {"1.0000001", -EINVAL, 0},
    };
    TRY(rates, read_rate);
    TRY(counts, read_count);
    TRY(ppms, read_ppm);
    TRY(millionths, read_millionths);
}
END_TEST

START_TEST(shapes)
{
    cw_dims d = {9, 9, 9};
    cw_link link = 77;
    ck_assert_int_eq(quantity_dims("3x4x256", 7, &d), 0);
    ck_assert_int_eq(d.x, 3);
    ck_assert_int_eq(d.y, 4);
    ck_assert_int_eq(d.z, 256);
    static const char *const bad[] = {"3x4", "3x4x5x6", "x3x4",  "3xx4",  "3x4x",
                                      "",    "3x4x257", "0x1x1", "3X4X5", "1000x1x1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(quantity_dims(bad[i], strlen(bad[i]), &d) < 0, "%s", bad[i]);
    }
    ck_assert_int_eq(d.x, 3);
    ck_assert_int_eq(d.y, 4);
    ck_assert_int_eq(d.z, 256);
    for (cw_link l = 0; l < CW_LINK_COUNT; l++) {
        ck_assert_int_eq(quantity_link(quantity_link_name(l), 2, &link), 0);
        ck_assert_uint_eq(link, l);
    }
    ck_assert(quantity_link("+w", 2, &link) < 0);
    ck_assert(quantity_link("x", 1, &link) < 0);
    ck_assert(quantity_link("+xx", 3, &link) < 0);
}
END_TEST

/* What is written is read as the same value: at random orders of magnitude. */
START_TEST(there_and_back)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < 20000; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        uint64_t value = state >> (2 + state % 60);
        char text[QUANTITY_TEXT];
        int64_t back = -1;
        int n = quantity_span_format((cw_span){(int64_t)(value % 1000000000000000000u)}, text);
        if (read_span(text, &back) != 0 || back != (int64_t)(value % 1000000000000000000u) || n != (int)strlen(text)) {
            ck_abort_msg("span %s", text);
        }
        quantity_rate_format(value % 1000000000000000u, text);
        if (read_rate(text, &back) != 0 || back != (int64_t)(value % 1000000000000000u)) {
            ck_abort_msg("rate %s", text);
        }
        quantity_ppm_format((uint32_t)value, text);
        if (read_ppm(text, &back) != 0 || back != (uint32_t)value) {
            ck_abort_msg("ppm %s", text);
        }
        int64_t signed_value = (int64_t)(value % 1000000000000000u) * (i % 2 ? -1 : 1);
        quantity_millionths_format(signed_value, text);
        if (read_millionths(text, &back) != 0 || back != signed_value) {
            ck_abort_msg("millionths %s", text);
        }
    }
}
END_TEST

/* For people: two digits that matter, and never "0 %" of something. */
START_TEST(shares)
{
    static const struct {
        uint32_t ppm;
        const char *text;
    } rows[] = {{0, "0 %"},           {1, "below 0.01 %"}, {99, "below 0.01 %"}, {100, "below 0.1 %"},
                {499, "below 0.1 %"}, {500, "0.1 %"},      {1499, "0.1 %"},      {1500, "0.2 %"},
                {20900, "2.1 %"},     {20000, "2.0 %"},    {99449, "9.9 %"},     {99999, "10.0 %"},
                {100000, "10 %"},     {135000, "14 %"},    {999999, "100 %"},    {1000000, "100 %"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[QUANTITY_TEXT];
        int length = quantity_share_format(rows[i].ppm, text);
        ck_assert_str_eq(text, rows[i].text);
        ck_assert_int_eq(length, (int)strlen(text));
    }
}
END_TEST

START_TEST(ago)
{
    char text[QUANTITY_TEXT];
    ck_assert_int_eq(quantity_ago_format(CW_MS(999), text), 8);
    ck_assert_str_eq(text, "just now");
    ck_assert_int_eq(quantity_ago_format(CW_MS(3999), text), 6);
    ck_assert_str_eq(text, "3s ago");
    quantity_ago_format((cw_span){INT64_MAX}, text);
    quantity_ago_format((cw_span){-1}, text);
    ck_assert_str_eq(text, "just now");
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(ago),    SUITE_TEST(shares), SUITE_TEST(spans),
                                          SUITE_TEST(others), SUITE_TEST(shapes), SUITE_TEST(there_and_back)};
SUITE_MAIN("quantity", tests)
