/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.h - signatures by Ed25519 (RFC 8032); seal.c is the only file that uses OpenSSL for them. It takes and gives
 * bytes, and knows no file and no record.
 *
 * Guarantee: seal_verify() is true only for bytes that the private half of that key has signed. A key is wiped when it
 * is closed. An open key is constant: any number of threads may sign and verify with it at the same time.
 */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

#include "cubeway/types.h"

enum {
    SEAL_SIGNATURE_BYTES = 64,
    SEAL_PUBLIC_BYTES = 32,
    SEAL_HEX = 2 * SEAL_PUBLIC_BYTES + 1, /* a public key as text, with its NUL */
    SEAL_PEM = 256,                       /* either half as PEM, with its NUL */
    SEAL_WHY = 640,                       /* bytes of the sentence that says what is wrong */
};

/* Both halves of a pair of keys. */
struct seal_key;
/* The public half, parsed once, so that verifying costs no more than it must. */
struct seal_public;

/* Draws a new pair from the system's randomness. -ENOMEM; -EIO: there was no randomness. */
CW_MUST_CHECK int seal_key_make(struct seal_key **out);
/* Reads PEM (PKCS#8, not encrypted). -EBADMSG and why; -ENOMEM. */
CW_MUST_CHECK int seal_key_read(struct seal_key **out, const char *pem, size_t size, char why[static SEAL_WHY]);
/* Writes PEM; returns its length without the NUL, 0 when there is no memory. The caller wipes it. */
CW_MUST_CHECK size_t seal_key_write(const struct seal_key *key, char pem[static SEAL_PEM]);
void seal_key_public(const struct seal_key *key, uint8_t raw[static SEAL_PUBLIC_BYTES]);
void seal_key_close(struct seal_key *key); /* NULL is allowed */

/* -ENOMEM. */
CW_MUST_CHECK int seal_sign(const struct seal_key *key, const void *bytes, size_t size,
                            uint8_t signature[static SEAL_SIGNATURE_BYTES]);

/* Takes any 32 bytes; a key from bytes that are no point of the curve verifies nothing. -ENOMEM. */
CW_MUST_CHECK int seal_public_open(struct seal_public **out, const uint8_t raw[static SEAL_PUBLIC_BYTES]);
void seal_public_close(struct seal_public *key); /* NULL is allowed */
/* False also when there is no memory: what cannot be verified does not count. */
CW_MUST_CHECK bool seal_verify(const struct seal_public *key, const void *bytes, size_t size,
                               const uint8_t signature[static SEAL_SIGNATURE_BYTES]);

/* Reads a public key: 64 hex digits, or PEM, perhaps with blanks around. -EBADMSG and why; -ENOMEM. */
CW_MUST_CHECK int seal_public_read(const char *text, size_t size, uint8_t raw[static SEAL_PUBLIC_BYTES],
                                   char why[static SEAL_WHY]);
void seal_public_hex(const uint8_t raw[static SEAL_PUBLIC_BYTES], char out[static SEAL_HEX]);
/* Writes PEM; returns its length without the NUL, 0 when there is no memory. */
CW_MUST_CHECK size_t seal_public_write(const uint8_t raw[static SEAL_PUBLIC_BYTES], char pem[static SEAL_PEM]);

/* Overwrites the bytes with zeros, which no compiler takes away. */
void seal_wipe(void *bytes, size_t size);

#endif
