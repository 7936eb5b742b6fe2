/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/name.h"

#include "suite.h"

#include <string.h>

START_TEST(buckets)
{
    static const char *const good[] = {"abc",
                                       "my-photos",
                                       "a.b.c",
                                       "123",
                                       "1.2.3",
                                       "1.2.3.4a",
                                       "012345678901234567890123456789012345678901234567890123456789012"};
    static const char *const bad[] = {
        "",    "ab",  "Abc",  "a_b",     "-ab", "ab-",
        ".ab", "ab.", "a..b", "1.2.3.4", "a b", "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        SUITE_HOLDS(s3_name_bucket(good[i], strlen(good[i])), "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(!s3_name_bucket(bad[i], strlen(bad[i])), "%s", bad[i]);
    }
}
END_TEST

START_TEST(keys)
{
    char key[S3_NAMES_MOST + 1];
    memset(key, 'k', sizeof key);
    ck_assert_int_eq(s3_name_key(key, S3_NAMES_MOST - 3, 3), S3_OK);
    ck_assert_int_eq(s3_name_key(key, S3_NAMES_MOST - 2, 3), S3_KEY_TOO_LONG);
    ck_assert_int_eq(s3_name_key(key, 0, 3), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_name_key("a//../\x01\xc3\xa4", 9, 3), S3_OK);
    ck_assert_int_eq(s3_name_key("\xff", 1, 3), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_name_key("\xc3", 1, 3), S3_INVALID_ARGUMENT);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(buckets), SUITE_TEST(keys)};
SUITE_MAIN("name", tests)
