/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.h - which bytes of an object are asked for (RFC 9110, section 14). Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_RANGE_H
#define SERVICES_S3_PROTOCOL_RANGE_H

#include "cubeway/types.h"

typedef enum s3_range {
    S3_RANGE_WHOLE, /* none was asked for, or something else than one range of bytes, which is to be passed over */
    S3_RANGE_PART,
    S3_RANGE_NONE, /* the object has none of these bytes */
} s3_range;

/* Reads a Range header, which may be NULL, for an object of so many bytes. WHOLE and PART: count may be 0 in WHOLE. */
s3_range s3_range_read(const char *text, uint64_t size, uint64_t *first, uint64_t *count);
/* Reads an x-amz-copy-source-range, "bytes=a-b", both within the object. False: it is none. */
CW_MUST_CHECK bool s3_range_exact(const char *text, uint64_t size, uint64_t *first, uint64_t *count);

#endif
