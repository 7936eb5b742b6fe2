/* SPDX-License-Identifier: Apache-2.0 */
/* Instants against the C library's calendar, over all years. */
#include "services/s3/protocol/moment.h"

#include "suite.h"

#include <errno.h>
#include <string.h>
#include <time.h>

START_TEST(known_instants)
{
    int64_t s;
    char text[S3_MOMENT_TEXT];
    ck_assert_int_eq(s3_moment_read_basic("20130524T000000Z", &s), 0);
    ck_assert_int_eq(s, 1369353600);
    s3_moment_http(s, text);
    ck_assert_str_eq(text, "Fri, 24 May 2013 00:00:00 GMT");
    s3_moment_xml(s, text);
    ck_assert_str_eq(text, "2013-05-24T00:00:00.000Z");
    s3_moment_http(S3_MOMENT_MAX, text);
    ck_assert_str_eq(text, "Fri, 31 Dec 9999 23:59:59 GMT");
}
END_TEST

START_TEST(agrees_with_the_library_and_reads_what_it_writes)
{
    for (int64_t s = 0; s <= S3_MOMENT_MAX; s += 86400 * 17 + 3607) {
        struct tm tm;
        time_t t = (time_t)s;
        int64_t back;
        char text[S3_MOMENT_TEXT], right[64];
        gmtime_r(&t, &tm);
        strftime(right, sizeof right, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        s3_moment_http(s, text);
        SUITE_HOLDS(strcmp(text, right) == 0, "%s and not %s", text, right);
        SUITE_HOLDS(s3_moment_read_http(text, &back) == 0 && back == s, "%s", text);
        strftime(right, sizeof right, "%Y-%m-%dT%H:%M:%S.000Z", &tm);
        s3_moment_xml(s, text);
        SUITE_HOLDS(strcmp(text, right) == 0, "%s and not %s", text, right);
        strftime(right, sizeof right, "%Y%m%dT%H%M%SZ", &tm);
        SUITE_HOLDS(s3_moment_read_basic(right, &back) == 0 && back == s, "%s", right);
    }
}
END_TEST

START_TEST(refuses_what_is_none)
{
    static const char *const basic[] = {"",
                                        "20130524",
                                        "20130524T000000",
                                        "2013-05-24T00:00Z",
                                        "20131324T000000Z",
                                        "20130024T000000Z",
                                        "20130532T000000Z",
                                        "20130229T000000Z",
                                        "19000229T000000Z",
                                        "19691231T235959Z",
                                        "20130524T240000Z",
                                        "20130524T006000Z",
                                        "20130524t000000Z",
                                        "2013052-T000000Z"};
    static const char *const http[] = {"",
                                       "Fri, 24 May 2013 00:00:00 CET",
                                       "Fri, 24 Mai 2013 00:00:00 GMT",
                                       "Friday, 24-May-13 00:00:00 GMT",
                                       "Fri May 24 00:00:00 2013",
                                       "Fry, 24 May 2013 00:00:00 GMT",
                                       "Fri, 31 Feb 2013 00:00:00 GMT"};
    int64_t s = 7;
    for (size_t i = 0; i < sizeof basic / sizeof *basic; i++) {
        SUITE_HOLDS(s3_moment_read_basic(basic[i], &s) == -EINVAL, "%s", basic[i]);
    }
    for (size_t i = 0; i < sizeof http / sizeof *http; i++) {
        SUITE_HOLDS(s3_moment_read_http(http[i], &s) == -EINVAL, "%s", http[i]);
    }
    ck_assert_int_eq(s, 7);
    ck_assert_int_eq(s3_moment_read_basic("20000229T235960Z", &s), 0); /* a leap day, a leap second */
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(known_instants),
                                          SUITE_TEST(agrees_with_the_library_and_reads_what_it_writes),
                                          SUITE_TEST(refuses_what_is_none)};
SUITE_MAIN("moment", tests)
