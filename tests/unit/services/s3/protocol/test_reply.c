/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/reply.h"

#include "suite.h"

#include <string.h>

#define WORDS(text) ((struct s3_words){text, sizeof(text) - 1})
#define MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define DAY INT64_C(1369353600)

static struct s3_buffer b;

static struct s3_etag etag(const char *text)
{
    struct s3_etag e;
    ck_assert(s3_etag_read(text, &e));
    return e;
}

/* Is it there? And every element that is opened is closed, in order. */
static void has(const char *text)
{
    ck_assert_msg(strstr(b.bytes, text) != NULL, "%s is not in %s", text, b.bytes);
}

static void well_formed(void)
{
    char open[16][64];
    unsigned depth = 0;
    for (const char *at = strchr(b.bytes, '\n'); (at = strchr(at, '<')) != NULL; at++) {
        bool closing = at[1] == '/';
        const char *name = at + (closing ? 2 : 1);
        size_t length = strcspn(name, " >");
        if (closing) {
            SUITE_HOLDS(depth > 0 && strlen(open[depth - 1]) == length && memcmp(open[depth - 1], name, length) == 0,
                        "%.*s", (int)length, name);
            depth--;
        } else {
            memcpy(open[depth], name, length);
            open[depth++][length] = '\0';
        }
    }
    ck_assert_uint_eq(depth, 0);
    ck_assert(!b.failed);
    s3_buffer_drop(&b);
}

START_TEST(faults)
{
    s3_reply_fault(&b, S3_NO_KEY, WORDS("/b/<k>"), "7", "of the \"source\"");
    ck_assert_str_eq(b.bytes, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>There "
                              "is no such key: of the &quot;source&quot;</Message><Resource>/b/&lt;k&gt;</Resource>"
                              "<RequestId>7</RequestId></Error>");
    well_formed();
}
END_TEST

START_TEST(buckets)
{
    static const struct s3_bucket_row rows[] = {{WORDS("one"), DAY}, {WORDS("two"), 0}};
    s3_reply_buckets(&b, "me", rows, 2);
    has("<Owner><ID>me</ID><DisplayName>me</DisplayName></Owner>");
    has("<Bucket><Name>one</Name><CreationDate>2013-05-24T00:00:00.000Z</CreationDate></Bucket>");
    well_formed();
    s3_reply_location(&b, "us-east-1");
    has("doc/2006-03-01/\"></LocationConstraint>");
    well_formed();
    s3_reply_location(&b, "eu-1");
    has(">eu-1</LocationConstraint>");
    well_formed();
    s3_reply_versioning(&b);
    well_formed();
}
END_TEST

START_TEST(lists)
{
    struct s3_row rows[] = {{WORDS("a b&c"), false, 7, DAY, etag(MD5)}, {WORDS("dir/"), true, 0, 0, {{0}, 0}}};
    struct s3_list_page page = {.bucket = WORDS("bucket"),
                                .prefix = WORDS("a"),
                                .delimiter = WORDS("/"),
                                .most = 2,
                                .more = true,
                                .next = WORDS("dir/"),
                                .row = rows,
                                .count = 2};
    s3_reply_list(&b, &page);
    has("<Marker></Marker>");
    has("<NextMarker>dir/</NextMarker>");
    has("<Contents><Key>a b&amp;c</Key><LastModified>2013-05-24T00:00:00.000Z</LastModified><ETag>&quot;" MD5
        "&quot;</ETag><Size>7</Size><Owner>");
    has("<CommonPrefixes><Prefix>dir/</Prefix></CommonPrefixes>");
    has("<IsTruncated>true</IsTruncated>");
    well_formed();
    page.v2 = page.encoded = true;
    page.token = WORDS("t0");
    page.next = WORDS("t1");
    s3_reply_list(&b, &page);
    has("<ContinuationToken>t0</ContinuationToken>");
    has("<NextContinuationToken>t1</NextContinuationToken>");
    has("<KeyCount>2</KeyCount>");
    has("<EncodingType>url</EncodingType>");
    has("<Key>a%20b%26c</Key>");
    has("<Prefix>dir/</Prefix>");
    ck_assert_ptr_null(strstr(b.bytes, "Owner"));
    well_formed();
}
END_TEST

START_TEST(uploads_and_copies)
{
    struct s3_etag e = etag(MD5 "-3");
    struct s3_part_row parts[] = {{3, 5, DAY, etag(MD5)}, {9, 6, DAY, etag(MD5)}};
    struct s3_parts_page page = {WORDS("bucket"), WORDS("k"), "id", 2, 2, true, parts, 2};
    struct s3_upload_row uploads[] = {{WORDS("k<"), "id", DAY}};
    struct s3_uploads_page list = {WORDS("bucket"), WORDS(""), 1, true, uploads, 1};
    s3_reply_upload(&b, WORDS("bucket"), WORDS("k&"), "id");
    has("<Key>k&amp;</Key><UploadId>id</UploadId>");
    well_formed();
    s3_reply_completed(&b, WORDS("bucket"), WORDS("a b/&"), &e);
    has("<Location>/bucket/a%20b/%26</Location>");
    has("<ETag>&quot;" MD5 "-3&quot;</ETag>");
    well_formed();
    s3_reply_parts(&b, &page);
    has("<PartNumberMarker>2</PartNumberMarker><NextPartNumberMarker>9</NextPartNumberMarker>");
    has("<Part><PartNumber>3</PartNumber>");
    well_formed();
    s3_reply_uploads(&b, &list);
    has("<NextKeyMarker>k&lt;</NextKeyMarker><NextUploadIdMarker>id</NextUploadIdMarker>");
    well_formed();
    s3_reply_copied(&b, false, &e, DAY);
    has("<CopyObjectResult ");
    well_formed();
    s3_reply_copied(&b, true, &e, DAY);
    has("<CopyPartResult ");
    well_formed();
}
END_TEST

START_TEST(deletes)
{
    static const struct s3_deleted_row rows[] = {{WORDS("a"), S3_OK}, {WORDS("b"), S3_UNAVAILABLE}};
    s3_reply_deleted(&b, false, rows, 2);
    has("<Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>ServiceUnavailable</Code>");
    well_formed();
    s3_reply_deleted(&b, true, rows, 2);
    ck_assert_ptr_null(strstr(b.bytes, "Deleted"));
    has("<Error><Key>b</Key>");
    well_formed();
}
END_TEST

static const struct suite_test tests[] = {SUITE_TEST(faults), SUITE_TEST(buckets), SUITE_TEST(lists),
                                          SUITE_TEST(uploads_and_copies), SUITE_TEST(deletes)};
SUITE_MAIN("reply", tests)
