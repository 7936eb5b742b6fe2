/* SPDX-License-Identifier: Apache-2.0 */
#include "services/inquiry/rows.h"

#include "rows_said.h"
#include "suite.h"

#include <errno.h>

static struct rows_said said;

START_TEST(what_is_written_is_read)
{
    uint8_t bytes[200];
    struct rows_writer w = rows_begin(bytes, sizeof bytes);
    rows_text(&w, "server", "1,2,3");
    rows_integer(&w, "n", -7);
    ck_assert(rows_end(&w));
    rows_text(&w, "empty", "");
    ck_assert(rows_end(&w));
    struct rows_reader reader = rows_said_reader(&said);
    ck_assert_int_eq(rows_read(bytes, w.used, &reader), 0);
    ck_assert_uint_eq(said.count, 2);
    ck_assert_str_eq(said.row[0], "server=1,2,3 n=-7");
    ck_assert_str_eq(said.row[1], "empty=");
}
END_TEST

START_TEST(a_row_that_does_not_fit_is_not_there)
{
    uint8_t bytes[40];
    struct rows_writer w = rows_begin(bytes, sizeof bytes);
    rows_text(&w, "first", "row");
    ck_assert(rows_end(&w));
    size_t used = w.used;
    rows_text(&w, "second", "a text that is longer than all the room that is left");
    rows_integer(&w, "n", 1);
    ck_assert(!rows_end(&w));
    ck_assert_uint_eq(w.used, used);
    rows_integer(&w, "n", 2);
    ck_assert(rows_end(&w));
    struct rows_reader reader = rows_said_reader(&said);
    ck_assert_int_eq(rows_read(bytes, w.used, &reader), 0);
    ck_assert_str_eq(said.row[1], "n=2");
}
END_TEST

START_TEST(any_bytes_end)
{
    uint64_t state = 1;
    for (unsigned round = 0; round < 20000; round++) {
        uint8_t bytes[64];
        for (size_t i = 0; i < sizeof bytes; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bytes[i] = (uint8_t)(state >> 33) & (round % 2 == 0 ? 0xff : 3);
        }
        struct rows_reader reader = rows_said_reader(&said);
        int rc = rows_read(bytes, round % (sizeof bytes + 1), &reader);
        ck_assert(rc == 0 || rc == -EBADMSG);
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(what_is_written_is_read),
    SUITE_TEST(a_row_that_does_not_fit_is_not_there),
    SUITE_TEST(any_bytes_end),
};
SUITE_MAIN("rows", tests)
