/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of groups and of messages of one packet: whatever is decoded is encoded to the same bytes again. */
#include "services/multicast/group/head.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct group_head h;
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    uint8_t *again = malloc(size ? size : 1);
    if (bytes != NULL && again != NULL) {
        memcpy(bytes, data, size);
        if (group_head_decode(bytes, size, &h) == 0) {
            if (group_head_bytes(&h) != size) {
                abort();
            }
            group_head_encode(&h, again);
            if (memcmp(again, bytes, size) != 0) {
                abort();
            }
        }
        const uint8_t *set = group_set_decode(bytes, size, 27);
        if (set != NULL && (set != bytes + GROUP_SET_HEAD || size != GROUP_SET_HEAD + 4)) {
            abort();
        }
    }
    free(bytes);
    free(again);
    return 0;
}
