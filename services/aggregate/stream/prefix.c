/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/stream/prefix.h"

#include "services/aggregate/sorted/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void prefix_init(struct prefix *p)
{
    *p = (struct prefix){.last = &p->first};
}

int prefix_add(struct prefix *p, const uint8_t *bytes, size_t size)
{
    struct prefix_block *b = size > 0 ? malloc(sizeof *b + size) : NULL;
    if (b == NULL) {
        return size > 0 ? -ENOMEM : 0;
    }
    b->next = NULL;
    b->size = size;
    memcpy(b->bytes, bytes, size);
    *p->last = b;
    p->last = &b->next;
    p->bytes += size;
    p->cut = false;
    return 0;
}

/* Frees the blocks behind *from, which is the end then. */
static void drop_from(struct prefix *p, struct prefix_block **from)
{
    struct prefix_block *b = *from;
    *from = NULL;
    p->last = from;
    while (b != NULL) {
        struct prefix_block *next = b->next;
        p->bytes -= b->size;
        free(b);
        b = next;
    }
}

void prefix_clear(struct prefix *p)
{
    drop_from(p, &p->first);
    free(p->after);
    prefix_init(p);
}

/* Reads the records of a block. False: it has none. */
static bool read_block(struct record_reader *r, const struct prefix_block *b)
{
    record_reader_init(r);
    record_reader_block(r, b->bytes, b->size);
    return record_reader_next(r) == 1;
}

static bool is_key(const struct record_reader *r, const uint8_t *key, size_t length)
{
    return r->key_length == length && memcmp(r->key, key, length) == 0;
}

/* Shortens the block to its records before that key, and leaves r at the last of them. False: there are none. */
static bool shorten(struct prefix *p, struct prefix_block *b, const uint8_t *key, size_t length,
                    struct record_reader *r)
{
    uint8_t before[RECORD_KEY_MOST];
    uint32_t before_length = 0;
    if (!read_block(r, b)) {
        return false;
    }
    for (size_t used = 0; !is_key(r, key, length);) {
        memcpy(before, r->key, r->key_length);
        before_length = r->key_length;
        used = (size_t)(r->at - b->bytes);
        bool more = record_reader_next(r) == 1;
        if (!more || is_key(r, key, length)) {
            p->bytes -= b->size - used;
            b->size = used;
            break;
        }
    }
    memcpy(r->key, before, before_length);
    r->key_length = before_length;
    return before_length > 0;
}

/* Takes away the records of the last key, which r is at. False: there are no others. */
static bool drop_last_key(struct prefix *p, struct record_reader *r)
{
    uint8_t key[RECORD_KEY_MOST];
    size_t length = r->key_length;
    struct prefix_block **end = &p->first, *keep = NULL;
    memcpy(key, r->key, length);
    while (*end != NULL && read_block(r, *end) && !is_key(r, key, length)) {
        keep = *end;
        end = &keep->next;
    }
    drop_from(p, end);
    return keep != NULL && shorten(p, keep, key, length, r);
}

void prefix_cut(struct prefix *p, bool one_of_each)
{
    struct record_reader r;
    const struct prefix_block *last = p->first;
    if (p->cut || last == NULL) {
        return;
    }
    while (last->next != NULL) {
        last = last->next;
    }
    bool some = read_block(&r, last);
    while (some && record_reader_next(&r) == 1) {
    }
    some = some && (one_of_each || drop_last_key(p, &r));
    uint8_t *after = some ? realloc(p->after, r.key_length) : NULL;
    if (after == NULL) {
        prefix_clear(p);
        return;
    }
    memcpy(after, r.key, r.key_length);
    p->after = after;
    p->after_length = r.key_length;
    p->cut = true;
}

cw_bytes prefix_after(const struct prefix *p)
{
    return (cw_bytes){p->after, p->after_length};
}
