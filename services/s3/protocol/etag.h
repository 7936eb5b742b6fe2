/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etag.h - ETags, and the conditions that name them (RFC 9110, section 13). An object's ETag is the MD5 of its bytes;
 * of one that was put in parts the MD5 of their MD5s, '-', and their number, as S3 has it. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_ETAG_H
#define SERVICES_S3_PROTOCOL_ETAG_H

#include "hash/hash.h"
#include "services/s3/protocol/head.h"

enum { S3_ETAG_TEXT = HASH_MD5_TEXT + 8 }; /* without quotes, with a NUL */

struct s3_etag {
    uint8_t md5[HASH_MD5_BYTES];
    uint32_t parts; /* 0: put whole */
};

void s3_etag_text(const struct s3_etag *e, char out[static S3_ETAG_TEXT]);
/* Reads one, with or without quotes. False: it is none of ours. */
CW_MUST_CHECK bool s3_etag_read(const char *text, struct s3_etag *out);
/* Is it in a header's list, or is that "*"? Quotes may be missing, and W/ is passed over. */
bool s3_etag_listed(const struct s3_etag *e, const char *list);

/*
 * What the conditions of a read make of an object with this ETag that was changed then: S3_OK, S3_NOT_MODIFIED or
 * S3_PRECONDITION_FAILED. Of a copy's source (If-Match is x-amz-copy-source-if-match there, and so on) only the first
 * and the last.
 */
s3_fault s3_etag_condition(const struct s3_head *h, bool copy, const struct s3_etag *e, int64_t changed_s);

/* What a put asks of the object that is there. */
typedef enum s3_put_if {
    S3_PUT_ALWAYS,
    S3_PUT_IF_NONE,  /* If-None-Match: * */
    S3_PUT_IF_MATCH, /* If-Match: the ETag in *list */
} s3_put_if;
/* S3_NOT_IMPLEMENTED: another condition, which S3 has not either. */
CW_MUST_CHECK s3_fault s3_etag_put_if(const struct s3_head *h, s3_put_if *out, const char **list);

#endif
