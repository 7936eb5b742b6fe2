/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a body in signed chunks, in pieces that the first byte draws. What it gives is among what came, in
 * order, and no more than was said; done is none that a signature does not bear out, and of these bytes hardly any is.
 */
#include "services/s3/protocol/chunked.h"

#include "s3_signed.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct s3_head head;
    struct s3_claim claim;
    struct s3_chunked c;
    s3_fault fault = S3_OK;
    uint64_t came = 0;
    if (size < 1) {
        return 0;
    }
    signed_head(&head, &signed_requests[SIGNED_CHUNKS]);
    if (s3_sign_read(&claim, &head) != S3_OK || s3_sign_check(&claim, &head, SIGNED_SECRET, SIGNED_NOW) != S3_OK) {
        abort();
    }
    s3_chunked_begin(&c, &claim, SIGNED_BODY);
    size_t most = 1 + (data[0] & 0x3f);
    for (size_t at = 1; at < size && fault == S3_OK;) {
        const uint8_t *piece;
        size_t n, left = size - at < most ? size - at : most;
        size_t took = s3_chunked_read(&c, data + at, left, &piece, &n, &fault);
        if (took > left || (took == 0) != (fault != S3_OK) || n > took || piece < data + at ||
            piece + n > data + at + left) {
            abort();
        }
        came += n;
        at += took;
    }
    if (came > SIGNED_BODY || (s3_chunked_done(&c) && came != SIGNED_BODY)) {
        abort();
    }
    return 0;
}
