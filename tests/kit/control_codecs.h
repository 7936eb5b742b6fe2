/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_codecs.h - the control half of runtime/wire as struct codec, and random valid values of each of its structs,
 * for tests, fuzz targets, corpora and benches. A seed gives the same values on every machine.
 */
#ifndef KIT_CONTROL_CODECS_H
#define KIT_CONTROL_CODECS_H

#include "codec.h"
#include "dice.h"
#include "wire/cabling.h"
#include "wire/goodbye.h"
#include "wire/hello.h"
#include "wire/stream.h"

/* A number of 1..max; every fourth is one of the two ends. */
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
        h.newest = (uint16_t)dice_word(d);
        h.before = (uint16_t)dice_word(d);
    }
    h.number = (uint16_t)dice_word(d);
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

static inline void dice_name(struct dice *d, char name[static PROBE_NAME_BYTES])
{
    unsigned length = dice_below(d, PROBE_NAME_BYTES + 1);
    memset(name, 0, PROBE_NAME_BYTES);
    for (unsigned i = 0; i < length; i++) {
        name[i] = (char)('!' + dice_below(d, '~' - '!' + 1));
    }
}

static inline void dice_place(struct dice *d, cw_dims *dims, cw_coord *at)
{
    dims->x = (uint16_t)dice_nonzero(d, CW_DIM_MAX);
    dims->y = (uint16_t)dice_nonzero(d, CW_DIM_MAX);
    dims->z = (uint16_t)dice_nonzero(d, CW_DIM_MAX);
    at->x = (uint8_t)dice_below(d, dims->x);
    at->y = (uint8_t)dice_below(d, dims->y);
    at->z = (uint8_t)dice_below(d, dims->z);
}

static inline struct probe dice_probe(struct dice *d)
{
    struct probe p = {0};
    p.session = (uint32_t)dice_nonzero(d, UINT32_MAX);
    p.cluster = (uint32_t)dice_word(d);
    p.heard = dice_below(d, 2) != 0 ? (uint32_t)dice_word(d) : 0;
    p.id = dice_nonzero(d, UINT64_MAX);
    p.port = (uint8_t)dice_below(d, CW_LINK_COUNT);
    p.label = (uint8_t)dice_below(d, PROBE_UNLABELLED + 1);
    if (dice_below(d, 2) != 0) {
        p.flags = (uint8_t)(PROBE_PLACED | (dice_below(d, 2) != 0 ? PROBE_TAKEN : 0));
        dice_place(d, &p.dims, &p.at);
    }
    dice_name(d, p.name);
    return p;
}

static inline struct cabling dice_cabling(struct dice *d)
{
    struct cabling c = {0};
    c.id = dice_nonzero(d, UINT64_MAX);
    c.version = (uint32_t)dice_nonzero(d, UINT32_MAX);
    c.flags = (uint8_t)dice_below(d, 3);
    if (c.flags != 0) {
        dice_place(d, &c.dims, &c.at);
        c.at = c.flags == CABLING_TOLD ? (cw_coord){0} : c.at;
    }
    c.solution = dice_below(d, 2) != 0 ? dice_word(d) : 0;
    dice_name(d, c.name);
    unsigned shift = dice_below(d, CW_LINK_COUNT);
    for (unsigned i = 0; i < CW_LINK_COUNT; i++) {
        unsigned kind = dice_below(d, 4);
        c.port[i].label = (uint8_t)(kind == 0   ? CABLING_NO_PORT
                                    : kind == 1 ? PROBE_UNLABELLED
                                                : (i + shift) % CW_LINK_COUNT);
        if (kind != 0 && dice_below(d, 4) != 0) {
            c.port[i].far_id = dice_nonzero(d, UINT64_MAX);
            c.port[i].far_port = (uint8_t)dice_below(d, CW_LINK_COUNT);
        }
    }
    return c;
}

/* Writes a packet of `count` random cablings, or of their acknowledgements, into bytes[]. Returns its length. */
static inline size_t dice_cablings(struct dice *d, unsigned count, bool acks, uint8_t *bytes)
{
    for (unsigned i = 0; i < count; i++) {
        struct cabling c = dice_cabling(d);
        struct cabling_ack ack = {c.id, c.version};
        if (acks) {
            cabling_ack_put(&ack, bytes, i);
        } else {
            cabling_put(&c, bytes, i);
        }
    }
    uint32_t session = (uint32_t)dice_nonzero(d, UINT32_MAX), heard = (uint32_t)dice_nonzero(d, UINT32_MAX);
    return acks ? cabling_ack_finish(session, heard, count, bytes) : cabling_finish(session, heard, count, bytes);
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

static inline struct about dice_about(struct dice *d)
{
    struct about a;
    dice_name(d, a.version);
    dice_name(d, a.build);
    return a;
}

/* Lists, job parts and unknown items that are drawn live in room[DICE_ROOM], the caller's. */
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
    case ITEM_ABOUT:
        item.about = dice_about(d);
        break;
    default:
        item.other =
            (struct item_other){.body = room, .size = (uint16_t)(4 * dice_below(d, 8)), .flags = (uint8_t)dice_word(d)};
        for (unsigned i = 0; i < item.other.size; i++) {
            room[i] = (uint8_t)dice_word(d);
        }
        break;
    }
    return item;
}

static inline enum item_type dice_item_type(struct dice *d)
{
    unsigned draw = dice_below(d, ITEM_JOB_SUMMARY + 2);
    return draw < ITEM_JOB_SUMMARY    ? (enum item_type)(ITEM_RECORD + draw)
           : draw == ITEM_JOB_SUMMARY ? ITEM_ABOUT
                                      : (enum item_type)(ITEM_OPTIONAL + 1 + dice_below(d, 127));
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

/* Writes a stream packet of `items` random items into bytes[limit], fewer if they do not fit. Returns its length. */
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

static inline enum wire_reason codec_probe_decode(const uint8_t *bytes, size_t size, void *out)
{
    return probe_decode(bytes, size, out);
}

static inline size_t codec_probe_encode(const void *in, uint8_t *bytes)
{
    probe_encode(in, bytes);
    return PROBE_BYTES;
}

static const struct codec codec_probe = {"probe", sizeof(struct probe), codec_probe_decode, codec_probe_encode};

static inline enum wire_reason codec_cabling_decode(const uint8_t *bytes, size_t size, void *out)
{
    return cabling_decode(bytes, size, out);
}

static inline size_t codec_cabling_encode(const void *in, uint8_t *bytes)
{
    const struct cabling_list *list = in;
    for (uint32_t i = 0; i < list->count; i++) {
        struct cabling c = cabling_get(list, i);
        cabling_put(&c, bytes, i);
    }
    return cabling_finish(list->session, list->heard, list->count, bytes);
}

static const struct codec codec_cabling = {"cabling", sizeof(struct cabling_list), codec_cabling_decode,
                                           codec_cabling_encode};

static inline enum wire_reason codec_cabling_ack_decode(const uint8_t *bytes, size_t size, void *out)
{
    return cabling_ack_decode(bytes, size, out);
}

static inline size_t codec_cabling_ack_encode(const void *in, uint8_t *bytes)
{
    const struct cabling_list *list = in;
    for (uint32_t i = 0; i < list->count; i++) {
        struct cabling_ack ack = cabling_ack_get(list, i);
        cabling_ack_put(&ack, bytes, i);
    }
    return cabling_ack_finish(list->session, list->heard, list->count, bytes);
}

static const struct codec codec_cabling_ack = {"cabling ack", sizeof(struct cabling_list), codec_cabling_ack_decode,
                                               codec_cabling_ack_encode};

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

/* One item that fills the bytes. It starts as *out and is copied back even if refused: codec_try() sees a change. */
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
