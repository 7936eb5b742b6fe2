/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s3_signed.h - the requests that AWS's documentation of Signature Version 4 for S3 signs, with their signatures: of
 * one key, on one day. Beside s3_sign_check() there is no signer in the product, so these are what is known.
 */
#ifndef KIT_S3_SIGNED_H
#define KIT_S3_SIGNED_H

#include "services/s3/protocol/sign.h"

#define SIGNED_KEY "AKIAIOSFODNN7EXAMPLE"
#define SIGNED_SECRET "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
#define SIGNED_HOST "examplebucket.s3.amazonaws.com"
#define SIGNED_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SIGNED_SCOPE SIGNED_KEY "/20130524/us-east-1/s3/aws4_request"
#define SIGNED_AUTHORIZATION(headers, signature) \
    "AWS4-HMAC-SHA256 Credential=" SIGNED_SCOPE ",SignedHeaders=" headers ",Signature=" signature
#define SIGNED_NOW INT64_C(1369353600) /* 24 May 2013, 00:00 */

/* Of a body in chunks: 65,536 and 1,024 times 'a', and the last one. */
#define SIGNED_CHUNK_1 "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"
#define SIGNED_CHUNK_2 "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497"
#define SIGNED_CHUNK_3 "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9"
enum { SIGNED_BODY = 66560, SIGNED_LENGTH = 66824 };

struct signed_request {
    const char *method, *target;
    struct s3_header header[10];
};

static const struct signed_request signed_requests[] = {
    {"GET",
     "/test.txt",
     {{"Host", SIGNED_HOST},
      {"Authorization", SIGNED_AUTHORIZATION("host;range;x-amz-content-sha256;x-amz-date",
                                             "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")},
      {"Range", "bytes=0-9"},
      {"x-amz-content-sha256", SIGNED_NOTHING},
      {"x-amz-date", "20130524T000000Z"}}},
    {"PUT",
     "/test%24file.text",
     {{"Host", SIGNED_HOST},
      {"Date", "Fri, 24 May 2013 00:00:00 GMT"},
      {"Authorization", SIGNED_AUTHORIZATION("date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                                             "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")},
      {"Content-Length", "21"},
      {"x-amz-date", "20130524T000000Z"},
      {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
      {"x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"}}},
    {"GET",
     "/?lifecycle",
     {{"Host", SIGNED_HOST},
      {"Authorization", SIGNED_AUTHORIZATION("host;x-amz-content-sha256;x-amz-date",
                                             "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")},
      {"x-amz-date", "20130524T000000Z"},
      {"x-amz-content-sha256", SIGNED_NOTHING}}},
    {"GET",
     "/?prefix=J&max-keys=2", /* in the other order than is signed */
     {{"Host", SIGNED_HOST},
      {"Authorization", SIGNED_AUTHORIZATION("host;x-amz-content-sha256;x-amz-date",
                                             "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")},
      {"x-amz-date", "20130524T000000Z"},
      {"x-amz-content-sha256", SIGNED_NOTHING}}},
    {"GET",
     "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
     "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
     "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
     {{"Host", SIGNED_HOST}}},
    {"PUT",
     "/examplebucket/chunkObject.txt",
     {{"Host", "s3.amazonaws.com"},
      {"x-amz-date", "20130524T000000Z"},
      {"x-amz-storage-class", "REDUCED_REDUNDANCY"},
      {"Authorization", SIGNED_AUTHORIZATION("content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;"
                                             "x-amz-decoded-content-length;x-amz-storage-class",
                                             "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9")},
      {"x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"},
      {"Content-Encoding", "aws-chunked"},
      {"x-amz-decoded-content-length", "66560"},
      {"Content-Length", "66824"}}},
};
enum {
    SIGNED_RANGE,
    SIGNED_PUT,
    SIGNED_LIFECYCLE,
    SIGNED_LIST,
    SIGNED_URL,
    SIGNED_CHUNKS,
    SIGNED_COUNT = sizeof signed_requests / sizeof *signed_requests
};

static inline void signed_head(struct s3_head *h, const struct signed_request *r)
{
    (void)!s3_head_begin(h, r->method, r->target);
    for (const struct s3_header *x = r->header; x->name != NULL; x++) {
        (void)!s3_head_add(h, x->name, x->value);
    }
}

#endif
