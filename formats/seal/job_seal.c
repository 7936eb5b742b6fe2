/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/job_seal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = sizeof JOB_SEAL_PREFIX + 4 };

/* Ed25519 reads what it signs twice, and wants it in one piece. To be freed; NULL: no memory. */
static uint8_t *put_together(uint32_t cluster, const uint8_t *record, size_t size)
{
    uint8_t *whole = malloc(HEAD + size);
    if (whole != NULL) {
        memcpy(whole, JOB_SEAL_PREFIX, sizeof JOB_SEAL_PREFIX);
        for (int i = 0; i < 4; i++) {
            whole[sizeof JOB_SEAL_PREFIX + i] = (uint8_t)(cluster >> (24 - 8 * i));
        }
        memcpy(whole + HEAD, record, size);
    }
    return whole;
}

int job_seal_sign(const struct seal_key *key, uint32_t cluster, const uint8_t *record, size_t size,
                  uint8_t signature[static SEAL_SIGNATURE_BYTES])
{
    uint8_t *whole = put_together(cluster, record, size);
    int rc = whole != NULL ? seal_sign(key, whole, HEAD + size, signature) : -ENOMEM;
    free(whole);
    return rc;
}

int job_seal_verify(const struct seal_public *key, uint32_t cluster, const uint8_t *record, size_t size,
                    const uint8_t signature[static SEAL_SIGNATURE_BYTES])
{
    uint8_t *whole = put_together(cluster, record, size);
    if (whole == NULL) {
        return -ENOMEM;
    }
    bool good = seal_verify(key, whole, HEAD + size, signature);
    free(whole);
    return good ? 0 : -EBADMSG;
}
