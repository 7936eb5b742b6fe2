/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the multicast: whatever is decoded is encoded to the same bytes again. */
#include "services/multicast/cast/head.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cast_head h;
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    if (cast_head_decode(bytes, size, &h) == 0) {
        uint8_t again[CAST_OPEN_HEAD];
        size_t head = cast_head_bytes(h.kind);
        cast_head_encode(&h, again);
        if (head + h.rest_bytes != size || h.rest != bytes + head || memcmp(again, bytes, head) != 0) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
