/* SPDX-License-Identifier: Apache-2.0 */
#include "services/transport/segment.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

enum { ERRNO_MOST = 4095 };

uint64_t segment_parts(uint64_t total, uint32_t part)
{
    return total == 0 ? 1 : (total - 1) / part + 1;
}

size_t segment_part_bytes(uint64_t total, uint32_t part, uint32_t index)
{
    uint64_t left = total - (uint64_t)index * part;
    return left < part ? (size_t)left : part;
}

static bool has_request(uint8_t flags)
{
    return (flags & (DATA_REQUEST | DATA_ANSWER)) != 0;
}

size_t segment_head(const struct segment *s)
{
    switch (s->kind) {
    case SEGMENT_HELLO:
    case SEGMENT_GIVEN_UP:
    case SEGMENT_PERMIT:
        return 16;
    case SEGMENT_STRANGE:
    case SEGMENT_WELCOME:
        return 24;
    case SEGMENT_SEEK:
        return 8 + CW_KEY_BYTES;
    case SEGMENT_FOUND:
        return 8;
    case SEGMENT_SEGMENT:
        break;
    }
    size_t bytes = SEGMENT_HEAD_BYTES;
    if (s->flags & FLAG_ACK) {
        bytes += SEGMENT_ACK_BYTES + 8 * s->ack.words + SEGMENT_NOTE_BYTES * s->ack.notes;
    }
    if (s->flags & FLAG_DATA) {
        bytes += SEGMENT_DATA_BYTES;
        bytes += has_request(s->data.flags) ? 10 : 0;
        bytes += s->data.flags & DATA_KEY ? CW_KEY_BYTES : 0;
        bytes += s->data.head_bytes;
    }
    return bytes;
}

/* ---- Encode ------------------------------------------------------------------------------------------------------ */

static uint8_t *encode_ack(const struct segment_ack *a, uint8_t *p)
{
    put_be32(p, a->out);
    put_be32(p + 4, a->in);
    put_be32(p + 8, a->newest);
    put_be32(p + 12, a->delay_ns);
    p[16] = (uint8_t)a->words;
    p[17] = (uint8_t)a->notes;
    put_be16(p + 18, 0);
    p += SEGMENT_ACK_BYTES;
    for (unsigned i = 0; i < a->words; i++, p += 8) {
        put_be64(p, a->word[i]);
    }
    for (unsigned i = 0; i < a->notes; i++, p += SEGMENT_NOTE_BYTES) {
        put_be32(p, (uint32_t)a->note[i].kind << 24);
        put_be32(p + 4, a->note[i].number);
        put_be32(p + 8, a->note[i].value);
    }
    return p;
}

static void encode_data(const struct segment_data *d, uint8_t *p)
{
    put_be32(p, d->out);
    put_be32(p + 4, d->in);
    put_be32(p + 8, d->packet);
    put_be32(p + 12, d->number);
    put_be32(p + 16, d->floor);
    put_be64(p + 20, d->total);
    put_be32(p + 28, d->index);
    put_be16(p + 32, d->part);
    p[34] = d->flags;
    p[35] = d->head_bytes;
    put_be32(p + 36, d->tag);
    put_be32(p + 40, d->message);
    p += SEGMENT_DATA_BYTES;
    if (has_request(d->flags)) {
        put_be64(p, d->request);
        put_be16(p + 8, d->status);
        p += 10;
    }
    if (d->flags & DATA_KEY) {
        memcpy(p, d->key.b, CW_KEY_BYTES);
        p += CW_KEY_BYTES;
    }
    if (d->head_bytes > 0) {
        memcpy(p, d->head, d->head_bytes);
    }
}

void segment_encode(const struct segment *s, uint8_t *out)
{
    out[0] = (uint8_t)(SEGMENT_VERSION << 4 | s->kind);
    out[1] = s->flags;
    put_be16(out + 2, s->port);
    uint8_t *p = out + SEGMENT_HEAD_BYTES;
    switch (s->kind) {
    case SEGMENT_HELLO:
    case SEGMENT_WELCOME:
        put_be32(p, s->out);
        put_be64(p + 4, s->instance);
        if (s->kind == SEGMENT_WELCOME) {
            put_be32(p + 12, s->in);
            put_be32(p + 16, s->wait_ns);
        }
        return;
    case SEGMENT_STRANGE:
        put_be32(p, s->out);
        put_be32(p + 4, s->in);
        put_be64(p + 8, s->instance);
        put_be32(p + 16, s->age_us);
        return;
    case SEGMENT_GIVEN_UP:
    case SEGMENT_PERMIT:
        put_be32(p, s->out);
        put_be32(p + 4, s->in);
        put_be32(p + 8, s->number);
        return;
    case SEGMENT_SEEK:
    case SEGMENT_FOUND:
        put_be32(p, s->out);
        if (s->kind == SEGMENT_SEEK) {
            memcpy(p + 4, s->key.b, CW_KEY_BYTES);
        }
        return;
    case SEGMENT_SEGMENT:
        break;
    }
    if (s->flags & FLAG_ACK) {
        p = encode_ack(&s->ack, p);
    }
    if (s->flags & FLAG_DATA) {
        encode_data(&s->data, p);
    }
}

/* ---- Decode ------------------------------------------------------------------------------------------------------ */

static bool decode_note(const uint8_t *p, struct segment_note *out)
{
    uint32_t kind = get_be32(p);
    *out = (struct segment_note){(uint8_t)(kind >> 24), get_be32(p + 4), get_be32(p + 8)};
    switch (kind) {
    case (uint32_t)NOTE_RESULT << 24:
        return out->value <= ERRNO_MOST || (out->value >= RESULT_NOT_ROOT && out->value <= RESULT_WAIT);
    case (uint32_t)NOTE_CREDIT << 24:
        return true;
    default:
        return false;
    }
}

/* Gives the bytes used, or 0: there are not so many, or they make no sense. */
static size_t decode_ack(const uint8_t *p, size_t length, struct segment_ack *out)
{
    if (length < SEGMENT_ACK_BYTES) {
        return 0;
    }
    out->out = get_be32(p);
    out->in = get_be32(p + 4);
    out->newest = get_be32(p + 8);
    out->delay_ns = get_be32(p + 12);
    out->words = p[16];
    out->notes = p[17];
    if (out->words > SEGMENT_WORDS || out->notes > SEGMENT_NOTES || get_be16(p + 18) != 0) {
        return 0;
    }
    size_t bytes = SEGMENT_ACK_BYTES + 8 * (size_t)out->words + SEGMENT_NOTE_BYTES * (size_t)out->notes;
    if (length < bytes) {
        return 0;
    }
    p += SEGMENT_ACK_BYTES;
    for (unsigned i = 0; i < out->words; i++, p += 8) {
        out->word[i] = get_be64(p);
    }
    for (unsigned i = 0; i < out->notes; i++, p += SEGMENT_NOTE_BYTES) {
        if (!decode_note(p, &out->note[i])) {
            return 0;
        }
    }
    return bytes;
}

/* All that is left is the data's. */
static bool decode_data(const uint8_t *p, size_t length, struct segment_data *out)
{
    if (length < SEGMENT_DATA_BYTES) {
        return false;
    }
    *out = (struct segment_data){
        .out = get_be32(p),
        .in = get_be32(p + 4),
        .packet = get_be32(p + 8),
        .number = get_be32(p + 12),
        .floor = get_be32(p + 16),
        .total = get_be64(p + 20),
        .index = get_be32(p + 28),
        .part = get_be16(p + 32),
        .flags = p[34],
        .head_bytes = p[35],
        .tag = get_be32(p + 36),
        .message = get_be32(p + 40),
    };
    bool request = (out->flags & DATA_REQUEST) != 0;
    bool answer = (out->flags & DATA_ANSWER) != 0;
    if (out->flags > (DATA_KEY | DATA_REQUEST | DATA_ANSWER) || (request && answer) ||
        out->head_bytes > SEGMENT_MESSAGE_HEAD_MOST) {
        return false;
    }
    p += SEGMENT_DATA_BYTES;
    length -= SEGMENT_DATA_BYTES;
    if (request || answer) {
        if (length < 10) {
            return false;
        }
        out->request = get_be64(p);
        out->status = get_be16(p + 8);
        if (out->status > (answer ? ERRNO_MOST : 0)) {
            return false;
        }
        p += 10;
        length -= 10;
    }
    if (out->flags & DATA_KEY) {
        if (length < CW_KEY_BYTES) {
            return false;
        }
        memcpy(out->key.b, p, CW_KEY_BYTES);
        p += CW_KEY_BYTES;
        length -= CW_KEY_BYTES;
    }
    if (length < out->head_bytes) {
        return false;
    }
    out->head = p;
    p += out->head_bytes;
    length -= out->head_bytes;
    out->bytes = p;
    out->length = length;
    if (out->part < SEGMENT_PART_LEAST || segment_parts(out->total, out->part) > SEGMENT_PARTS_MAX ||
        out->index >= segment_parts(out->total, out->part)) {
        return false;
    }
    return length == segment_part_bytes(out->total, out->part, out->index) &&
           out->number - out->floor < SEGMENT_NUMBERS;
}

static int decode_segment(const uint8_t *p, size_t length, struct segment *out)
{
    if (out->flags > (FLAG_ACK | FLAG_DATA | FLAG_NOW | FLAG_BACKGROUND)) {
        return -EPROTO;
    }
    if (out->flags & FLAG_ACK) {
        size_t used = decode_ack(p, length, &out->ack);
        if (used == 0) {
            return -EPROTO;
        }
        p += used;
        length -= used;
    }
    if (out->flags & FLAG_DATA) {
        return decode_data(p, length, &out->data) ? 0 : -EPROTO;
    }
    return length == 0 && (out->flags & FLAG_ACK) ? 0 : -EPROTO;
}

int segment_decode(const uint8_t *bytes, size_t length, struct segment *out)
{
    if (length < SEGMENT_HEAD_BYTES || bytes[0] >> 4 != SEGMENT_VERSION) {
        return -EPROTO;
    }
    out->kind = (enum segment_kind)(bytes[0] & 15);
    out->flags = bytes[1];
    out->port = get_be16(bytes + 2);
    const uint8_t *p = bytes + SEGMENT_HEAD_BYTES;
    if (out->kind == SEGMENT_SEGMENT) {
        return decode_segment(p, length - SEGMENT_HEAD_BYTES, out);
    }
    uint8_t flags = out->kind >= SEGMENT_SEEK ? 0 : FLAG_BACKGROUND;
    if (out->kind < SEGMENT_HELLO || out->kind > SEGMENT_FOUND || (out->flags & ~flags) != 0 ||
        length != segment_head(out)) {
        return -EPROTO;
    }
    out->out = get_be32(p);
    switch (out->kind) {
    case SEGMENT_HELLO:
        out->instance = get_be64(p + 4);
        return 0;
    case SEGMENT_WELCOME:
        out->instance = get_be64(p + 4);
        out->in = get_be32(p + 12);
        out->wait_ns = get_be32(p + 16);
        return 0;
    case SEGMENT_STRANGE:
        out->in = get_be32(p + 4);
        out->instance = get_be64(p + 8);
        out->age_us = get_be32(p + 16);
        return 0;
    case SEGMENT_SEEK:
        memcpy(out->key.b, p + 4, CW_KEY_BYTES);
        return 0;
    case SEGMENT_FOUND:
        return 0;
    default:
        out->in = get_be32(p + 4);
        out->number = get_be32(p + 8);
        return 0;
    }
}
