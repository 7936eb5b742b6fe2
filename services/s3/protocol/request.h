/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - what a request means: its method, path and query make an operation on a bucket or an object of it. Path
 * style: /bucket/key. What S3 can and this cannot is refused by name (S3_NOT_IMPLEMENTED), never taken for something
 * else; parameters that mean nothing to S3 are passed over, as it does. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_REQUEST_H
#define SERVICES_S3_PROTOCOL_REQUEST_H

#include "services/s3/protocol/head.h"

typedef enum s3_operation {
    S3_LIST_BUCKETS = 1,
    S3_BUCKET_CREATE,
    S3_BUCKET_HEAD,
    S3_BUCKET_DELETE,
    S3_BUCKET_LOCATION,
    S3_BUCKET_VERSIONING, /* asked: never was on */
    S3_LIST,              /* version 1 */
    S3_LIST_V2,
    S3_LIST_UPLOADS,
    S3_DELETE_OBJECTS,
    S3_OBJECT_PUT,
    S3_OBJECT_COPY,
    S3_OBJECT_GET,
    S3_OBJECT_HEAD,
    S3_OBJECT_DELETE,
    S3_UPLOAD_CREATE,
    S3_UPLOAD_COMPLETE,
    S3_UPLOAD_ABORT,
    S3_PART_PUT,
    S3_PART_COPY,
    S3_LIST_PARTS,
    S3_OPERATIONS,
} s3_operation;

enum { S3_PART_NUMBER_MOST = 10000, S3_KEYS_MOST = 1000, S3_UPLOAD_ID = 32 };

struct s3_request {
    s3_operation operation;
    const char *bucket, *key; /* borrowed from the head; no NUL behind the bucket */
    size_t bucket_length, key_length;
    unsigned part;      /* S3_PART_PUT and S3_PART_COPY: 1..S3_PART_NUMBER_MOST */
    const char *upload; /* of uploads and parts: S3_UPLOAD_ID small hex digits */
    const char *source; /* of copies: the bucket of the source, behind a '/' if there was one; still encoded */
};

/* Reads it. A fault: it is none; what of `out` was found is there. */
CW_MUST_CHECK s3_fault s3_request_read(struct s3_request *out, const struct s3_head *h);
/* Is it one that changes something? */
bool s3_operation_writes(s3_operation operation);

struct s3_source {
    char text[S3_TARGET_MOST + 1]; /* bucket and key, decoded */
    const char *bucket, *key;
    size_t bucket_length, key_length;
};
/* Reads an x-amz-copy-source. S3_INVALID_ARGUMENT; S3_NOT_IMPLEMENTED: of a version. */
CW_MUST_CHECK s3_fault s3_request_source(struct s3_source *out, const char *text);

#endif
