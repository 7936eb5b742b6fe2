/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/request.h"

#include "suite.h"

#include <string.h>

#define ID "0123456789abcdef0123456789abcdef"

static struct s3_head head;
static struct s3_request r;

static s3_fault read(const char *method, const char *target, const char *source)
{
    s3_fault fault = s3_head_begin(&head, method, target);
    if (fault == S3_OK && source != NULL) {
        fault = s3_head_add(&head, "x-amz-copy-source", source);
    }
    return fault == S3_OK ? s3_request_read(&r, &head) : fault;
}

START_TEST(each_operation)
{
    static const struct {
        const char *method, *target, *source;
        s3_operation operation;
    } good[] = {
        {"GET", "/", NULL, S3_LIST_BUCKETS},
        {"PUT", "/bucket", NULL, S3_BUCKET_CREATE},
        {"PUT", "/bucket/", NULL, S3_BUCKET_CREATE},
        {"HEAD", "/bucket", NULL, S3_BUCKET_HEAD},
        {"DELETE", "/bucket", NULL, S3_BUCKET_DELETE},
        {"GET", "/bucket?location", NULL, S3_BUCKET_LOCATION},
        {"GET", "/bucket?versioning", NULL, S3_BUCKET_VERSIONING},
        {"GET", "/bucket?prefix=a&x-id=ListObjects", NULL, S3_LIST},
        {"GET", "/bucket/?list-type=2", NULL, S3_LIST_V2},
        {"GET", "/bucket?uploads", NULL, S3_LIST_UPLOADS},
        {"POST", "/bucket?delete", NULL, S3_DELETE_OBJECTS},
        {"PUT", "/bucket/key", NULL, S3_OBJECT_PUT},
        {"PUT", "/bucket/key?x-id=PutObject", NULL, S3_OBJECT_PUT},
        {"PUT", "/bucket/key", "/other/key", S3_OBJECT_COPY},
        {"GET", "/bucket/key", NULL, S3_OBJECT_GET},
        {"HEAD", "/bucket/key", NULL, S3_OBJECT_HEAD},
        {"DELETE", "/bucket/key", NULL, S3_OBJECT_DELETE},
        {"POST", "/bucket/key?uploads", NULL, S3_UPLOAD_CREATE},
        {"POST", "/bucket/key?uploadId=" ID, NULL, S3_UPLOAD_COMPLETE},
        {"DELETE", "/bucket/key?uploadId=" ID, NULL, S3_UPLOAD_ABORT},
        {"PUT", "/bucket/key?uploadId=" ID "&partNumber=10000", NULL, S3_PART_PUT},
        {"PUT", "/bucket/key?partNumber=1&uploadId=" ID, "b/k", S3_PART_COPY},
        {"GET", "/bucket/key?uploadId=" ID, NULL, S3_LIST_PARTS},
    };
    bool seen[S3_OPERATIONS] = {false};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        SUITE_HOLDS(read(good[i].method, good[i].target, good[i].source) == S3_OK, "%s", good[i].target);
        SUITE_HOLDS(r.operation == good[i].operation, "%s", good[i].target);
        SUITE_HOLDS(i == 0 || (r.bucket_length == 6 && memcmp(r.bucket, "bucket", 6) == 0), "%s", good[i].target);
        SUITE_HOLDS(r.key == NULL || strcmp(r.key, "key") == 0, "%s", good[i].target);
        seen[r.operation] = true;
        bool changes = strcmp(good[i].method, "GET") != 0 && strcmp(good[i].method, "HEAD") != 0;
        SUITE_HOLDS(s3_operation_writes(r.operation) == changes, "%s", good[i].target);
    }
    for (unsigned i = S3_LIST_BUCKETS; i < S3_OPERATIONS; i++) {
        SUITE_HOLDS(seen[i], "%u", i);
    }
    ck_assert_int_eq(read("PUT", "/bucket/a%2Fb//c%25?uploadId=" ID "&partNumber=17", NULL), S3_OK);
    ck_assert_str_eq(r.key, "a/b//c%");
    ck_assert_uint_eq(r.key_length, 7);
    ck_assert_uint_eq(r.part, 17);
    ck_assert_str_eq(r.upload, ID);
}
END_TEST

START_TEST(what_it_is_not)
{
    static const struct {
        const char *method, *target;
        s3_fault fault;
    } bad[] = {
        {"PUT", "/", S3_METHOD_NOT_ALLOWED},
        {"PATCH", "/bucket", S3_METHOD_NOT_ALLOWED},
        {"OPTIONS", "/bucket/key", S3_METHOD_NOT_ALLOWED},
        {"HEAD", "/bucket/key?uploadId=" ID, S3_METHOD_NOT_ALLOWED},
        {"GET", "/Bucket", S3_INVALID_BUCKET_NAME},
        {"GET", "//key", S3_INVALID_BUCKET_NAME},
        {"GET", "/bucket?acl", S3_NOT_IMPLEMENTED},
        {"PUT", "/bucket?versioning", S3_NOT_IMPLEMENTED},
        {"PUT", "/bucket?lifecycle", S3_NOT_IMPLEMENTED},
        {"GET", "/bucket/key?versionId=3", S3_NOT_IMPLEMENTED},
        {"PUT", "/bucket/key?tagging", S3_NOT_IMPLEMENTED},
        {"POST", "/bucket", S3_NOT_IMPLEMENTED},
        {"POST", "/bucket/key", S3_NOT_IMPLEMENTED},
        {"GET", "/bucket/key?partNumber=1", S3_NOT_IMPLEMENTED},
        {"GET", "/bucket?list-type=3", S3_INVALID_ARGUMENT},
        {"PUT", "/bucket/key?uploadId=" ID, S3_INVALID_ARGUMENT},
        {"PUT", "/bucket/key?uploadId=" ID "&partNumber=0", S3_INVALID_ARGUMENT},
        {"PUT", "/bucket/key?uploadId=" ID "&partNumber=10001", S3_INVALID_ARGUMENT},
        {"PUT", "/bucket/key?uploadId=" ID "&partNumber=-1", S3_INVALID_ARGUMENT},
        {"PUT", "/bucket/key?uploadId=" ID "&partNumber=", S3_INVALID_ARGUMENT},
        {"GET", "/bucket/key?uploadId=abc", S3_NO_UPLOAD},
        {"GET", "/bucket/key?uploadId=0123456789ABCDEF0123456789abcdef", S3_NO_UPLOAD},
        {"GET", "/bucket/%ff", S3_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(read(bad[i].method, bad[i].target, NULL) == bad[i].fault, "%s %s", bad[i].method, bad[i].target);
    }
}
END_TEST

START_TEST(sources_of_copies)
{
    static struct s3_source s;
    ck_assert_int_eq(s3_request_source(&s, "/bucket/a%20b/c"), S3_OK);
    ck_assert_uint_eq(s.bucket_length, 6);
    ck_assert_str_eq(s.key, "a b/c");
    ck_assert_uint_eq(s.key_length, 5);
    ck_assert_int_eq(s3_request_source(&s, "bucket/k"), S3_OK);
    ck_assert_int_eq(s3_request_source(&s, "bucket/k?versionId=1"), S3_NOT_IMPLEMENTED);
    ck_assert_int_eq(s3_request_source(&s, "bucket"), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_request_source(&s, "bucket/"), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_request_source(&s, "/"), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_request_source(&s, ""), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_request_source(&s, "bucket/%zz"), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(s3_request_source(&s, "UP/k"), S3_INVALID_ARGUMENT);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(each_operation), SUITE_TEST(what_it_is_not),
                                          SUITE_TEST(sources_of_copies)};
SUITE_MAIN("request", tests)
