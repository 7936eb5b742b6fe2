/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_codecs.h - the control half of runtime/wire as struct codec, and random valid values of each of its structs, for tests,
 * fuzz targets, corpora and benches. A seed gives the same values on every machine.
 */
#ifndef KIT_CONTROL_CODECS_H
#define KIT_CONTROL_CODECS_H

#include "codec.h"
#include "dice.h"
#include "wire/goodbye.h"
#include "wire/hello.h"
#include "wire/stream.h"

/* 1..max, and one of both ends now and then. */
static inline uint64_t dice_nonzero(struct dice *d, uint64_t max)
{
    switch (dice_below(d, 8)) {
    case 0:
        return 1;
    case 1:
        return max;
    default:
        return 1 + dice_word(d) % max;
    }
}

/* --- values --- */

static inline struct hello dice_hello(struct dice *d)
{
    struct hello h = {0};
    h.session = (uint32_t)dice_nonzero(d, UINT32_MAX);
    h.cluster = (uint32_t)dice_word(d);
    h.config_hash = (uint32_t)dice_word(d);
    h.server = dice_coord(d);
    h.flags = (uint8_t)dice_below(d, HELLO_FLAGS + 1);
    h.port = (cw_link)dice_below(d, CW_LINK_COUNT);
    h.incarnation = dice_nonzero(d, UINT64_MAX);
    h.clock.ns = (int64_t)dice_nonzero(d, INT64_MAX - 1);
    if (dice_below(d, 4) != 0) {
        h.heard = (uint32_t)dice_nonzero(d, UINT32_MAX);
        h.echo.ns = (int64_t)dice_nonzero(d, INT64_MAX - 1);
    }
    h.position = (uint32_t)dice_word(d);
    h.ack = (uint32_t)dice_word(d);
    h.digest = dice_word(d);
    return h;
}

static inline struct goodbye dice_goodbye(struct dice *d)
{
    struct goodbye g = {0};
    g.session = (uint32_t)dice_nonzero(d, UINT32_MAX);
    g.incarnation = dice_nonzero(d, UINT64_MAX);
    g.server = dice_coord(d);
    g.reason = (uint8_t)(1 + dice_below(d, 3));
    return g;
}

static inline struct record dice_record(struct dice *d)
{
    struct record r = {0};
    r.origin = dice_coord(d);
    r.flags = (uint8_t)dice_below(d, RECORD_FLAGS + 1);
    r.incarnation = dice_nonzero(d, UINT64_MAX);
    r.seq = (uint32_t)dice_nonzero(d, UINT32_MAX);
    r.up = (cw_links)dice_below(d, CW_LINKS_ALL + 1);
    r.pending = (cw_links)(dice_word(d) & CW_LINKS_ALL & ~r.up);
    r.boot_nonce = (uint16_t)dice_word(d);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        if ((r.up | r.pending) & cw_links_of(link)) {
            r.neighbour[link] = (uint16_t)dice_word(d);
        }
    }
    return r;
}

static inline struct ack dice_ack(struct dice *d)
{
    struct ack a = {0};
    a.acker = dice_coord(d);
    a.acker_incarnation = dice_nonzero(d, UINT64_MAX);
    a.origin = dice_coord(d);
    a.incarnation = dice_nonzero(d, UINT64_MAX);
    a.seq = (uint32_t)dice_nonzero(d, UINT32_MAX);
    return a;
}

static inline struct summary_entry dice_summary_entry(struct dice *d)
{
    struct summary_entry e = {0};
    e.origin = dice_coord(d);
    e.incarnation = dice_nonzero(d, UINT64_MAX);
    e.seq = (uint32_t)dice_nonzero(d, UINT32_MAX);
    return e;
}

static inline struct job_part dice_job_part(struct dice *d, uint8_t *room)
{
    struct job_part p = {.bytes = room};
    p.job = (cw_job)dice_word(d);
    p.version = dice_word(d);
    p.total = 1 + dice_below(d, JOB_RECORD_BYTES_MAX);
    p.used = (uint16_t)(1 + dice_below(d, p.total < 40 ? p.total : 40));
    p.offset = dice_below(d, p.total - p.used + 1);
    for (unsigned i = 0; i < p.used; i++) {
        room[i] = (uint8_t)dice_word(d);
    }
    return p;
}

static inline struct job_ack dice_job_ack(struct dice *d)
{
    struct job_ack a = {0};
    a.server = dice_coord(d);
    a.incarnation = dice_nonzero(d, UINT64_MAX);
    a.job = (cw_job)dice_word(d);
    a.version = dice_word(d);
    return a;
}

static inline struct job_summary_entry dice_job_summary_entry(struct dice *d)
{
    struct job_summary_entry e = {0};
    e.job = (cw_job)dice_word(d);
    e.version = dice_word(d);
    return e;
}

/* Lists and job parts live in room[DICE_ROOM]. */
enum { DICE_ROOM = 512 };

static inline struct item dice_item(struct dice *d, enum item_type type, uint8_t room[static DICE_ROOM])
{
    struct item item = {.type = type};
    switch (type) {
    case ITEM_RECORD:
        item.record = dice_record(d);
        item.more = dice_below(d, 2) != 0;
        break;
    case ITEM_ACK:
        item.ack = dice_ack(d);
        break;
    case ITEM_SUMMARY:
        item.summary.entries = room;
        item.summary.count = (uint16_t)(1 + dice_below(d, 6));
        item.summary.last = dice_below(d, 2) != 0;
        for (unsigned i = 0; i < item.summary.count; i++) {
            struct summary_entry e = dice_summary_entry(d);
            summary_put(&e, room, i);
        }
        break;
    case ITEM_SYNCED:
        item.synced = dice_word(d);
        break;
    case ITEM_JOB_PART:
        item.job_part = dice_job_part(d, room);
        break;
    case ITEM_JOB_ACK:
        item.job_ack = dice_job_ack(d);
        break;
    case ITEM_JOB_SUMMARY:
        item.job_summary.entries = room;
        item.job_summary.count = (uint16_t)dice_below(d, 6);
        item.job_summary.last = dice_below(d, 2) != 0;
        for (unsigned i = 0; i < item.job_summary.count; i++) {
            struct job_summary_entry e = dice_job_summary_entry(d);
            job_summary_put(&e, room, i);
        }
        break;
    }
    return item;
}

static inline enum item_type dice_item_type(struct dice *d)
{
    return (enum item_type)(ITEM_RECORD + dice_below(d, ITEM_JOB_SUMMARY));
}

static inline struct stream_head dice_stream_head(struct dice *d)
{
    struct stream_head h = {0};
    h.session = (uint32_t)dice_nonzero(d, UINT32_MAX);
    h.heard = (uint32_t)dice_nonzero(d, UINT32_MAX);
    h.ack = (uint32_t)dice_word(d);
    h.first = (uint32_t)dice_nonzero(d, UINT32_MAX);
    return h;
}

/* A stream packet of `items` random items in bytes[limit], fewer if they do not fit; gives its length. */
static inline size_t dice_stream(struct dice *d, unsigned items, uint8_t *bytes, size_t limit)
{
    struct stream_writer w;
    stream_begin(&w, bytes, limit);
    for (unsigned i = 0; i < items; i++) {
        uint8_t room[DICE_ROOM];
        struct item item = dice_item(d, dice_item_type(d), room);
        if (!stream_put(&w, &item)) {
            break;
        }
    }
    struct stream_head head = dice_stream_head(d);
    return stream_finish(&w, &head);
}

/* --- codecs --- */

static inline enum wire_reason codec_hello_decode(const uint8_t *bytes, size_t size, void *out)
{
    return hello_decode(bytes, size, out);
}

static inline size_t codec_hello_encode(const void *in, uint8_t *bytes)
{
    hello_encode(in, bytes);
    return HELLO_BYTES;
}

static const struct codec codec_hello = {"hello", sizeof(struct hello), codec_hello_decode, codec_hello_encode};

static inline enum wire_reason codec_goodbye_decode(const uint8_t *bytes, size_t size, void *out)
{
    return goodbye_decode(bytes, size, out);
}

static inline size_t codec_goodbye_encode(const void *in, uint8_t *bytes)
{
    goodbye_encode(in, bytes);
    return GOODBYE_BYTES;
}

static const struct codec codec_goodbye = {"goodbye", sizeof(struct goodbye), codec_goodbye_decode,
                                           codec_goodbye_encode};

/* A record alone has no length of its own: the item around it has. */
static inline enum wire_reason codec_record_decode(const uint8_t *bytes, size_t size, void *out)
{
    return size == RECORD_BYTES ? record_decode(bytes, out) : WIRE_TRUNCATED;
}

static inline size_t codec_record_encode(const void *in, uint8_t *bytes)
{
    record_encode(in, bytes);
    return RECORD_BYTES;
}

static const struct codec codec_record = {"record", sizeof(struct record), codec_record_decode, codec_record_encode};

/* One item that fills the bytes. It starts as *out and a refusal hands it out as it is: codec_try() sees a touch. */
static inline enum wire_reason codec_item_decode(const uint8_t *bytes, size_t size, void *out)
{
    struct item item;
    memcpy(&item, out, sizeof item);
    enum wire_reason reason = item_decode(bytes, size, &item);
    if (reason == WIRE_OK && item_size(&item) != size) {
        return WIRE_BAD_LENGTH;
    }
    memcpy(out, &item, sizeof item);
    return reason;
}

static inline size_t codec_item_encode(const void *in, uint8_t *bytes)
{
    item_encode(in, bytes);
    return item_size(in);
}

static const struct codec codec_item = {"item", sizeof(struct item), codec_item_decode, codec_item_encode};

static inline enum wire_reason codec_stream_decode(const uint8_t *bytes, size_t size, void *out)
{
    return stream_decode(bytes, size, out);
}

/* Item by item through the cursor and the writer, so that both are under test; lists are read entry by entry. */
static inline size_t codec_stream_encode(const void *in, uint8_t *bytes)
{
    const struct stream *s = in;
    struct stream_writer w;
    struct item item;
    uint32_t number;
    uint32_t expected = s->head.first;
    stream_begin(&w, bytes, CODEC_BYTES_MAX);
    for (struct stream_cursor c = stream_items(s); stream_next(&c, &number, &item);) {
        if (number != expected++ || !stream_put(&w, &item)) {
            abort();
        }
    }
    return stream_finish(&w, &s->head);
}

static const struct codec codec_stream = {"stream", sizeof(struct stream), codec_stream_decode, codec_stream_encode};

#endif
