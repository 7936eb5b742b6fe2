/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/control.h"
#include "base/bytes.h"
#include "base/check.h"
#include "wire/packet.h"

static bool holds_entries(unsigned length, unsigned entry_bytes)
{
    return length > CABLING_HEAD_BYTES && (length - CABLING_HEAD_BYTES) % entry_bytes == 0;
}

static enum wire_reason judge(const struct control_head *head)
{
    bool fits;
    switch (head->type) {
    case CONTROL_HELLO:
        fits = head->length == HELLO_BYTES;
        break;
    case CONTROL_GOODBYE:
        fits = head->length == GOODBYE_BYTES;
        break;
    case CONTROL_STREAM:
        fits = head->length >= STREAM_HEAD_BYTES && head->length % 4 == 0;
        break;
    case CONTROL_PROBE:
        fits = head->length == PROBE_BYTES;
        break;
    case CONTROL_CABLING:
        fits = holds_entries(head->length, CABLING_ENTRY_BYTES);
        break;
    case CONTROL_CABLING_ACK:
        fits = holds_entries(head->length, CABLING_ACK_ENTRY_BYTES);
        break;
    default:
        return WIRE_BAD_KIND;
    }
    if (!fits) {
        return WIRE_BAD_LENGTH;
    }
    return head->session != 0 ? WIRE_OK : WIRE_BAD_VALUE;
}

enum wire_reason control_decode(const uint8_t *bytes, size_t size, struct control_head *out)
{
    if (size < CONTROL_HEAD_BYTES) {
        return WIRE_TRUNCATED;
    }
    if (bytes[0] >> 4 != WIRE_VERSION_NOW) {
        return WIRE_BAD_VERSION;
    }
    if ((bytes[0] & 0xf) != PACKET_CONTROL) {
        return WIRE_BAD_KIND;
    }
    struct control_head head = {.type = bytes[1], .length = get_be16(bytes + 2), .session = get_be32(bytes + 4)};
    if (head.length > size) {
        return WIRE_TRUNCATED;
    }
    if (head.length < size) {
        return WIRE_BAD_LENGTH;
    }
    enum wire_reason reason = judge(&head);
    if (reason == WIRE_OK) {
        *out = head;
    }
    return reason;
}

void control_encode(const struct control_head *head, uint8_t bytes[static CONTROL_HEAD_BYTES])
{
    CHECK(judge(head) == WIRE_OK);
    bytes[0] = WIRE_VERSION_NOW << 4 | PACKET_CONTROL;
    bytes[1] = head->type;
    put_be16(bytes + 2, head->length);
    put_be32(bytes + 4, head->session);
}
