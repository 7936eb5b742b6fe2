/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/etag.h"

#include "base/text.h"
#include "services/s3/protocol/moment.h"
#include "services/s3/protocol/sign.h"

#include <string.h>

void s3_etag_text(const struct s3_etag *e, char out[static S3_ETAG_TEXT])
{
    struct text t = text_of(out, S3_ETAG_TEXT);
    char md5[HASH_MD5_TEXT];
    hash_text(e->md5, sizeof e->md5, md5);
    text_put(&t, md5);
    if (e->parts > 0) {
        text_put(&t, "-");
        text_put_unsigned(&t, e->parts, 10);
    }
}

static bool read_bare(const char *text, size_t length, struct s3_etag *out)
{
    size_t hex = 2 * HASH_MD5_BYTES;
    if (length < hex || !s3_sign_hex(text, HASH_MD5_BYTES, out->md5)) {
        return false;
    }
    out->parts = 0;
    if (length == hex) {
        return true;
    }
    if (text[hex] != '-' || length < hex + 2 || length > hex + 6 || text[hex + 1] == '0') {
        return false;
    }
    for (size_t i = hex + 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        out->parts = out->parts * 10 + (unsigned)(text[i] - '0');
    }
    return true;
}

static bool read_slice(const char *text, size_t length, struct s3_etag *out)
{
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        return read_bare(text + 1, length - 2, out);
    }
    return read_bare(text, length, out);
}

bool s3_etag_read(const char *text, struct s3_etag *out)
{
    return read_slice(text, strlen(text), out);
}

bool s3_etag_listed(const struct s3_etag *e, const char *list)
{
    while (*list != '\0') {
        list += strspn(list, " \t,");
        size_t length = 0;
        struct s3_etag one;
        while (list[length] != '\0' && list[length] != ',' && list[length] != ' ' && list[length] != '\t') {
            length++;
        }
        if (length == 1 && *list == '*') {
            return true;
        }
        size_t weak = length > 2 && strncmp(list, "W/", 2) == 0 ? 2 : 0;
        if (read_slice(list + weak, length - weak, &one) && one.parts == e->parts &&
            memcmp(one.md5, e->md5, sizeof one.md5) == 0) {
            return true;
        }
        list += length;
    }
    return false;
}

s3_fault s3_etag_condition(const struct s3_head *h, bool copy, const struct s3_etag *e, int64_t changed_s)
{
    const char *match = s3_head_find(h, copy ? "x-amz-copy-source-if-match" : "if-match");
    const char *none = s3_head_find(h, copy ? "x-amz-copy-source-if-none-match" : "if-none-match");
    const char *since = s3_head_find(h, copy ? "x-amz-copy-source-if-modified-since" : "if-modified-since");
    const char *until = s3_head_find(h, copy ? "x-amz-copy-source-if-unmodified-since" : "if-unmodified-since");
    s3_fault same = copy ? S3_PRECONDITION_FAILED : S3_NOT_MODIFIED;
    int64_t s;
    if (match != NULL) {
        if (!s3_etag_listed(e, match)) {
            return S3_PRECONDITION_FAILED;
        }
    } else if (until != NULL && s3_moment_read_http(until, &s) == 0 && changed_s > s) {
        return S3_PRECONDITION_FAILED;
    }
    if (none != NULL) {
        return s3_etag_listed(e, none) ? same : S3_OK;
    }
    return since != NULL && s3_moment_read_http(since, &s) == 0 && changed_s <= s ? same : S3_OK;
}

s3_fault s3_etag_put_if(const struct s3_head *h, s3_put_if *out, const char **list)
{
    const char *match = s3_head_find(h, "if-match"), *none = s3_head_find(h, "if-none-match");
    *out = S3_PUT_ALWAYS;
    *list = match;
    if (s3_head_find(h, "if-modified-since") != NULL || s3_head_find(h, "if-unmodified-since") != NULL ||
        (match != NULL && none != NULL) || (none != NULL && strcmp(none, "*") != 0)) {
        return S3_NOT_IMPLEMENTED;
    }
    if (none != NULL) {
        *out = S3_PUT_IF_NONE;
    } else if (match != NULL) {
        *out = S3_PUT_IF_MATCH;
    }
    return S3_OK;
}
