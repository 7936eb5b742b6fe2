/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/item.h"
#include "base/check.h"
#include "wire/field.h"

#include <string.h>

enum { ITEM_LAST = 0x1, ITEM_MORE = 0x2, SYNCED_BYTES = ITEM_SYNCED_BYTES - ITEM_HEAD_BYTES };

/* A body is `fixed` bytes, then any number of entries of `entry` bytes. */
static const struct shape {
    uint8_t fixed;
    uint8_t entry; /* 0: none */
    uint8_t flags; /* that may be set */
} shapes[] = {
    [ITEM_RECORD] = {.fixed = RECORD_BYTES, .flags = ITEM_MORE},
    [ITEM_ACK] = {.fixed = ACK_BYTES},
    [ITEM_SUMMARY] = {.entry = SUMMARY_ENTRY_BYTES, .flags = ITEM_LAST},
    [ITEM_SYNCED] = {.fixed = SYNCED_BYTES},
    [ITEM_JOB_PART] = {.fixed = JOB_PART_HEAD_BYTES, .entry = 4},
    [ITEM_JOB_ACK] = {.fixed = JOB_ACK_BYTES},
    [ITEM_JOB_SUMMARY] = {.entry = JOB_SUMMARY_ENTRY_BYTES, .flags = ITEM_LAST},
};
static const struct shape about_shape = {.fixed = ABOUT_BYTES};
static const struct shape other_shape = {.entry = 4, .flags = UINT8_MAX};
enum { ITEM_TYPES = sizeof shapes / sizeof *shapes };

/* NULL: a type that must be known, and is not. */
static const struct shape *shape_of(unsigned type)
{
    if (type >= ITEM_OPTIONAL) {
        return type == ITEM_ABOUT ? &about_shape : &other_shape;
    }
    return type == 0 || type >= ITEM_TYPES ? NULL : &shapes[type];
}

static bool shape_fits(const struct shape *shape, size_t body)
{
    if (body < shape->fixed) {
        return false;
    }
    size_t rest = body - shape->fixed;
    return shape->entry == 0 ? rest == 0 : rest % shape->entry == 0;
}

/* Decodes straight into *out, since each body's decoder leaves *out untouched until it is sure. */
static enum wire_reason decode_body(enum item_type type, const uint8_t *body, size_t size, struct item *out)
{
    switch (type) {
    case ITEM_RECORD:
        return record_decode(body, &out->record);
    case ITEM_ACK:
        return ack_decode(body, &out->ack);
    case ITEM_SUMMARY:
        return summary_decode(body, size / SUMMARY_ENTRY_BYTES, &out->summary);
    case ITEM_SYNCED:
        out->synced = get_be64(body);
        return WIRE_OK;
    case ITEM_JOB_PART:
        return job_part_decode(body, size, &out->job_part);
    case ITEM_JOB_ACK:
        return job_ack_decode(body, &out->job_ack);
    case ITEM_JOB_SUMMARY:
        return job_summary_decode(body, size / JOB_SUMMARY_ENTRY_BYTES, &out->job_summary);
    case ITEM_ABOUT:
        return about_decode(body, &out->about);
    }
    out->other = (struct item_other){.body = body, .size = (uint16_t)size};
    return WIRE_OK;
}

static void set_last(struct item *item, bool last)
{
    if (item->type == ITEM_SUMMARY) {
        item->summary.last = last;
    } else if (item->type == ITEM_JOB_SUMMARY) {
        item->job_summary.last = last;
    }
}

/* Records, of which there are most, are checked without being put together. */
static enum wire_reason check_body(enum item_type type, const uint8_t *body, size_t size)
{
    struct item scratch;
    return type == ITEM_RECORD ? record_check(body) : decode_body(type, body, size, &scratch);
}

enum wire_reason item_check(const uint8_t *bytes, size_t size, size_t *length_out)
{
    if (size < ITEM_HEAD_BYTES) {
        return WIRE_TRUNCATED;
    }
    uint8_t type = bytes[0];
    uint8_t flags = bytes[1];
    size_t length = get_be16(bytes + 2);
    const struct shape *shape = shape_of(type);
    if (shape == NULL) {
        return WIRE_BAD_KIND;
    }
    if ((flags & ~shape->flags) != 0) {
        return WIRE_RESERVED;
    }
    if (length > size) {
        return WIRE_TRUNCATED;
    }
    if (length < ITEM_HEAD_BYTES || !shape_fits(shape, length - ITEM_HEAD_BYTES)) {
        return WIRE_BAD_LENGTH;
    }
    enum wire_reason reason = check_body(type, bytes + ITEM_HEAD_BYTES, length - ITEM_HEAD_BYTES);
    if (reason == WIRE_OK) {
        *length_out = length;
    }
    return reason;
}

void item_read(const uint8_t *bytes, struct item *out)
{
    const uint8_t *body = bytes + ITEM_HEAD_BYTES;
    enum item_type type = bytes[0];
    uint8_t flags = bytes[1];
    if (type == ITEM_RECORD) {
        record_read(body, &out->record);
    } else {
        enum wire_reason reason = decode_body(type, body, (size_t)get_be16(bytes + 2) - ITEM_HEAD_BYTES, out);
        CHECK(reason == WIRE_OK);
    }
    out->type = type;
    out->more = type == ITEM_RECORD && (flags & ITEM_MORE) != 0;
    set_last(out, (flags & ITEM_LAST) != 0);
    if (shape_of(type) == &other_shape) {
        out->other.flags = flags;
    }
}

enum wire_reason item_decode(const uint8_t *bytes, size_t size, struct item *out)
{
    size_t length;
    enum wire_reason reason = item_check(bytes, size, &length);
    if (reason == WIRE_OK) {
        item_read(bytes, out);
    }
    return reason;
}

size_t item_size(const struct item *item)
{
    switch (item->type) {
    case ITEM_SUMMARY:
        return ITEM_HEAD_BYTES + (size_t)item->summary.count * SUMMARY_ENTRY_BYTES;
    case ITEM_JOB_PART:
        return ITEM_HEAD_BYTES + job_part_size(&item->job_part);
    case ITEM_JOB_SUMMARY:
        return ITEM_HEAD_BYTES + (size_t)item->job_summary.count * JOB_SUMMARY_ENTRY_BYTES;
    case ITEM_RECORD:
    case ITEM_ACK:
    case ITEM_SYNCED:
    case ITEM_JOB_ACK:
    case ITEM_ABOUT:
        break;
    }
    const struct shape *shape = shape_of(item->type);
    CHECK(shape != NULL);
    return ITEM_HEAD_BYTES + (size_t)shape->fixed + (shape == &other_shape ? item->other.size : 0u);
}

static uint8_t flags_of(const struct item *item)
{
    switch (item->type) {
    case ITEM_RECORD:
        return item->more ? ITEM_MORE : 0;
    case ITEM_SUMMARY:
        return item->summary.last ? ITEM_LAST : 0;
    case ITEM_JOB_SUMMARY:
        return item->job_summary.last ? ITEM_LAST : 0;
    default:
        return shape_of(item->type) == &other_shape ? item->other.flags : 0;
    }
}

void item_encode(const struct item *item, uint8_t *bytes)
{
    size_t size = item_size(item);
    CHECK(size <= ITEM_BYTES_MAX);
    bytes[0] = (uint8_t)item->type;
    bytes[1] = flags_of(item);
    put_be16(bytes + 2, (uint16_t)size);
    uint8_t *body = bytes + ITEM_HEAD_BYTES;
    switch (item->type) {
    case ITEM_RECORD:
        record_encode(&item->record, body);
        break;
    case ITEM_ACK:
        ack_encode(&item->ack, body);
        break;
    case ITEM_SUMMARY:
        CHECK(item->summary.count > 0);
        memcpy(body, item->summary.entries, size - ITEM_HEAD_BYTES);
        break;
    case ITEM_SYNCED:
        put_be64(body, item->synced);
        break;
    case ITEM_JOB_PART:
        job_part_encode(&item->job_part, body);
        break;
    case ITEM_JOB_ACK:
        job_ack_encode(&item->job_ack, body);
        break;
    case ITEM_JOB_SUMMARY:
        if (item->job_summary.count > 0) { /* an empty list may have no bytes to point at */
            memcpy(body, item->job_summary.entries, size - ITEM_HEAD_BYTES);
        }
        break;
    case ITEM_ABOUT:
        about_encode(&item->about, body);
        break;
    default:
        if (size > ITEM_HEAD_BYTES) {
            memcpy(body, item->other.body, size - ITEM_HEAD_BYTES);
        }
        break;
    }
}
