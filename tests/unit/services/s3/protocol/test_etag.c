/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/etag.h"

#include "suite.h"

#include <string.h>

#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define OTHER "d41d8cd98f00b204e9800998ecf8427f"
#define AT INT64_C(1369353600)
#define BEFORE "Thu, 23 May 2013 23:59:59 GMT"
#define THEN "Fri, 24 May 2013 00:00:00 GMT"

static struct s3_etag etag(const char *text)
{
    struct s3_etag e;
    ck_assert(s3_etag_read(text, &e));
    return e;
}

START_TEST(texts)
{
    char text[S3_ETAG_TEXT];
    struct s3_etag e = etag("\"" MD5 "\"");
    ck_assert_uint_eq(e.parts, 0);
    s3_etag_text(&e, text);
    ck_assert_str_eq(text, MD5);
    e = etag(MD5 "-10000");
    ck_assert_uint_eq(e.parts, 10000);
    s3_etag_text(&e, text);
    ck_assert_str_eq(text, MD5 "-10000");
    static const char *const bad[] = {"",        "\"\"",   "abc",   MD5 "-",  MD5 "-0",
                                      MD5 "-01", MD5 "-x", MD5 "0", "\"" MD5, MD5 "-123456"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(!s3_etag_read(bad[i], &e), "%s", bad[i]);
    }
}
END_TEST

START_TEST(lists)
{
    struct s3_etag e = etag(MD5), parts = etag(MD5 "-2");
    ck_assert(s3_etag_listed(&e, "*"));
    ck_assert(s3_etag_listed(&e, "\"" MD5 "\""));
    ck_assert(s3_etag_listed(&e, MD5));
    ck_assert(s3_etag_listed(&e, "W/\"" MD5 "\""));
    ck_assert(s3_etag_listed(&e, "\"" OTHER "\", \"" MD5 "\""));
    ck_assert(!s3_etag_listed(&e, "\"" OTHER "\",\"x\",,"));
    ck_assert(!s3_etag_listed(&e, ""));
    ck_assert(!s3_etag_listed(&parts, MD5));
    ck_assert(s3_etag_listed(&parts, MD5 "-2"));
}
END_TEST

static s3_fault condition(bool copy, const char *name, const char *value, const char *name2, const char *value2)
{
    static struct s3_head h;
    struct s3_etag e = etag(MD5);
    (void)!s3_head_begin(&h, "GET", "/");
    (void)!s3_head_add(&h, name, value);
    if (name2 != NULL) {
        (void)!s3_head_add(&h, name2, value2);
    }
    return s3_etag_condition(&h, copy, &e, AT);
}

START_TEST(conditions_of_reads)
{
    ck_assert_int_eq(condition(false, "x", "y", NULL, NULL), S3_OK);
    ck_assert_int_eq(condition(false, "If-Match", MD5, NULL, NULL), S3_OK);
    ck_assert_int_eq(condition(false, "If-Match", OTHER, NULL, NULL), S3_PRECONDITION_FAILED);
    ck_assert_int_eq(condition(false, "If-None-Match", MD5, NULL, NULL), S3_NOT_MODIFIED);
    ck_assert_int_eq(condition(false, "If-None-Match", OTHER, NULL, NULL), S3_OK);
    ck_assert_int_eq(condition(false, "If-Modified-Since", THEN, NULL, NULL), S3_NOT_MODIFIED);
    ck_assert_int_eq(condition(false, "If-Modified-Since", BEFORE, NULL, NULL), S3_OK);
    ck_assert_int_eq(condition(false, "If-Modified-Since", "yesterday", NULL, NULL), S3_OK);
    ck_assert_int_eq(condition(false, "If-Unmodified-Since", BEFORE, NULL, NULL), S3_PRECONDITION_FAILED);
    ck_assert_int_eq(condition(false, "If-Unmodified-Since", THEN, NULL, NULL), S3_OK);
    /* a tag goes before a time */
    ck_assert_int_eq(condition(false, "If-Match", MD5, "If-Unmodified-Since", BEFORE), S3_OK);
    ck_assert_int_eq(condition(false, "If-None-Match", OTHER, "If-Modified-Since", THEN), S3_OK);
}
END_TEST

START_TEST(conditions_of_copies)
{
    ck_assert_int_eq(condition(true, "If-Match", OTHER, NULL, NULL), S3_OK);
    ck_assert_int_eq(condition(true, "x-amz-copy-source-if-match", OTHER, NULL, NULL), S3_PRECONDITION_FAILED);
    ck_assert_int_eq(condition(true, "x-amz-copy-source-if-none-match", MD5, NULL, NULL), S3_PRECONDITION_FAILED);
    ck_assert_int_eq(condition(true, "x-amz-copy-source-if-modified-since", THEN, NULL, NULL), S3_PRECONDITION_FAILED);
    ck_assert_int_eq(condition(true, "x-amz-copy-source-if-unmodified-since", THEN, NULL, NULL), S3_OK);
}
END_TEST

static s3_fault put_if(const char *name, const char *value, const char *name2, s3_put_if *out)
{
    static struct s3_head h;
    const char *list;
    (void)!s3_head_begin(&h, "PUT", "/");
    (void)!s3_head_add(&h, name, value);
    if (name2 != NULL) {
        (void)!s3_head_add(&h, name2, value);
    }
    return s3_etag_put_if(&h, out, &list);
}

START_TEST(conditions_of_puts)
{
    s3_put_if what;
    ck_assert_int_eq(put_if("x", "y", NULL, &what), S3_OK);
    ck_assert_int_eq(what, S3_PUT_ALWAYS);
    ck_assert_int_eq(put_if("If-None-Match", "*", NULL, &what), S3_OK);
    ck_assert_int_eq(what, S3_PUT_IF_NONE);
    ck_assert_int_eq(put_if("If-Match", MD5, NULL, &what), S3_OK);
    ck_assert_int_eq(what, S3_PUT_IF_MATCH);
    ck_assert_int_eq(put_if("If-None-Match", MD5, NULL, &what), S3_NOT_IMPLEMENTED);
    ck_assert_int_eq(put_if("If-Match", "*", "If-None-Match", &what), S3_NOT_IMPLEMENTED);
    ck_assert_int_eq(put_if("If-Unmodified-Since", THEN, NULL, &what), S3_NOT_IMPLEMENTED);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(texts), SUITE_TEST(lists), SUITE_TEST(conditions_of_reads),
                                          SUITE_TEST(conditions_of_copies), SUITE_TEST(conditions_of_puts)};
SUITE_MAIN("etag", tests)
