/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/frame.h"

#include "base/bytes.h"
#include "base/check.h"
#include "wire/control.h"
#include "wire/packet.h"

_Static_assert(FRAME_AT_POSITION + 2 == FRAME_HEAD_BYTES, "the head without tag ends behind the control position");
_Static_assert(FRAME_AT_TAG + sizeof((struct frame_head){0}.tag) == FRAME_HEAD_BYTES + FRAME_TAG_BYTES, "tag is last");

enum { LENGTH_AT = 2, TYPE_AT = 1, FLAGS_KNOWN = FRAME_TAGGED | FRAME_RELAYED };

/* Sees that all packets lie inside the frame. Their heads are read soon anyway, and this brings them into the cache. */
static enum wire_reason walk_all(const uint8_t *bytes, size_t size, size_t at, unsigned packets)
{
    for (unsigned i = 0; i < packets; i++) {
        if (size - at < CONTROL_HEAD_BYTES) {
            return WIRE_TRUNCATED;
        }
        size_t length = get_be16(bytes + at + LENGTH_AT);
        if (length < CONTROL_HEAD_BYTES) {
            return WIRE_BAD_LENGTH;
        }
        if (length > size - at) {
            return WIRE_TRUNCATED;
        }
        at += length;
    }
    return WIRE_OK;
}

enum wire_reason frame_decode(const uint8_t *bytes, size_t size, struct frame_head *head, struct frame_walk *walk)
{
    if (size < FRAME_HEAD_BYTES) {
        return WIRE_TRUNCATED;
    }
    unsigned flags = bytes[FRAME_AT_VERSION] & 0xfu;
    unsigned packets = bytes[FRAME_AT_PACKETS];
    if (bytes[FRAME_AT_VERSION] >> 4 != WIRE_VERSION_NOW) {
        return WIRE_BAD_VERSION;
    }
    if (flags & ~(unsigned)FLAGS_KNOWN) {
        return WIRE_RESERVED;
    }
    if (packets == 0) {
        return WIRE_BAD_VALUE;
    }
    if ((flags & FRAME_RELAYED) && get_be16(bytes + FRAME_AT_SEQUENCE) != 0) {
        return WIRE_RESERVED;
    }
    uint32_t first = frame_head_bytes(flags);
    if (size < first) {
        return WIRE_TRUNCATED;
    }
    enum wire_reason reason = walk_all(bytes, size, first, packets);
    if (reason != WIRE_OK) {
        return reason;
    }
    *head = (struct frame_head){
        .flags = (uint8_t)flags,
        .packets = (uint8_t)packets,
        .session = get_be16(bytes + FRAME_AT_SESSION),
        .sequence = get_be16(bytes + FRAME_AT_SEQUENCE),
        .position = get_be16(bytes + FRAME_AT_POSITION),
    };
    if (flags & FRAME_TAGGED) {
        head->counter = get_be64(bytes + FRAME_AT_COUNTER);
        memcpy(head->tag, bytes + FRAME_AT_TAG, sizeof head->tag);
    }
    *walk = (struct frame_walk){.at = first, .left = packets};
    return WIRE_OK;
}

bool frame_next(const uint8_t *bytes, struct frame_walk *walk, struct frame_slice *slice)
{
    if (walk->left == 0) {
        return false;
    }
    *slice = (struct frame_slice){.at = walk->at, .size = get_be16(bytes + walk->at + LENGTH_AT)};
    walk->at += slice->size;
    walk->left--;
    return true;
}

enum frame_lane frame_lane(const uint8_t *bytes, size_t size)
{
    if (size < FRAME_HEAD_BYTES || bytes[FRAME_AT_VERSION] >> 4 != WIRE_VERSION_NOW) {
        return FRAME_DATA;
    }
    size_t at = frame_head_bytes(bytes[FRAME_AT_VERSION] & 0xfu);
    if (size < at + CONTROL_HEAD_BYTES || bytes[at] != (WIRE_VERSION_NOW << 4 | PACKET_CONTROL)) {
        return FRAME_DATA;
    }
    unsigned type = bytes[at + TYPE_AT];
    bool control = type >= CONTROL_HELLO && type <= CONTROL_CABLING_ACK && type != CONTROL_GOODBYE;
    return control ? FRAME_CONTROL : FRAME_DATA;
}

uint32_t frame_encode(const struct frame_head *head, uint8_t *out)
{
    CHECK(head->packets > 0 && (head->flags & ~(unsigned)FLAGS_KNOWN) == 0);
    CHECK(!(head->flags & FRAME_RELAYED) || head->sequence == 0);
    out[FRAME_AT_VERSION] = (uint8_t)(WIRE_VERSION_NOW << 4 | head->flags);
    out[FRAME_AT_PACKETS] = head->packets;
    put_be16(out + FRAME_AT_SESSION, head->session);
    put_be16(out + FRAME_AT_SEQUENCE, head->sequence);
    put_be16(out + FRAME_AT_POSITION, head->position);
    if (head->flags & FRAME_TAGGED) {
        put_be64(out + FRAME_AT_COUNTER, head->counter);
        memcpy(out + FRAME_AT_TAG, head->tag, sizeof head->tag);
    }
    return frame_head_bytes(head->flags);
}

uint32_t frame_add(struct frame_plan *plan, uint32_t packet_size)
{
    CHECK(packet_size >= CONTROL_HEAD_BYTES && frame_fits(plan, packet_size));
    uint32_t at = plan->size;
    plan->size += packet_size;
    plan->packets++;
    return at;
}
