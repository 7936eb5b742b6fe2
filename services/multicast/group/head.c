/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/group/head.h"

#include "base/bytes.h"
#include "services/multicast/cast/head.h"

#include <errno.h>
#include <string.h>

enum { STATUS_MOST = 4095 };

size_t group_head_bytes(const struct group_head *h)
{
    switch (h->kind) {
    case GROUP_ANNOUNCE:
        return GROUP_ANNOUNCE_HEAD + h->name_bytes;
    case GROUP_MEMBERS:
        return GROUP_MEMBERS_HEAD + h->name_bytes;
    case GROUP_DATAGRAM:
        return GROUP_DATAGRAM_HEAD + cast_set_bytes(h->servers) + h->name_bytes + h->length;
    default:
        return GROUP_RECEIPT_BYTES;
    }
}

static void put_name(const struct group_head *h, uint8_t *out)
{
    if (h->name_bytes > 0) {
        memcpy(out, h->name, h->name_bytes);
    }
}

static void encode_datagram(const struct group_head *h, uint8_t *out)
{
    size_t set = cast_set_bytes(h->servers);
    put_be32(out + 4, h->origin);
    put_be64(out + 8, h->life);
    put_be64(out + 16, h->number);
    put_be32(out + 24, h->job);
    put_be32(out + 28, h->servers);
    uint8_t *rest = out + GROUP_DATAGRAM_HEAD;
    memcpy(rest, h->set, set);
    put_name(h, rest + set);
    if (h->length > 0) {
        memcpy(rest + set + h->name_bytes, h->bytes, h->length);
    }
    put_be64(out + 32, cast_sum((uint32_t)h->number ^ h->job, rest, set + h->name_bytes + h->length));
}

void group_head_encode(const struct group_head *h, uint8_t *out)
{
    out[0] = (uint8_t)h->kind;
    out[1] = h->flags;
    out[2] = (uint8_t)h->name_bytes;
    out[3] = h->tree;
    switch (h->kind) {
    case GROUP_ANNOUNCE:
        put_be32(out + 4, h->job);
        put_be64(out + 8, h->life);
        put_be32(out + 16, h->serial);
        put_name(h, out + GROUP_ANNOUNCE_HEAD);
        break;
    case GROUP_MEMBERS:
        put_be32(out + 4, h->job);
        put_name(h, out + GROUP_MEMBERS_HEAD);
        break;
    case GROUP_DATAGRAM:
        encode_datagram(h, out);
        break;
    case GROUP_RECEIPT:
        put_be32(out + 4, (uint32_t)h->status);
        put_be64(out + 8, h->life);
        put_be64(out + 16, h->number);
        break;
    }
}

/* The name stands at `at` and is followed by `more` bytes and nothing else. */
static int take_name(const uint8_t *bytes, size_t length, size_t at, struct group_head *out)
{
    out->name_bytes = bytes[2];
    out->name = (const char *)bytes + at;
    bool good = out->name_bytes >= 1 && out->name_bytes <= GROUP_NAME_MOST && length == at + out->name_bytes;
    return good ? 0 : -EBADMSG;
}

static int decode_datagram(const uint8_t *bytes, size_t length, struct group_head *out)
{
    out->origin = get_be32(bytes + 4);
    out->life = get_be64(bytes + 8);
    out->number = get_be64(bytes + 16);
    out->job = get_be32(bytes + 24);
    out->servers = get_be32(bytes + 28);
    out->sum = get_be64(bytes + 32);
    out->name_bytes = bytes[2];
    size_t set = cast_set_bytes(out->servers), left = length - GROUP_DATAGRAM_HEAD;
    if (out->tree >= CW_LINK_COUNT || out->flags > DATAGRAM_FLAGS || out->name_bytes < 1 ||
        out->name_bytes > GROUP_NAME_MOST || out->origin >= out->servers || set > left ||
        left - set < out->name_bytes ||
        cast_sum((uint32_t)out->number ^ out->job, bytes + GROUP_DATAGRAM_HEAD, left) != out->sum) {
        return -EBADMSG;
    }
    out->set = bytes + GROUP_DATAGRAM_HEAD;
    out->name = (const char *)out->set + set;
    out->bytes = out->set + set + out->name_bytes;
    out->length = left - set - out->name_bytes;
    return 0;
}

int group_head_decode(const uint8_t *bytes, size_t length, struct group_head *out)
{
    static const size_t least[] = {0, GROUP_ANNOUNCE_HEAD, GROUP_MEMBERS_HEAD, GROUP_DATAGRAM_HEAD,
                                   GROUP_RECEIPT_BYTES};
    if (length < 1 || bytes[0] < GROUP_ANNOUNCE || bytes[0] > GROUP_RECEIPT || length < least[bytes[0]]) {
        return -EBADMSG;
    }
    *out = (struct group_head){.kind = (enum group_kind)bytes[0], .flags = bytes[1], .tree = bytes[3]};
    if (out->kind != GROUP_DATAGRAM && out->tree != 0) {
        return -EBADMSG;
    }
    switch (out->kind) {
    case GROUP_ANNOUNCE:
        out->job = get_be32(bytes + 4);
        out->life = get_be64(bytes + 8);
        out->serial = get_be32(bytes + 16);
        return out->flags > GROUP_FLAGS ? -EBADMSG : take_name(bytes, length, GROUP_ANNOUNCE_HEAD, out);
    case GROUP_MEMBERS:
        out->job = get_be32(bytes + 4);
        return out->flags != 0 ? -EBADMSG : take_name(bytes, length, GROUP_MEMBERS_HEAD, out);
    case GROUP_DATAGRAM:
        return decode_datagram(bytes, length, out);
    default:
        out->status = (int32_t)get_be32(bytes + 4);
        out->life = get_be64(bytes + 8);
        out->number = get_be64(bytes + 16);
        return out->flags != 0 || bytes[2] != 0 || length != GROUP_RECEIPT_BYTES || out->status > 0 ||
                       out->status < -STATUS_MOST
                   ? -EBADMSG
                   : 0;
    }
}

const uint8_t *group_set_decode(const uint8_t *bytes, size_t length, uint32_t servers)
{
    bool good = length == GROUP_SET_HEAD + cast_set_bytes(servers) && get_be32(bytes) == servers;
    return good ? bytes + GROUP_SET_HEAD : NULL;
}
