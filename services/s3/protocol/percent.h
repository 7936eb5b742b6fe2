/* SPDX-License-Identifier: Apache-2.0 */
/*
 * percent.h - percent-encoding as S3 has it (RFC 3986): every byte but letters, digits and "-._~" is %XX in capitals.
 * Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_PERCENT_H
#define SERVICES_S3_PROTOCOL_PERCENT_H

#include "cubeway/types.h"
#include "services/s3/protocol/buffer.h"

/* The value of a hex digit in either case; -1: it is none. */
int s3_hex_digit(char c);
/* Does the byte stand for itself? */
bool s3_percent_plain(uint8_t byte);
/*
 * Decodes into out, which has room for length bytes and may be text itself, and gives the bytes written. -EINVAL: a '%'
 * without two hex digits behind it, or a NUL. A '+' is a plus sign.
 */
CW_MUST_CHECK int64_t s3_percent_decode(const char *text, size_t length, char *out);
/* Writes three bytes at most for one; gives how many. */
unsigned s3_percent_byte(uint8_t byte, char out[static 3]);
/* Appends them encoded. slashes: '/' stays, as in a path. */
void s3_percent_encode(const char *bytes, size_t length, bool slashes, struct s3_buffer *out);
/* Compares the encoded forms as memcmp() would, the shorter one first: less than, equal to or above 0. */
int s3_percent_compare(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
