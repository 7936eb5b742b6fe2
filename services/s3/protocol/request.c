/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/request.h"

#include "services/s3/protocol/name.h"
#include "services/s3/protocol/percent.h"

#include <string.h>

/* Parts of a resource that S3 has and this has not. */
static const char *const strange[] = {
    "accelerate",        "acl",         "analytics",
    "attributes",        "cors",        "encryption",
    "inventory",         "legal-hold",  "lifecycle",
    "logging",           "metrics",     "notification",
    "object-lock",       "policy",      "policyStatus",
    "publicAccessBlock", "replication", "requestPayment",
    "restore",           "retention",   "select",
    "tagging",           "torrent",     "versionId",
    "versions",          "website",     "intelligent-tiering",
    "ownershipControls", "session",     "append",
};

static bool has(const struct s3_head *h, const char *name)
{
    return s3_head_param(h, name) != NULL;
}

static bool is(const struct s3_head *h, const char *method)
{
    return strcmp(h->method, method) == 0;
}

static s3_fault bucket_operation(struct s3_request *r, const struct s3_head *h)
{
    if (is(h, "POST")) {
        r->operation = S3_DELETE_OBJECTS;
        return has(h, "delete") ? S3_OK : S3_NOT_IMPLEMENTED; /* a form of a browser */
    }
    if (has(h, "versioning")) {
        r->operation = S3_BUCKET_VERSIONING;
        return is(h, "GET") ? S3_OK : S3_NOT_IMPLEMENTED;
    }
    if (is(h, "GET")) {
        const char *type = s3_head_param_text(h, "list-type");
        if (has(h, "location")) {
            r->operation = S3_BUCKET_LOCATION;
        } else if (has(h, "uploads")) {
            r->operation = S3_LIST_UPLOADS;
        } else if (type != NULL) {
            r->operation = S3_LIST_V2;
            return strcmp(type, "2") == 0 ? S3_OK : S3_INVALID_ARGUMENT;
        } else {
            r->operation = S3_LIST;
        }
        return S3_OK;
    }
    if (is(h, "PUT")) {
        r->operation = S3_BUCKET_CREATE;
    } else if (is(h, "HEAD")) {
        r->operation = S3_BUCKET_HEAD;
    } else if (is(h, "DELETE")) {
        r->operation = S3_BUCKET_DELETE;
    } else {
        return S3_METHOD_NOT_ALLOWED;
    }
    return S3_OK;
}

static s3_fault read_upload(struct s3_request *r, const struct s3_head *h)
{
    const char *id = s3_head_param_text(h, "uploadId");
    if (strlen(id) != S3_UPLOAD_ID || strspn(id, "0123456789abcdef") != S3_UPLOAD_ID) {
        return S3_NO_UPLOAD; /* what looks otherwise was never given out */
    }
    r->upload = id;
    return S3_OK;
}

static s3_fault read_part(struct s3_request *r, const struct s3_head *h)
{
    const char *text = s3_head_param_text(h, "partNumber");
    size_t length = text != NULL ? strlen(text) : 0;
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length) {
        return S3_INVALID_ARGUMENT;
    }
    for (r->part = 0; *text != '\0'; text++) {
        r->part = r->part * 10 + (unsigned)(*text - '0');
    }
    return r->part >= 1 && r->part <= S3_PART_NUMBER_MOST ? read_upload(r, h) : S3_INVALID_ARGUMENT;
}

static s3_fault upload_operation(struct s3_request *r, const struct s3_head *h)
{
    if (is(h, "PUT")) {
        r->operation = r->source != NULL ? S3_PART_COPY : S3_PART_PUT;
        return read_part(r, h);
    }
    if (is(h, "POST")) {
        r->operation = S3_UPLOAD_COMPLETE;
    } else if (is(h, "DELETE")) {
        r->operation = S3_UPLOAD_ABORT;
    } else if (is(h, "GET")) {
        r->operation = S3_LIST_PARTS;
    } else {
        return S3_METHOD_NOT_ALLOWED;
    }
    return read_upload(r, h);
}

static s3_fault object_operation(struct s3_request *r, const struct s3_head *h)
{
    if (has(h, "uploadId")) {
        return upload_operation(r, h);
    }
    if (has(h, "partNumber")) {
        return S3_NOT_IMPLEMENTED; /* one part of what was put in parts */
    }
    if (is(h, "POST")) {
        r->operation = S3_UPLOAD_CREATE;
        return has(h, "uploads") ? S3_OK : S3_NOT_IMPLEMENTED;
    }
    if (is(h, "PUT")) {
        r->operation = r->source != NULL ? S3_OBJECT_COPY : S3_OBJECT_PUT;
    } else if (is(h, "GET")) {
        r->operation = S3_OBJECT_GET;
    } else if (is(h, "HEAD")) {
        r->operation = S3_OBJECT_HEAD;
    } else if (is(h, "DELETE")) {
        r->operation = S3_OBJECT_DELETE;
    } else {
        return S3_METHOD_NOT_ALLOWED;
    }
    return S3_OK;
}

s3_fault s3_request_read(struct s3_request *out, const struct s3_head *h)
{
    *out = (struct s3_request){.source = s3_head_find(h, "x-amz-copy-source")};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        if (has(h, strange[i])) {
            return S3_NOT_IMPLEMENTED;
        }
    }
    const char *rest = h->path + 1, *slash = memchr(rest, '/', h->path_length - 1);
    if (h->path_length == 1) {
        out->operation = S3_LIST_BUCKETS;
        return is(h, "GET") ? S3_OK : S3_METHOD_NOT_ALLOWED;
    }
    out->bucket = rest;
    out->bucket_length = slash != NULL ? (size_t)(slash - rest) : h->path_length - 1;
    if (!s3_name_bucket(out->bucket, out->bucket_length)) {
        return S3_INVALID_BUCKET_NAME;
    }
    out->key_length = slash != NULL ? h->path_length - 2 - out->bucket_length : 0;
    if (out->key_length == 0) {
        return bucket_operation(out, h);
    }
    out->key = slash + 1;
    s3_fault fault = s3_name_key(out->key, out->key_length, out->bucket_length);
    return fault == S3_OK ? object_operation(out, h) : fault;
}

bool s3_operation_writes(s3_operation operation)
{
    switch (operation) {
    case S3_BUCKET_CREATE:
    case S3_BUCKET_DELETE:
    case S3_DELETE_OBJECTS:
    case S3_OBJECT_PUT:
    case S3_OBJECT_COPY:
    case S3_OBJECT_DELETE:
    case S3_UPLOAD_CREATE:
    case S3_UPLOAD_COMPLETE:
    case S3_UPLOAD_ABORT:
    case S3_PART_PUT:
    case S3_PART_COPY:
        return true;
    default:
        return false;
    }
}

s3_fault s3_request_source(struct s3_source *out, const char *text)
{
    size_t length = strnlen(text, S3_TARGET_MOST + 1);
    const char *mark = length <= S3_TARGET_MOST ? memchr(text, '?', length) : NULL;
    int64_t n = length <= S3_TARGET_MOST && mark == NULL ? s3_percent_decode(text, length, out->text) : -1;
    if (n < 0) {
        return mark != NULL ? S3_NOT_IMPLEMENTED : S3_INVALID_ARGUMENT;
    }
    out->text[n] = '\0';
    size_t skip = out->text[0] == '/' ? 1 : 0;
    out->bucket = out->text + skip;
    char *slash = memchr(out->text + skip, '/', (size_t)n - skip);
    if (slash == NULL) {
        return S3_INVALID_ARGUMENT;
    }
    out->bucket_length = (size_t)(slash - out->bucket);
    out->key = slash + 1;
    out->key_length = (size_t)n - skip - out->bucket_length - 1;
    if (!s3_name_bucket(out->bucket, out->bucket_length)) {
        return S3_INVALID_ARGUMENT;
    }
    return s3_name_key(out->key, out->key_length, out->bucket_length) == S3_OK ? S3_OK : S3_INVALID_ARGUMENT;
}
