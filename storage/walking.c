/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walking.c - all registers of a kind are read and verified in the order in which they lie on the disk: one read brings
 * many. Where they lie is noted at the start, and until the end no segment of the log is used again; so what is told is
 * what was there at the start, whatever is appended or moved meanwhile. A value with a place of its own is read alone,
 * as of now.
 */
#include "base/bytes.h"
#include "storage/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 256 << 10,     /* bytes of a read; a longer record is read alone */
    GAP = 64 << 10,         /* what is dead between two registers is read as well, up to so many bytes */
    WINDOWS = 2,            /* under way: the disk reads one while the other is told */
    VALUES = 16,            /* values with places of their own that are read at once, */
    VALUE_BYTES = 16 << 20, /* and their bytes */
    DIGIT = 11,             /* bits that a pass of the sorting goes by */
    DIGITS = 1 << DIGIT,
};

struct spot {
    uint64_t value_sum;
    uint32_t segment, offset, length;
    uint32_t key; /* of all its bytes */
};

struct window {
    struct disk_waiter waiter;
    struct storage *storage;
    size_t first, last; /* spots */
    uint32_t size;      /* 0: not under way */
    uint32_t room;
    uint8_t *bytes;
};

struct walking {
    struct storage_walker walker;
    uint8_t kind;
    int result;
    uint32_t segments;
    size_t count, next;
    struct spot *spot;
    struct window window[WINDOWS];
    unsigned under_way, values;
    uint64_t value_bytes;
};

static uint32_t fold(const cw_key *key)
{
    uint32_t sum = 0;
    for (unsigned at = 0; at + 4 <= sizeof key->b; at += 4) {
        sum = (sum << 5 | sum >> 27) ^ get_be32(key->b + at);
    }
    return sum;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

static uint64_t place_of(const struct spot *spot)
{
    return (uint64_t)spot->segment << 32 | spot->offset;
}

/* One pass: by the digit at `shift` of the place, those of one digit in the order in which they come. */
static void pass(const struct spot *from, struct spot *to, size_t count, unsigned shift)
{
    size_t at[DIGITS] = {0}, sum = 0;
    for (size_t i = 0; i < count; i++) {
        at[place_of(&from[i]) >> shift & (DIGITS - 1)]++;
    }
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        to[at[place_of(&from[i]) >> shift & (DIGITS - 1)]++] = from[i];
    }
}

/* Sorts the spots by place. False: no memory. */
static bool sort(struct walking *w)
{
    uint64_t any = 0;
    struct spot *other = malloc((w->count + 1) * sizeof *other);
    if (other == NULL) {
        return false;
    }
    for (size_t i = 0; i < w->count; i++) {
        any |= place_of(&w->spot[i]);
    }
    for (unsigned shift = 0; shift < 64 && any >> shift != 0; shift += DIGIT) {
        pass(w->spot, other, w->count, shift);
        struct spot *swap = w->spot;
        w->spot = other;
        other = swap;
    }
    free(other);
    return true;
}

static bool note_spots(struct storage *s, struct walking *w)
{
    const struct key_slot *slot;
    w->spot = malloc((s->index.count + 1) * sizeof *w->spot);
    if (w->spot == NULL) {
        return false;
    }
    for (uint64_t at = 0; (slot = key_index_next(&s->index, &at)) != NULL;) {
        if (slot->kind == w->kind) {
            struct spot *spot = &w->spot[w->count++];
            *spot = (struct spot){slot->value_sum, slot->record.segment, slot->record.offset, slot->record.length,
                                  fold(&slot->key)};
        }
    }
    return sort(w);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void go_on(struct storage *s);

static void tell(struct storage *s, int result, const struct log_record *r)
{
    struct walking *w = s->walking;
    w->result = w->result == 0 ? result : w->result;
    w->walker.found(w->walker.arg, result, result == 0 ? r : NULL);
}

static void value_read(struct storage *s, uint64_t ticket, int result, const struct log_record *r)
{
    struct walking *w = s->walking;
    w->values--;
    w->value_bytes -= ticket;
    tell(s, result, r);
    go_on(s);
}

/* The record that stands at a spot, if it is the one that the index means. */
static int judge(const struct storage *s, const struct spot *spot, const uint8_t *bytes, struct log_record *r)
{
    uint32_t used;
    int rc =
        log_record_decode(r, log_seed(s->config.class_id, spot->segment, spot->offset), bytes, spot->length, &used);
    bool same = rc == 0 && used == spot->length && r->kind == s->walking->kind && fold(&r->key) == spot->key &&
                r->value_sum == spot->value_sum && (r->flags & LOG_DROP) == 0;
    bool whole = same && (r->value == NULL || storage_sum(r->value, r->value_size) == r->value_sum);
    return whole ? 0 : -EBADMSG;
}

static void found(struct storage *s, const struct spot *spot, const uint8_t *bytes)
{
    struct walking *w = s->walking;
    struct log_record r;
    int rc = judge(s, spot, bytes, &r);
    if (rc < 0 || (r.flags & LOG_PLACED) == 0) {
        tell(s, rc, &r);
        return;
    }
    const struct key_slot *slot = key_index_find(&s->index, r.kind, &r.key);
    if (slot == NULL) {
        return; /* its owner has dropped it meanwhile */
    }
    const uint64_t length = slot->value.length;
    rc = reading_begin(s, slot, true, length, value_read);
    if (rc < 0) {
        tell(s, rc, NULL);
        return;
    }
    w->values++;
    w->value_bytes += length;
}

static void told(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct window *window = container_of(waiter, struct window, waiter);
    struct storage *s = window->storage;
    struct walking *w = s->walking;
    (void)ticket;
    const uint32_t start = w->spot[window->first].offset;
    w->under_way--;
    for (size_t i = window->first; i < window->last; i++) {
        const struct spot *spot = &w->spot[i];
        const uint32_t at = spot->offset - start;
        if (result < 0 || (uint64_t)at + spot->length > (uint64_t)result) {
            tell(s, result < 0 ? (int)result : -EBADMSG, NULL);
        } else {
            found(s, spot, window->bytes + at);
        }
    }
    window->size = 0;
    go_on(s);
}

/* Begins to read the next spots, as many as one read brings. False: no memory. */
static bool read_next(struct storage *s, struct window *window)
{
    struct walking *w = s->walking;
    const struct spot *first = &w->spot[w->next];
    uint32_t size = first->length;
    size_t last = w->next + 1;
    for (; last < w->count && w->spot[last].segment == first->segment; last++) {
        const uint32_t at = w->spot[last].offset - first->offset;
        if (at + w->spot[last].length > WINDOW || at > size + GAP) {
            break;
        }
        size = at + w->spot[last].length;
    }
    if (size > window->room) {
        const uint32_t room = size > WINDOW ? size : WINDOW;
        uint8_t *more = realloc(window->bytes, room);
        if (more == NULL) {
            return false;
        }
        window->bytes = more;
        window->room = room;
    }
    window->first = w->next;
    window->last = w->next = last;
    window->size = size;
    w->under_way++;
    disk_submit(s->disk, &(struct disk_order){.what = DISK_READ,
                                              .lane = DISK_LANE_SIDE,
                                              .file = segments_at(&s->meta, first->segment)->file,
                                              .offset = first->offset,
                                              .size = size,
                                              .to = window->bytes,
                                              .waiter = &window->waiter});
    return true;
}

static void pin(struct storage *s, const struct walking *w, bool in)
{
    for (uint32_t n = 1; n <= w->segments; n++) {
        segments_at(&s->meta, n)->pins += in ? 1u : UINT32_MAX;
    }
}

static void end(struct storage *s)
{
    const struct storage_walker walker = s->walking->walker;
    const int result = s->walking->result;
    pin(s, s->walking, false);
    walking_free(s);
    walker.end(walker.arg, result);
    storage_settle(s);
}

static void go_on(struct storage *s)
{
    struct walking *w = s->walking;
    for (unsigned i = 0; i < WINDOWS; i++) {
        bool may = w->next < w->count && w->values < VALUES && w->value_bytes < VALUE_BYTES && w->result == 0;
        if (may && w->window[i].size == 0 && !read_next(s, &w->window[i])) {
            w->result = -ENOMEM;
        }
    }
    if (w->under_way == 0 && w->values == 0 && (w->next == w->count || w->result != 0)) {
        end(s);
    }
}

/* An order of the disk that does nothing: so that nobody is told inside storage_walk(). */
static void begun(struct disk_waiter *waiter, uint64_t ticket, int64_t result)
{
    struct window *window = container_of(waiter, struct window, waiter);
    struct storage *s = window->storage;
    (void)ticket;
    (void)result;
    for (unsigned i = 0; i < WINDOWS; i++) {
        s->walking->window[i] = (struct window){.waiter = {told}, .storage = s};
    }
    s->walking->under_way = 0;
    go_on(s);
}

int storage_walk(struct storage *s, uint8_t kind, const struct storage_walker *walker)
{
    if (s->state != STORAGE_OPEN || s->walking != NULL) {
        return s->walking != NULL ? -EBUSY : -ENOTCONN;
    }
    struct walking *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return -ENOMEM;
    }
    w->walker = *walker;
    w->kind = kind;
    w->segments = s->meta.count;
    w->under_way = 1;
    w->window[0] = (struct window){.waiter = {begun}, .storage = s};
    s->walking = w;
    if (!note_spots(s, w)) {
        walking_free(s);
        return -ENOMEM;
    }
    pin(s, w, true);
    disk_submit(s->disk,
                &(struct disk_order){.what = DISK_LIST, .lane = DISK_LANE_SIDE, .waiter = &w->window[0].waiter});
    return 0;
}

void walking_free(struct storage *s)
{
    struct walking *w = s->walking;
    if (w != NULL) {
        for (unsigned i = 0; i < WINDOWS; i++) {
            free(w->window[i].bytes);
        }
        free(w->spot);
        free(w);
        s->walking = NULL;
    }
}
