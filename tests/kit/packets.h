/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.h - data packets for tests, fuzzers and benches: random valid ones, and the two properties that all bytes
 * accepted by the decoders must have (written again they are the same; changed in place they are accepted again).
 */
#ifndef KIT_PACKETS_H
#define KIT_PACKETS_H

#include "dice.h"
#include "wire/packet.h"

#include <string.h>

static inline struct ext_request dice_request(struct dice *d)
{
    struct ext_request request = {.port = (cw_port)dice_word(d)};
    request.server = dice_coord(d);
    request.job = (cw_job)dice_word(d);
    request.process = (cw_process)dice_word(d);
    request.call = (uint32_t)dice_word(d);
    request.limit_us = (uint32_t)dice_word(d);
    return request;
}

static inline struct ext_response dice_response(struct dice *d)
{
    struct ext_response response = {.status = (uint16_t)dice_word(d)};
    response.server = dice_coord(d);
    response.job = (cw_job)dice_word(d);
    response.process = (cw_process)dice_word(d);
    response.call = (uint32_t)dice_word(d);
    return response;
}

static inline struct ext_path dice_path(struct dice *d)
{
    struct ext_path path = {.mode = (uint8_t)dice_below(d, 3)};
    path.places = (uint8_t)(EXT_PATH_LINKS_PER_WORD * (1 + dice_below(d, EXT_PATH_WORDS_MAX - 1)));
    path.hops = path.mode == EXT_PATH_OVERFLOW ? path.places : (uint8_t)dice_below(d, path.places + 1u);
    for (unsigned i = 0; i < path.hops; i++) {
        path.link[i] = (cw_link)dice_below(d, CW_LINK_COUNT);
    }
    return path;
}

static inline struct ext_trace_entry dice_trace_entry(struct dice *d)
{
    struct ext_trace_entry entry = {.server = dice_coord(d)};
    entry.in = (uint8_t)dice_below(d, EXT_TRACE_IN_MADE_HERE + 1);
    entry.out = (uint8_t)dice_below(d, EXT_TRACE_OUT_DROPPED + 1);
    entry.verdict = (uint8_t)dice_word(d);
    entry.queued = (uint16_t)dice_word(d);
    entry.wait_ns = (uint32_t)dice_word(d);
    entry.job = (cw_job)dice_word(d);
    return entry;
}

static inline struct ext_waypoints dice_waypoints(struct dice *d)
{
    struct ext_waypoints w = {.count = (uint8_t)(1 + dice_below(d, EXT_WAYPOINTS_MAX))};
    w.next = (uint8_t)dice_below(d, w.count + 1u);
    for (unsigned i = 0; i < w.count; i++) {
        w.at[i] = dice_coord(d);
    }
    return w;
}

static inline struct ext_guest dice_guest(struct dice *d)
{
    struct ext_guest guest = {.what = (uint8_t)dice_below(d, EXT_GUEST_WHATS)};
    guest.meant = (uint32_t)dice_word(d);
    guest.life = (uint32_t)dice_word(d);
    return guest;
}

/* One valid extension of the type at out (PACKET_EXT_BYTES_MAX of room); a trace has at most 20 places. */
static inline uint32_t dice_ext(struct dice *d, enum ext_type type, uint8_t *out)
{
    switch (type) {
    case EXT_KEY: {
        cw_key key;
        for (unsigned i = 0; i < CW_KEY_BYTES; i++) {
            key.b[i] = (uint8_t)dice_word(d);
        }
        return ext_key_write(&key, out);
    }
    case EXT_REQUEST: {
        struct ext_request request = dice_request(d);
        return ext_request_write(&request, out);
    }
    case EXT_RESPONSE: {
        struct ext_response response = dice_response(d);
        return ext_response_write(&response, out);
    }
    case EXT_PATH: {
        struct ext_path path = dice_path(d);
        return ext_path_write(&path, out);
    }
    case EXT_TRACE: {
        unsigned places = 1 + dice_below(d, 20);
        uint32_t bytes = ext_trace_start(places, out);
        for (unsigned i = dice_below(d, places + 1); i > 0; i--) {
            struct ext_trace_entry entry = dice_trace_entry(d);
            (void)ext_trace_append(out, &entry);
        }
        return bytes;
    }
    case EXT_WAYPOINTS: {
        struct ext_waypoints waypoints = dice_waypoints(d);
        return ext_waypoints_write(&waypoints, out);
    }
    case EXT_GUEST: {
        struct ext_guest guest = dice_guest(d);
        return ext_guest_write(&guest, out);
    }
    case EXT_TYPES:
        break;
    }
    return 0;
}

/* Up to three optional extensions, of types that nobody knows; returns their bytes. */
static inline uint32_t dice_optional(struct dice *d, uint8_t *out)
{
    uint32_t at = 0;
    for (unsigned type = EXT_OPTIONAL + dice_below(d, 100); type < 256; type += 1 + dice_below(d, 150)) {
        unsigned words = 1 + dice_below(d, 5);
        out[at] = (uint8_t)type;
        out[at + 1] = (uint8_t)words;
        for (unsigned i = 2; i < words * EXT_WORD_BYTES; i++) {
            out[at + i] = (uint8_t)dice_word(d);
        }
        at += words * EXT_WORD_BYTES;
        if (dice_below(d, 3) == 0) {
            break;
        }
    }
    return at;
}

/* For dice_packet(): beside the flags of the head; and all flags that a packet may have. */
enum { DICE_OPTIONAL = 0x100, DICE_FLAGS = 0x200 };

enum { DICE_PAYLOAD_MAX = 64, DICE_PACKET_MAX = PACKET_HEAD_BYTES + PACKET_EXT_BYTES_MAX + DICE_PAYLOAD_MAX };

/*
 * A valid packet with the extensions of `flags` that its kind may have, and with DICE_OPTIONAL such that nobody knows;
 * at most DICE_PACKET_MAX bytes. Fills *head.
 */
static inline uint32_t dice_packet(struct dice *d, unsigned kind, unsigned flags, struct packet_head *head,
                                   uint8_t *out)
{
    if (kind != PACKET_KEY) {
        flags &= ~packet_flag(EXT_KEY);
    }
    if (kind == PACKET_LINK) {
        flags &= ~packet_flag(EXT_WAYPOINTS);
    }
    uint32_t at = PACKET_HEAD_BYTES;
    for (unsigned type = 0; type < EXT_TYPES; type++) {
        if (flags & packet_flag((enum ext_type)type)) {
            at += dice_ext(d, (enum ext_type)type, out + at);
        }
    }
    at += flags & DICE_OPTIONAL ? dice_optional(d, out + at) : 0;
    *head = (struct packet_head){
        .kind = (uint8_t)kind,
        .flags = (uint8_t)flags,
        .ext_words = (uint8_t)((at - PACKET_HEAD_BYTES) / EXT_WORD_BYTES),
    };
    head->port = (cw_port)dice_word(d);
    head->job = (cw_job)dice_word(d);
    head->source_job = (cw_job)dice_word(d);
    head->source_process = (cw_process)dice_word(d);
    head->source = dice_coord(d);
    if (kind == PACKET_KEY) {
        head->to.key = dice_word(d);
    } else {
        head->to.server = dice_coord(d);
        head->to.process = (cw_process)dice_word(d);
    }
    unsigned budget = kind == PACKET_LINK ? 1 : 1 + dice_below(d, HOP_LIMIT_MAX);
    head->hops = (uint8_t)dice_below(d, budget + 1);
    head->hop_limit = (uint8_t)(budget - head->hops);
    for (unsigned i = dice_below(d, DICE_PAYLOAD_MAX + 1); i > 0; i--) {
        out[at++] = (uint8_t)dice_word(d);
    }
    head->length = (uint16_t)at;
    packet_encode(head, out);
    return at;
}

/* Writes an extension that ext_check() has accepted again, from its decoded values. Returns its bytes. */
static inline uint32_t recode_ext(const uint8_t *ext, enum ext_type type, uint8_t *out)
{
    switch (type) {
    case EXT_KEY: {
        cw_key key = ext_key_read(ext, 0);
        return ext_key_write(&key, out);
    }
    case EXT_REQUEST: {
        struct ext_request request = ext_request_read(ext);
        return ext_request_write(&request, out);
    }
    case EXT_RESPONSE: {
        struct ext_response response = ext_response_read(ext);
        return ext_response_write(&response, out);
    }
    case EXT_PATH: {
        struct ext_path path;
        ext_path_read(ext, &path);
        return ext_path_write(&path, out);
    }
    case EXT_TRACE: {
        uint32_t bytes = ext_trace_start(ext_trace_places(ext), out);
        for (unsigned i = 0; i < ext_trace_entries(ext); i++) {
            struct ext_trace_entry entry = ext_trace_get(ext, i);
            (void)ext_trace_append(out, &entry);
        }
        return bytes;
    }
    case EXT_WAYPOINTS: {
        struct ext_waypoints waypoints;
        ext_waypoints_read(ext, &waypoints);
        return ext_waypoints_write(&waypoints, out);
    }
    case EXT_GUEST: {
        struct ext_guest guest = ext_guest_read(ext);
        return ext_guest_write(&guest, out);
    }
    case EXT_TYPES:
        break;
    }
    return 0;
}

/* True when a packet that packet_decode() accepted as *head has the same bytes when written again from its values. */
static inline bool recodes(const uint8_t *bytes, const struct packet_head *head, const struct packet_exts *exts)
{
    uint8_t again[PACKET_HEAD_BYTES + PACKET_EXT_BYTES_MAX];
    uint32_t at = PACKET_HEAD_BYTES;
    packet_encode(head, again);
    for (unsigned type = 0; type < EXT_TYPES; type++) {
        if (exts->at[type] == 0) {
            continue;
        }
        if (exts->at[type] != at) {
            return false;
        }
        at += recode_ext(bytes + at, (enum ext_type)type, again + at);
    }
    /* What follows are extensions that are skipped by their words. */
    uint32_t known = at;
    for (unsigned type = EXT_OPTIONAL; at < packet_head_bytes(head); at += ext_bytes(bytes + at)) {
        if (bytes[at + EXT_AT_TYPE] < type || bytes[at + EXT_AT_WORDS] == 0) {
            return false;
        }
        type = bytes[at + EXT_AT_TYPE] + 1u;
    }
    return at == packet_head_bytes(head) && memcmp(again, bytes, known) == 0;
}

/* Makes one change in place, of the kind that transit makes; dice choose which. True when it was made. */
static inline bool change_packet(struct dice *d, uint8_t *packet, const struct packet_exts *exts)
{
    uint8_t *path = packet_ext(packet, exts, EXT_PATH);
    uint8_t *trace = packet_ext(packet, exts, EXT_TRACE);
    uint8_t *waypoints = packet_ext(packet, exts, EXT_WAYPOINTS);
    unsigned choice = dice_below(d, 16);
    if (choice < 6 && path != NULL) {
        ext_path_append(path, (cw_link)dice_below(d, CW_LINK_COUNT));
    } else if (choice == 6 && path != NULL) {
        return ext_path_turn(path);
    } else if (choice < 9 && path != NULL) {
        ext_path_pop(path);
    } else if (choice == 9 && path != NULL) {
        ext_path_forget(path);
    } else if (choice < 12 && trace != NULL) {
        struct ext_trace_entry entry = dice_trace_entry(d);
        return ext_trace_append(trace, &entry);
    } else if (choice < 14 && waypoints != NULL) {
        ext_waypoints_advance(waypoints);
    } else {
        return packet_hop(packet);
    }
    return true;
}

#endif
