/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/list.h"

#include "services/aggregate/sorted/decimal.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

int list_order(cw_bytes a, cw_bytes b)
{
    size_t n = a.length < b.length ? a.length : b.length;
    int order = n == 0 ? 0 : memcmp(a.bytes, b.bytes, n);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* What one of the values still has to give. */
struct top {
    struct reader left;
    cw_bytes item; /* of no length: none is left */
    struct decimal number;
};

/* Reads the next number of a list. */
static int top_next(struct top *t)
{
    size_t left = reader_left(&t->left);
    const uint8_t *space = left == 0 ? NULL : memchr(t->left.at, ' ', left);
    size_t length = space == NULL ? left : (size_t)(space - t->left.at);
    t->item = (cw_bytes){reader_take(&t->left, length), length};
    if (length == 0) {
        return left == 0 ? 0 : -EINVAL;
    }
    reader_skip(&t->left, space != NULL);
    return space != NULL && reader_left(&t->left) == 0 ? -EINVAL : decimal_read(t->item, &t->number);
}

static bool top_before(const struct top *a, const struct top *b)
{
    int order = decimal_order(&a->number, &b->number);
    return order > 0 || (order == 0 && list_order(a->item, b->item) < 0);
}

int list_top(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    struct top top[CW_COMBINE_VALUES];
    struct writer w = writer_of(out, room);
    (void)key;
    for (size_t i = 0; i < count; i++) {
        top[i].left = reader_of(values[i].bytes, values[i].length);
        int rc = values[i].length == 0 ? -EINVAL : top_next(&top[i]);
        if (rc < 0) {
            return rc;
        }
    }
    for (uint64_t n = 0; n < argument; n++) {
        struct top *best = NULL;
        for (size_t i = 0; i < count; i++) {
            if (top[i].item.length > 0 && (best == NULL || top_before(&top[i], best))) {
                best = &top[i];
            }
        }
        if (best == NULL) {
            break;
        }
        if (n > 0) {
            writer_u8(&w, ' ');
        }
        writer_copy(&w, best->item.bytes, best->item.length);
        int rc = top_next(best);
        if (rc < 0) {
            return rc;
        }
    }
    return writer_ok(&w) ? (int)writer_size(&w) : -EMSGSIZE;
}

static void element_write(struct writer *w, cw_bytes element)
{
    writer_be16(w, (uint16_t)element.length);
    writer_copy(w, element.bytes, element.length);
}

int list_set_prepare(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room)
{
    struct writer w = writer_of(out, room);
    (void)key, (void)argument;
    if (value.length > UINT16_MAX) {
        return -EMSGSIZE;
    }
    element_write(&w, value);
    return writer_ok(&w) ? (int)writer_size(&w) : -EMSGSIZE;
}

struct set {
    struct reader left;
    cw_bytes item;
    bool some; /* item is one */
};

static int set_next(struct set *s)
{
    cw_bytes before = s->item;
    bool had = s->some;
    s->some = reader_left(&s->left) > 0;
    if (!s->some) {
        return 0;
    }
    size_t length = reader_be16(&s->left);
    s->item = (cw_bytes){reader_take(&s->left, length), length};
    return reader_ok(&s->left) && !(had && list_order(before, s->item) >= 0) ? 0 : -EINVAL;
}

/* The least item that some of the sets begin with; NULL: all have ended. */
static const cw_bytes *set_least(const struct set *set, size_t count)
{
    const cw_bytes *least = NULL;
    for (size_t i = 0; i < count; i++) {
        if (set[i].some && (least == NULL || list_order(set[i].item, *least) < 0)) {
            least = &set[i].item;
        }
    }
    return least;
}

/* All sets that begin with the item go on. */
static int set_pass(struct set *set, size_t count, cw_bytes item)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        if (set[i].some && list_order(set[i].item, item) == 0) {
            rc = set_next(&set[i]);
        }
    }
    return rc;
}

static int set_begin(struct set *s, cw_bytes value)
{
    *s = (struct set){.left = reader_of(value.bytes, value.length)};
    return set_next(s);
}

int list_set(cw_bytes key, const cw_bytes *values, size_t count, uint64_t argument, uint8_t *out, size_t room)
{
    struct set set[CW_COMBINE_VALUES];
    struct writer w = writer_of(out, room);
    int rc = 0;
    (void)key;
    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = set_begin(&set[i], values[i]);
    }
    for (uint64_t n = 0; n <= argument && rc == 0; n++) { /* one more than K says that there are more */
        const cw_bytes *least = set_least(set, count);
        if (least == NULL) {
            break;
        }
        cw_bytes item = *least;
        element_write(&w, item);
        rc = set_pass(set, count, item);
    }
    return rc < 0 ? rc : writer_ok(&w) ? (int)writer_size(&w) : -EMSGSIZE;
}

int list_set_finish(cw_bytes key, cw_bytes value, uint64_t argument, uint8_t *out, size_t room)
{
    struct set s;
    struct writer w = writer_of(out, room);
    int rc = set_begin(&s, value);
    (void)key;
    for (uint64_t n = 0; s.some && rc == 0; n++) {
        if (n > 0) {
            writer_u8(&w, '\t');
        }
        if (n == argument) {
            writer_u8(&w, '+');
            break;
        }
        writer_copy(&w, s.item.bytes, s.item.length);
        rc = set_next(&s);
    }
    return rc < 0 ? rc : writer_ok(&w) ? (int)writer_size(&w) : -EMSGSIZE;
}
