/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/range.h"

#include <string.h>

/* Reads a number, or the largest one when it is larger; false: there is none. */
static bool number(const char **text, uint64_t *out)
{
    const char *at = *text;
    for (*out = 0; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
    }
    bool found = at != *text;
    *text = at;
    return found;
}

s3_range s3_range_read(const char *text, uint64_t size, uint64_t *first, uint64_t *count)
{
    uint64_t a, b = UINT64_MAX;
    *first = 0;
    *count = size;
    if (text == NULL || strncmp(text, "bytes=", 6) != 0) {
        return S3_RANGE_WHOLE;
    }
    text += 6;
    bool from = number(&text, &a);
    if (*text != '-') {
        return S3_RANGE_WHOLE;
    }
    text++;
    bool to = number(&text, &b);
    if (*text != '\0' || (!from && !to) || (from && to && b < a)) {
        return S3_RANGE_WHOLE;
    }
    if (!from) { /* the last b bytes */
        *first = b < size ? size - b : 0;
        *count = size - *first;
        return *count > 0 ? S3_RANGE_PART : S3_RANGE_NONE;
    }
    if (a >= size) {
        return S3_RANGE_NONE;
    }
    *first = a;
    *count = to && b < size - 1 ? b - a + 1 : size - a;
    return S3_RANGE_PART;
}

bool s3_range_exact(const char *text, uint64_t size, uint64_t *first, uint64_t *count)
{
    uint64_t a, b;
    if (strncmp(text, "bytes=", 6) != 0) {
        return false;
    }
    text += 6;
    if (!number(&text, &a) || *text++ != '-' || !number(&text, &b) || *text != '\0' || b < a || b >= size) {
        return false;
    }
    *first = a;
    *count = b - a + 1;
    return true;
}
