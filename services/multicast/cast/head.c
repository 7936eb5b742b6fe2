/* SPDX-License-Identifier: Apache-2.0 */
#include "services/multicast/cast/head.h"

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
    case CAST_LACK:
        return CAST_LACK_HEAD;
    case CAST_HEARD:
        return CAST_HEARD_BYTES;
    case CAST_STOP:
        return CAST_STOP_BYTES;
    }
    return 0;
}

/* ---- Between a member and the source ----------------------------------------------------------------------------- */

static void encode_report(const struct cast_head *h, uint8_t *out)
{
    if (h->kind == CAST_DONE || h->kind == CAST_STOP) {
        put_be32(out + 16, (uint32_t)-h->status);
    } else {
        put_be32(out + 16, h->piece);
    }
    if (h->kind == CAST_DONE) {
        put_be64(out + 24, h->sum);
    } else if (h->kind == CAST_LACK) {
        put_be32(out + 20, h->count);
        put_be32(out + 24, h->missing);
    }
}

static int decode_report(const uint8_t *p, struct cast_head *h)
{
    if (h->tree != 0 || (h->rest_bytes != 0 && h->kind != CAST_LACK)) {
        return -EBADMSG;
    }
    uint32_t word = get_be32(p + 16);
    if (h->kind == CAST_HEARD) {
        h->piece = word;
        return 0;
    }
    if (h->kind == CAST_LACK) {
        h->piece = word;
        h->count = get_be32(p + 20);
        h->missing = get_be32(p + 24);
        bool fits = h->rest_bytes == 0 || (h->count > 0 && h->rest_bytes == ((size_t)h->count + 7) / 8);
        return get_be32(p + 28) == 0 && fits && h->piece <= UINT32_MAX - h->count ? 0 : -EBADMSG;
    }
    h->status = -(int32_t)(word & 0xfff);
    h->sum = h->kind == CAST_DONE ? get_be64(p + 24) : 0;
    return word <= 0xfff && get_be32(p + 20) == 0 ? 0 : -EBADMSG;
}

/* ---- Between a parent and a child -------------------------------------------------------------------------------- */

static void encode_edge(const struct cast_head *h, uint8_t *out)
{
    put_be32(out + 16, h->edge);
    put_be32(out + 20, h->order);
    put_be32(out + 24, h->index);
    if (h->kind == CAST_DATA) {
        put_be32(out + 28, h->piece);
        put_be64(out + 32, h->sum);
    } else if (h->kind == CAST_ACK) {
        put_be32(out + 28, h->length);
        put_be64(out + 32, h->serial);
        put_be64(out + 40, h->have[0]);
        put_be64(out + 48, h->have[1]);
    } else {
        put_be32(out + 28, h->piece_bytes);
        put_be64(out + 32, h->bytes);
        put_be32(out + 40, h->length);
        put_be32(out + 44, h->servers);
        memcpy(out + 48, h->id, CAST_ID_BYTES);
        out[64] = h->content;
        put_be16(out + 66, h->label_bytes);
    }
}

static int decode_open(const uint8_t *p, struct cast_head *h)
{
    h->piece_bytes = get_be32(p + 28);
    h->bytes = get_be64(p + 32);
    h->length = get_be32(p + 40);
    h->servers = get_be32(p + 44);
    memcpy(h->id, p + 48, CAST_ID_BYTES);
    h->content = p[64];
    h->label_bytes = get_be16(p + 66);
    bool good = h->piece_bytes >= CAST_PIECE_LEAST && h->piece_bytes <= CAST_PIECE_MOST && p[65] == 0 &&
                get_be32(p + 68) == 0 && h->label_bytes <= CAST_LABEL_MOST &&
                h->rest_bytes == cast_set_bytes(h->servers) + h->label_bytes;
    return good ? 0 : -EBADMSG;
}

static int decode_edge(const uint8_t *p, struct cast_head *h)
{
    h->edge = get_be32(p + 16);
    h->order = get_be32(p + 20);
    h->index = get_be32(p + 24);
    if (h->kind == CAST_OPEN) {
        return decode_open(p, h);
    }
    if (h->kind == CAST_DATA) {
        h->piece = get_be32(p + 28);
        h->sum = get_be64(p + 32);
        return h->rest_bytes > 0 ? 0 : -EBADMSG;
    }
    h->length = get_be32(p + 28);
    h->serial = get_be64(p + 32);
    h->have[0] = get_be64(p + 40);
    h->have[1] = get_be64(p + 48);
    return h->rest_bytes == 0 ? 0 : -EBADMSG;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

void cast_head_encode(const struct cast_head *h, uint8_t *out)
{
    memset(out, 0, cast_head_bytes(h->kind));
    out[0] = (uint8_t)h->kind;
    out[1] = h->tree;
    put_be16(out + 2, h->round);
    put_be32(out + 4, h->origin);
    put_be64(out + 8, h->number);
    if (h->kind >= CAST_DONE) {
        encode_report(h, out);
    } else {
        encode_edge(h, out);
    }
}

int cast_head_decode(const uint8_t *bytes, size_t length, struct cast_head *out)
{
    *out = (struct cast_head){.kind = CAST_HEARD};
    if (length < 16 || bytes[0] < CAST_OPEN || bytes[0] > CAST_STOP || bytes[1] >= CW_LINK_COUNT) {
        return -EBADMSG;
    }
    out->kind = (enum cast_kind)bytes[0];
    size_t head = cast_head_bytes(out->kind);
    if (length < head) {
        return -EBADMSG;
    }
    out->tree = bytes[1];
    out->round = get_be16(bytes + 2);
    out->origin = get_be32(bytes + 4);
    out->number = get_be64(bytes + 8);
    out->rest = bytes + head;
    out->rest_bytes = length - head;
    return out->kind >= CAST_DONE ? decode_report(bytes, out) : decode_edge(bytes, out);
}

uint64_t cast_sum(uint32_t piece, const uint8_t *bytes, size_t length)
{
    return sum_of(piece, bytes, length);
}
