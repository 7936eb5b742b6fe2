/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/goodbye.h"
#include "base/check.h"
#include "wire/field.h"

static enum wire_reason judge(const struct goodbye *g)
{
    bool good = g->session != 0 && g->incarnation != 0 && g->reason >= GOODBYE_LEAVING && g->reason <= GOODBYE_CLOSED;
    return good ? WIRE_OK : WIRE_BAD_VALUE;
}

enum wire_reason goodbye_decode(const uint8_t *bytes, size_t size, struct goodbye *out)
{
    struct control_head head;
    enum wire_reason reason = control_decode(bytes, size, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (head.type != CONTROL_GOODBYE) {
        return WIRE_BAD_KIND;
    }
    struct goodbye goodbye = {
        .session = head.session,
        .incarnation = get_be64(bytes + 8),
        .server = field_get_coord(bytes + 16),
        .reason = bytes[19],
    };
    reason = judge(&goodbye);
    if (reason == WIRE_OK) {
        *out = goodbye;
    }
    return reason;
}

void goodbye_encode(const struct goodbye *goodbye, uint8_t bytes[static GOODBYE_BYTES])
{
    CHECK(judge(goodbye) == WIRE_OK);
    control_encode(&(struct control_head){CONTROL_GOODBYE, GOODBYE_BYTES, goodbye->session}, bytes);
    put_be64(bytes + 8, goodbye->incarnation);
    field_put_coord(bytes + 16, goodbye->server);
    bytes[19] = goodbye->reason;
}
