/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/decimal.h"

#include "rng.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

static int read_text(const char *text, struct decimal *out)
{
    size_t length = strlen(text);
    char *exact = malloc(length + 1);
    memcpy(exact, text, length);
    int rc = decimal_read((cw_bytes){(const uint8_t *)exact, length}, out);
    free(exact);
    return rc;
}

static const char *written(const struct decimal *d)
{
    static char text[DECIMAL_TEXT];
    int length = decimal_write(d, (uint8_t *)text, sizeof text - 1);
    SUITE_HOLDS(length > 0);
    text[length] = '\0';
    return text;
}

START_TEST(reads)
{
    static const char *const same[] = {"0",
                                       "7",
                                       "-1",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "12345678901234567890123456789012345678",
                                       "0.1",
                                       "-2.5",
                                       "1e+300",
                                       "1.5e-07",
                                       "0.30000000000000004",
                                       "123456789012345678",
                                       "1234567890123456789"};
    static const char *const other[][2] = {{"007", "7"}, {"-0", "0"},    {"1.0", "1"},       {".5", "0.5"},
                                           {"5.", "5"},  {"1E2", "100"}, {"-1e-2", "-0.01"}, {"1e0", "1"}};
    static const char *const bad[] = {"",  "-",  "+1",  " 1",  "1 ",    "0x10", "1e",  "1e+", "e1",
                                      ".", "-.", "nan", "inf", "1.2.3", "1,5",  "--1", "1-"};
    struct decimal d;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        SUITE_HOLDS(read_text(same[i], &d) == 0 && strcmp(written(&d), same[i]) == 0, "%s", same[i]);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        SUITE_HOLDS(read_text(other[i][0], &d) == 0 && strcmp(written(&d), other[i][1]) == 0, "%s", other[i][0]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(read_text(bad[i], &d) == -EINVAL, "'%s'", bad[i]);
    }
    ck_assert_int_eq(read_text("123456789012345678901234567890123456789", &d), -ERANGE);
    ck_assert_int_eq(read_text("1e999", &d), -ERANGE);
    ck_assert_int_eq(read_text("0.00000000000000000000000000000000000000000000000000000000000001", &d), -EINVAL);
}
END_TEST

START_TEST(adds)
{
    struct decimal a, b;
    ck_assert(read_text("9223372036854775807", &a) == 0 && decimal_add(&a, &a) == 0);
    ck_assert_str_eq(written(&a), "18446744073709551614");
    ck_assert(read_text("0.5", &b) == 0 && decimal_add(&b, &b) == 0);
    ck_assert_str_eq(written(&b), "1");
    ck_assert(read_text("99999999999999999999999999999999999999", &a) == 0 && read_text("1", &b) == 0);
    ck_assert_int_eq(decimal_add(&a, &b), -ERANGE);
    ck_assert_str_eq(written(&a), "99999999999999999999999999999999999999");
    ck_assert(read_text("-99999999999999999999999999999999999999", &b) == 0 && decimal_add(&a, &b) == 0);
    ck_assert_str_eq(written(&a), "0");
    ck_assert(read_text("1.7e308", &a) == 0);
    ck_assert_int_eq(decimal_add(&a, &a), -ERANGE);
    ck_assert_str_eq(written(&a), "1.7e+308");
}
END_TEST

START_TEST(orders)
{
    static const char *const ascending[] = {"-1e30",
                                            "-5",
                                            "-4.5",
                                            "0",
                                            "0.25",
                                            "1",
                                            "9223372036854775806.5e-3",
                                            "9223372036854775806",
                                            "9223372036854775807",
                                            "1e30"};
    for (size_t i = 0; i < sizeof ascending / sizeof *ascending; i++) {
        for (size_t k = 0; k < sizeof ascending / sizeof *ascending; k++) {
            struct decimal a, b;
            SUITE_HOLDS(read_text(ascending[i], &a) == 0 && read_text(ascending[k], &b) == 0);
            int order = decimal_order(&a, &b);
            SUITE_HOLDS((order > 0) - (order < 0) == (i > k) - (i < k), "%s and %s", ascending[i], ascending[k]);
        }
    }
}
END_TEST

START_TEST(divides)
{
    struct decimal d;
    ck_assert_int_eq(read_text("7", &d), 0);
    d = decimal_divide(&d, 2);
    ck_assert_str_eq(written(&d), "3.5");
    ck_assert_int_eq(read_text("-600", &d), 0);
    d = decimal_divide(&d, 3);
    ck_assert_str_eq(written(&d), "-200");
    ck_assert_int_eq(read_text("0.75", &d), 0);
    d = decimal_divide(&d, 3);
    ck_assert_str_eq(written(&d), "0.25");
}
END_TEST

/* Every double comes back; every int64 does. */
START_TEST(round_trip)
{
    struct rng rng = {1};
    for (unsigned i = 0; i < 100000; i++) {
        union {
            uint64_t bits;
            double real;
        } u = {rng_next(&rng)};
        struct decimal d, again;
        if ((u.bits >> 52 & 0x7ff) != 0x7ff) {
            d = (struct decimal){.real = u.real};
            SUITE_HOLDS(read_text(written(&d), &again) == 0);
            SUITE_HOLDS((again.is_whole ? (double)again.whole : again.real) == u.real, "%s", written(&d));
        }
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)(u.bits >> (i % 64)));
        SUITE_HOLDS(read_text(text, &again) == 0 && strcmp(written(&again), text) == 0, "%s", text);
    }
}
END_TEST

START_TEST(room)
{
    uint8_t out[3];
    struct decimal d;
    ck_assert_int_eq(read_text("1234", &d), 0);
    ck_assert_int_eq(decimal_write(&d, out, 3), -EMSGSIZE);
    ck_assert_int_eq(read_text("-12", &d), 0);
    ck_assert_int_eq(decimal_write(&d, out, 3), 3);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(reads),   SUITE_TEST(adds),       SUITE_TEST(orders),
                                          SUITE_TEST(divides), SUITE_TEST(round_trip), SUITE_TEST(room)};
SUITE_MAIN("decimal", tests)
