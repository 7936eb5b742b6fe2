/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunked.h - a body of signed chunks (aws-chunked), read as it comes: the bytes of the object, without what is around
 * them. Bytes are given before the signature of their chunk has come behind them, so nothing of them may count before
 * s3_chunked_done(); an object is made by its last step anyway. Keeps no bytes. Pure.
 *
 *     hex-length;chunk-signature=64-hex-digits \r\n bytes \r\n   ...   0;chunk-signature=... \r\n \r\n
 */
#ifndef SERVICES_S3_PROTOCOL_CHUNKED_H
#define SERVICES_S3_PROTOCOL_CHUNKED_H

#include "services/s3/protocol/sign.h"

enum { S3_CHUNK_LINE_MOST = 128 };

struct s3_chunked {
    struct s3_claim *claim;
    struct hash_sha256 hash;
    uint64_t left; /* of the chunk */
    uint64_t came; /* bytes of the object so far, */
    uint64_t said; /* and how many there will be */
    uint8_t signature[HASH_SHA256_BYTES];
    unsigned state, line_length;
    bool last;
    char line[S3_CHUNK_LINE_MOST];
};

/* `claim` was checked, and is borrowed; `said`: the x-amz-decoded-content-length. */
void s3_chunked_begin(struct s3_chunked *c, struct s3_claim *claim, uint64_t said);
/*
 * Reads some of `length` bytes, above 0, and gives how many; *piece, *piece_length are the bytes of the object among
 * them, borrowed, perhaps none. A fault, and 0 in the result: S3_INCOMPLETE_BODY (it is not of this form, or longer
 * than was said), S3_WRONG_SIGNATURE (the chunk's).
 */
CW_MUST_CHECK size_t s3_chunked_read(struct s3_chunked *c, const uint8_t *bytes, size_t length, const uint8_t **piece,
                                     size_t *piece_length, s3_fault *fault);
/* Has all come that was said, each chunk rightly signed, up to the last one? */
bool s3_chunked_done(const struct s3_chunked *c);

#endif
