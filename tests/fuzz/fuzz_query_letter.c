/* SPDX-License-Identifier: Apache-2.0 */
/* The letters of questions: whatever is decoded is encoded to the same bytes again. */
#include "services/aggregate/query/letter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct query_letter l;
    uint8_t *bytes = malloc(size + 1), *again = malloc(size + 1);
    if (bytes != NULL && again != NULL) {
        memcpy(bytes, data, size);
        memset(&l, 0, sizeof l);
        if (query_letter_decode(bytes, size, &l) == 0) {
            if (query_letter_size(&l) != size || l.servers > LETTER_SERVERS_MOST || l.part_length > PART_BYTES_MOST) {
                abort();
            }
            query_letter_encode(&l, again);
            if (memcmp(again, bytes, size) != 0) {
                abort();
            }
        }
    }
    free(bytes);
    free(again);
    return 0;
}
