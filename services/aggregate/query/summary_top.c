/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/query/summary_top.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>

struct summary_item summary_item_of(uint64_t hash, const char *text, size_t length, uint64_t count)
{
    struct summary_item item = {.hash = hash, .count = count, .cut = length > SUMMARY_ITEM_TEXT};
    item.length = (uint8_t)(item.cut ? SUMMARY_ITEM_TEXT : length);
    memcpy(item.text, text, item.length);
    return item;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static int by_count(const void *a, const void *b)
{
    const struct summary_item *x = a, *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int by_hash(const void *a, const void *b)
{
    const struct summary_item *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

void summary_top_sort(struct summary_top *t)
{
    qsort(t->item, t->used, sizeof *t->item, by_count);
}

/* ---- Merging ----------------------------------------------------------------------------------------------------- */

/* An item of one alone: the other may have seen it as often as its floor says. */
static struct summary_item lone(const struct summary_item *item, uint64_t floor)
{
    struct summary_item out = *item;
    out.count = summary_count(out.count, floor);
    out.error = summary_count(out.error, floor);
    return out;
}

/* Of both, sorted by hash. Gives how many items there are. */
static size_t unite(const struct summary_top *a, const struct summary_top *b, struct summary_item *out)
{
    size_t n = 0;
    for (unsigned i = 0, k = 0; i < a->used || k < b->used; n++) {
        int order = i == a->used ? 1 : k == b->used ? -1 : by_hash(&a->item[i], &b->item[k]);
        if (order < 0) {
            out[n] = lone(&a->item[i++], b->floor);
        } else if (order > 0) {
            out[n] = lone(&b->item[k++], a->floor);
        } else {
            const struct summary_item *x = &a->item[i++], *y = &b->item[k++];
            out[n] = memcmp(&x->length, &y->length, sizeof *x - offsetof(struct summary_item, length)) < 0 ? *x : *y;
            out[n].count = summary_count(x->count, y->count);
            out[n].error = summary_count(x->error, y->error);
        }
    }
    return n;
}

/* Of items that are sorted by hash, all are different. */
static bool are_different(const struct summary_top *t)
{
    for (unsigned i = 1; i < t->used; i++) {
        if (t->item[i - 1].hash == t->item[i].hash) {
            return false;
        }
    }
    return true;
}

int summary_top_merge(struct summary_top *a, struct summary_top *b, struct summary_union *room)
{
    if (a->of != b->of) {
        return -EINVAL;
    }
    qsort(a->item, a->used, sizeof *a->item, by_hash);
    qsort(b->item, b->used, sizeof *b->item, by_hash);
    if (!are_different(a) || !are_different(b)) {
        summary_top_sort(a);
        summary_top_sort(b);
        return -EPROTO;
    }
    size_t n = unite(a, b, room->item);
    qsort(room->item, n, sizeof *room->item, by_count);
    a->floor = summary_count(a->floor, b->floor);
    if (n > SUMMARY_ITEMS) { /* what is left out came at most so often */
        a->floor = room->item[SUMMARY_ITEMS].count;
    }
    a->lines = summary_count(a->lines, b->lines);
    a->used = (uint16_t)(n > SUMMARY_ITEMS ? SUMMARY_ITEMS : n);
    memcpy(a->item, room->item, a->used * sizeof *a->item);
    summary_top_sort(b);
    return 0;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

size_t summary_top_encode(const struct summary_top *t, uint8_t *out)
{
    struct writer w = writer_of(out, SUMMARY_TOP_BYTES);
    writer_u8(&w, t->of);
    writer_u8(&w, 0);
    writer_be16(&w, t->used);
    writer_be64(&w, t->lines);
    writer_be64(&w, t->floor);
    for (unsigned i = 0; i < t->used; i++) {
        const struct summary_item *item = &t->item[i];
        writer_be64(&w, item->hash);
        writer_be64(&w, item->count);
        writer_be64(&w, item->error);
        writer_u8(&w, item->length);
        writer_u8(&w, item->cut);
        writer_copy(&w, item->text, item->length);
    }
    return writer_size(&w);
}

static bool read_item(struct reader *r, struct summary_item *item)
{
    item->hash = reader_be64(r);
    item->count = reader_be64(r);
    item->error = reader_be64(r);
    item->length = reader_u8(r);
    unsigned cut = reader_u8(r);
    if (!reader_ok(r) || item->length > SUMMARY_ITEM_TEXT || cut > 1 || item->error > item->count) {
        return false;
    }
    item->cut = cut == 1;
    memset(item->text, 0, sizeof item->text);
    reader_copy(r, item->text, item->length);
    return reader_ok(r);
}

int summary_top_decode(const uint8_t *bytes, size_t size, struct summary_top *out)
{
    struct reader r = reader_of(bytes, size);
    out->of = reader_u8(&r);
    unsigned zero = reader_u8(&r);
    out->used = reader_be16(&r);
    out->lines = reader_be64(&r);
    out->floor = reader_be64(&r);
    if (zero != 0 || !summary_of_valid(out->of) || out->used > SUMMARY_ITEMS) {
        return -EPROTO;
    }
    for (unsigned i = 0; i < out->used; i++) {
        if (!read_item(&r, &out->item[i]) || (i > 0 && by_count(&out->item[i - 1], &out->item[i]) >= 0)) {
            return -EPROTO;
        }
    }
    return reader_done(&r) ? 0 : -EPROTO;
}
