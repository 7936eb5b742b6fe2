/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - a control packet with items of the link's reliable, ordered control stream (semantics 4.4).
 *
 *      0               8              16              24             32
 *    0 | ver=2 | kind=4|     type=3   |            length            |
 *    4 |                           session                           |  never 0
 *    8 |                        heard session                        |  the receiver's session, never 0
 *   12 |                             ack                             |  number of the last item received in order
 *   16 |                            first                            |  number of the first item here
 *   20 |            items             |              0               |
 *   24   items (item.h)
 *
 * A packet without items is a bare acknowledgement; its `first` is 0. Item i has the number first + i, modulo 2^32
 * (position.h), so that numbers may wrap within a packet.
 *
 * A packet is accepted or refused as a whole: stream_decode() checks every item before the first is handed out, so that
 * no packet is applied by half.
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

/* A packet that was checked. It borrows the bytes that it was read from. */
struct stream {
    struct stream_head head;
    uint16_t items;
    uint16_t body_bytes;
    const uint8_t *body;
};

/* Reads the stream packet that fills bytes[size], with all items; see control.h for what every decoder promises. */
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

/*
 * A packet that is being made in a buffer of the caller's: stream_begin(), any number of stream_put(), stream_finish().
 */
struct stream_writer {
    uint8_t *bytes;
    size_t limit;   /* of the packet's size */
    size_t used;    /* the packet's size so far */
    uint16_t items; /* in it so far */
};

/*
 * Borrows bytes[limit] until stream_finish(); limit is at least STREAM_HEAD_BYTES, and PACKET_BYTES_MAX of it are used.
 */
void stream_begin(struct stream_writer *w, uint8_t *bytes, size_t limit);

/* Appends a copy of the item. False when it does not fit; nothing has been written then. */
CW_MUST_CHECK bool stream_put(struct stream_writer *w, const struct item *item);

/*
 * Writes the head and gives the packet's size in bytes. Without items, `first` is written as 0 whatever head says. It
 * may be called again, with more stream_put() before: the packet only grows.
 */
size_t stream_finish(struct stream_writer *w, const struct stream_head *head);

#endif
