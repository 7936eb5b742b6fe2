/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_pcap.c - frames for the dissector, and what it must say of them.
 *
 *     wire_pcap fields out.pcap     frames with every field of docs/wire.md, values put in by the encoders
 *     wire_pcap refused out.pcap    thousands of frames with a bit or two flipped, and the reasons of the C decoders
 *
 * Standard output is a table: a line of field names, then a line for each frame with the values in the form of
 * `tshark -T fields`, several values of one field joined by ';'. dissector.sh compares.
 */
#include "control_codecs.h"
#include "packets.h"
#include "pcap_table.h"
#include "wire/frame.h"

#include <inttypes.h>

enum { FRAME_BYTES_MAX = 4096, FLIPPED_FRAMES = 6000 };

/* --- frames with every field --- */

struct frame {
    uint8_t bytes[FRAME_BYTES_MAX];
    struct frame_plan plan;
    struct frame_head head;
};

static void start_frame(struct frame *f, struct dice *d, unsigned flags)
{
    frame_open(&f->plan, FRAME_BYTES_MAX, flags);
    f->head = (struct frame_head){.flags = (uint8_t)flags};
    f->head.session = (uint16_t)dice_word(d);
    f->head.sequence = flags & FRAME_RELAYED ? 0 : (uint16_t)dice_word(d);
    f->head.position = (uint16_t)dice_word(d);
    if (flags & FRAME_TAGGED) {
        f->head.counter = dice_word(d);
        for (unsigned i = 0; i < sizeof f->head.tag; i++) {
            f->head.tag[i] = (uint8_t)dice_word(d);
        }
    }
}

static void add_packet(struct frame *f, const uint8_t *packet, size_t size)
{
    memcpy(f->bytes + frame_add(&f->plan, (uint32_t)size), packet, size);
    expect("packet.version", "2");
    expect("packet.kind", "%u", packet_kind_of(packet));
    expect("packet.length", "%zu", size);
}

static void end_frame(struct frame *f, unsigned padding)
{
    f->head.packets = f->plan.packets;
    frame_encode(&f->head, f->bytes);
    expect("version", "2");
    expect("flags", "0x%02x", f->head.flags);
    expect("flags.tagged", "%d", (f->head.flags & FRAME_TAGGED) != 0);
    expect("flags.relayed", "%d", (f->head.flags & FRAME_RELAYED) != 0);
    expect("packets", "%u", f->head.packets);
    expect("session", "0x%04x", f->head.session);
    expect("sequence", "%u", f->head.sequence);
    expect("position", "%u", f->head.position);
    if (f->head.flags & FRAME_TAGGED) {
        expect("counter", "%" PRIu64, f->head.counter);
        expect_bytes("tag", f->head.tag, sizeof f->head.tag);
    }
    memset(f->bytes + f->plan.size, 0xaa, padding);
    if (padding > 0) {
        expect_bytes("padding", f->bytes + f->plan.size, padding);
    }
    table_frame(f->bytes, f->plan.size + padding);
}

static const char *const link_names[] = {"+x", "-x", "+y", "-y", "+z", "-z"};

static void expect_request(const uint8_t *ext)
{
    struct ext_request r = ext_request_read(ext);
    expect("request.port", "%u", r.port);
    expect("request.job", "%u", r.job);
    expect("request.process", "%u", r.process);
    expect_server("request.server", r.server);
    expect("request.call", "%u", r.call);
    expect("request.limit", "%u", r.limit_us);
}

static void expect_response(const uint8_t *ext)
{
    struct ext_response r = ext_response_read(ext);
    expect("response.status", "%u", r.status);
    expect("response.job", "%u", r.job);
    expect("response.process", "%u", r.process);
    expect_server("response.server", r.server);
    expect("response.call", "%u", r.call);
}

static void expect_path(const uint8_t *ext)
{
    struct ext_path path;
    char links[4 * EXT_PATH_LINKS_MAX] = "";
    ext_path_read(ext, &path);
    for (unsigned i = 0, at = 0; i < path.hops; i++) {
        at += (unsigned)snprintf(links + at, sizeof links - at, "%s%s", i > 0 ? " " : "", link_names[path.link[i]]);
    }
    expect("path.mode", "%u", path.mode);
    expect("path.hops", "%u", path.hops);
    expect("path.places", "%u", path.places);
    expect("path.links", "%s", links);
}

static void expect_trace(const uint8_t *ext)
{
    expect("trace.entries", "%u", ext_trace_entries(ext));
    expect("trace.places", "%u", ext_trace_places(ext));
    for (unsigned i = 0; i < ext_trace_entries(ext); i++) {
        struct ext_trace_entry e = ext_trace_get(ext, i);
        expect_server("trace.server", e.server);
        expect("trace.in", "%u", e.in);
        expect("trace.out", "%u", e.out);
        expect("trace.wait", "%u", e.wait_ns);
        expect("trace.job", "%u", e.job);
        expect("trace.verdict", "%u", e.verdict);
        expect("trace.queued", "%u", e.queued);
    }
}

static void expect_waypoints(const uint8_t *ext)
{
    struct ext_waypoints w;
    ext_waypoints_read(ext, &w);
    expect("waypoints.next", "%u", w.next);
    expect("waypoints.count", "%u", w.count);
    for (unsigned i = 0; i < w.count; i++) {
        expect_server("waypoints.at", w.at[i]);
    }
}

static void expect_guest(const uint8_t *ext)
{
    struct ext_guest g = ext_guest_read(ext);
    expect("guest.what", "%u", g.what);
    expect("guest.meant", "%u", g.meant);
    expect("guest.life", "%u", g.life);
}

static void expect_extensions(const struct packet_head *head, const uint8_t *packet)
{
    const uint8_t *ext = packet + PACKET_HEAD_BYTES;
    for (unsigned type = 0; type < EXT_TYPES; type++) {
        if ((head->flags & packet_flag((enum ext_type)type)) == 0) {
            continue;
        }
        expect("ext.type", "%u", type);
        expect("ext.words", "%u", ext[EXT_AT_WORDS]);
        switch ((enum ext_type)type) {
        case EXT_KEY: {
            cw_key key = ext_key_read(ext, head->to.key);
            expect_bytes("key.head", key.b, CW_KEY_BYTES - 8);
            expect_bytes("key.full", key.b, CW_KEY_BYTES);
            break;
        }
        case EXT_REQUEST:
            expect_request(ext);
            break;
        case EXT_RESPONSE:
            expect_response(ext);
            break;
        case EXT_PATH:
            expect_path(ext);
            break;
        case EXT_TRACE:
            expect_trace(ext);
            break;
        case EXT_WAYPOINTS:
            expect_waypoints(ext);
            break;
        case EXT_GUEST:
            expect_guest(ext);
            break;
        case EXT_TYPES:
            break;
        }
        ext += ext_bytes(ext);
    }
    for (; ext < packet + packet_head_bytes(head); ext += ext_bytes(ext)) {
        expect("ext.type", "%u", ext[EXT_AT_TYPE]);
        expect("ext.words", "%u", ext[EXT_AT_WORDS]);
        expect_bytes("ext.optional", ext + EXT_AT_ARGUMENT, ext_bytes(ext) - EXT_AT_ARGUMENT);
    }
}

static void add_data(struct frame *f, struct dice *d, unsigned kind, unsigned flags)
{
    uint8_t packet[DICE_PACKET_MAX];
    struct packet_head head;
    uint32_t size = dice_packet(d, kind, flags, &head, packet);
    add_packet(f, packet, size);
    expect("packet.flags", "0x%02x", head.flags);
    expect("packet.flags.full_key", "%d", (head.flags & packet_flag(EXT_KEY)) != 0);
    expect("packet.flags.trace", "%d", (head.flags & packet_flag(EXT_TRACE)) != 0);
    expect("packet.flags.mark", "%d", (head.flags & PACKET_MARK) != 0);
    expect("packet.hop_limit", "%u", head.hop_limit);
    expect("packet.hops", "%u", head.hops);
    expect("packet.port", "%u", head.port);
    expect("packet.job", "%u", head.job);
    expect("packet.source_job", "%u", head.source_job);
    expect("packet.source_process", "%u", head.source_process);
    expect_server("packet.source", head.source);
    expect("packet.ext_words", "%u", head.ext_words);
    if (kind == PACKET_KEY) {
        expect("packet.key", "0x%016" PRIx64, head.to.key);
    } else {
        expect_server("packet.server", head.to.server);
        expect("packet.process", "%u", head.to.process);
    }
    expect_extensions(&head, packet);
    uint32_t payload = packet_head_bytes(&head);
    if (size > payload) {
        expect_bytes("packet.payload", packet + payload, size - payload);
    }
}

static void add_hello(struct frame *f, struct dice *d)
{
    uint8_t bytes[HELLO_BYTES];
    struct hello h = dice_hello(d);
    hello_encode(&h, bytes);
    add_packet(f, bytes, sizeof bytes);
    expect("control.type", "%d", CONTROL_HELLO);
    expect("control.session", "0x%08x", h.session);
    expect("hello.cluster", "0x%08x", h.cluster);
    expect("hello.config", "0x%08x", h.config_hash);
    expect_server("hello.server", h.server);
    expect("hello.flags.synced", "%d", (h.flags & HELLO_SYNCED) != 0);
    expect("hello.flags.up", "%d", (h.flags & HELLO_UP) != 0);
    expect("hello.flags.leaving", "%d", (h.flags & HELLO_LEAVING) != 0);
    expect("hello.flags.fenced", "%d", (h.flags & HELLO_FENCED) != 0);
    expect("hello.port", "%u", h.port);
    expect("hello.heard", "0x%08x", h.heard);
    expect("hello.incarnation", "%" PRIu64, h.incarnation);
    expect("hello.clock", "%" PRId64, h.clock.ns);
    expect("hello.echo", "%" PRId64, h.echo.ns);
    expect("hello.position", "%u", h.position);
    expect("hello.ack", "%u", h.ack);
    expect("hello.digest", "0x%016" PRIx64, h.digest);
    expect("hello.number", "%u", h.number);
    expect("hello.newest", "%u", h.newest);
    expect("hello.before", "0x%04x", h.before);
}

static void add_goodbye(struct frame *f, struct dice *d)
{
    uint8_t bytes[GOODBYE_BYTES];
    struct goodbye g = dice_goodbye(d);
    goodbye_encode(&g, bytes);
    add_packet(f, bytes, sizeof bytes);
    expect("control.type", "%d", CONTROL_GOODBYE);
    expect("control.session", "0x%08x", g.session);
    expect("goodbye.incarnation", "%" PRIu64, g.incarnation);
    expect_server("goodbye.server", g.server);
    expect("goodbye.reason", "%u", g.reason);
}

static void expect_links(const char *name, cw_links links)
{
    char text[32] = "";
    for (cw_link link = 0, any = 0; link < CW_LINK_COUNT; link++) {
        if (links & cw_links_of(link)) {
            strcat(text, any++ > 0 ? " " : "");
            strcat(text, link_names[link]);
        }
    }
    expect(name, "%s", text);
}

static void expect_record(const struct record *r)
{
    expect_server("record.origin", r->origin);
    expect("record.flags.leaving", "%d", (r->flags & RECORD_LEAVING) != 0);
    expect("record.flags.active", "%d", (r->flags & RECORD_ACTIVE) != 0);
    expect("record.incarnation", "%" PRIu64, r->incarnation);
    expect("record.seq", "%u", r->seq);
    expect("record.up", "0x%02x", r->up);
    expect_links("record.up.links", r->up);
    expect("record.pending", "0x%02x", r->pending);
    expect_links("record.pending.links", r->pending);
    expect("record.nonce", "0x%04x", r->boot_nonce);
    for (cw_link link = 0; link < CW_LINK_COUNT; link++) {
        expect("record.neighbour", "0x%04x", r->neighbour[link]);
    }
}

static void expect_job_part(const struct job_part *p)
{
    static const uint8_t zeros[3];
    expect("job_part.job", "%u", p->job);
    expect("job_part.version", "%" PRIu64, p->version);
    expect("job_part.total", "%u", p->total);
    expect("job_part.offset", "%u", p->offset);
    expect("job_part.used", "%u", p->used);
    expect_bytes("job_part.bytes", p->bytes, p->used);
    if (p->used % 4 != 0) {
        expect_bytes("job_part.padding", zeros, 4 - p->used % 4);
    }
}

static void expect_item(const struct item *item)
{
    bool last = false;
    switch (item->type) {
    case ITEM_RECORD:
        expect_record(&item->record);
        break;
    case ITEM_ACK:
        expect_server("ack.acker", item->ack.acker);
        expect("ack.acker_incarnation", "%" PRIu64, item->ack.acker_incarnation);
        expect_server("ack.origin", item->ack.origin);
        expect("ack.incarnation", "%" PRIu64, item->ack.incarnation);
        expect("ack.seq", "%u", item->ack.seq);
        break;
    case ITEM_SUMMARY:
        for (unsigned i = 0; i < item->summary.count; i++) {
            struct summary_entry e = summary_get(&item->summary, i);
            expect_server("summary.origin", e.origin);
            expect("summary.incarnation", "%" PRIu64, e.incarnation);
            expect("summary.seq", "%u", e.seq);
        }
        last = item->summary.last;
        break;
    case ITEM_SYNCED:
        expect("synced.digest", "0x%016" PRIx64, item->synced);
        break;
    case ITEM_JOB_PART:
        expect_job_part(&item->job_part);
        break;
    case ITEM_JOB_ACK:
        expect_server("job_ack.server", item->job_ack.server);
        expect("job_ack.incarnation", "%" PRIu64, item->job_ack.incarnation);
        expect("job_ack.job", "%u", item->job_ack.job);
        expect("job_ack.version", "%" PRIu64, item->job_ack.version);
        break;
    case ITEM_JOB_SUMMARY:
        for (unsigned i = 0; i < item->job_summary.count; i++) {
            struct job_summary_entry e = job_summary_get(&item->job_summary, i);
            expect("job_summary.job", "%u", e.job);
            expect("job_summary.version", "%" PRIu64, e.version);
        }
        last = item->job_summary.last;
        break;
    case ITEM_ABOUT:
        expect("about.version", "%.*s", ABOUT_TEXT_BYTES, item->about.version);
        expect("about.build", "%.*s", ABOUT_TEXT_BYTES, item->about.build);
        break;
    default:
        last = (item->other.flags & 1) != 0;
        if (item->other.size > 0) {
            expect_bytes("item.body", item->other.body, item->other.size);
        }
        break;
    }
    expect("item.type", "%u", (unsigned)item->type);
    expect("item.flags.last", "%d", last);
    expect("item.length", "%zu", item_size(item));
}

/* Items of the types first..last, one each; none when first is above last. */
static void add_stream(struct frame *f, struct dice *d, unsigned first, unsigned last)
{
    uint8_t bytes[FRAME_BYTES_MAX / 2];
    struct stream_writer w;
    struct stream_head head = dice_stream_head(d);
    head.first = first <= last ? UINT32_MAX - 1 : 0; /* the numbers wrap */
    stream_begin(&w, bytes, sizeof bytes);
    for (unsigned type = first; type <= last; type++) {
        uint8_t room[DICE_ROOM];
        struct item item = dice_item(d, (enum item_type)type, room);
        if (!stream_put(&w, &item)) {
            abort();
        }
        expect("item.number", "%u", head.first + (type - first));
        expect_item(&item);
    }
    add_packet(f, bytes, stream_finish(&w, &head));
    expect("control.type", "%d", CONTROL_STREAM);
    expect("control.session", "0x%08x", head.session);
    expect("stream.heard", "0x%08x", head.heard);
    expect("stream.ack", "%u", head.ack);
    expect("stream.first", "%u", head.first);
    expect("stream.items", "%u", w.items);
}

static void save_fields(struct dice *d)
{
    static struct frame f;
    for (unsigned round = 0; round < 12; round++) {
        for (unsigned kind = PACKET_KEY; kind <= PACKET_LINK; kind++) {
            start_frame(&f, d, round % 3 == 0 ? FRAME_RELAYED : 0);
            add_data(&f, d, kind,
                     round < EXT_TYPES ? packet_flag((enum ext_type)round) : (unsigned)dice_word(d) & (DICE_FLAGS - 1));
            end_frame(&f, dice_below(d, 20));
        }
        start_frame(&f, d, round % 2 ? FRAME_TAGGED : 0);
        add_hello(&f, d);
        end_frame(&f, 0);
        start_frame(&f, d, FRAME_TAGGED);
        add_goodbye(&f, d);
        end_frame(&f, 6);
        start_frame(&f, d, 0);
        add_stream(&f, d, ITEM_RECORD, ITEM_JOB_SUMMARY);
        end_frame(&f, 0);
        start_frame(&f, d, 0);
        add_stream(&f, d, ITEM_ABOUT, ITEM_ABOUT + 1);
        end_frame(&f, 0);
        start_frame(&f, d, 0);
        add_stream(&f, d, 1, 0);
        add_data(&f, d, PACKET_SERVER, 0);
        add_data(&f, d, PACKET_KEY, packet_flag(EXT_PATH));
        end_frame(&f, 0);
    }
}

/* --- frames with flipped bits --- */

static enum wire_reason judge_packet(const uint8_t *bytes, size_t size)
{
    if (packet_kind_of(bytes) != PACKET_CONTROL) {
        struct packet_head head;
        struct packet_exts exts;
        return packet_decode(bytes, size, &head, &exts);
    }
    struct control_head head;
    struct hello hello;
    struct goodbye goodbye;
    struct stream stream;
    struct probe probe;
    struct cabling_list list;
    enum wire_reason reason = control_decode(bytes, size, &head);
    if (reason != WIRE_OK) {
        return reason;
    }
    switch (head.type) {
    case CONTROL_HELLO:
        return hello_decode(bytes, size, &hello);
    case CONTROL_GOODBYE:
        return goodbye_decode(bytes, size, &goodbye);
    case CONTROL_PROBE:
        return probe_decode(bytes, size, &probe);
    case CONTROL_CABLING:
        return cabling_decode(bytes, size, &list);
    case CONTROL_CABLING_ACK:
        return cabling_ack_decode(bytes, size, &list);
    default:
        return stream_decode(bytes, size, &stream);
    }
}

static void expect_refused(const uint8_t *bytes, size_t size)
{
    struct frame_head head;
    struct frame_walk frame;
    struct frame_slice slice;
    enum wire_reason reason = frame_decode(bytes, size, &head, &frame);
    if (reason != WIRE_OK) {
        expect("refused", "%s", wire_reason_name(reason));
        return;
    }
    while (frame_next(bytes, &frame, &slice)) {
        reason = judge_packet(bytes + slice.at, slice.size);
        if (reason != WIRE_OK) {
            expect("refused", "%s", wire_reason_name(reason));
        }
    }
}

/* One random packet, the more interesting kinds more often. */
static size_t draw_packet(struct dice *d, uint8_t *bytes, size_t limit)
{
    struct packet_head head;
    struct hello hello;
    struct goodbye goodbye;
    struct probe probe;
    switch (dice_below(d, 11)) {
    case 8:
        probe = dice_probe(d);
        probe_encode(&probe, bytes);
        return PROBE_BYTES;
    case 9:
    case 10:
        return dice_cablings(d, 1 + dice_below(d, 3), dice_below(d, 3) == 0, bytes);
    case 0:
        hello = dice_hello(d);
        hello_encode(&hello, bytes);
        return HELLO_BYTES;
    case 1:
        goodbye = dice_goodbye(d);
        goodbye_encode(&goodbye, bytes);
        return GOODBYE_BYTES;
    case 2:
    case 3:
    case 4:
        return dice_stream(d, dice_below(d, 4), bytes, limit);
    default:
        return dice_packet(d, 1 + dice_below(d, 3), (unsigned)(dice_word(d) & dice_word(d)) & (DICE_FLAGS - 1), &head,
                           bytes);
    }
}

static void save_refused(struct dice *d)
{
    for (unsigned i = 0; i < FLIPPED_FRAMES; i++) {
        uint8_t bytes[FRAME_BYTES_MAX], packet[FRAME_BYTES_MAX / 2];
        struct frame_plan plan;
        struct frame_head head = {.session = 1};
        frame_open(&plan, sizeof bytes, 0);
        for (unsigned packets = 1 + dice_below(d, 2); packets > 0; packets--) {
            size_t size = draw_packet(d, packet, 600);
            memcpy(bytes + frame_add(&plan, (uint32_t)size), packet, size);
            head.packets++;
        }
        frame_encode(&head, bytes);
        for (unsigned flips = 1 + dice_below(d, 2); flips > 0; flips--) {
            /* Every second flip hits one of the heads, where most rules are. */
            uint32_t range = dice_below(d, 2) && plan.size > 80 ? 80 : plan.size;
            bytes[dice_below(d, range)] ^= (uint8_t)(1u << dice_below(d, 8));
        }
        expect_refused(bytes, plan.size);
        table_frame(bytes, plan.size);
    }
}

int main(int argc, char **argv)
{
    bool refused = argc == 3 && strcmp(argv[1], "refused") == 0;
    if (argc != 3 || (!refused && strcmp(argv[1], "fields") != 0)) {
        fprintf(stderr, "usage: %s fields|refused <pcap>\n", argv[0]);
        return 2;
    }
    struct dice d = {40};
    table_open(argv[2], refused ? "refused" : NULL);
    if (refused) {
        save_refused(&d);
    } else {
        save_fields(&d);
    }
    table_close();
    return EXIT_SUCCESS;
}
