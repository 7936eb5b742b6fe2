/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the head of a request as it came: its method, its path and query, its headers. The path and the names and
 * values of the query are decoded once, here; signatures and operations are both read from this, so that what is signed
 * and what is done are the same. Pure.
 */
#ifndef SERVICES_S3_PROTOCOL_HEAD_H
#define SERVICES_S3_PROTOCOL_HEAD_H

#include "cubeway/types.h"
#include "services/s3/protocol/fault.h"

enum {
    S3_TARGET_MOST = 8192, /* bytes of path and query, as they came */
    S3_PARAMS_MOST = 48,
    S3_HEADERS_MOST = 96,
};

struct s3_param {
    const char *name, *value; /* decoded, with a NUL behind them; value: "" when there is no '=' */
    size_t name_length, value_length;
};

struct s3_header {
    const char *name, *value;
};

struct s3_head {
    const char *method; /* borrowed, as are the headers' texts */
    const char *path;   /* decoded; begins with '/' */
    size_t path_length;
    unsigned params, headers;
    struct s3_param param[S3_PARAMS_MOST];
    struct s3_header header[S3_HEADERS_MOST];
    char text[S3_TARGET_MOST + 2]; /* path and query, each part with a NUL; a head is not copied */
};

/*
 * Begins a head: `target` is the path and the query as they came, copied. S3_INVALID_URI: it is too long, has no '/'
 * at its start, has a '%' without two digits, a NUL, or too many parameters.
 */
CW_MUST_CHECK s3_fault s3_head_begin(struct s3_head *h, const char *method, const char *target);
/* Adds a header; borrows its texts. S3_INVALID_REQUEST: there are too many. */
CW_MUST_CHECK s3_fault s3_head_add(struct s3_head *h, const char *name, const char *value);

/* The value of the first header of that name, in any case; NULL: there is none. */
const char *s3_head_find(const struct s3_head *h, const char *name);
/* The first parameter of that name; NULL: there is none. */
const struct s3_param *s3_head_param(const struct s3_head *h, const char *name);
/* Its value; NULL: there is none. */
const char *s3_head_param_text(const struct s3_head *h, const char *name);
/* Do the names agree, whatever the case of their ASCII letters? */
bool s3_same_name(const char *a, const char *b);
/* Does the name begin so, whatever the case? */
bool s3_name_begins(const char *name, const char *with);

#endif
