/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/stream.h"
#include "base/check.h"
#include "wire/field.h"

static enum wire_reason check_items(const uint8_t *bytes, size_t size, unsigned count)
{
    size_t length;
    for (; count > 0 && size > 0; count--) {
        enum wire_reason reason = item_check(bytes, size, &length);
        if (reason != WIRE_OK) {
            return reason;
        }
        bytes += length;
        size -= length;
    }
    return count == 0 && size == 0 ? WIRE_OK : WIRE_BAD_COUNT;
}

enum wire_reason stream_decode(const uint8_t *bytes, size_t size, struct stream *out)
{
    struct control_head head;
    enum wire_reason reason = control_decode(bytes, size, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (head.type != CONTROL_STREAM) {
        return WIRE_BAD_KIND;
    }
    struct stream s = {
        .head =
            {
                .session = head.session,
                .heard = get_be32(bytes + 8),
                .ack = get_be32(bytes + 12),
                .first = get_be32(bytes + 16),
            },
        .items = get_be16(bytes + 20),
        .body_bytes = (uint16_t)(size - STREAM_HEAD_BYTES),
        .body = bytes + STREAM_HEAD_BYTES,
    };
    if (get_be16(bytes + 22) != 0) {
        return WIRE_RESERVED;
    }
    if (s.head.heard == 0 || (s.items == 0 && s.head.first != 0)) {
        return WIRE_BAD_VALUE;
    }
    reason = check_items(s.body, s.body_bytes, s.items);
    if (reason == WIRE_OK) {
        *out = s;
    }
    return reason;
}

struct stream_cursor stream_items(const struct stream *s)
{
    return (struct stream_cursor){.at = s->body, .end = s->body + s->body_bytes, .number = s->head.first};
}

bool stream_next(struct stream_cursor *c, uint32_t *number, struct item *item)
{
    if (c->at == c->end) {
        return false;
    }
    item_read(c->at, item); /* stream_decode() has found it sound, and the bytes have not changed */
    c->at += get_be16(c->at + 2);
    CHECK(c->at <= c->end);
    *number = c->number++;
    return true;
}

void stream_begin(struct stream_writer *w, uint8_t *bytes, size_t limit)
{
    CHECK(limit >= STREAM_HEAD_BYTES);
    *w = (struct stream_writer){
        .bytes = bytes,
        .limit = limit < PACKET_BYTES_MAX ? limit : PACKET_BYTES_MAX,
        .used = STREAM_HEAD_BYTES,
    };
}

bool stream_put(struct stream_writer *w, const struct item *item)
{
    size_t size = item_size(item);
    if (size > w->limit - w->used) {
        return false;
    }
    item_encode(item, w->bytes + w->used);
    w->used += size;
    w->items++;
    return true;
}

size_t stream_finish(struct stream_writer *w, const struct stream_head *head)
{
    CHECK(head->heard != 0);
    control_encode(&(struct control_head){CONTROL_STREAM, (uint16_t)w->used, head->session}, w->bytes);
    put_be32(w->bytes + 8, head->heard);
    put_be32(w->bytes + 12, head->ack);
    put_be32(w->bytes + 16, w->items > 0 ? head->first : 0);
    put_be16(w->bytes + 20, w->items);
    put_be16(w->bytes + 22, 0);
    return w->used;
}
