/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4) of bytes that come in parts, by OpenSSL.
 *
 * One owner at a time, which may be another thread from one call to the next.
 */
#ifndef SEAL_SHA256_H
#define SEAL_SHA256_H

#include "cubeway/types.h"

enum { SHA256_BYTES = 32 };

struct sha256;

/* Of nothing yet. -ENOMEM. */
CW_MUST_CHECK int sha256_open(struct sha256 **out);
/* -ENOMEM: the digest is of no use any more. */
CW_MUST_CHECK int sha256_add(struct sha256 *s, const void *bytes, size_t length);
/* Of everything that was added; then nothing may be added. -ENOMEM. */
CW_MUST_CHECK int sha256_end(struct sha256 *s, uint8_t out[static SHA256_BYTES]);
void sha256_close(struct sha256 *s); /* NULL is allowed */

#endif
