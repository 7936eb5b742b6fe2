/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h - SHA-256 (FIPS 180-4) of bytes that come in parts, by OpenSSL.
 *
 * One thread at a time uses it; from one call to the next this may be another thread.
 */
#ifndef SEAL_SHA256_H
#define SEAL_SHA256_H

#include "cubeway/types.h"

enum { SHA256_BYTES = 32 };

struct sha256;

/* Begins a digest. -ENOMEM. */
CW_MUST_CHECK int sha256_open(struct sha256 **out);
/* Adds bytes. -ENOMEM: the digest can only be closed. */
CW_MUST_CHECK int sha256_add(struct sha256 *s, const void *bytes, size_t length);
/* Gives the digest of all bytes that were added; nothing may be added afterwards. -ENOMEM. */
CW_MUST_CHECK int sha256_end(struct sha256 *s, uint8_t out[static SHA256_BYTES]);
void sha256_close(struct sha256 *s); /* NULL is allowed */

#endif
