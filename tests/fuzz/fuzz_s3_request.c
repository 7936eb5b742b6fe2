/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any lines as the head of a request - method, target, then headers, each with a ':' - and what is made of it: an
 * operation, a claim to a signature, conditions, ranges, the source of a copy. All of it within bounds, and no such
 * signature is true.
 */
#include "services/s3/protocol/etag.h"
#include "services/s3/protocol/name.h"
#include "services/s3/protocol/range.h"
#include "services/s3/protocol/request.h"
#include "services/s3/protocol/sign.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good) {
        abort();
    }
}

static void look(const struct s3_head *h)
{
    static struct s3_source source;
    struct s3_request r;
    struct s3_claim claim;
    struct s3_etag etag = {{1}, 0};
    s3_put_if put_if;
    const char *list;
    uint64_t first, count;
    if (s3_request_read(&r, h) == S3_OK) {
        must(r.operation >= S3_LIST_BUCKETS && r.operation < S3_OPERATIONS);
        must(r.bucket == NULL || s3_name_bucket(r.bucket, r.bucket_length));
        must(r.key_length == 0 || s3_name_key(r.key, r.key_length, r.bucket_length) == S3_OK);
        must(r.key_length == 0 || strlen(r.key) == r.key_length);
        must(r.source == NULL || s3_request_source(&source, r.source) != S3_OK ||
             source.bucket_length + source.key_length <= S3_NAMES_MOST);
    }
    if (s3_sign_there(h) && s3_sign_read(&claim, h) == S3_OK) {
        must(strlen(claim.access_key) > 0 && strlen(claim.date) == 16 && claim.expires_s <= S3_EXPIRES_MOST_S);
        must(s3_sign_check(&claim, h, "a secret", claim.date_s) != S3_OK);
    }
    (void)s3_etag_condition(h, false, &etag, 0);
    (void)s3_etag_condition(h, true, &etag, 0);
    (void)!s3_etag_put_if(h, &put_if, &list);
    if (s3_range_read(s3_head_find(h, "range"), 1000, &first, &count) == S3_RANGE_PART) {
        must(count > 0 && first < 1000 && count <= 1000 - first);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct s3_head h;
    char *text = malloc(size + 1), *line[S3_HEADERS_MOST + 3];
    unsigned lines = 0;
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at != NULL && lines < S3_HEADERS_MOST + 3;) {
        char *end = strchr(at, '\n');
        line[lines++] = at;
        at = end != NULL ? end + 1 : NULL;
        if (end != NULL) {
            *end = '\0';
        }
    }
    if (lines >= 2 && s3_head_begin(&h, line[0], line[1]) == S3_OK) {
        s3_fault fault = S3_OK;
        for (unsigned i = 2; i < lines && fault == S3_OK; i++) {
            char *colon = strchr(line[i], ':');
            if (colon != NULL) {
                *colon = '\0';
                fault = s3_head_add(&h, line[i], colon + 1);
            }
        }
        must(strlen(h.path) == h.path_length && h.params <= S3_PARAMS_MOST && h.headers <= S3_HEADERS_MOST);
        look(&h);
    }
    free(text);
    return 0;
}
