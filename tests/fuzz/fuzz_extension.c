/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_extension.c - the first byte chooses the type expected, the rest is the extension. Accepted: written again from
 * decoded values it is the same; any order of changes in place leaves it acceptable and as long as it was.
 */
#include "packets.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHANGES = 32 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t again[PACKET_EXT_BYTES_MAX];
    if (size == 0) {
        return 0;
    }
    enum ext_type type = (enum ext_type)(data[0] % EXT_TYPES);
    if (ext_check(data + 1, size - 1, type) != WIRE_OK) {
        return 0;
    }
    uint32_t bytes = ext_bytes(data + 1);
    require(bytes < size && bytes <= sizeof again);
    require(recode_ext(data + 1, type, again) == bytes && memcmp(data + 1, again, bytes) == 0);

    /* A packet of which only this extension is real: change_packet() needs no more. */
    uint8_t packet[PACKET_HEAD_BYTES + PACKET_EXT_BYTES_MAX] = {0};
    uint8_t *ext = packet + PACKET_HEAD_BYTES;
    struct packet_exts exts = {{0}};
    exts.at[type] = PACKET_HEAD_BYTES;
    memcpy(ext, data + 1, bytes);
    struct dice dice = {data[0]};
    for (unsigned i = 0; i < CHANGES; i++) {
        change_packet(&dice, packet, &exts);
        require(ext_check(ext, bytes, type) == WIRE_OK && ext_bytes(ext) == bytes);
        require(recode_ext(ext, type, again) == bytes && memcmp(ext, again, bytes) == 0);
    }
    return 0;
}
