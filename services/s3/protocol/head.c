/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/head.h"

#include "services/s3/protocol/percent.h"

#include <string.h>

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool s3_name_begins(const char *name, const char *with)
{
    for (; *with != '\0'; name++, with++) {
        if (small(*name) != small(*with)) {
            return false;
        }
    }
    return true;
}

bool s3_same_name(const char *a, const char *b)
{
    return s3_name_begins(a, b) && strlen(a) == strlen(b);
}

/* Decodes in place and ends it with a NUL, where the separator was. Negative: it cannot be. */
static int64_t settle(char *text, size_t length)
{
    int64_t n = s3_percent_decode(text, length, text);
    if (n >= 0) {
        text[n] = '\0';
    }
    return n;
}

static s3_fault add_param(struct s3_head *h, char *text, size_t length)
{
    if (h->params == S3_PARAMS_MOST) {
        return S3_INVALID_URI;
    }
    char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t)(equals - text) : length;
    int64_t n = settle(text, name), m = equals != NULL ? settle(equals + 1, length - name - 1) : 0;
    if (n < 0 || m < 0) {
        return S3_INVALID_URI;
    }
    h->param[h->params++] = (struct s3_param){
        .name = text, .name_length = (size_t)n, .value = equals != NULL ? equals + 1 : "", .value_length = (size_t)m};
    return S3_OK;
}

s3_fault s3_head_begin(struct s3_head *h, const char *method, const char *target)
{
    size_t length = strnlen(target, S3_TARGET_MOST + 1);
    h->method = method;
    h->params = h->headers = 0;
    if (length > S3_TARGET_MOST || length == 0 || target[0] != '/') {
        return S3_INVALID_URI;
    }
    memcpy(h->text, target, length);
    h->text[length] = '\0';
    char *mark = memchr(h->text, '?', length);
    size_t path = mark != NULL ? (size_t)(mark - h->text) : length;
    int64_t n = settle(h->text, path);
    if (n < 0) {
        return S3_INVALID_URI;
    }
    h->path = h->text;
    h->path_length = (size_t)n;
    for (char *at = mark != NULL ? mark + 1 : h->text + length, *end = h->text + length; at < end;) {
        char *and = memchr(at, '&', (size_t)(end - at));
        size_t part = (size_t)((and != NULL ? and : end) - at);
        s3_fault fault = part > 0 ? add_param(h, at, part) : S3_OK;
        if (fault != S3_OK) {
            return fault;
        }
        at += part + 1;
    }
    return S3_OK;
}

s3_fault s3_head_add(struct s3_head *h, const char *name, const char *value)
{
    if (h->headers == S3_HEADERS_MOST) {
        return S3_INVALID_REQUEST;
    }
    h->header[h->headers++] = (struct s3_header){name, value};
    return S3_OK;
}

const char *s3_head_find(const struct s3_head *h, const char *name)
{
    for (unsigned i = 0; i < h->headers; i++) {
        if (s3_same_name(h->header[i].name, name)) {
            return h->header[i].value;
        }
    }
    return NULL;
}

const struct s3_param *s3_head_param(const struct s3_head *h, const char *name)
{
    for (unsigned i = 0; i < h->params; i++) {
        if (strcmp(h->param[i].name, name) == 0) {
            return &h->param[i];
        }
    }
    return NULL;
}

const char *s3_head_param_text(const struct s3_head *h, const char *name)
{
    const struct s3_param *p = s3_head_param(h, name);
    return p != NULL ? p->value : NULL;
}
