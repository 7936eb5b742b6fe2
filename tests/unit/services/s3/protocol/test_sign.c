/* SPDX-License-Identifier: Apache-2.0 */
/* The known answers of AWS's documentation; then the same with one thing changed. */
#include "services/s3/protocol/sign.h"

#include "s3_signed.h"
#include "suite.h"

#include <string.h>

static struct s3_head head;
static struct s3_claim claim;

static s3_fault judge(const struct signed_request *r, const char *secret, int64_t now_s)
{
    signed_head(&head, r);
    s3_fault fault = s3_sign_read(&claim, &head);
    return fault == S3_OK ? s3_sign_check(&claim, &head, secret, now_s) : fault;
}

START_TEST(the_examples_are_rightly_signed)
{
    for (unsigned i = 0; i < SIGNED_COUNT; i++) {
        SUITE_HOLDS(judge(&signed_requests[i], SIGNED_SECRET, SIGNED_NOW) == S3_OK, "%u", i);
        ck_assert(s3_sign_there(&head));
        ck_assert_str_eq(claim.access_key, SIGNED_KEY);
        ck_assert_str_eq(claim.region, "us-east-1");
        ck_assert_int_eq(claim.presigned, i == SIGNED_URL);
    }
    ck_assert_int_eq(claim.payload, S3_PAYLOAD_CHUNKS);
    judge(&signed_requests[SIGNED_PUT], SIGNED_SECRET, SIGNED_NOW);
    ck_assert_int_eq(claim.payload, S3_PAYLOAD_SIGNED);
    uint8_t digest[HASH_SHA256_BYTES];
    hash_sha256("Welcome to Amazon S3.", 21, digest);
    ck_assert_mem_eq(claim.sha256, digest, sizeof digest);
}
END_TEST

START_TEST(whatever_is_changed_is_found)
{
    for (unsigned i = 0; i < SIGNED_COUNT; i++) {
        struct signed_request r = signed_requests[i];
        SUITE_HOLDS(judge(&r, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEy", SIGNED_NOW) == S3_WRONG_SIGNATURE, "%u", i);
        r.method = "DELETE";
        SUITE_HOLDS(judge(&r, SIGNED_SECRET, SIGNED_NOW) == S3_WRONG_SIGNATURE, "%u", i);
        r = signed_requests[i];
        r.header[0].value = "elsewhere";
        SUITE_HOLDS(judge(&r, SIGNED_SECRET, SIGNED_NOW) == S3_WRONG_SIGNATURE, "%u", i);
    }
    struct signed_request r = signed_requests[SIGNED_RANGE];
    r.target = "/test.tx";
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_WRONG_SIGNATURE);
    r.target = "/test.txt?acl";
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_WRONG_SIGNATURE);
    r = signed_requests[SIGNED_RANGE];
    r.header[2].value = "bytes=0-8";
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_WRONG_SIGNATURE);
    r.header[2].value = " bytes=0-9  "; /* spaces at the ends do not count */
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_OK);
    r = signed_requests[SIGNED_LIST];
    r.target = "/?max-keys=2&prefix=J";
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_OK);
}
END_TEST

START_TEST(the_clock_counts)
{
    const struct signed_request *plain = &signed_requests[SIGNED_RANGE], *url = &signed_requests[SIGNED_URL];
    ck_assert_int_eq(judge(plain, SIGNED_SECRET, SIGNED_NOW + S3_SKEW_S), S3_OK);
    ck_assert_int_eq(judge(plain, SIGNED_SECRET, SIGNED_NOW - S3_SKEW_S), S3_OK);
    ck_assert_int_eq(judge(plain, SIGNED_SECRET, SIGNED_NOW + S3_SKEW_S + 1), S3_SKEWED);
    ck_assert_int_eq(judge(plain, SIGNED_SECRET, SIGNED_NOW - S3_SKEW_S - 1), S3_SKEWED);
    ck_assert_int_eq(judge(url, SIGNED_SECRET, SIGNED_NOW + 86399), S3_OK);
    ck_assert_int_eq(judge(url, SIGNED_SECRET, SIGNED_NOW + 86400), S3_EXPIRED);
    ck_assert_int_eq(judge(url, SIGNED_SECRET, SIGNED_NOW - S3_SKEW_S - 1), S3_SKEWED);
}
END_TEST

START_TEST(what_means_something_has_to_be_signed)
{
    struct signed_request r = signed_requests[SIGNED_URL];
    r.header[1] = (struct s3_header){"X-Amz-Copy-Source", "/other/secret"};
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_UNSIGNED_HEADERS);
    r.header[1] = (struct s3_header){"User-Agent", "anything"};
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_OK);
    r = signed_requests[SIGNED_RANGE];
    r.header[5] = (struct s3_header){"x-amz-meta-a", "b"};
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_UNSIGNED_HEADERS);
    r.header[5] = (struct s3_header){"x-amz-date", "20130524T000001Z"}; /* a second one of what is signed */
    ck_assert_int_eq(judge(&r, SIGNED_SECRET, SIGNED_NOW), S3_WRONG_SIGNATURE);
}
END_TEST

static s3_fault read_with(const char *authorization, const char *date, const char *sha256)
{
    struct signed_request r = {"GET", "/a", {{"Host", "h"}, {"Authorization", authorization}}};
    unsigned n = 2;
    if (date != NULL) {
        r.header[n++] = (struct s3_header){"x-amz-date", date};
    }
    if (sha256 != NULL) {
        r.header[n++] = (struct s3_header){"x-amz-content-sha256", sha256};
    }
    signed_head(&head, &r);
    return s3_sign_read(&claim, &head);
}

#define ANY "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"

START_TEST(malformed_headers_are_refused)
{
    static const char *const bad[] = {
        "",
        "Basic dXNlcjpwYXNz",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 ",
        "AWS4-HMAC-SHA256 Credential=" SIGNED_SCOPE ",SignedHeaders=host",
        "AWS4-HMAC-SHA256 Credential=" SIGNED_SCOPE ",Signature=" ANY,
        SIGNED_AUTHORIZATION("host", ANY) ",Signature=" ANY,
        SIGNED_AUTHORIZATION("host", ANY) ",Other=1",
        SIGNED_AUTHORIZATION("host", "f0e8"),
        SIGNED_AUTHORIZATION("host", ANY "00"),
        SIGNED_AUTHORIZATION("host", "F0E8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        SIGNED_AUTHORIZATION("range", ANY), /* the host is not signed */
        SIGNED_AUTHORIZATION("Host", ANY),
        "AWS4-HMAC-SHA256 Credential=k/20130524/r/ec2/aws4_request,SignedHeaders=host,Signature=" ANY,
        "AWS4-HMAC-SHA256 Credential=k/20130525/r/s3/aws4_request,SignedHeaders=host,Signature=" ANY,
        "AWS4-HMAC-SHA256 Credential=/20130524/r/s3/aws4_request,SignedHeaders=host,Signature=" ANY,
        "AWS4-HMAC-SHA256 Credential=20130524/r/s3/aws4_request,SignedHeaders=host,Signature=" ANY,
        "AWS4-HMAC-SHA256 Credential=k/20130524//s3/aws4_request,SignedHeaders=host,Signature=" ANY,
        "AWS4-HMAC-SHA256 Credential=/s3/aws4_request,SignedHeaders=host,Signature=" ANY,
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SUITE_HOLDS(read_with(bad[i], "20130524T000000Z", SIGNED_NOTHING) == S3_BAD_AUTHORIZATION, "%zu", i);
    }
    const char *good = SIGNED_AUTHORIZATION("host", ANY);
    ck_assert_int_eq(read_with(good, "20130524T000000Z", SIGNED_NOTHING), S3_OK);
    ck_assert_int_eq(read_with(good, "20130524T000000Z", NULL), S3_OK); /* nothing, as there is no body */
    ck_assert_int_eq(read_with(good, NULL, SIGNED_NOTHING), S3_MISSING_SECURITY);
    ck_assert_int_eq(read_with(good, "20130524", SIGNED_NOTHING), S3_BAD_AUTHORIZATION);
    ck_assert_int_eq(read_with(good, "20130524T000000Z", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"), S3_NOT_IMPLEMENTED);
    ck_assert_int_eq(read_with(good, "20130524T000000Z", "abc"), S3_INVALID_ARGUMENT);
    ck_assert_int_eq(read_with("AWS key:signature", "20130524T000000Z", NULL), S3_NOT_IMPLEMENTED);
    ck_assert_int_eq(read_with("AWS4-HMAC-SHA256 Credential=a/b/20130524/r/s3/aws4_request, SignedHeaders=host, "
                               "Signature=" ANY,
                               "20130524T000000Z", NULL),
                     S3_OK); /* a key may have a slash in it, and spaces may be between */
    ck_assert_str_eq(claim.access_key, "a/b");
}
END_TEST

START_TEST(a_body_has_to_be_spoken_for)
{
    struct signed_request r = {"PUT",
                               "/a",
                               {{"Host", "h"},
                                {"Authorization", SIGNED_AUTHORIZATION("host", ANY)},
                                {"x-amz-date", "20130524T000000Z"},
                                {"Content-Length", "5"}}};
    ck_assert_int_eq(judge(&r, "", SIGNED_NOW), S3_INVALID_REQUEST);
    r.header[3].value = "0";
    ck_assert_int_eq(judge(&r, "", SIGNED_NOW), S3_WRONG_SIGNATURE);
    r.header[3] = (struct s3_header){"Transfer-Encoding", "chunked"};
    ck_assert_int_eq(judge(&r, "", SIGNED_NOW), S3_INVALID_REQUEST);
}
END_TEST

START_TEST(urls_have_all_that_they_need)
{
    static const char *const bad[] = {
        "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256",
        "/a?X-Amz-Signature=" ANY,
        "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=k%2F20130524%2Fr%2Fs3%2Faws4_request&X-Amz-Date="
        "20130524T000000Z&X-Amz-Expires=0&X-Amz-SignedHeaders=host&X-Amz-Signature=" ANY,
        "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=k%2F20130524%2Fr%2Fs3%2Faws4_request&X-Amz-Date="
        "20130524T000000Z&X-Amz-Expires=604801&X-Amz-SignedHeaders=host&X-Amz-Signature=" ANY,
        "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=k%2F20130524%2Fr%2Fs3%2Faws4_request&X-Amz-Date="
        "20130525T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=" ANY,
        "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=k%2F20130524%2Fr%2Fs3%2Faws4_request&X-Amz-Date="
        "20130524T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=range&X-Amz-Signature=" ANY,
        "/a?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=k%2F20130524%2Fr%2Fs3%2Faws4_request&X-Amz-Date="
        "20130524T000000Z&X-Amz-Expires=1e3&X-Amz-SignedHeaders=host&X-Amz-Signature=" ANY,
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct signed_request r = {"GET", bad[i], {{"Host", "h"}}};
        SUITE_HOLDS(judge(&r, "", SIGNED_NOW) == S3_BAD_QUERY_AUTHORIZATION, "%zu", i);
    }
    struct signed_request old = {"GET", "/a?AWSAccessKeyId=k&Signature=s&Expires=1", {{"Host", "h"}}};
    ck_assert_int_eq(judge(&old, "", SIGNED_NOW), S3_NOT_IMPLEMENTED);
    struct signed_request none = {"GET", "/a?b", {{"Host", "h"}}};
    signed_head(&head, &none);
    ck_assert(!s3_sign_there(&head));
}
END_TEST

START_TEST(chunks_are_a_chain)
{
    static char a[65536];
    static const struct {
        size_t length;
        const char *signature;
    } chunks[] = {{65536, SIGNED_CHUNK_1}, {1024, SIGNED_CHUNK_2}, {0, SIGNED_CHUNK_3}};
    uint8_t digest[HASH_SHA256_BYTES], signature[HASH_SHA256_BYTES];
    memset(a, 'a', sizeof a);
    ck_assert_int_eq(judge(&signed_requests[SIGNED_CHUNKS], SIGNED_SECRET, SIGNED_NOW), S3_OK);
    for (unsigned i = 0; i < 3; i++) {
        hash_sha256(a, chunks[i].length, digest);
        ck_assert(s3_sign_hex(chunks[i].signature, sizeof signature, signature));
        signature[31] ^= 1;
        ck_assert(!s3_sign_chunk(&claim, digest, signature));
        signature[31] ^= 1;
        ck_assert(s3_sign_chunk(&claim, digest, signature));
        ck_assert(!s3_sign_chunk(&claim, digest, signature)); /* nor twice */
    }
}
END_TEST

static const struct suite_test tests[] = {
    SUITE_TEST(the_examples_are_rightly_signed),
    SUITE_TEST(whatever_is_changed_is_found),
    SUITE_TEST(the_clock_counts),
    SUITE_TEST(what_means_something_has_to_be_signed),
    SUITE_TEST(malformed_headers_are_refused),
    SUITE_TEST(a_body_has_to_be_spoken_for),
    SUITE_TEST(urls_have_all_that_they_need),
    SUITE_TEST(chunks_are_a_chain),
};
SUITE_MAIN("sign", tests)
