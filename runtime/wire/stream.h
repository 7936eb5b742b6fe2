/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - a control packet with items of the link's reliable, ordered control stream (semantics 4.4).
 *
 *      0               8              16              24             32
 *    0 | ver=1 | kind=4|     type=3   |            length            |
 *    4 |                           session                           |  never 0
 *    8 |                        heard session                        |  the receiver's session, never 0
 *   12 |                             ack                             |  last item received in order
 *   16 |                            first                            |  number of the first item here
 *   20 |            items             |              0               |
 *   24   items (item.h)
 *
 * A packet without items is a bare acknowledgement; its first is 0. Item i has the number first + i, modulo 2^32
 * (position.h): a packet may well cross the wrap.
 *
 * A packet is whole or it is not: stream_decode() checks every item before the first is handed out, so that
 * no packet is ever half applied.
 */
#ifndef WIRE_STREAM_H
#define WIRE_STREAM_H

#include "wire/item.h"

struct stream_head {
    uint32_t session;
    uint32_t heard;
    uint32_t ack;
    uint32_t first;
};

/* A checked packet: borrows the bytes that it was read from. */
struct stream {
    struct stream_head head;
    uint16_t items;
    uint16_t body_bytes;
    const uint8_t *body;
};

/* Reads the stream packet that fills bytes[size], every item included; see control.h for what every decoder promises. */
CW_MUST_CHECK enum wire_reason stream_decode(const uint8_t *bytes, size_t size, struct stream *out);

/*
 * The items of an accepted packet, in order:
 *
 *     for (struct stream_cursor c = stream_items(&s); stream_next(&c, &number, &item);) { ... }
 *
 * Lists and job parts borrow the packet's bytes, which must not have changed since stream_decode().
 */
struct stream_cursor {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t number; /* of the next item */
};

struct stream_cursor stream_items(const struct stream *s);
bool stream_next(struct stream_cursor *c, uint32_t *number, struct item *item);

/* A packet in the making, in a buffer of the caller's: stream_begin(), any number of stream_put(), stream_finish(). */
struct stream_writer {
    uint8_t *bytes;
    size_t limit;
    size_t used;
    uint16_t items;
};

/* Borrows bytes[limit] until stream_finish(); limit is STREAM_HEAD_BYTES or more. Nothing past PACKET_BYTES_MAX is used. */
void stream_begin(struct stream_writer *w, uint8_t *bytes, size_t limit);

/* Appends a copy of the item. False, and nothing written, when it does not fit. */
CW_MUST_CHECK bool stream_put(struct stream_writer *w, const struct item *item);

/*
 * Writes the head and gives the length of the packet. With no item in it `first` is written as 0, whatever head says. May be called
 * again, and stream_put() after it: the packet only grows.
 */
size_t stream_finish(struct stream_writer *w, const struct stream_head *head);

#endif
