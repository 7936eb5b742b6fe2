/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/sha256.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>

/* OpenSSL's context is all there is. */
static EVP_MD_CTX *context(struct sha256 *s)
{
    return (EVP_MD_CTX *)(void *)s;
}

static int result(int good)
{
    if (good != 1) {
        ERR_clear_error();
    }
    return good == 1 ? 0 : -ENOMEM;
}

int sha256_open(struct sha256 **out)
{
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    int rc = result(c != NULL ? EVP_DigestInit_ex(c, EVP_sha256(), NULL) : 0);
    if (rc < 0) {
        EVP_MD_CTX_free(c);
        return rc;
    }
    *out = (struct sha256 *)(void *)c;
    return 0;
}

int sha256_add(struct sha256 *s, const void *bytes, size_t length)
{
    return result(EVP_DigestUpdate(context(s), bytes, length));
}

int sha256_end(struct sha256 *s, uint8_t out[static SHA256_BYTES])
{
    return result(EVP_DigestFinal_ex(context(s), out, NULL));
}

void sha256_close(struct sha256 *s)
{
    EVP_MD_CTX_free(context(s));
}
