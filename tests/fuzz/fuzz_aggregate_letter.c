/* SPDX-License-Identifier: Apache-2.0 */
/* What servers say about a run of records: whatever is decoded is encoded to the same bytes again. */
#include "services/aggregate/stream/letter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct letter l;
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    memset(&l, 0, sizeof l);
    if (letter_decode(bytes, size, &l) == 0) {
        uint8_t again[LETTER_BYTES_MOST];
        if (letter_size(&l) != size || size > LETTER_BYTES_MOST) {
            abort();
        }
        letter_encode(&l, again);
        if (memcmp(again, bytes, size) != 0 || l.servers > MESSAGE_SERVERS_MOST) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
