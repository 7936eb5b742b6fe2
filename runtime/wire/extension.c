/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/extension.h"

#include "base/bytes.h"
#include "base/check.h"

enum {
    KEY_HEAD_BYTES = CW_KEY_BYTES - 8,
    PLACE_BITS = 3,
    PATH_AT_MODE = 2,
    PATH_AT_HOPS = 3,
    TRACE_AT_ENTRIES = 3,
    TRACE_ENTRY_BYTES = EXT_TRACE_ENTRY_WORDS * EXT_WORD_BYTES,
    WAYPOINTS_AT_NEXT = 2,
    WAYPOINTS_AT_COUNT = 3,
    GUEST_AT_WHAT = 2,
    GUEST_AT_FLAGS = 3,
};

_Static_assert(EXT_AT_BODY + KEY_HEAD_BYTES == EXT_KEY_WORDS * EXT_WORD_BYTES, "full key");
_Static_assert(2 + EXT_PATH_LINKS_PER_WORD * PLACE_BITS == 32, "two spare bits a word");
_Static_assert(EXT_PATH_LINKS_MAX >= (int)HOP_LIMIT_DEFAULT, "a path as long as the default hop budget fits");
_Static_assert(1 + EXT_TRACE_ENTRIES_MAX * EXT_TRACE_ENTRY_WORDS <= PACKET_EXT_WORDS_MAX, "trace");

/* In octal each digit is one place of a path's word; the leftmost of the ten is the first hop. */
#define PATH_EVERY_4 04444444444u
#define PATH_PLACES 07777777777u

static uint32_t head_write(uint8_t *out, enum ext_type type, unsigned words, unsigned argument)
{
    out[EXT_AT_TYPE] = (uint8_t)type;
    out[EXT_AT_WORDS] = (uint8_t)words;
    put_be16(out + EXT_AT_ARGUMENT, (uint16_t)argument);
    return words * EXT_WORD_BYTES;
}

/* x:8 y:8 z:8 last:8 */
static void coord_write(uint8_t *out, cw_coord c, uint8_t last)
{
    out[0] = c.x;
    out[1] = c.y;
    out[2] = c.z;
    out[3] = last;
}

static cw_coord coord_read(const uint8_t *p)
{
    return (cw_coord){p[0], p[1], p[2]};
}

uint32_t ext_key_write(const cw_key *key, uint8_t *out)
{
    memcpy(out + EXT_AT_BODY, key->b, KEY_HEAD_BYTES);
    return head_write(out, EXT_KEY, EXT_KEY_WORDS, 0);
}

cw_key ext_key_read(const uint8_t *ext, uint64_t routing)
{
    cw_key key;
    memcpy(key.b, ext + EXT_AT_BODY, KEY_HEAD_BYTES);
    put_be64(key.b + KEY_HEAD_BYTES, routing);
    return key;
}

uint32_t ext_request_write(const struct ext_request *request, uint8_t *out)
{
    put_be32(out + 4, request->job);
    put_be32(out + 8, request->process);
    coord_write(out + 12, request->server, 0);
    put_be32(out + 16, request->call);
    put_be32(out + 20, request->limit_us);
    return head_write(out, EXT_REQUEST, EXT_REQUEST_WORDS, request->port);
}

struct ext_request ext_request_read(const uint8_t *ext)
{
    return (struct ext_request){
        .port = get_be16(ext + EXT_AT_ARGUMENT),
        .job = get_be32(ext + 4),
        .process = get_be32(ext + 8),
        .server = coord_read(ext + 12),
        .call = get_be32(ext + 16),
        .limit_us = get_be32(ext + 20),
    };
}

uint32_t ext_response_write(const struct ext_response *response, uint8_t *out)
{
    put_be32(out + 4, response->job);
    put_be32(out + 8, response->process);
    coord_write(out + 12, response->server, 0);
    put_be32(out + 16, response->call);
    return head_write(out, EXT_RESPONSE, EXT_RESPONSE_WORDS, response->status);
}

struct ext_response ext_response_read(const uint8_t *ext)
{
    return (struct ext_response){
        .status = get_be16(ext + EXT_AT_ARGUMENT),
        .job = get_be32(ext + 4),
        .process = get_be32(ext + 8),
        .server = coord_read(ext + 12),
        .call = get_be32(ext + 16),
    };
}

/* Path. */

static unsigned path_places(const uint8_t *ext)
{
    return (ext[EXT_AT_WORDS] - 1u) * EXT_PATH_LINKS_PER_WORD;
}

static unsigned place_shift(unsigned place)
{
    return PLACE_BITS * (EXT_PATH_LINKS_PER_WORD - 1 - place % EXT_PATH_LINKS_PER_WORD);
}

static size_t place_at(unsigned place)
{
    return EXT_AT_BODY + place / EXT_PATH_LINKS_PER_WORD * EXT_WORD_BYTES;
}

static cw_link place_get(const uint8_t *ext, unsigned place)
{
    return (cw_link)(get_be32(ext + place_at(place)) >> place_shift(place) & 7u);
}

static void place_set(uint8_t *ext, unsigned place, cw_link link)
{
    uint8_t *word = ext + place_at(place);
    put_be32(word, (get_be32(word) & ~(7u << place_shift(place))) | (uint32_t)link << place_shift(place));
}

uint32_t ext_path_write(const struct ext_path *path, uint8_t *out)
{
    unsigned words = 1u + path->places / EXT_PATH_LINKS_PER_WORD;
    CHECK(path->places > 0 && path->places % EXT_PATH_LINKS_PER_WORD == 0 && words <= EXT_PATH_WORDS_MAX);
    CHECK(path->mode <= EXT_PATH_OVERFLOW && path->hops <= path->places);
    CHECK(path->mode != EXT_PATH_OVERFLOW || path->hops == path->places);
    memset(out + EXT_AT_BODY, 0, (words - 1u) * EXT_WORD_BYTES);
    for (unsigned i = 0; i < path->hops; i++) {
        CHECK(path->link[i] < CW_LINK_COUNT);
        place_set(out, i, path->link[i]);
    }
    return head_write(out, EXT_PATH, words, (unsigned)path->mode << 8 | path->hops);
}

void ext_path_read(const uint8_t *ext, struct ext_path *path)
{
    *path = (struct ext_path){
        .mode = ext[PATH_AT_MODE],
        .hops = ext[PATH_AT_HOPS],
        .places = (uint8_t)path_places(ext),
    };
    for (unsigned i = 0; i < path->hops; i++) {
        path->link[i] = place_get(ext, i);
    }
}

void ext_path_append(uint8_t *ext, cw_link link)
{
    CHECK(link < CW_LINK_COUNT);
    if (ext[PATH_AT_MODE] != EXT_PATH_RECORD) {
        return;
    }
    if (ext[PATH_AT_HOPS] == path_places(ext)) {
        ext[PATH_AT_MODE] = EXT_PATH_OVERFLOW;
        return;
    }
    place_set(ext, ext[PATH_AT_HOPS]++, link);
}

bool ext_path_turn(uint8_t *ext)
{
    if (ext[PATH_AT_MODE] != EXT_PATH_RECORD) {
        return false;
    }
    ext[PATH_AT_MODE] = EXT_PATH_RETRACE;
    return true;
}

bool ext_path_peek(const uint8_t *ext, cw_link *link)
{
    if (ext[PATH_AT_MODE] != EXT_PATH_RETRACE || ext[PATH_AT_HOPS] == 0) {
        return false;
    }
    *link = cw_link_opposite(place_get(ext, ext[PATH_AT_HOPS] - 1u));
    return true;
}

void ext_path_pop(uint8_t *ext)
{
    if (ext[PATH_AT_MODE] == EXT_PATH_RETRACE && ext[PATH_AT_HOPS] > 0) {
        place_set(ext, --ext[PATH_AT_HOPS], 0);
    }
}

void ext_path_forget(uint8_t *ext)
{
    if (ext[PATH_AT_MODE] == EXT_PATH_RETRACE) {
        ext[PATH_AT_HOPS] = 0;
        memset(ext + EXT_AT_BODY, 0, ext_bytes(ext) - EXT_AT_BODY);
    }
}

/* Trace. */

uint32_t ext_trace_start(unsigned n, uint8_t *out)
{
    CHECK(n >= 1 && n <= EXT_TRACE_ENTRIES_MAX);
    memset(out + EXT_AT_BODY, 0, n * TRACE_ENTRY_BYTES);
    return head_write(out, EXT_TRACE, 1 + n * EXT_TRACE_ENTRY_WORDS, 0);
}

struct ext_trace_entry ext_trace_get(const uint8_t *ext, unsigned i)
{
    CHECK(i < ext_trace_entries(ext));
    const uint8_t *p = ext + EXT_AT_BODY + i * TRACE_ENTRY_BYTES;
    return (struct ext_trace_entry){
        .server = coord_read(p),
        .in = p[3] >> 4,
        .out = p[3] & 0xf,
        .wait_ns = get_be32(p + 4),
        .job = get_be32(p + 8),
        .verdict = p[12],
        .queued = get_be16(p + 14),
    };
}

bool ext_trace_append(uint8_t *ext, const struct ext_trace_entry *entry)
{
    CHECK(entry->in <= EXT_TRACE_IN_MADE_HERE && entry->out <= EXT_TRACE_OUT_DROPPED);
    unsigned i = ext_trace_entries(ext);
    if (i == ext_trace_places(ext)) {
        return false;
    }
    uint8_t *p = ext + EXT_AT_BODY + i * TRACE_ENTRY_BYTES;
    coord_write(p, entry->server, (uint8_t)(entry->in << 4 | entry->out));
    put_be32(p + 4, entry->wait_ns);
    put_be32(p + 8, entry->job);
    p[12] = entry->verdict;
    put_be16(p + 14, entry->queued);
    ext[TRACE_AT_ENTRIES]++;
    return true;
}

/* Waypoints. */

uint32_t ext_waypoints_write(const struct ext_waypoints *waypoints, uint8_t *out)
{
    CHECK(waypoints->count >= 1 && waypoints->count <= EXT_WAYPOINTS_MAX && waypoints->next <= waypoints->count);
    for (unsigned i = 0; i < waypoints->count; i++) {
        coord_write(out + EXT_AT_BODY + i * EXT_WORD_BYTES, waypoints->at[i], 0);
    }
    return head_write(out, EXT_WAYPOINTS, 1u + waypoints->count, (unsigned)waypoints->next << 8 | waypoints->count);
}

void ext_waypoints_read(const uint8_t *ext, struct ext_waypoints *waypoints)
{
    *waypoints = (struct ext_waypoints){.next = ext[WAYPOINTS_AT_NEXT], .count = ext[WAYPOINTS_AT_COUNT]};
    for (unsigned i = 0; i < waypoints->count; i++) {
        waypoints->at[i] = coord_read(ext + EXT_AT_BODY + i * EXT_WORD_BYTES);
    }
}

bool ext_waypoints_peek(const uint8_t *ext, cw_coord *server)
{
    unsigned next = ext[WAYPOINTS_AT_NEXT];
    if (next == ext[WAYPOINTS_AT_COUNT]) {
        return false;
    }
    *server = coord_read(ext + EXT_AT_BODY + next * EXT_WORD_BYTES);
    return true;
}

void ext_waypoints_advance(uint8_t *ext)
{
    if (ext[WAYPOINTS_AT_NEXT] < ext[WAYPOINTS_AT_COUNT]) {
        ext[WAYPOINTS_AT_NEXT]++;
    }
}

/* Guest. */

uint32_t ext_guest_write(const struct ext_guest *guest, uint8_t *out)
{
    CHECK(guest->what < EXT_GUEST_WHATS);
    put_be32(out + 4, guest->meant);
    put_be32(out + 8, guest->life);
    return head_write(out, EXT_GUEST, EXT_GUEST_WORDS, (unsigned)guest->what << 8);
}

struct ext_guest ext_guest_read(const uint8_t *ext)
{
    return (struct ext_guest){
        .what = ext[GUEST_AT_WHAT],
        .meant = get_be32(ext + 4),
        .life = get_be32(ext + 8),
    };
}

/* Checks. ext_check() has seen that the number of words fits the type, and that all of the bytes are there. */

static enum wire_reason path_check(const uint8_t *ext)
{
    unsigned hops = ext[PATH_AT_HOPS];
    if (ext[PATH_AT_MODE] > EXT_PATH_OVERFLOW) {
        return WIRE_BAD_VALUE;
    }
    if (hops > path_places(ext) || (ext[PATH_AT_MODE] == EXT_PATH_OVERFLOW && hops != path_places(ext))) {
        return WIRE_BAD_COUNT;
    }
    for (unsigned first = 0; first < path_places(ext); first += EXT_PATH_LINKS_PER_WORD) {
        uint32_t word = get_be32(ext + place_at(first));
        unsigned here = hops < first ? 0 : hops - first; /* how many places are filled in this word and the next ones */
        uint32_t filled =
            here >= EXT_PATH_LINKS_PER_WORD ? PATH_PLACES : ~(PATH_PLACES >> PLACE_BITS * here) & PATH_PLACES;
        if (word & ~filled) {
            return WIRE_RESERVED;
        }
        if (word & word << 1 & PATH_EVERY_4) { /* a place with both bit 4 and bit 2 is 6 or 7: no link */
            return WIRE_BAD_VALUE;
        }
    }
    return WIRE_OK;
}

static bool all_zero(const uint8_t *p, size_t size)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++) {
        any |= p[i];
    }
    return any == 0;
}

static enum wire_reason trace_check(const uint8_t *ext)
{
    unsigned entries = ext_trace_entries(ext);
    unsigned places = ext_trace_places(ext);
    const uint8_t *body = ext + EXT_AT_BODY;
    if (ext[EXT_AT_ARGUMENT] != 0) {
        return WIRE_RESERVED;
    }
    if (entries > places) {
        return WIRE_BAD_COUNT;
    }
    for (unsigned i = 0; i < entries; i++) {
        const uint8_t *p = body + i * TRACE_ENTRY_BYTES;
        if (p[3] >> 4 > EXT_TRACE_IN_MADE_HERE || (p[3] & 0xf) > EXT_TRACE_OUT_DROPPED) {
            return WIRE_BAD_VALUE;
        }
        if (p[13] != 0) {
            return WIRE_RESERVED;
        }
    }
    return all_zero(body + entries * TRACE_ENTRY_BYTES, (places - entries) * TRACE_ENTRY_BYTES) ? WIRE_OK
                                                                                                : WIRE_RESERVED;
}

static enum wire_reason waypoints_check(const uint8_t *ext)
{
    unsigned count = ext[WAYPOINTS_AT_COUNT];
    if (ext[EXT_AT_WORDS] != 1 + count) {
        return WIRE_BAD_COUNT;
    }
    if (ext[WAYPOINTS_AT_NEXT] > count) {
        return WIRE_BAD_VALUE;
    }
    for (unsigned i = 1; i <= count; i++) {
        if (ext[i * EXT_WORD_BYTES + 3] != 0) {
            return WIRE_RESERVED;
        }
    }
    return WIRE_OK;
}

static enum wire_reason guest_check(const uint8_t *ext)
{
    if (ext[GUEST_AT_FLAGS] != 0) {
        return WIRE_RESERVED;
    }
    return ext[GUEST_AT_WHAT] < EXT_GUEST_WHATS ? WIRE_OK : WIRE_BAD_VALUE;
}

/* How many words each type may have: from smallest to largest, in steps of step_mask + 1. */
static const struct {
    uint8_t smallest, largest, step_mask;
} shapes[EXT_TYPES] = {
    [EXT_KEY] = {EXT_KEY_WORDS, EXT_KEY_WORDS, 0},
    [EXT_REQUEST] = {EXT_REQUEST_WORDS, EXT_REQUEST_WORDS, 0},
    [EXT_RESPONSE] = {EXT_RESPONSE_WORDS, EXT_RESPONSE_WORDS, 0},
    [EXT_PATH] = {2, EXT_PATH_WORDS_MAX, 0},
    [EXT_TRACE] = {1 + EXT_TRACE_ENTRY_WORDS, 1 + EXT_TRACE_ENTRIES_MAX *EXT_TRACE_ENTRY_WORDS,
                   EXT_TRACE_ENTRY_WORDS - 1},
    [EXT_WAYPOINTS] = {2, 1 + EXT_WAYPOINTS_MAX, 0},
    [EXT_GUEST] = {EXT_GUEST_WORDS, EXT_GUEST_WORDS, 0},
};

static bool words_fit(enum ext_type type, unsigned words)
{
    return words >= shapes[type].smallest && words <= shapes[type].largest &&
           ((words - shapes[type].smallest) & shapes[type].step_mask) == 0;
}

/* No packet has an extension of these types: they may come to mean something only with another version. */
static bool is_unknown(unsigned type)
{
    return type >= EXT_TYPES && type < EXT_OPTIONAL;
}

enum wire_reason ext_check_optional(const uint8_t *bytes, size_t size, unsigned least)
{
    if (size < EXT_WORD_BYTES) {
        return WIRE_TRUNCATED;
    }
    if (is_unknown(bytes[EXT_AT_TYPE])) {
        return WIRE_BAD_KIND;
    }
    if (bytes[EXT_AT_TYPE] < least) {
        return WIRE_BAD_ORDER;
    }
    if (bytes[EXT_AT_WORDS] == 0) {
        return WIRE_BAD_LENGTH;
    }
    return ext_bytes(bytes) > size ? WIRE_TRUNCATED : WIRE_OK;
}

enum wire_reason ext_check(const uint8_t *bytes, size_t size, enum ext_type type)
{
    if (size < EXT_WORD_BYTES) {
        return WIRE_TRUNCATED;
    }
    if (is_unknown(bytes[EXT_AT_TYPE])) {
        return WIRE_BAD_KIND;
    }
    if (bytes[EXT_AT_TYPE] != type) {
        return WIRE_BAD_ORDER;
    }
    if (!words_fit(type, bytes[EXT_AT_WORDS])) {
        return WIRE_BAD_LENGTH;
    }
    if (ext_bytes(bytes) > size) {
        return WIRE_TRUNCATED;
    }
    switch (type) {
    case EXT_KEY:
        return get_be16(bytes + EXT_AT_ARGUMENT) == 0 ? WIRE_OK : WIRE_RESERVED;
    case EXT_PATH:
        return path_check(bytes);
    case EXT_TRACE:
        return trace_check(bytes);
    case EXT_WAYPOINTS:
        return waypoints_check(bytes);
    case EXT_GUEST:
        return guest_check(bytes);
    default: /* request and response: the byte behind the server's z */
        return bytes[15] == 0 ? WIRE_OK : WIRE_RESERVED;
    }
}
