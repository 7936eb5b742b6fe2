/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - signatures by Ed25519 (RFC 8032): the one file that meets OpenSSL for them. Bytes in, bytes out: knows no file and no record.
 *
 * Guarantee: seal_verify() is true only of bytes that the private half of that key has signed. A key is wiped when it is closed. Keys,
 * once open, are constant: any number of threads may sign and verify with one at a time.
 */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

#include "cubeway/types.h"

enum {
    SEAL_SIGNATURE_BYTES = 64,
    SEAL_PUBLIC_BYTES = 32,
    SEAL_HEX = 2 * SEAL_PUBLIC_BYTES + 1, /* a public key as text, with its NUL */
    SEAL_PEM = 256,                       /* either half as PEM, with its NUL */
    SEAL_WHY = 640,
};

/* Both halves. */
struct seal_key;
/* The public half, parsed, so that verifying costs no more than it must. */
struct seal_public;

/* Draws a new pair from the system's randomness. -ENOMEM; -EIO: there is none to be had. */
CW_MUST_CHECK int seal_key_make(struct seal_key **out);
/* From PEM (PKCS#8, not encrypted). -EBADMSG and why; -ENOMEM. */
CW_MUST_CHECK int seal_key_read(struct seal_key **out, const char *pem, size_t size, char why[static SEAL_WHY]);
/* As PEM; gives its length without NUL, 0 without memory. The caller wipes it. */
CW_MUST_CHECK size_t seal_key_write(const struct seal_key *key, char pem[static SEAL_PEM]);
void seal_key_public(const struct seal_key *key, uint8_t raw[static SEAL_PUBLIC_BYTES]);
void seal_key_close(struct seal_key *key); /* NULL is allowed */

/* -ENOMEM. */
CW_MUST_CHECK int seal_sign(const struct seal_key *key, const void *bytes, size_t size,
                            uint8_t signature[static SEAL_SIGNATURE_BYTES]);

/* Any 32 bytes; those that are no point of the curve verify nothing. -ENOMEM. */
CW_MUST_CHECK int seal_public_open(struct seal_public **out, const uint8_t raw[static SEAL_PUBLIC_BYTES]);
void seal_public_close(struct seal_public *key); /* NULL is allowed */
/* False also without memory: what cannot be verified does not count. */
CW_MUST_CHECK bool seal_verify(const struct seal_public *key, const void *bytes, size_t size,
                               const uint8_t signature[static SEAL_SIGNATURE_BYTES]);

/* A public key as text: 64 hex digits, or PEM. Blanks around it do not matter. -EBADMSG and why; -ENOMEM. */
CW_MUST_CHECK int seal_public_read(const char *text, size_t size, uint8_t raw[static SEAL_PUBLIC_BYTES],
                                   char why[static SEAL_WHY]);
void seal_public_hex(const uint8_t raw[static SEAL_PUBLIC_BYTES], char out[static SEAL_HEX]);
/* As PEM; gives its length without NUL, 0 without memory. */
CW_MUST_CHECK size_t seal_public_write(const uint8_t raw[static SEAL_PUBLIC_BYTES], char pem[static SEAL_PEM]);

/* Zeros that no compiler takes away. */
void seal_wipe(void *bytes, size_t size);

#endif
