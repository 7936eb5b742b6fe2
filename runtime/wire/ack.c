/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/ack.h"
#include "base/check.h"
#include "wire/field.h"

static enum wire_reason judge(const struct ack *a)
{
    return a->acker_incarnation != 0 && a->incarnation != 0 && a->seq != 0 ? WIRE_OK : WIRE_BAD_VALUE;
}

enum wire_reason ack_decode(const uint8_t bytes[static ACK_BYTES], struct ack *out)
{
    if (bytes[3] != 0 || bytes[15] != 0) {
        return WIRE_RESERVED;
    }
    struct ack ack = {
        .acker = field_get_coord(bytes),
        .acker_incarnation = get_be64(bytes + 4),
        .origin = field_get_coord(bytes + 12),
        .incarnation = get_be64(bytes + 16),
        .seq = get_be32(bytes + 24),
    };
    enum wire_reason reason = judge(&ack);
    if (reason == WIRE_OK) {
        *out = ack;
    }
    return reason;
}

void ack_encode(const struct ack *ack, uint8_t bytes[static ACK_BYTES])
{
    CHECK(judge(ack) == WIRE_OK);
    field_put_coord(bytes, ack->acker);
    bytes[3] = 0;
    put_be64(bytes + 4, ack->acker_incarnation);
    field_put_coord(bytes + 12, ack->origin);
    bytes[15] = 0;
    put_be64(bytes + 16, ack->incarnation);
    put_be32(bytes + 24, ack->seq);
}
