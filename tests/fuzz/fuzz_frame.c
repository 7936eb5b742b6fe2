/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_frame.c - any bytes behind an Ethernet header. Accepted: the head is written again as it was, and the packets
 * lie one behind the other inside the frame. Whatever the data packets among them are, decoding them is safe.
 */
#include "wire/frame.h"
#include "wire/packet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct frame_head head, untouched;
    enum frame_lane lane = frame_lane(data, size);
    require(lane == FRAME_DATA || lane == FRAME_CONTROL);
    struct frame_walk walk = {.at = 0xa5a5a5a5, .left = 0x5a5a5a5a};
    memset(&head, 0xa5, sizeof head);
    memcpy(&untouched, &head, sizeof head);
    if (frame_decode(data, size, &head, &walk) != WIRE_OK) {
        require(memcmp(&head, &untouched, sizeof head) == 0);
        require(walk.at == 0xa5a5a5a5 && walk.left == 0x5a5a5a5a);
        return 0;
    }
    uint8_t again[FRAME_HEAD_BYTES + FRAME_TAG_BYTES];
    uint32_t at = frame_encode(&head, again);
    require(memcmp(again, data, at) == 0);

    struct frame_slice slice;
    unsigned packets = 0;
    for (; frame_next(data, &walk, &slice); packets++) {
        struct packet_head packet;
        struct packet_exts exts;
        require(slice.at == at && slice.size <= size - at);
        if (packet_decode(data + slice.at, slice.size, &packet, &exts) == WIRE_OK) {
            require(packet.length == slice.size && packet_head_bytes(&packet) <= slice.size);
        }
        at += slice.size;
    }
    require(packets == head.packets && walk.at == at);
    return 0;
}
