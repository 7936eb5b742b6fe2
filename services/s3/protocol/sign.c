/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sign.c - signatures. The canonical request is never put together: it goes into its hash piece by piece, so that its
 * length costs nothing. What is signed is the path and the query as head.h decoded them, encoded again by S3's rule.
 */
#include "services/s3/protocol/sign.h"

#include "services/s3/protocol/moment.h"
#include "services/s3/protocol/percent.h"

#include <stdlib.h>
#include <string.h>

static const char algorithm[] = "AWS4-HMAC-SHA256";
static const char streaming[] = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
static const char unsigned_payload[] = "UNSIGNED-PAYLOAD";
static const char sha256_of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

enum { DATE = 8 };

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool s3_sign_hex(const char *text, size_t length, uint8_t *out)
{
    for (size_t i = 0; i < length; i++) {
        int high = hex(text[2 * i]), low = high >= 0 ? hex(text[2 * i + 1]) : -1;
        if (low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool s3_sign_there(const struct s3_head *h)
{
    return s3_head_find(h, "authorization") != NULL || s3_head_param(h, "X-Amz-Algorithm") != NULL ||
           s3_head_param(h, "X-Amz-Signature") != NULL || s3_head_param(h, "AWSAccessKeyId") != NULL;
}

/* ---- What is claimed --------------------------------------------------------------------------------------------- */

static bool copy_text(char *out, size_t room, const char *text, size_t length)
{
    if (length == 0 || length >= room) {
        return false;
    }
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* "KEY/20130524/us-east-1/s3/aws4_request": read from its end, since a key may have a '/' in it. */
static bool read_credential(struct s3_claim *c, const char *text, size_t length, char date[static DATE + 1])
{
    static const char tail[] = "/s3/aws4_request";
    size_t tail_length = sizeof tail - 1;
    if (length <= tail_length || memcmp(text + length - tail_length, tail, tail_length) != 0) {
        return false;
    }
    length -= tail_length;
    size_t region = length;
    while (region > 0 && text[region - 1] != '/') {
        region--;
    }
    if (!copy_text(c->region, sizeof c->region, text + region, length - region) || region < DATE + 2) {
        return false;
    }
    const char *day = text + region - 1 - DATE;
    return day[-1] == '/' && copy_text(date, DATE + 1, day, DATE) &&
           copy_text(c->access_key, sizeof c->access_key, text, (size_t)(day - 1 - text));
}

static bool read_signature(struct s3_claim *c, const char *text, size_t length)
{
    return length == 2 * HASH_SHA256_BYTES && s3_sign_hex(text, HASH_SHA256_BYTES, c->signature);
}

/* Is the piece of text this name, whatever the case? */
static bool slice_is(const char *begin, size_t length, const char *name)
{
    return strlen(name) == length && s3_name_begins(begin, name);
}

/* Gives the next of the names that are signed, and moves on; NULL: there are no more. */
static const char *next_signed(const struct s3_claim *c, size_t *at, size_t *length)
{
    if (*at > c->signed_length) {
        return NULL;
    }
    const char *begin = c->signed_headers + *at, *end = memchr(begin, ';', c->signed_length - *at);
    *length = end != NULL ? (size_t)(end - begin) : c->signed_length - *at;
    *at += *length + 1;
    return begin;
}

static bool signs(const struct s3_claim *c, const char *name)
{
    size_t at = 0, length;
    for (const char *one; (one = next_signed(c, &at, &length)) != NULL;) {
        if (slice_is(one, length, name)) {
            return true;
        }
    }
    return false;
}

/* The names are small letters, rise, and are not many. */
static bool read_signed_headers(struct s3_claim *c, const char *text, size_t length)
{
    c->signed_headers = text;
    c->signed_length = length;
    for (size_t i = 0; i < length; i++) {
        if ((text[i] >= 'A' && text[i] <= 'Z') || (uint8_t)text[i] <= ' ') {
            return false;
        }
    }
    return signs(c, "host");
}

static bool word_is(const char *word, size_t length, const char *name, const char **value, size_t *value_length)
{
    size_t n = strlen(name);
    if (length <= n || memcmp(word, name, n) != 0) {
        return false;
    }
    *value = word + n;
    *value_length = length - n;
    return true;
}

static s3_fault read_header(struct s3_claim *c, const char *text, char date[static DATE + 1])
{
    bool credential = false, headers = false, signature = false;
    if (strncmp(text, "AWS ", 4) == 0) {
        return S3_NOT_IMPLEMENTED; /* Signature Version 2 */
    }
    if (strncmp(text, algorithm, sizeof algorithm - 1) != 0 || text[sizeof algorithm - 1] != ' ') {
        return S3_BAD_AUTHORIZATION;
    }
    for (const char *at = text + sizeof algorithm; *at != '\0';) {
        while (*at == ' ' || *at == ',') {
            at++;
        }
        size_t length = 0, n;
        const char *value;
        while (at[length] != '\0' && at[length] != ',' && at[length] != ' ') {
            length++;
        }
        if (word_is(at, length, "Credential=", &value, &n) && !credential) {
            credential = read_credential(c, value, n, date);
        } else if (word_is(at, length, "SignedHeaders=", &value, &n) && !headers) {
            headers = read_signed_headers(c, value, n);
        } else if (word_is(at, length, "Signature=", &value, &n) && !signature) {
            signature = read_signature(c, value, n);
        } else if (length > 0) {
            return S3_BAD_AUTHORIZATION;
        }
        at += length;
    }
    return credential && headers && signature ? S3_OK : S3_BAD_AUTHORIZATION;
}

static s3_fault read_date(struct s3_claim *c, const char *text)
{
    if (strlen(text) >= sizeof c->date || s3_moment_read_basic(text, &c->date_s) < 0) {
        return S3_BAD_AUTHORIZATION;
    }
    memcpy(c->date, text, strlen(text) + 1);
    return S3_OK;
}

static bool seconds(const char *text, int64_t *out)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0 || length > 9 || text[length] != '\0') {
        return false;
    }
    for (*out = 0; *text != '\0'; text++) {
        *out = *out * 10 + (*text - '0');
    }
    return true;
}

static s3_fault read_query(struct s3_claim *c, const struct s3_head *h, char date[static DATE + 1])
{
    const char *what = s3_head_param_text(h, "X-Amz-Algorithm"), *day = s3_head_param_text(h, "X-Amz-Date");
    const char *expires = s3_head_param_text(h, "X-Amz-Expires");
    const struct s3_param *credential = s3_head_param(h, "X-Amz-Credential");
    const struct s3_param *headers = s3_head_param(h, "X-Amz-SignedHeaders");
    const struct s3_param *signature = s3_head_param(h, "X-Amz-Signature");
    if (what == NULL && s3_head_param(h, "AWSAccessKeyId") != NULL) {
        return S3_NOT_IMPLEMENTED;
    }
    if (what == NULL || day == NULL || expires == NULL || credential == NULL || headers == NULL || signature == NULL ||
        strcmp(what, algorithm) != 0 || !seconds(expires, &c->expires_s) || c->expires_s < 1 ||
        c->expires_s > S3_EXPIRES_MOST_S || !read_credential(c, credential->value, credential->value_length, date) ||
        !read_signed_headers(c, headers->value, headers->value_length) ||
        !read_signature(c, signature->value, signature->value_length) || read_date(c, day) != S3_OK) {
        return S3_BAD_QUERY_AUTHORIZATION;
    }
    c->presigned = true;
    c->payload = S3_PAYLOAD_UNSIGNED;
    c->payload_text = unsigned_payload;
    return S3_OK;
}

static bool has_body(const struct s3_head *h)
{
    const char *length = s3_head_find(h, "content-length");
    return s3_head_find(h, "transfer-encoding") != NULL || (length != NULL && strcmp(length, "0") != 0);
}

static s3_fault read_payload(struct s3_claim *c, const struct s3_head *h)
{
    const char *text = s3_head_find(h, "x-amz-content-sha256");
    if (text == NULL && has_body(h)) {
        return S3_INVALID_REQUEST;
    }
    c->payload_text = text != NULL ? text : sha256_of_nothing;
    if (strcmp(c->payload_text, unsigned_payload) == 0) {
        c->payload = S3_PAYLOAD_UNSIGNED;
        return S3_OK;
    }
    if (strcmp(c->payload_text, streaming) == 0) {
        c->payload = S3_PAYLOAD_CHUNKS;
        return S3_OK;
    }
    if (strncmp(c->payload_text, "STREAMING-", 10) == 0) {
        return S3_NOT_IMPLEMENTED; /* chunks with trailers, or signed by elliptic curves */
    }
    c->payload = S3_PAYLOAD_SIGNED;
    return strlen(c->payload_text) == 2 * HASH_SHA256_BYTES &&
                   s3_sign_hex(c->payload_text, HASH_SHA256_BYTES, c->sha256)
               ? S3_OK
               : S3_INVALID_ARGUMENT;
}

s3_fault s3_sign_read(struct s3_claim *c, const struct s3_head *h)
{
    char date[DATE + 1];
    *c = (struct s3_claim){0};
    const char *authorization = s3_head_find(h, "authorization");
    s3_fault fault = authorization != NULL ? read_header(c, authorization, date) : read_query(c, h, date);
    if (fault == S3_OK && authorization != NULL) {
        const char *day = s3_head_find(h, "x-amz-date"); /* a Date alone is sent by nobody */
        fault = day != NULL ? read_date(c, day) : S3_MISSING_SECURITY;
        fault = fault == S3_OK ? read_payload(c, h) : fault;
    }
    if (fault == S3_OK && memcmp(date, c->date, DATE) != 0) {
        fault = c->presigned ? S3_BAD_QUERY_AUTHORIZATION : S3_BAD_AUTHORIZATION;
    }
    return fault;
}

/* ---- Is it true? ------------------------------------------------------------------------------------------------- */

static void add_text(struct hash_sha256 *s, const char *text)
{
    hash_sha256_add(s, text, strlen(text));
}

static void add_encoded(struct hash_sha256 *s, const char *bytes, size_t length, bool slashes)
{
    for (size_t i = 0; i < length; i++) {
        char text[3];
        if (slashes && bytes[i] == '/') {
            hash_sha256_add(s, "/", 1);
        } else {
            hash_sha256_add(s, text, s3_percent_byte((uint8_t)bytes[i], text));
        }
    }
}

static int by_name_and_value(const void *a, const void *b)
{
    const struct s3_param *x = *(const struct s3_param *const *)a, *y = *(const struct s3_param *const *)b;
    int order = s3_percent_compare(x->name, x->name_length, y->name, y->name_length);
    return order != 0 ? order : s3_percent_compare(x->value, x->value_length, y->value, y->value_length);
}

static void add_query(struct hash_sha256 *s, const struct s3_claim *c, const struct s3_head *h)
{
    const struct s3_param *sorted[S3_PARAMS_MOST];
    unsigned count = 0;
    for (unsigned i = 0; i < h->params; i++) {
        if (!c->presigned || strcmp(h->param[i].name, "X-Amz-Signature") != 0) {
            sorted[count++] = &h->param[i];
        }
    }
    qsort(sorted, count, sizeof *sorted, by_name_and_value);
    for (unsigned i = 0; i < count; i++) {
        add_text(s, i > 0 ? "&" : "");
        add_encoded(s, sorted[i]->name, sorted[i]->name_length, false);
        add_text(s, "=");
        add_encoded(s, sorted[i]->value, sorted[i]->value_length, false);
    }
}

/* Without spaces at its ends, and one where there were several. */
static void add_value(struct hash_sha256 *s, const char *value)
{
    bool owed = false, begun = false;
    for (; *value != '\0'; value++) {
        if (*value == ' ' || *value == '\t') {
            owed = begun;
            continue;
        }
        hash_sha256_add(s, " ", owed ? 1 : 0);
        hash_sha256_add(s, value, 1);
        owed = false;
        begun = true;
    }
}

static void add_headers(struct hash_sha256 *s, const struct s3_claim *c, const struct s3_head *h)
{
    size_t at = 0, length;
    for (const char *name; (name = next_signed(c, &at, &length)) != NULL;) {
        bool first = true;
        hash_sha256_add(s, name, length);
        add_text(s, ":");
        for (unsigned i = 0; i < h->headers; i++) {
            if (slice_is(name, length, h->header[i].name)) {
                add_text(s, first ? "" : ",");
                add_value(s, h->header[i].value);
                first = false;
            }
        }
        add_text(s, "\n");
    }
}

static void hash_request(const struct s3_claim *c, const struct s3_head *h, char out[static HASH_SHA256_TEXT])
{
    struct hash_sha256 s;
    uint8_t digest[HASH_SHA256_BYTES];
    hash_sha256_begin(&s);
    add_text(&s, h->method);
    add_text(&s, "\n");
    add_encoded(&s, h->path, h->path_length, true);
    add_text(&s, "\n");
    add_query(&s, c, h);
    add_text(&s, "\n");
    add_headers(&s, c, h);
    add_text(&s, "\n");
    hash_sha256_add(&s, c->signed_headers, c->signed_length);
    add_text(&s, "\n");
    add_text(&s, c->payload_text);
    hash_sha256_end(&s, digest);
    hash_text(digest, sizeof digest, out);
}

static void chain(uint8_t key[static HASH_SHA256_BYTES], const char *text, size_t length)
{
    hash_hmac(key, HASH_SHA256_BYTES, text, length, key);
}

static void day_key(struct s3_claim *c, const char *secret)
{
    char first[4 + S3_SECRET_MOST] = "AWS4";
    size_t length = strnlen(secret, S3_SECRET_MOST);
    memcpy(first + 4, secret, length);
    hash_hmac(first, 4 + length, c->date, DATE, c->key);
    chain(c->key, c->region, strlen(c->region));
    chain(c->key, "s3", 2);
    chain(c->key, "aws4_request", 12);
    explicit_bzero(first, sizeof first);
}

/* The head of every text that is signed: what, when, and for whom. */
static void scope(struct s3_buffer *out, const struct s3_claim *c, const char *what)
{
    s3_buffer_text(out, what);
    s3_buffer_text(out, "\n");
    s3_buffer_text(out, c->date);
    s3_buffer_text(out, "\n");
    s3_buffer_add(out, c->date, DATE);
    s3_buffer_text(out, "/");
    s3_buffer_text(out, c->region);
    s3_buffer_text(out, "/s3/aws4_request\n");
}

/* Signs the text with the key of the day, and drops it. False: there was no memory for it. */
static bool sign(const struct s3_claim *c, struct s3_buffer *text, uint8_t out[static HASH_SHA256_BYTES])
{
    bool good = !text->failed;
    if (good) {
        hash_hmac(c->key, sizeof c->key, text->bytes, text->length, out);
    }
    s3_buffer_drop(text);
    return good;
}

/* Headers that mean something to S3 have to be signed: else whoever has a presigned URL could add some. */
static bool all_signed(const struct s3_claim *c, const struct s3_head *h)
{
    for (unsigned i = 0; i < h->headers; i++) {
        const char *name = h->header[i].name;
        if (s3_name_begins(name, "x-amz-") && !s3_same_name(name, "x-amz-content-sha256") && !signs(c, name)) {
            return false;
        }
    }
    return true;
}

s3_fault s3_sign_check(struct s3_claim *c, const struct s3_head *h, const char *secret, int64_t now_s)
{
    char digest[HASH_SHA256_TEXT];
    uint8_t right[HASH_SHA256_BYTES];
    struct s3_buffer text = {0};
    day_key(c, secret);
    hash_request(c, h, digest);
    scope(&text, c, algorithm);
    s3_buffer_text(&text, digest);
    if (!sign(c, &text, right)) {
        return S3_SLOW_DOWN;
    }
    if (!hash_equal(right, c->signature, sizeof right)) {
        return S3_WRONG_SIGNATURE;
    }
    if (now_s < c->date_s - S3_SKEW_S || (!c->presigned && now_s > c->date_s + S3_SKEW_S)) {
        return S3_SKEWED;
    }
    if (c->presigned && now_s >= c->date_s + c->expires_s) {
        return S3_EXPIRED;
    }
    return all_signed(c, h) ? S3_OK : S3_UNSIGNED_HEADERS;
}

bool s3_sign_chunk(struct s3_claim *c, const uint8_t sha256[static HASH_SHA256_BYTES],
                   const uint8_t signature[static HASH_SHA256_BYTES])
{
    char hex_text[HASH_SHA256_TEXT];
    uint8_t right[HASH_SHA256_BYTES];
    struct s3_buffer text = {0};
    scope(&text, c, "AWS4-HMAC-SHA256-PAYLOAD");
    hash_text(c->signature, sizeof c->signature, hex_text);
    s3_buffer_text(&text, hex_text);
    s3_buffer_text(&text, "\n");
    s3_buffer_text(&text, sha256_of_nothing);
    s3_buffer_text(&text, "\n");
    hash_text(sha256, HASH_SHA256_BYTES, hex_text);
    s3_buffer_text(&text, hex_text);
    if (!sign(c, &text, right) || !hash_equal(right, signature, sizeof right)) {
        return false;
    }
    memcpy(c->signature, right, sizeof right);
    return true;
}
