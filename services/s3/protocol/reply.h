/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reply.h - the answers of S3 that are XML. Each function appends one whole document to a buffer; texts are UTF-8 and
 * borrowed for the call. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_REPLY_H
#define SERVICES_S3_PROTOCOL_REPLY_H

#include "services/s3/protocol/etag.h"
#include "services/s3/protocol/xml.h"

struct s3_words {
    const char *text;
    size_t length;
};

/* `resource` is the path that was asked for; `detail`, which may be NULL, says what in particular. */
void s3_reply_fault(struct s3_buffer *out, s3_fault fault, struct s3_words resource, const char *request_id,
                    const char *detail);

struct s3_bucket_row {
    struct s3_words name;
    int64_t made_s;
};
void s3_reply_buckets(struct s3_buffer *out, const char *owner, const struct s3_bucket_row *row, size_t count);
/* us-east-1 is told as nothing, as S3 does it. */
void s3_reply_location(struct s3_buffer *out, const char *region);
void s3_reply_versioning(struct s3_buffer *out);

/* A key with what it holds; or what keys up to a delimiter have in common. */
struct s3_row {
    struct s3_words name;
    bool common;
    uint64_t size;
    int64_t changed_s;
    struct s3_etag etag;
};
struct s3_list_page {
    bool v2;
    bool encoded; /* encoding-type=url */
    bool owner;   /* V2: fetch-owner */
    struct s3_words bucket, prefix, delimiter;
    struct s3_words after; /* the marker, or the start-after */
    struct s3_words token; /* V2: as it came; "" when there was none */
    unsigned most;
    bool more;
    struct s3_words next; /* with more: the next marker, or the next token as it is to come */
    const struct s3_row *row;
    size_t count;
};
void s3_reply_list(struct s3_buffer *out, const struct s3_list_page *page);

void s3_reply_upload(struct s3_buffer *out, struct s3_words bucket, struct s3_words key, const char *upload);
void s3_reply_completed(struct s3_buffer *out, struct s3_words bucket, struct s3_words key, const struct s3_etag *etag);
/* part: of UploadPartCopy. */
void s3_reply_copied(struct s3_buffer *out, bool part, const struct s3_etag *etag, int64_t changed_s);

struct s3_part_row {
    unsigned number;
    uint64_t size;
    int64_t changed_s;
    struct s3_etag etag;
};
struct s3_parts_page {
    struct s3_words bucket, key;
    const char *upload;
    unsigned after, most;
    bool more;
    const struct s3_part_row *row;
    size_t count;
};
void s3_reply_parts(struct s3_buffer *out, const struct s3_parts_page *page);

struct s3_upload_row {
    struct s3_words key;
    const char *upload;
    int64_t made_s;
};
struct s3_uploads_page {
    struct s3_words bucket, prefix;
    unsigned most;
    bool more;
    const struct s3_upload_row *row;
    size_t count;
};
void s3_reply_uploads(struct s3_buffer *out, const struct s3_uploads_page *page);

struct s3_deleted_row {
    struct s3_words key;
    s3_fault fault; /* S3_OK: deleted, or was not there */
};
/* quiet: only what went wrong is told. */
void s3_reply_deleted(struct s3_buffer *out, bool quiet, const struct s3_deleted_row *row, size_t count);

#endif
