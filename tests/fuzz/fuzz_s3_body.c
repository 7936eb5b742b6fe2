/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a body of XML: whole and in pieces they mean the same, within the bounds. */
#include "services/s3/body/body.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static s3_fault parse(struct s3_body *b, s3_operation operation, const uint8_t *bytes, size_t size, size_t piece)
{
    s3_fault fault = s3_body_open(b, operation);
    for (size_t at = 0; at < size && fault == S3_OK; at += piece) {
        fault = s3_body_feed(b, bytes + at, size - at < piece ? size - at : piece);
    }
    return s3_body_end(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const s3_operation operations[] = {S3_UPLOAD_COMPLETE, S3_DELETE_OBJECTS, S3_BUCKET_CREATE};
    if (size < 1) {
        return 0;
    }
    s3_operation operation = operations[data[0] % 3];
    struct s3_body whole, pieces;
    s3_fault one = parse(&whole, operation, data + 1, size - 1, size);
    s3_fault other = parse(&pieces, operation, data + 1, size - 1, 1 + data[0] / 3 % 8);
    if (one != other || whole.count > S3_KEYS_MOST || whole.parts > S3_PART_NUMBER_MOST) {
        abort();
    }
    if (one == S3_OK && (whole.parts != pieces.parts || whole.count != pieces.count ||
                         whole.keys.length != pieces.keys.length || strcmp(whole.location, pieces.location) != 0)) {
        abort();
    }
    for (unsigned i = 1; i < whole.parts; i++) {
        if (whole.part[i].number <= whole.part[i - 1].number) {
            abort();
        }
    }
    s3_body_close(&whole);
    s3_body_close(&pieces);
    return 0;
}
