/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moment.h - instants of the wall clock as HTTP and S3 write them. Seconds since 1970 in UTC, years 1970 to 9999;
 * texts end in a NUL. Pure: nobody reads a clock here.
 */
#ifndef SERVICES_S3_PROTOCOL_MOMENT_H
#define SERVICES_S3_PROTOCOL_MOMENT_H

#include "cubeway/types.h"

enum { S3_MOMENT_TEXT = 32 };

#define S3_MOMENT_MAX INT64_C(253402300799)

/* "20130524T000000Z", of signatures. -EINVAL: it is no such instant. */
CW_MUST_CHECK int s3_moment_read_basic(const char *text, int64_t *out_s);
/*
 * "Fri, 24 May 2013 00:00:00 GMT", of headers (RFC 9110; the two older forms are refused, which lets a condition on
 * them pass). -EINVAL.
 */
CW_MUST_CHECK int s3_moment_read_http(const char *text, int64_t *out_s);
void s3_moment_http(int64_t s, char out[static S3_MOMENT_TEXT]);
/* "2013-05-24T00:00:00.000Z", of XML. */
void s3_moment_xml(int64_t s, char out[static S3_MOMENT_TEXT]);

#endif
