/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_packet.c - any bytes as one data packet, as they are and with a length field that fits. Accepted: written again
 * from decoded values they are the same, and every change that transit makes in place leaves an acceptable packet with
 * the same extensions in the same places.
 */
#include "packets.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHANGES = 24 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void examine(uint8_t *bytes, size_t size)
{
    struct packet_head head, untouched;
    struct packet_exts exts, again;
    memset(&head, 0xa5, sizeof head);
    memcpy(&untouched, &head, sizeof head);
    memset(&exts, 0xa5, sizeof exts);
    if (packet_decode(bytes, size, &head, &exts) != WIRE_OK) {
        require(memcmp(&head, &untouched, sizeof head) == 0);
        for (unsigned type = 0; type < EXT_TYPES; type++) {
            require(exts.at[type] == 0xa5a5);
        }
        return;
    }
    require(head.length == size && recodes(bytes, &head, &exts));
    struct dice dice = {head.job};
    for (unsigned i = 0; i < CHANGES; i++) {
        change_packet(&dice, bytes, &exts);
        require(packet_decode(bytes, size, &head, &again) == WIRE_OK);
        require(recodes(bytes, &head, &again) && memcmp(&exts, &again, sizeof exts) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > PACKET_BYTES_MAX) {
        return 0;
    }
    uint8_t *bytes = malloc(size ? size : 1); /* exact: a sanitizer sees one byte too many */
    if (bytes == NULL) {
        return 0;
    }
    memcpy(bytes, data, size);
    examine(bytes, size);
    if (size >= PACKET_HEAD_BYTES) {
        memcpy(bytes, data, size);
        bytes[PACKET_AT_LENGTH] = (uint8_t)(size >> 8);
        bytes[PACKET_AT_LENGTH + 1] = (uint8_t)size;
        examine(bytes, size);
    }
    free(bytes);
    return 0;
}
