/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/body/body.h"

#include "suite.h"

#include <string.h>

#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define SPACE " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""

static struct s3_body body;

/* In pieces of so many bytes. */
static s3_fault parse_in(s3_operation operation, const char *text, size_t piece)
{
    size_t length = strlen(text);
    s3_fault fault = s3_body_open(&body, operation);
    for (size_t at = 0; at < length && fault == S3_OK; at += piece) {
        fault = s3_body_feed(&body, text + at, length - at < piece ? length - at : piece);
    }
    return s3_body_end(&body);
}

static s3_fault parse(s3_operation operation, const char *text)
{
    s3_fault whole = parse_in(operation, text, strlen(text) + 1);
    s3_body_close(&body);
    s3_fault bytes = parse_in(operation, text, 1);
    ck_assert_int_eq(whole, bytes);
    return bytes;
}

START_TEST(parts_of_an_object)
{
    ck_assert_int_eq(
        parse(S3_UPLOAD_COMPLETE,
              "<?xml version=\"1.0\"?>\n<CompleteMultipartUpload" SPACE ">\n  <Part><PartNumber> 1 </PartNumber><ETag>"
              "&quot;" MD5 "&quot;</ETag></Part>\n<Part><ETag>strange</ETag><ChecksumCRC32>AAAA</ChecksumCRC32>"
              "<PartNumber>10000</PartNumber></Part></CompleteMultipartUpload>"),
        S3_OK);
    ck_assert_uint_eq(body.parts, 2);
    ck_assert_uint_eq(body.part[0].number, 1);
    ck_assert(body.part[0].known);
    ck_assert_uint_eq(body.part[0].etag.md5[0], 0xd4);
    ck_assert_uint_eq(body.part[1].number, 10000);
    ck_assert(!body.part[1].known);
    s3_body_close(&body);
}
END_TEST

START_TEST(keys_to_delete)
{
    ck_assert_int_eq(parse(S3_DELETE_OBJECTS,
                           "<s3:Delete xmlns:s3=\"x\"><s3:Quiet>true</s3:Quiet><s3:Object><s3:Key> a&lt;&#xe4;\n"
                           "</s3:Key></s3:Object><s3:Object><s3:Key>b</s3:Key><s3:VersionId>null</s3:VersionId>"
                           "</s3:Object></s3:Delete>"),
                     S3_OK);
    ck_assert(body.quiet);
    ck_assert_uint_eq(body.count, 2);
    ck_assert_mem_eq(body.keys.bytes + body.key[0].at, " a<\xc3\xa4\n", body.key[0].length);
    ck_assert_uint_eq(body.key[0].length, 6);
    ck_assert_mem_eq(body.keys.bytes + body.key[1].at, "b", 1);
    s3_body_close(&body);
}
END_TEST

START_TEST(locations)
{
    ck_assert_int_eq(parse(S3_BUCKET_CREATE, ""), S3_OK);
    ck_assert_str_eq(body.location, "");
    s3_body_close(&body);
    ck_assert_int_eq(parse(S3_BUCKET_CREATE, "<CreateBucketConfiguration" SPACE "><LocationConstraint>eu-1"
                                             "</LocationConstraint></CreateBucketConfiguration>"),
                     S3_OK);
    ck_assert_str_eq(body.location, "eu-1");
    s3_body_close(&body);
}
END_TEST

START_TEST(what_is_refused)
{
    static const struct {
        s3_operation operation;
        const char *text;
        s3_fault fault;
    } bad[] = {
        {S3_UPLOAD_COMPLETE, "", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete/>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object/></Delete>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key/></Object></Delete>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object></Delete>",
         S3_NOT_IMPLEMENTED},
        {S3_DELETE_OBJECTS, "<CompleteMultipartUpload/>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key>a</Key></Object>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key>a</Key></Object></Delete>x", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key>\xff</Key></Object></Delete>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "{\"Delete\": 1}", S3_MALFORMED_XML},
        {S3_UPLOAD_COMPLETE,
         "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber></Part></CompleteMultipartUpload>",
         S3_MALFORMED_XML},
        {S3_UPLOAD_COMPLETE,
         "<CompleteMultipartUpload><Part><PartNumber>0</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>",
         S3_MALFORMED_XML},
        {S3_UPLOAD_COMPLETE,
         "<CompleteMultipartUpload><Part><PartNumber>10001</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>",
         S3_MALFORMED_XML},
        {S3_UPLOAD_COMPLETE,
         "<CompleteMultipartUpload><Part><PartNumber>2</PartNumber><ETag>x</ETag></Part><Part><PartNumber>2"
         "</PartNumber><ETag>x</ETag></Part></CompleteMultipartUpload>",
         S3_PART_ORDER},
        {S3_BUCKET_CREATE, "<a/>", S3_MALFORMED_XML},
        /* bombs, and whatever else a document type could bring */
        {S3_DELETE_OBJECTS,
         "<!DOCTYPE Delete [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]><Delete><Object>"
         "<Key>&b;</Key></Object></Delete>",
         S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS,
         "<!DOCTYPE Delete SYSTEM \"file:///etc/passwd\"><Delete><Object><Key>a</Key></Object></Delete>",
         S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><Object><Key>&a;</Key></Object></Delete>", S3_MALFORMED_XML},
        {S3_DELETE_OBJECTS, "<Delete><a><a><a><a><a><a><a><a/></a></a></a></a></a></a></a></Delete>", S3_MALFORMED_XML},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(parse(bad[i].operation, bad[i].text) == bad[i].fault, "%zu: %s", i, bad[i].text);
        SUITE_HOLDS(s3_body_feed(&body, "x", 1) == bad[i].fault, "%zu", i); /* it stays so */
        s3_body_close(&body);
    }
}
END_TEST

static s3_fault many(s3_operation operation, unsigned count, const char *tail)
{
    char text[128];
    bool keys = operation == S3_DELETE_OBJECTS;
    const char *begin = keys ? "<Delete>" : "<CompleteMultipartUpload>";
    s3_fault fault = s3_body_open(&body, operation);
    ck_assert_int_eq(fault, S3_OK);
    fault = s3_body_feed(&body, begin, strlen(begin));
    for (unsigned i = 1; i <= count && fault == S3_OK; i++) {
        if (keys) {
            snprintf(text, sizeof text, "<Object><Key>%u</Key></Object>", i);
        } else {
            snprintf(text, sizeof text, "<Part><PartNumber>%u</PartNumber><ETag>" MD5 "</ETag></Part>", i);
        }
        fault = s3_body_feed(&body, text, strlen(text));
    }
    fault = fault == S3_OK ? s3_body_feed(&body, tail, strlen(tail)) : fault;
    return fault == S3_OK ? s3_body_end(&body) : fault;
}

START_TEST(bounds)
{
    ck_assert_int_eq(many(S3_DELETE_OBJECTS, 1000, "</Delete>"), S3_OK);
    ck_assert_uint_eq(body.count, 1000);
    ck_assert_mem_eq(body.keys.bytes + body.key[999].at, "1000", 4);
    s3_body_close(&body);
    ck_assert_int_eq(many(S3_DELETE_OBJECTS, 1001, "</Delete>"), S3_MALFORMED_XML);
    s3_body_close(&body);
    ck_assert_int_eq(many(S3_UPLOAD_COMPLETE, 10000, "</CompleteMultipartUpload>"), S3_OK);
    ck_assert_uint_eq(body.part[9999].number, 10000);
    s3_body_close(&body);
    /* more bytes than there may be, and a key longer than there may be */
    static char space[65536];
    memset(space, ' ', sizeof space);
    s3_fault fault = s3_body_open(&body, S3_DELETE_OBJECTS);
    for (unsigned i = 0; i < 40 && fault == S3_OK; i++) {
        fault = s3_body_feed(&body, space, sizeof space);
        SUITE_HOLDS((fault == S3_OK) == (i < S3_BODY_MOST / sizeof space), "%u", i);
    }
    s3_body_close(&body);
    fault = s3_body_open(&body, S3_DELETE_OBJECTS);
    ck_assert_int_eq(s3_body_feed(&body, "<Delete><Object><Key>", 21), S3_OK);
    ck_assert_int_eq(s3_body_feed(&body, space, sizeof space), S3_OK);
    ck_assert_int_eq(s3_body_feed(&body, "</Key>", 6), S3_KEY_TOO_LONG);
    s3_body_close(&body);
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(parts_of_an_object), SUITE_TEST(keys_to_delete),
                                          SUITE_TEST(locations), SUITE_TEST(what_is_refused), SUITE_TEST(bounds)};
SUITE_MAIN("body", tests)
