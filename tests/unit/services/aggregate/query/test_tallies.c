/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/tallies.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static struct tallies t;

static cw_time at(int64_t ms)
{
    return (cw_time){CW_MS(ms).ns};
}

static int take(const char *name, const char *text, int64_t until)
{
    return tallies_take(&t, name, text, strlen(text), at(until));
}

static uint64_t lines(const char *name)
{
    const struct tally *one = tallies_find(&t, name, strlen(name));
    return one != NULL ? tally_number(one)->count : UINT64_MAX;
}

START_TEST(feeds_live_as_long_as_they_are_fed)
{
    tallies_open(&t, 1);
    ck_assert(tallies_wake(&t).ns == CW_NEVER.ns);
    ck_assert_int_eq(take("a", "x\ny\n\nlast", 100), 0);
    ck_assert_int_eq(take("b", "", 50), 0);
    ck_assert_int_eq(take("a", "z\n", 80), 0); /* another program, for less long */
    ck_assert_uint_eq(lines("a"), 5);
    ck_assert_uint_eq(lines("b"), 0);
    ck_assert(tallies_wake(&t).ns == at(50).ns);
    tallies_sweep(&t, at(50));
    ck_assert_uint_eq(lines("b"), UINT64_MAX);
    ck_assert_uint_eq(lines("a"), 5);
    tallies_sweep(&t, at(99));
    ck_assert_uint_eq(lines("a"), 5);
    tallies_sweep(&t, at(100));
    ck_assert_uint_eq(lines("a"), UINT64_MAX);
    ck_assert_ptr_null(tallies_find(&t, "", 0));
    tallies_close(&t);
}
END_TEST

START_TEST(so_many)
{
    char name[16];
    tallies_open(&t, 1);
    for (unsigned i = 0; i < TALLIES_MOST; i++) {
        snprintf(name, sizeof name, "f%u", i);
        ck_assert_int_eq(take(name, "x\n", 1000), 0);
    }
    ck_assert_int_eq(take("more", "x\n", 1000), -ENOSPC);
    ck_assert_int_eq(take("f3", "x\n", 1000), 0);
    ck_assert_uint_eq(lines("f3"), 2);
    tallies_close(&t);
    ck_assert(tallies_name_valid("A-z_0"));
    ck_assert(!tallies_name_valid("") && !tallies_name_valid("a.b") && !tallies_name_valid("a b"));
    ck_assert(!tallies_name_valid("12345678901234567890123456789012"));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(feeds_live_as_long_as_they_are_fed), SUITE_TEST(so_many)};
SUITE_MAIN("tallies", tests)
