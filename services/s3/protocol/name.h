/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.h - which names buckets and keys may have. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_NAME_H
#define SERVICES_S3_PROTOCOL_NAME_H

#include "services/s3/protocol/fault.h"

#include <stddef.h>

enum {
    S3_BUCKET_LEAST = 3,
    S3_BUCKET_MOST = 63,
    /* Of bucket and key together; a name of the store has 1,024 bytes, of which the image store's own take four. */
    S3_NAMES_MOST = 1020,
};

/* S3's rules of today: 3 to 63 small letters, digits, '-', '.', a letter or digit at both ends, no "..", no address. */
bool s3_name_bucket(const char *name, size_t length);
/*
 * S3_KEY_TOO_LONG; S3_INVALID_ARGUMENT: it is empty, or no UTF-8. Any other key is good, also one with "//", ".." or
 * control characters in it.
 */
s3_fault s3_name_key(const char *key, size_t length, size_t bucket_length);

#endif
