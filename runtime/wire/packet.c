/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/packet.h"

#include "base/bytes.h"
#include "base/check.h"

_Static_assert((int)PACKET_AT_EXTENSIONS == PACKET_HEAD_BYTES, "the head ends with the destination");
_Static_assert(PACKET_AT_DESTINATION % 8 == 0, "one aligned load in a packet that starts aligned");
_Static_assert(sizeof(struct packet_head) == PACKET_HEAD_BYTES, "no larger decoded than on the wire");
_Static_assert(PACKET_HEAD_BYTES + PACKET_EXT_BYTES_MAX <= UINT16_MAX, "struct packet_exts holds every offset");

enum { SERVER_SPARE_AT = PACKET_AT_DESTINATION + 3 };

_Static_assert((((1 << EXT_TYPES) - 1) | PACKET_MARK) == 0xff, "every flag of the head has a meaning");

static inline cw_coord coord_at(const uint8_t *p)
{
    return (cw_coord){p[0], p[1], p[2]};
}

/* Judges the fields that can be wrong. They come in registers: a struct on the stack would cost more than all tests. */
static inline enum wire_reason judge(unsigned kind, unsigned flags, unsigned length, unsigned budget,
                                     unsigned ext_words)
{
    if (kind < PACKET_KEY || kind > PACKET_LINK) {
        return WIRE_BAD_KIND;
    }
    if (length < PACKET_HEAD_BYTES + ext_words * EXT_WORD_BYTES) {
        return WIRE_BAD_LENGTH;
    }
    if (budget == 0 || budget > (kind == PACKET_LINK ? 1u : (unsigned)HOP_LIMIT_MAX)) {
        return WIRE_BAD_VALUE;
    }
    if (flags & packet_flag(EXT_KEY) && kind != PACKET_KEY) {
        return WIRE_BAD_VALUE; /* there are no routing bits to go with it */
    }
    if (flags & packet_flag(EXT_WAYPOINTS) && kind == PACKET_LINK) {
        return WIRE_BAD_VALUE; /* a packet for the neighbour is not routed */
    }
    return WIRE_OK;
}

enum wire_reason packet_judge(const struct packet_head *head)
{
    return judge(head->kind, head->flags, head->length, (unsigned)head->hop_limit + head->hops, head->ext_words);
}

/*
 * Sees that the extensions are those that the flags name, in rising order, then optional ones, in rising order too, and
 * that they fill exactly their words.
 */
static enum wire_reason check_extensions(const uint8_t *bytes, unsigned flags, unsigned ext_words)
{
    const uint8_t *at = bytes + PACKET_AT_EXTENSIONS;
    const uint8_t *end = at + ext_words * EXT_WORD_BYTES;
    for (flags &= ~(unsigned)PACKET_MARK; flags != 0; flags &= flags - 1) {
        enum wire_reason reason = ext_check(at, (size_t)(end - at), (enum ext_type)__builtin_ctz(flags));
        if (reason != WIRE_OK) {
            return reason;
        }
        at += ext_bytes(at);
    }
    for (unsigned least = EXT_OPTIONAL; at != end; at += ext_bytes(at)) {
        enum wire_reason reason = ext_check_optional(at, (size_t)(end - at), least);
        if (reason != WIRE_OK) {
            return reason;
        }
        least = at[EXT_AT_TYPE] + 1u;
    }
    return WIRE_OK;
}

/* Notes where the extensions are, once they have been checked. */
static void find_extensions(const uint8_t *bytes, unsigned flags, struct packet_exts *exts)
{
    uint32_t at = PACKET_AT_EXTENSIONS;
    for (flags &= ~(unsigned)PACKET_MARK; flags != 0; flags &= flags - 1) {
        exts->at[__builtin_ctz(flags)] = (uint16_t)at;
        at += ext_bytes(bytes + at);
    }
}

enum wire_reason packet_decode(const uint8_t *bytes, size_t size, struct packet_head *head, struct packet_exts *exts)
{
    if (size < PACKET_HEAD_BYTES) {
        return WIRE_TRUNCATED;
    }
    if (bytes[PACKET_AT_KIND] >> 4 != WIRE_VERSION_NOW) {
        return WIRE_BAD_VERSION;
    }
    unsigned kind = packet_kind_of(bytes);
    unsigned flags = bytes[PACKET_AT_FLAGS];
    unsigned length = get_be16(bytes + PACKET_AT_LENGTH);
    unsigned ext_words = bytes[PACKET_AT_EXT_WORDS];
    unsigned budget = (unsigned)bytes[PACKET_AT_HOP_LIMIT] + bytes[PACKET_AT_HOPS];
    enum wire_reason reason = judge(kind, flags, length, budget, ext_words);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (size != length) {
        return size < length ? WIRE_TRUNCATED : WIRE_BAD_LENGTH;
    }
    if (kind != PACKET_KEY && bytes[SERVER_SPARE_AT] != 0) {
        return WIRE_RESERVED;
    }
    if ((flags | ext_words) != 0) {
        reason = check_extensions(bytes, flags, ext_words);
        if (reason != WIRE_OK) {
            return reason;
        }
    }

    head->kind = (uint8_t)kind;
    head->flags = (uint8_t)flags;
    head->length = (uint16_t)length;
    head->hop_limit = bytes[PACKET_AT_HOP_LIMIT];
    head->hops = bytes[PACKET_AT_HOPS];
    head->port = get_be16(bytes + PACKET_AT_PORT);
    head->job = get_be32(bytes + PACKET_AT_JOB);
    head->source_job = get_be32(bytes + PACKET_AT_SOURCE_JOB);
    head->source_process = get_be32(bytes + PACKET_AT_SOURCE_PROCESS);
    head->source = coord_at(bytes + PACKET_AT_SOURCE);
    head->ext_words = (uint8_t)ext_words;
    if (kind == PACKET_KEY) {
        head->to.key = get_be64(bytes + PACKET_AT_DESTINATION);
    } else {
        head->to.server = coord_at(bytes + PACKET_AT_DESTINATION);
        head->to.process = get_be32(bytes + PACKET_AT_DESTINATION + 4);
    }
    *exts = (struct packet_exts){{0}};
    find_extensions(bytes, flags, exts);
    return WIRE_OK;
}

void packet_encode(const struct packet_head *head, uint8_t *out)
{
    CHECK(packet_judge(head) == WIRE_OK);
    out[PACKET_AT_KIND] = (uint8_t)(WIRE_VERSION_NOW << 4 | head->kind);
    out[PACKET_AT_FLAGS] = head->flags;
    put_be16(out + PACKET_AT_LENGTH, head->length);
    out[PACKET_AT_HOP_LIMIT] = head->hop_limit;
    out[PACKET_AT_HOPS] = head->hops;
    put_be16(out + PACKET_AT_PORT, head->port);
    put_be32(out + PACKET_AT_JOB, head->job);
    put_be32(out + PACKET_AT_SOURCE_JOB, head->source_job);
    put_be32(out + PACKET_AT_SOURCE_PROCESS, head->source_process);
    out[PACKET_AT_SOURCE] = head->source.x;
    out[PACKET_AT_SOURCE + 1] = head->source.y;
    out[PACKET_AT_SOURCE + 2] = head->source.z;
    out[PACKET_AT_EXT_WORDS] = head->ext_words;
    uint8_t *to = out + PACKET_AT_DESTINATION;
    if (head->kind == PACKET_KEY) {
        put_be64(to, head->to.key);
    } else {
        to[0] = head->to.server.x;
        to[1] = head->to.server.y;
        to[2] = head->to.server.z;
        to[3] = 0;
        put_be32(to + 4, head->to.process);
    }
}
