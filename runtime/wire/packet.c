/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/packet.h"

#include "base/check.h"
#include "wire/be.h"

_Static_assert((int)PACKET_AT_EXTENSIONS == PACKET_HEAD_BYTES, "the head ends with the destination");
_Static_assert(PACKET_AT_DESTINATION % 8 == 0, "one aligned load in a packet that starts aligned");
_Static_assert(sizeof(struct packet_head) == PACKET_HEAD_BYTES, "no larger decoded than on the wire");
_Static_assert(PACKET_HEAD_BYTES + PACKET_EXT_BYTES_MAX <= UINT16_MAX, "struct packet_exts holds every offset");

enum { FLAGS_KNOWN = (1 << EXT_TYPES) - 1, SERVER_SPARE_AT = PACKET_AT_DESTINATION + 3 };

enum wire_reason packet_judge(const struct packet_head *head)
{
    unsigned budget = (unsigned)head->hop_limit + head->hops;
    if (head->kind < PACKET_KEY || head->kind > PACKET_LINK) {
        return WIRE_BAD_KIND;
    }
    if (head->flags & ~(unsigned)FLAGS_KNOWN) {
        return WIRE_RESERVED;
    }
    if (head->length < packet_head_bytes(head)) {
        return WIRE_BAD_LENGTH;
    }
    if (budget == 0 || budget > (head->kind == PACKET_LINK ? 1u : (unsigned)HOP_LIMIT_MAX)) {
        return WIRE_BAD_VALUE;
    }
    if (head->flags & packet_flag(EXT_KEY) && head->kind != PACKET_KEY) {
        return WIRE_BAD_VALUE; /* there are no routing bits to go with it */
    }
    if (head->flags & packet_flag(EXT_WAYPOINTS) && head->kind == PACKET_LINK) {
        return WIRE_BAD_VALUE; /* a packet for the neighbour is not routed */
    }
    return WIRE_OK;
}

/* Finds and checks the extensions that the flags name: exactly these, in rising order, filling exactly their words. */
static enum wire_reason find_extensions(const uint8_t *bytes, const struct packet_head *head, struct packet_exts *exts)
{
    size_t at = PACKET_AT_EXTENSIONS;
    size_t end = packet_head_bytes(head);
    for (unsigned flags = head->flags; flags != 0; flags &= flags - 1) {
        enum ext_type type = (enum ext_type)__builtin_ctz(flags);
        enum wire_reason reason = ext_check(bytes + at, end - at, type);
        if (reason != WIRE_OK) {
            return reason;
        }
        exts->at[type] = (uint16_t)at;
        at += ext_bytes(bytes + at);
    }
    return at == end ? WIRE_OK : WIRE_BAD_ORDER;
}

enum wire_reason packet_decode(const uint8_t *bytes, size_t size, struct packet_head *head, struct packet_exts *exts)
{
    if (size < PACKET_HEAD_BYTES) {
        return WIRE_TRUNCATED;
    }
    if (bytes[PACKET_AT_KIND] >> 4 != WIRE_VERSION_NOW) {
        return WIRE_BAD_VERSION;
    }
    struct packet_head h = {
        .kind = bytes[PACKET_AT_KIND] & 0xf,
        .flags = bytes[PACKET_AT_FLAGS],
        .length = get_be16(bytes + PACKET_AT_LENGTH),
        .hop_limit = bytes[PACKET_AT_HOP_LIMIT],
        .hops = bytes[PACKET_AT_HOPS],
        .port = get_be16(bytes + PACKET_AT_PORT),
        .job = get_be32(bytes + PACKET_AT_JOB),
        .source_job = get_be32(bytes + PACKET_AT_SOURCE_JOB),
        .source_process = get_be32(bytes + PACKET_AT_SOURCE_PROCESS),
        .source = {bytes[PACKET_AT_SOURCE], bytes[PACKET_AT_SOURCE + 1], bytes[PACKET_AT_SOURCE + 2]},
        .ext_words = bytes[PACKET_AT_EXT_WORDS],
    };
    enum wire_reason reason = packet_judge(&h);
    if (reason != WIRE_OK) {
        return reason;
    }
    if (size != h.length) {
        return size < h.length ? WIRE_TRUNCATED : WIRE_BAD_LENGTH;
    }
    const uint8_t *to = bytes + PACKET_AT_DESTINATION;
    if (h.kind == PACKET_KEY) {
        h.to.key = get_be64(to);
    } else if (bytes[SERVER_SPARE_AT] == 0) {
        h.to.server = (cw_coord){to[0], to[1], to[2]};
        h.to.process = get_be32(to + 4);
    } else {
        return WIRE_RESERVED;
    }
    struct packet_exts found = {{0}};
    if (h.flags != 0 || h.ext_words != 0) {
        reason = find_extensions(bytes, &h, &found);
        if (reason != WIRE_OK) {
            return reason;
        }
    }
    *head = h;
    *exts = found;
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
