/* SPDX-License-Identifier: Apache-2.0 */
#include "services/s3/protocol/chunked.h"

#include "services/s3/protocol/percent.h"

#include <string.h>

enum { LINE, DATA, DATA_CR, DATA_LF, DONE };
enum { LENGTH_DIGITS_MOST = 10 };

void s3_chunked_begin(struct s3_chunked *c, struct s3_claim *claim, uint64_t said)
{
    *c = (struct s3_chunked){.claim = claim, .said = said, .state = LINE};
}

/* The line of a chunk, without its "\r\n". */
static bool begin_chunk(struct s3_chunked *c)
{
    static const char between[] = ";chunk-signature=";
    size_t n = 0, rest = sizeof between - 1;
    for (c->left = 0; n < c->line_length && s3_hex_digit(c->line[n]) >= 0; n++) {
        c->left = c->left << 4 | (unsigned)s3_hex_digit(c->line[n]);
    }
    if (n == 0 || n > LENGTH_DIGITS_MOST || c->line_length != n + rest + 2 * HASH_SHA256_BYTES ||
        memcmp(c->line + n, between, rest) != 0 || !s3_sign_hex(c->line + n + rest, HASH_SHA256_BYTES, c->signature)) {
        return false;
    }
    c->last = c->left == 0;
    hash_sha256_begin(&c->hash);
    return c->left <= c->said - c->came;
}

static bool end_chunk(struct s3_chunked *c)
{
    uint8_t digest[HASH_SHA256_BYTES];
    hash_sha256_end(&c->hash, digest);
    return s3_sign_chunk(c->claim, digest, c->signature);
}

static s3_fault read_line_byte(struct s3_chunked *c, char byte)
{
    if (byte != '\n') {
        if (c->line_length == S3_CHUNK_LINE_MOST) {
            return S3_INCOMPLETE_BODY;
        }
        c->line[c->line_length++] = byte;
        return S3_OK;
    }
    if (c->line_length == 0 || c->line[--c->line_length] != '\r' || !begin_chunk(c)) {
        return S3_INCOMPLETE_BODY;
    }
    c->state = c->last ? DATA_CR : DATA;
    return S3_OK;
}

static s3_fault read_end_byte(struct s3_chunked *c, char byte)
{
    if (byte != (c->state == DATA_CR ? '\r' : '\n')) {
        return S3_INCOMPLETE_BODY;
    }
    if (c->state == DATA_CR) {
        c->state = DATA_LF;
        return S3_OK;
    }
    if (!end_chunk(c)) {
        return S3_WRONG_SIGNATURE;
    }
    c->line_length = 0;
    c->state = c->last ? DONE : LINE;
    return S3_OK;
}

size_t s3_chunked_read(struct s3_chunked *c, const uint8_t *bytes, size_t length, const uint8_t **piece,
                       size_t *piece_length, s3_fault *fault)
{
    *fault = S3_OK;
    *piece = bytes;
    *piece_length = 0;
    if (c->state == DATA) {
        *piece_length = length < c->left ? length : (size_t)c->left;
        hash_sha256_add(&c->hash, bytes, *piece_length);
        c->left -= *piece_length;
        c->came += *piece_length;
        c->state = c->left == 0 ? DATA_CR : DATA;
        return *piece_length;
    }
    if (c->state == DONE) {
        *fault = S3_INCOMPLETE_BODY; /* something behind the last chunk */
    } else {
        *fault = c->state == LINE ? read_line_byte(c, (char)bytes[0]) : read_end_byte(c, (char)bytes[0]);
    }
    return *fault == S3_OK ? 1 : 0;
}

bool s3_chunked_done(const struct s3_chunked *c)
{
    return c->state == DONE && c->came == c->said;
}
