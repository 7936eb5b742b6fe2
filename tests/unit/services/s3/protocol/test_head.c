/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/head.h"

#include "suite.h"

#include <string.h>

static struct s3_head head;

START_TEST(path_and_query_are_decoded_once)
{
    ck_assert_int_eq(s3_head_begin(&head, "GET", "/b/a%2520b%2Fc?prefix=x%26y&&list-type=2&acl&e=&=v"), S3_OK);
    ck_assert_str_eq(head.path, "/b/a%20b/c");
    ck_assert_uint_eq(head.path_length, 10);
    ck_assert_uint_eq(head.params, 5);
    ck_assert_str_eq(s3_head_param_text(&head, "prefix"), "x&y");
    ck_assert_str_eq(s3_head_param_text(&head, "list-type"), "2");
    ck_assert_str_eq(s3_head_param_text(&head, "acl"), "");
    ck_assert_str_eq(s3_head_param_text(&head, "e"), "");
    ck_assert_str_eq(s3_head_param_text(&head, ""), "v");
    ck_assert_ptr_null(s3_head_param(&head, "f"));
}
END_TEST

START_TEST(refuses_what_cannot_be_read)
{
    static const char *const bad[] = {"", "b", "?a", "http://h/b", "/%", "/%zz", "/a%00", "/a?b=%4", "/a?%00"};
    char text[S3_TARGET_MOST + 2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(s3_head_begin(&head, "GET", bad[i]) == S3_INVALID_URI, "%s", bad[i]);
    }
    memset(text, '/', sizeof text);
    text[S3_TARGET_MOST] = '\0';
    ck_assert_int_eq(s3_head_begin(&head, "GET", text), S3_OK);
    text[S3_TARGET_MOST] = '/';
    text[S3_TARGET_MOST + 1] = '\0';
    ck_assert_int_eq(s3_head_begin(&head, "GET", text), S3_INVALID_URI);
    strcpy(text, "/?a");
    for (unsigned i = 1; i < S3_PARAMS_MOST; i++) {
        strcat(text, "&a");
    }
    ck_assert_int_eq(s3_head_begin(&head, "GET", text), S3_OK);
    strcat(text, "&a");
    ck_assert_int_eq(s3_head_begin(&head, "GET", text), S3_INVALID_URI);
}
END_TEST

START_TEST(headers_have_no_case_and_a_bound)
{
    ck_assert_int_eq(s3_head_begin(&head, "GET", "/"), S3_OK);
    ck_assert_int_eq(s3_head_add(&head, "Content-MD5", "x"), S3_OK);
    ck_assert_int_eq(s3_head_add(&head, "content-md5", "y"), S3_OK);
    ck_assert_str_eq(s3_head_find(&head, "CONTENT-md5"), "x");
    ck_assert_ptr_null(s3_head_find(&head, "content-md"));
    ck_assert_ptr_null(s3_head_find(&head, "content-md55"));
    while (head.headers < S3_HEADERS_MOST) {
        ck_assert_int_eq(s3_head_add(&head, "a", "b"), S3_OK);
    }
    ck_assert_int_eq(s3_head_add(&head, "a", "b"), S3_INVALID_REQUEST);
    ck_assert(s3_name_begins("X-Amz-Meta-a", "x-amz-meta-"));
    ck_assert(!s3_name_begins("X-Amz", "x-amz-meta-"));
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(path_and_query_are_decoded_once),
                                          SUITE_TEST(refuses_what_cannot_be_read),
                                          SUITE_TEST(headers_have_no_case_and_a_bound)};
SUITE_MAIN("head", tests)
