/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast_head.h"

#include "base/bytes.h"
#include "base/sum.h"

#include <errno.h>
#include <string.h>

size_t cast_head_bytes(enum cast_kind kind)
{
    switch (kind) {
    case CAST_OPEN:
        return CAST_OPEN_HEAD;
    case CAST_DATA:
        return CAST_DATA_HEAD;
    case CAST_ACK:
        return CAST_ACK_BYTES;
    case CAST_DONE:
        return CAST_DONE_BYTES;
    case CAST_DONE_ACK:
        return CAST_DONE_ACK_BYTES;
    }
    return 0;
}

void cast_head_encode(const struct cast_head *h, uint8_t *out)
{
    memset(out, 0, cast_head_bytes(h->kind));
    out[0] = (uint8_t)h->kind;
    out[1] = h->tree;
    put_be32(out + 4, h->origin);
    put_be64(out + 8, h->number);
    if (h->kind == CAST_DONE) {
        put_be32(out + 16, (uint32_t)-h->status);
        put_be64(out + 24, h->sum);
        return;
    }
    if (h->kind == CAST_DONE_ACK) {
        return;
    }
    put_be32(out + 16, h->edge);
    put_be32(out + 20, h->order);
    put_be32(out + 24, h->index);
    if (h->kind == CAST_DATA) {
        put_be64(out + 32, h->sum);
    } else if (h->kind == CAST_ACK) {
        put_be64(out + 32, h->serial);
        put_be64(out + 40, h->have[0]);
        put_be64(out + 48, h->have[1]);
    } else {
        put_be32(out + 28, h->piece_bytes);
        put_be64(out + 32, h->bytes);
        put_be64(out + 40, h->tag);
        put_be32(out + 48, h->servers);
    }
}

static int decode_edge(const uint8_t *p, size_t length, struct cast_head *h)
{
    h->edge = get_be32(p + 16);
    h->order = get_be32(p + 20);
    h->index = get_be32(p + 24);
    if (h->kind == CAST_OPEN) {
        h->piece_bytes = get_be32(p + 28);
        h->bytes = get_be64(p + 32);
        h->tag = get_be64(p + 40);
        h->servers = get_be32(p + 48);
        bool good = h->piece_bytes >= CAST_PIECE_LEAST && h->piece_bytes <= CAST_PIECE_MOST && get_be32(p + 52) == 0 &&
                    length - CAST_OPEN_HEAD == cast_members_bytes(h->servers);
        return good ? 0 : -EBADMSG;
    }
    if (get_be32(p + 28) != 0) {
        return -EBADMSG;
    }
    if (h->kind == CAST_DATA) {
        h->sum = get_be64(p + 32);
        return h->rest_bytes > 0 ? 0 : -EBADMSG;
    }
    h->serial = get_be64(p + 32);
    h->have[0] = get_be64(p + 40);
    h->have[1] = get_be64(p + 48);
    return h->rest_bytes == 0 ? 0 : -EBADMSG;
}

int cast_head_decode(const uint8_t *bytes, size_t length, struct cast_head *out)
{
    *out = (struct cast_head){.kind = CAST_DONE_ACK};
    if (length < CAST_DONE_ACK_BYTES || bytes[0] < CAST_OPEN || bytes[0] > CAST_DONE_ACK || bytes[1] >= CW_LINK_COUNT ||
        get_be16(bytes + 2) != 0) {
        return -EBADMSG;
    }
    out->kind = (enum cast_kind)bytes[0];
    size_t head = cast_head_bytes(out->kind);
    if (length < head) {
        return -EBADMSG;
    }
    out->tree = bytes[1];
    out->origin = get_be32(bytes + 4);
    out->number = get_be64(bytes + 8);
    out->rest = bytes + head;
    out->rest_bytes = length - head;
    if (out->kind == CAST_DONE) {
        uint32_t status = get_be32(bytes + 16);
        out->status = -(int32_t)(status & 0xfff);
        out->sum = get_be64(bytes + 24);
        return status <= 0xfff && get_be32(bytes + 20) == 0 && out->tree == 0 && out->rest_bytes == 0 ? 0 : -EBADMSG;
    }
    if (out->kind == CAST_DONE_ACK) {
        return out->tree == 0 && out->rest_bytes == 0 ? 0 : -EBADMSG;
    }
    return decode_edge(bytes, length, out);
}

uint64_t cast_sum(uint8_t tree, uint32_t index, const uint8_t *bytes, size_t length)
{
    return sum_of((uint64_t)tree << 32 | index, bytes, length);
}
