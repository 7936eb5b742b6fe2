/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of reductions: whatever is decoded is encoded to the same bytes again; of a RESULT that is its head, since
 * the piece behind it is sent from where it is.
 */
#include "services/aggregate/dense/head.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct message m;
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    memset(&m, 0, sizeof m); /* what an earlier input left, when it was refused half way, is not looked at */
    if (message_decode(bytes, size, &m) == 0) {
        uint8_t again[MESSAGE_BYTES_MOST];
        size_t behind = m.kind == MESSAGE_RESULT ? m.bytes : 0;
        if (message_size(&m) + behind != size) {
            abort();
        }
        message_encode(&m, again);
        if (memcmp(again, bytes, size - behind) != 0 || m.tree >= CW_LINK_COUNT || m.servers > MESSAGE_SERVERS_MOST) {
            abort();
        }
    }
    free(bytes);
    return 0;
}
