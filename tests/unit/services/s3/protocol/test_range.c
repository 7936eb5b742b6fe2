/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/range.h"

#include "suite.h"

START_TEST(ranges_of_ten_bytes)
{
    static const struct {
        const char *text;
        s3_range range;
        uint64_t first, count;
    } rows[] = {
        {NULL, S3_RANGE_WHOLE, 0, 10},
        {"bytes=0-9", S3_RANGE_PART, 0, 10},
        {"bytes=0-0", S3_RANGE_PART, 0, 1},
        {"bytes=3-5", S3_RANGE_PART, 3, 3},
        {"bytes=3-", S3_RANGE_PART, 3, 7},
        {"bytes=9-100", S3_RANGE_PART, 9, 1},
        {"bytes=9-99999999999999999999999", S3_RANGE_PART, 9, 1},
        {"bytes=-3", S3_RANGE_PART, 7, 3},
        {"bytes=-100", S3_RANGE_PART, 0, 10},
        {"bytes=10-", S3_RANGE_NONE, 0, 10},
        {"bytes=99999999999999999999999-", S3_RANGE_NONE, 0, 10},
        {"bytes=-0", S3_RANGE_NONE, 10, 0},
        {"bytes=5-3", S3_RANGE_WHOLE, 0, 10},
        {"bytes=-", S3_RANGE_WHOLE, 0, 10},
        {"bytes=", S3_RANGE_WHOLE, 0, 10},
        {"bytes=1", S3_RANGE_WHOLE, 0, 10},
        {"bytes=0-1,3-4", S3_RANGE_WHOLE, 0, 10},
        {"bytes= 0-1", S3_RANGE_WHOLE, 0, 10},
        {"bytes=a-b", S3_RANGE_WHOLE, 0, 10},
        {"lines=0-1", S3_RANGE_WHOLE, 0, 10},
        {"", S3_RANGE_WHOLE, 0, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t first, count;
        SUITE_HOLDS(s3_range_read(rows[i].text, 10, &first, &count) == rows[i].range, "%s", rows[i].text);
        SUITE_HOLDS(rows[i].range == S3_RANGE_NONE || (first == rows[i].first && count == rows[i].count), "%s",
                    rows[i].text);
    }
}
END_TEST

START_TEST(an_empty_object_has_no_range)
{
    uint64_t first, count;
    ck_assert_int_eq(s3_range_read("bytes=0-", 0, &first, &count), S3_RANGE_NONE);
    ck_assert_int_eq(s3_range_read("bytes=-5", 0, &first, &count), S3_RANGE_NONE);
    ck_assert_int_eq(s3_range_read(NULL, 0, &first, &count), S3_RANGE_WHOLE);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(ranges_of_copies_are_exact)
{
    uint64_t first, count;
    ck_assert(s3_range_exact("bytes=2-9", 10, &first, &count));
    ck_assert_uint_eq(first, 2);
    ck_assert_uint_eq(count, 8);
    ck_assert(!s3_range_exact("bytes=2-10", 10, &first, &count));
    ck_assert(!s3_range_exact("bytes=2-", 10, &first, &count));
    ck_assert(!s3_range_exact("bytes=-2", 10, &first, &count));
    ck_assert(!s3_range_exact("bytes=5-4", 10, &first, &count));
    ck_assert(!s3_range_exact("2-4", 10, &first, &count));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(ranges_of_ten_bytes), SUITE_TEST(an_empty_object_has_no_range),
                                          SUITE_TEST(ranges_of_copies_are_exact)};
SUITE_MAIN("range", tests)
