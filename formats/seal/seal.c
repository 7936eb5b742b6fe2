/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/seal.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seal_key {
    EVP_PKEY *pair;
    uint8_t raw[SEAL_PUBLIC_BYTES];
};

struct seal_public {
    EVP_PKEY *half;
};

static int because(int rc, char why[static SEAL_WHY], const char *text)
{
    snprintf(why, SEAL_WHY, "%s", text);
    ERR_clear_error();
    return rc;
}

/* ---- Pairs ------------------------------------------------------------------------------------------------------- */

/* Takes pair. */
static int key_of(struct seal_key **out, EVP_PKEY *pair)
{
    struct seal_key *key = calloc(1, sizeof *key);
    size_t size = sizeof key->raw;
    if (key == NULL || EVP_PKEY_get_raw_public_key(pair, key->raw, &size) != 1 || size != sizeof key->raw) {
        EVP_PKEY_free(pair);
        free(key);
        return -ENOMEM;
    }
    key->pair = pair;
    *out = key;
    return 0;
}

int seal_key_make(struct seal_key **out)
{
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (pair == NULL) {
        ERR_clear_error();
        return -EIO;
    }
    return key_of(out, pair);
}

/* An encrypted key asks for its password: nobody is there to answer. */
static int no_password(char *password, int size, int writes, void *context)
{
    (void)writes;
    if (size > 0) {
        password[0] = '\0';
    }
    *(bool *)context = true;
    return -1;
}

int seal_key_read(struct seal_key **out, const char *pem, size_t size, char why[static SEAL_WHY])
{
    bool encrypted = false;
    why[0] = '\0';
    BIO *in = size <= INT32_MAX ? BIO_new_mem_buf(pem, (int)size) : NULL;
    EVP_PKEY *pair = in != NULL ? PEM_read_bio_PrivateKey(in, NULL, no_password, &encrypted) : NULL;
    BIO_free(in);
    if (pair == NULL) {
        return because(-EBADMSG, why,
                       encrypted ? "this key is encrypted; expected one that is not (openssl pkey -in THIS -out NEW)"
                                 : "no private key in PEM is here; cwctl job keygen makes one");
    }
    if (EVP_PKEY_get_id(pair) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(pair);
        return because(-EBADMSG, why, "this is another kind of key; expected Ed25519, as cwctl job keygen makes");
    }
    return key_of(out, pair) < 0 ? because(-ENOMEM, why, "out of memory") : 0;
}

/* Takes out; what was written to it, as text. */
static size_t take_text(BIO *out, bool good, char pem[static SEAL_PEM])
{
    char *text = NULL;
    long length = good ? BIO_get_mem_data(out, &text) : 0;
    if (length <= 0 || length >= SEAL_PEM) {
        length = 0;
    } else {
        memcpy(pem, text, (size_t)length);
        OPENSSL_cleanse(text, (size_t)length);
    }
    pem[length] = '\0';
    BIO_free(out);
    ERR_clear_error();
    return (size_t)length;
}

size_t seal_key_write(const struct seal_key *key, char pem[static SEAL_PEM])
{
    BIO *out = BIO_new(BIO_s_mem());
    bool good = out != NULL && PEM_write_bio_PKCS8PrivateKey(out, key->pair, NULL, NULL, 0, NULL, NULL) == 1;
    return take_text(out, good, pem);
}

void seal_key_public(const struct seal_key *key, uint8_t raw[static SEAL_PUBLIC_BYTES])
{
    memcpy(raw, key->raw, SEAL_PUBLIC_BYTES);
}

void seal_key_close(struct seal_key *key)
{
    if (key != NULL) {
        EVP_PKEY_free(key->pair);
        free(key);
    }
}

int seal_sign(const struct seal_key *key, const void *bytes, size_t size,
              uint8_t signature[static SEAL_SIGNATURE_BYTES])
{
    size_t length = SEAL_SIGNATURE_BYTES;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key->pair) == 1 &&
                EVP_DigestSign(context, signature, &length, bytes, size) == 1 && length == SEAL_SIGNATURE_BYTES;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return good ? 0 : -ENOMEM;
}

/* ---- Public halves ----------------------------------------------------------------------------------------------- */

int seal_public_open(struct seal_public **out, const uint8_t raw[static SEAL_PUBLIC_BYTES])
{
    struct seal_public *key = calloc(1, sizeof *key);
    if (key != NULL) {
        key->half = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, SEAL_PUBLIC_BYTES);
    }
    if (key == NULL || key->half == NULL) {
        free(key);
        ERR_clear_error();
        return -ENOMEM;
    }
    *out = key;
    return 0;
}

void seal_public_close(struct seal_public *key)
{
    if (key != NULL) {
        EVP_PKEY_free(key->half);
        free(key);
    }
}

bool seal_verify(const struct seal_public *key, const void *bytes, size_t size,
                 const uint8_t signature[static SEAL_SIGNATURE_BYTES])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, key->half) == 1 &&
                EVP_DigestVerify(context, signature, SEAL_SIGNATURE_BYTES, bytes, size) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return good;
}

/* ---- Public halves as text --------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    char lower = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
    const char *at = c != '\0' ? strchr(digits, lower) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static bool read_hex(const char *text, size_t size, uint8_t raw[static SEAL_PUBLIC_BYTES])
{
    uint8_t bytes[SEAL_PUBLIC_BYTES];
    if (size != 2 * sizeof bytes) {
        return false;
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        bytes[i] = (uint8_t)(high * 16 + low);
    }
    memcpy(raw, bytes, sizeof bytes);
    return true;
}

int seal_public_read(const char *text, size_t size, uint8_t raw[static SEAL_PUBLIC_BYTES], char why[static SEAL_WHY])
{
    why[0] = '\0';
    while (size > 0 && is_blank(text[0])) {
        text++;
        size--;
    }
    while (size > 0 && is_blank(text[size - 1])) {
        size--;
    }
    if (read_hex(text, size, raw)) {
        return 0;
    }
    size_t length = SEAL_PUBLIC_BYTES;
    BIO *in = size <= INT32_MAX ? BIO_new_mem_buf(text, (int)size) : NULL;
    EVP_PKEY *half = in != NULL ? PEM_read_bio_PUBKEY(in, NULL, NULL, NULL) : NULL;
    bool good = half != NULL && EVP_PKEY_get_id(half) == EVP_PKEY_ED25519 &&
                EVP_PKEY_get_raw_public_key(half, raw, &length) == 1;
    BIO_free(in);
    EVP_PKEY_free(half);
    return good ? 0 : because(-EBADMSG, why, "expected a public Ed25519 key: 64 hex digits, or PEM");
}

void seal_public_hex(const uint8_t raw[static SEAL_PUBLIC_BYTES], char out[static SEAL_HEX])
{
    for (size_t i = 0; i < SEAL_PUBLIC_BYTES; i++) {
        snprintf(out + 2 * i, 3, "%02x", raw[i]);
    }
}

size_t seal_public_write(const uint8_t raw[static SEAL_PUBLIC_BYTES], char pem[static SEAL_PEM])
{
    BIO *out = BIO_new(BIO_s_mem());
    EVP_PKEY *half = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, SEAL_PUBLIC_BYTES);
    bool good = out != NULL && half != NULL && PEM_write_bio_PUBKEY(out, half) == 1;
    EVP_PKEY_free(half);
    return take_text(out, good, pem);
}

void seal_wipe(void *bytes, size_t size)
{
    OPENSSL_cleanse(bytes, size);
}
