/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/name.h"

#include "base/utf8.h"

static bool inner(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool s3_name_bucket(const char *name, size_t length)
{
    unsigned dots = 0;
    bool digits = true;
    if (length < S3_BUCKET_LEAST || length > S3_BUCKET_MOST || !inner(name[0]) || !inner(name[length - 1])) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!inner(name[i]) && name[i] != '-' && name[i] != '.') {
            return false;
        }
        if (name[i] == '.' && name[i - 1] == '.') {
            return false;
        }
        dots += name[i] == '.';
        digits = digits && name[i] != '-' && (name[i] < 'a' || name[i] > 'z');
    }
    return !(digits && dots == 3);
}

s3_fault s3_name_key(const char *key, size_t length, size_t bucket_length)
{
    if (length > S3_NAMES_MOST - bucket_length) {
        return S3_KEY_TOO_LONG;
    }
    return length > 0 && utf8_check(key, length) != UTF8_NONE ? S3_OK : S3_INVALID_ARGUMENT;
}
