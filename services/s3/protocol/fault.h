/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h - what can be wrong with a request, in S3's own codes: clients decide by code and status whether they repeat,
 * give up, or tell their user. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_FAULT_H
#define SERVICES_S3_PROTOCOL_FAULT_H

#include <stdbool.h>

typedef enum s3_fault {
    S3_OK = 0,
    /* who asks */
    S3_ACCESS_DENIED,
    S3_EXPIRED, /* a presigned URL: AccessDenied, as S3 says it */
    S3_UNSIGNED_HEADERS,
    S3_BAD_AUTHORIZATION,
    S3_BAD_QUERY_AUTHORIZATION,
    S3_UNKNOWN_KEY,
    S3_WRONG_SIGNATURE,
    S3_SKEWED,
    S3_MISSING_SECURITY,
    /* what is asked */
    S3_INVALID_REQUEST,
    S3_INVALID_ARGUMENT,
    S3_INVALID_URI,
    S3_INVALID_BUCKET_NAME,
    S3_KEY_TOO_LONG,
    S3_METHOD_NOT_ALLOWED,
    S3_NOT_IMPLEMENTED,
    S3_MALFORMED_XML,
    S3_INVALID_RANGE,
    S3_PRECONDITION_FAILED,
    S3_NOT_MODIFIED, /* no fault: a status without a body */
    S3_METADATA_TOO_LARGE,
    /* the bytes */
    S3_MISSING_LENGTH,
    S3_INCOMPLETE_BODY,
    S3_ENTITY_TOO_LARGE,
    S3_ENTITY_TOO_SMALL,
    S3_INVALID_DIGEST,
    S3_BAD_DIGEST,
    S3_WRONG_SHA256,
    S3_TIMED_OUT,
    /* what is there */
    S3_NO_BUCKET,
    S3_NO_KEY,
    S3_NO_UPLOAD,
    S3_INVALID_PART,
    S3_PART_ORDER,
    S3_BUCKET_EXISTS, /* and is the asker's own */
    S3_BUCKET_NOT_EMPTY,
    S3_CONFLICT, /* another write of the same was under way */
    S3_TOO_MANY_BUCKETS,
    /* the store */
    S3_INTERNAL,
    S3_SLOW_DOWN,   /* too much waits */
    S3_UNAVAILABLE, /* no majority, or nobody answers: nothing was done */
    S3_QUOTA,
    S3_FULL,
    S3_FAULTS,
} s3_fault;

/* S3's code, HTTP's status, and a sentence. Not for S3_OK. Texts are static. */
const char *s3_fault_code(s3_fault fault);
unsigned s3_fault_status(s3_fault fault);
const char *s3_fault_sentence(s3_fault fault);
/* Is it worth asking again after a moment? Then the answer has a Retry-After. */
bool s3_fault_passes(s3_fault fault);

#endif
