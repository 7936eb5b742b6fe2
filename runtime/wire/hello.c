/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/hello.h"
#include "base/check.h"
#include "wire/field.h"

static enum wire_reason judge(const struct hello *h)
{
    bool good = h->session != 0 && h->port < CW_LINK_COUNT && h->incarnation != 0;
    good = good && h->clock.ns > 0 && h->clock.ns < CW_NEVER.ns;
    good = good && h->echo.ns >= 0 && h->echo.ns < CW_NEVER.ns;
    good = good && (h->heard != 0 || (h->newest == 0 && h->before == 0));
    return good ? WIRE_OK : WIRE_BAD_VALUE;
}

enum wire_reason hello_decode(const uint8_t *bytes, size_t size, struct hello *out)
{
    struct control_head head;
    enum wire_reason reason = control_decode(bytes, size, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (head.type != CONTROL_HELLO) {
        return WIRE_BAD_KIND;
    }
    struct hello hello = {
        .session = head.session,
        .cluster = get_be32(bytes + 8),
        .config_hash = get_be32(bytes + 12),
        .server = field_get_coord(bytes + 16),
        .flags = bytes[19] >> 4,
        .port = bytes[19] & 0xf,
        .heard = get_be32(bytes + 20),
        .incarnation = get_be64(bytes + 24),
        .clock = {(int64_t)get_be64(bytes + 32)},
        .echo = {(int64_t)get_be64(bytes + 40)},
        .position = get_be32(bytes + 48),
        .ack = get_be32(bytes + 52),
        .digest = get_be64(bytes + 56),
        .number = get_be16(bytes + 64),
        .newest = get_be16(bytes + 66),
        .before = get_be16(bytes + 68),
    };
    if (get_be16(bytes + 70) != 0) {
        return WIRE_RESERVED;
    }
    reason = judge(&hello);
    if (reason == WIRE_OK) {
        *out = hello;
    }
    return reason;
}

void hello_encode(const struct hello *hello, uint8_t bytes[static HELLO_BYTES])
{
    CHECK(judge(hello) == WIRE_OK && hello->flags <= HELLO_FLAGS);
    control_encode(&(struct control_head){CONTROL_HELLO, HELLO_BYTES, hello->session}, bytes);
    put_be32(bytes + 8, hello->cluster);
    put_be32(bytes + 12, hello->config_hash);
    field_put_coord(bytes + 16, hello->server);
    bytes[19] = (uint8_t)(hello->flags << 4 | hello->port);
    put_be32(bytes + 20, hello->heard);
    put_be64(bytes + 24, hello->incarnation);
    put_be64(bytes + 32, (uint64_t)hello->clock.ns);
    put_be64(bytes + 40, (uint64_t)hello->echo.ns);
    put_be32(bytes + 48, hello->position);
    put_be32(bytes + 52, hello->ack);
    put_be64(bytes + 56, hello->digest);
    put_be16(bytes + 64, hello->number);
    put_be16(bytes + 66, hello->newest);
    put_be16(bytes + 68, hello->before);
    put_be16(bytes + 70, 0);
}
