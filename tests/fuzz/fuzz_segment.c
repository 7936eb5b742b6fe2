/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the transport: whatever is decoded is encoded to the same bytes again, and its parts fit together. */
#include "services/transport/segment.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct segment s;
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    if (segment_decode(bytes, size, &s) == 0) {
        bool has_data = s.kind == SEGMENT_SEGMENT && (s.flags & FLAG_DATA);
        size_t body = has_data ? s.data.length : 0;
        size_t head = segment_head(&s);
        if (head + body != size) {
            abort();
        }
        if (has_data && (body != segment_part_bytes(s.data.total, s.data.part, s.data.index) ||
                         s.data.index >= segment_parts(s.data.total, s.data.part))) {
            abort();
        }
        uint8_t *again = malloc(head);
        if (again != NULL) {
            segment_encode(&s, again);
            if (memcmp(again, bytes, head) != 0) {
                abort();
            }
        }
        free(again);
    }
    free(bytes);
    return 0;
}
