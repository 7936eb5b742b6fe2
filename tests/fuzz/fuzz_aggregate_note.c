/* SPDX-License-Identifier: Apache-2.0 */
/* What servers say about an operator's reduction: whatever is decoded is encoded to the same bytes again. */
#include "services/aggregate/order/note.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct note n;
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    memset(&n, 0, sizeof n);
    if (note_decode(bytes, size, &n) == 0) {
        uint8_t again[NOTE_BYTES_MOST];
        if (note_size(&n) != size) {
            abort();
        }
        note_encode(&n, again);
        if (memcmp(again, bytes, size) != 0 || n.servers > MESSAGE_SERVERS_MOST) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
