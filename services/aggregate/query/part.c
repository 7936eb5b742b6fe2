/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/part.h"

#include "base/bytes.h"

#include <errno.h>

int part_next(const uint8_t *bytes, size_t size, size_t *at, struct part_entry *out)
{
    if (*at == size) {
        return 0;
    }
    struct reader r = reader_of(bytes + *at, size - *at);
    out->group = reader_be32(&r);
    out->length = reader_be32(&r);
    out->bytes = reader_take(&r, out->length);
    if (!reader_ok(&r)) {
        return -EPROTO;
    }
    *at += PART_HEAD + out->length;
    return 1;
}

size_t part_put(uint32_t group, const uint8_t *summary, size_t length, uint8_t *out, size_t room)
{
    struct writer w = writer_of(out, room);
    writer_be32(&w, group);
    writer_be32(&w, (uint32_t)length);
    writer_copy(&w, summary, length);
    return writer_ok(&w) ? writer_size(&w) : 0;
}

int part_decode(enum summary_kind kind, const uint8_t *bytes, size_t size, union part_summary *out)
{
    switch (kind) {
    case SUMMARY_NUMBER:
        return summary_number_decode(bytes, size, &out->number);
    case SUMMARY_HISTOGRAM:
        return summary_histogram_decode(bytes, size, &out->histogram);
    case SUMMARY_DISTINCT:
        return summary_distinct_decode(bytes, size, &out->distinct);
    case SUMMARY_TOP:
        return summary_top_decode(bytes, size, &out->top);
    case SUMMARY_NAMES:
        break;
    }
    return -EPROTO;
}

size_t part_encode(enum summary_kind kind, const union part_summary *s, uint8_t *out)
{
    switch (kind) {
    case SUMMARY_NUMBER:
        summary_number_encode(&s->number, out);
        return SUMMARY_NUMBER_BYTES;
    case SUMMARY_HISTOGRAM:
        return summary_histogram_encode(&s->histogram, out);
    case SUMMARY_DISTINCT:
        return summary_distinct_encode(&s->distinct, out);
    case SUMMARY_TOP:
        return summary_top_encode(&s->top, out);
    case SUMMARY_NAMES:
        break;
    }
    return 0;
}

static int merge_two(enum summary_kind kind, struct part_room *work)
{
    switch (kind) {
    case SUMMARY_NUMBER:
        return summary_number_merge(&work->a.number, &work->b.number);
    case SUMMARY_HISTOGRAM:
        return summary_histogram_merge(&work->a.histogram, &work->b.histogram);
    case SUMMARY_DISTINCT:
        summary_distinct_merge(&work->a.distinct, &work->b.distinct);
        return 0;
    case SUMMARY_TOP:
        return summary_top_merge(&work->a.top, &work->b.top, &work->items);
    case SUMMARY_NAMES:
        break;
    }
    return -EPROTO;
}

/* Writes the summary of one group, of one or two entries. Gives its length, or as part_merge(). */
static int64_t put_merged(enum summary_kind kind, const struct part_entry *a, const struct part_entry *b, uint8_t *out,
                          size_t room, struct part_room *work)
{
    if (kind == SUMMARY_NAMES) {
        const uint8_t none = 0;
        return summary_names_merge(a->bytes, a->length, b != NULL ? b->bytes : &none, b != NULL ? b->length : 0, out,
                                   room);
    }
    int rc = part_decode(kind, a->bytes, a->length, &work->a);
    rc = rc == 0 && b != NULL ? part_decode(kind, b->bytes, b->length, &work->b) : rc;
    rc = rc == 0 && b != NULL ? merge_two(kind, work) : rc;
    if (rc < 0) {
        return rc;
    }
    if (b == NULL && a->length <= room) {
        memcpy(out, a->bytes, a->length);
        return (int64_t)a->length;
    }
    return room < PART_SUMMARY_MOST ? -EMSGSIZE : (int64_t)part_encode(kind, &work->a, out);
}

int64_t part_merge(enum summary_kind kind, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                   uint8_t *out, size_t room, struct part_room *work)
{
    struct part_entry x, y;
    size_t at_a = 0, at_b = 0, used = 0;
    int more_a = part_next(a, a_size, &at_a, &x), more_b = part_next(b, b_size, &at_b, &y);
    int64_t last = -1;
    while (more_a > 0 || more_b > 0) {
        bool first = more_b == 0 || (more_a > 0 && x.group <= y.group);
        bool both = more_a > 0 && more_b > 0 && x.group == y.group;
        const struct part_entry *one = first ? &x : &y;
        if (more_a < 0 || more_b < 0 || (int64_t)one->group <= last) {
            return -EPROTO;
        }
        if (room - used < PART_HEAD) {
            return -EMSGSIZE;
        }
        last = one->group;
        int64_t length = put_merged(kind, one, both ? &y : NULL, out + used + PART_HEAD, room - used - PART_HEAD, work);
        if (length < 0) {
            return length;
        }
        put_be32(out + used, one->group);
        put_be32(out + used + 4, (uint32_t)length);
        used += PART_HEAD + (size_t)length;
        more_a = first ? part_next(a, a_size, &at_a, &x) : more_a;
        more_b = !first || both ? part_next(b, b_size, &at_b, &y) : more_b;
    }
    return more_a < 0 || more_b < 0 ? -EPROTO : (int64_t)used;
}
