/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sign.h - AWS Signature Version 4 as S3 has it: who signed a request, and is it his? In the Authorization header or in
 * the query (a presigned URL). In two steps, since the secret has to be looked up between them:
 *
 *     s3_sign_read(&claim, &head)                    what is claimed: an access key, a date, which headers are signed
 *     s3_sign_check(&claim, &head, secret, now_s)    is it true, and now?
 *     s3_sign_chunk(&claim, ...)                     of a body in signed chunks, each after the other
 *
 * A request that was checked is bound as a whole: its method, path and query, its host, every x-amz- header, and its
 * body when that is signed (claim.payload; who reads the body compares). A signature holds for 15 minutes, a presigned
 * URL as long as it says, 7 days at most. Signatures are compared in constant time. Any region is good, the service has
 * to be s3. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_SIGN_H
#define SERVICES_S3_PROTOCOL_SIGN_H

#include "hash/hash.h"
#include "services/s3/protocol/head.h"

enum {
    S3_SKEW_S = 15 * 60,
    S3_EXPIRES_MOST_S = 7 * 86400,
    S3_ACCESS_KEY_MOST = 128, /* with the NUL */
    S3_SECRET_MOST = 128,
    S3_REGION_MOST = 64,
};

enum s3_payload {
    S3_PAYLOAD_SIGNED,   /* its SHA-256 is in claim.sha256 */
    S3_PAYLOAD_UNSIGNED, /* whatever comes */
    S3_PAYLOAD_CHUNKS,   /* aws-chunked, every chunk signed (chunked.h) */
};

struct s3_claim {
    char access_key[S3_ACCESS_KEY_MOST];
    char region[S3_REGION_MOST];
    char date[17];     /* as it was signed: "20130524T000000Z"; the scope has its first eight */
    int64_t date_s;    /* the same */
    int64_t expires_s; /* presigned: for so long; else 0 */
    bool presigned;
    enum s3_payload payload;
    uint8_t sha256[HASH_SHA256_BYTES];
    const char *payload_text;   /* as it is hashed: of the head, or static */
    const char *signed_headers; /* of the head: "host;x-amz-date" */
    size_t signed_length;
    uint8_t signature[HASH_SHA256_BYTES]; /* then, after s3_sign_check(), that of the chunk before */
    uint8_t key[HASH_SHA256_BYTES];       /* after s3_sign_check(): that of the day, from the secret */
};

/* Is there a signature at all? Without one it is an anonymous request. */
bool s3_sign_there(const struct s3_head *h);
/*
 * Reads what the request claims; the claim borrows from the head. Gives S3_BAD_AUTHORIZATION,
 * S3_BAD_QUERY_AUTHORIZATION, S3_MISSING_SECURITY (no date), S3_INVALID_REQUEST (a body, and no x-amz-content-sha256),
 * S3_NOT_IMPLEMENTED (a payload of another kind, or SigV2).
 */
CW_MUST_CHECK s3_fault s3_sign_read(struct s3_claim *c, const struct s3_head *h);
/*
 * Checks it. `now_s` is the wall clock's. S3_WRONG_SIGNATURE, S3_SKEWED, S3_EXPIRED, S3_UNSIGNED_HEADERS. The claim
 * then holds what s3_sign_chunk() needs.
 */
CW_MUST_CHECK s3_fault s3_sign_check(struct s3_claim *c, const struct s3_head *h, const char *secret, int64_t now_s);
/* Is this the signature of the next chunk, with this SHA-256 of its bytes? Then it is the one before the next one. */
CW_MUST_CHECK bool s3_sign_chunk(struct s3_claim *c, const uint8_t sha256[static HASH_SHA256_BYTES],
                                 const uint8_t signature[static HASH_SHA256_BYTES]);
/* Reads 2 * length hex digits; false: they are not. */
bool s3_sign_hex(const char *text, size_t length, uint8_t *out);

#endif
