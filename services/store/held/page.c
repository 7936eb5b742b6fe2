/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/page.h"

#include "base/bytes.h"
#include "services/store/held/mutant.h"
#include "services/store/held/wire.h"

#include <stdlib.h>
#include <string.h>

enum { PICKED_MOST = 64 }; /* names that one pass over the table finds */

struct store_page *store_page_new(size_t room)
{
    struct store_page *p = calloc(1, sizeof *p);
    uint8_t *bytes = p != NULL ? malloc(room > 0 ? room : 1) : NULL;
    if (bytes == NULL) {
        free(p);
        return NULL;
    }
    p->bytes = bytes;
    p->room = room;
    return p;
}

void store_page_free(struct store_page *p)
{
    if (p != NULL) {
        free(p->bytes);
        free(p);
    }
}

size_t store_named_encode(const struct store_register *r, uint8_t *out)
{
    put_be64(out, r->version);
    put_be32(out + 8, r->flags);
    put_be32(out + 12, r->deleted ? STORE_NAMED_GONE : r->value_length);
    put_be16(out + 16, r->name_length);
    memcpy(out + STORE_NAMED_HEAD, r->bytes, r->name_length);
    return STORE_NAMED_HEAD + (size_t)r->name_length;
}

bool store_named_next(const uint8_t *bytes, size_t size, size_t *at, struct store_named *out)
{
    struct reader r = reader_of(bytes + *at, size - *at);
    out->version = reader_be64(&r);
    out->flags = reader_be32(&r);
    out->length = reader_be32(&r);
    out->name.job = 0;
    out->name.length = reader_be16(&r);
    out->name.bytes = reader_take(&r, out->name.length);
    *at = size - reader_left(&r);
    return reader_ok(&r) && out->name.length >= 1 && out->name.length <= CW_STORE_NAME_MAX &&
           (out->length <= CW_STORE_VALUE_MAX || out->length == STORE_NAMED_GONE);
}

int store_name_compare(const struct store_name *a, const struct store_name *b)
{
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = shorter > 0 ? memcmp(a->bytes, b->bytes, shorter) : 0;
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

bool store_name_begins(const struct store_name *name, const uint8_t *prefix, size_t length)
{
    return name->length >= length && (length == 0 || memcmp(name->bytes, prefix, length) == 0);
}

/* ---- The next names of a table ----------------------------------------------------------------------------------- */

/* Names behind which a pass looks: what the page has last, or what the order says. */
struct behind {
    bool any; /* all names are */
    uint8_t bytes[CW_STORE_NAME_MAX];
    struct store_name name;
};

static void set_behind(struct behind *b, const struct store_page *p, const struct store_order *o)
{
    struct store_named last;
    size_t at = p->last;
    *b = (struct behind){.any = p->count == 0 && !o->conditional, .name = {.bytes = b->bytes}};
    if (p->count > 0 && store_named_next(p->bytes, p->length, &at, &last)) {
        memcpy(b->bytes, last.name.bytes, last.name.length);
        b->name.length = last.name.length;
    } else if (o->conditional) {
        memcpy(b->bytes, o->name.bytes, o->name.length);
        memcpy(b->bytes + o->name.length, o->value, o->value_length);
        b->name.length = o->name.length + o->value_length;
    }
}

/* A name that the list tells of, or would after the write that is under way. */
static bool counts(const struct store_register *r, const struct store_order *o, const struct behind *b, bool waits)
{
    const struct store_name name = store_register_name(r);
    return r->job == o->name.job && (!r->deleted || (waits && r->under_way != NULL)) &&
           store_name_begins(&name, o->name.bytes, o->name.length) &&
           (b->any || store_name_compare(&name, &b->name) > 0);
}

/* Puts r among the first names that were met so far, if it is one of them. */
static void pick(struct store_register *picked[static PICKED_MOST], unsigned *count, struct store_register *r)
{
    const struct store_name name = store_register_name(r);
    unsigned from = 0, to = *count;
    while (from < to) {
        unsigned middle = (from + to) / 2;
        const struct store_name other = store_register_name(picked[middle]);
        if (store_name_compare(&other, &name) < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    if (from == PICKED_MOST) {
        return;
    }
    unsigned kept = *count < PICKED_MOST ? *count : PICKED_MOST - 1;
    memmove(picked + from + 1, picked + from, (kept - from) * sizeof *picked);
    picked[from] = r;
    *count = kept + 1;
}

static unsigned pick_all(const struct store_page *p, const struct store_table *t, const struct store_order *o,
                         bool waits, struct store_register *picked[static PICKED_MOST])
{
    struct behind b;
    unsigned count = 0;
    set_behind(&b, p, o);
    for (unsigned i = 0; t->bucket != NULL && i < STORE_BUCKETS; i++) {
        for (struct store_register *r = t->bucket[i].first; r != NULL; r = r->next) {
            if (counts(r, o, &b, waits)) {
                pick(picked, &count, r);
            }
        }
    }
    return count;
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static bool append(struct store_page *p, const struct store_register *r, unsigned most)
{
    if (p->count >= most || p->length + STORE_NAMED_HEAD + r->name_length > p->room) {
        p->is_full = true;
        return false;
    }
    p->last = p->length;
    p->length += store_named_encode(r, p->bytes + p->length);
    p->count++;
    return true;
}

struct store_register *store_page_read(struct store_page *p, const struct store_table *t, const struct store_order *o,
                                       bool waits)
{
    struct store_register *picked[PICKED_MOST];
    unsigned count = PICKED_MOST;
    while (count == PICKED_MOST && !p->is_full) {
        count = pick_all(p, t, o, waits, picked);
        for (unsigned i = 0; i < count && !p->is_full; i++) {
            if (waits && picked[i]->under_way != NULL) {
                return picked[i];
            }
            (void)append(p, picked[i], o->most);
        }
    }
    return NULL;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

void store_cursor_encode(struct store_cursor c, uint8_t out[static STORE_CURSOR_BYTES])
{
    put_be64(out, c.ballot.high);
    put_be64(out + 8, c.ballot.low);
    put_be64(out + 16, c.n);
}

struct store_cursor store_cursor_decode(const uint8_t bytes[static STORE_CURSOR_BYTES])
{
    return (struct store_cursor){{get_be64(bytes), get_be64(bytes + 8)}, get_be64(bytes + 16)};
}

bool store_page_watches(const struct store_order *o, const struct store_register *r)
{
    const struct store_name name = store_register_name(r);
    return o->conditional ? r->job == o->name.job && store_name_begins(&name, o->name.bytes, o->name.length)
                          : store_name_equal(&name, &o->name);
}

/* The first ones by version of what is behind `from`, and not behind `to`. */
static unsigned pick_changes(const struct store_table *t, const struct store_order *o, uint64_t from, uint64_t to,
                             bool deletes, struct store_register *picked[static PICKED_MOST])
{
    unsigned count = 0;
    for (unsigned i = 0; t->bucket != NULL && i < STORE_BUCKETS; i++) {
        for (struct store_register *r = t->bucket[i].first; r != NULL; r = r->next) {
            if (r->version <= from || r->version > to || (r->deleted && !deletes) || !store_page_watches(o, r)) {
                continue;
            }
            unsigned at = count < PICKED_MOST ? count : PICKED_MOST - 1;
            if (count == PICKED_MOST && picked[at]->version < r->version) {
                continue;
            }
            count = at + 1;
            for (; at > 0 && picked[at - 1]->version > r->version; at--) {
                picked[at] = picked[at - 1];
            }
            picked[at] = r;
        }
    }
    return count;
}

struct store_cursor store_page_changes(struct store_page *p, const struct store_table *t, const struct store_order *o,
                                       struct store_cursor now)
{
    struct store_register *picked[PICKED_MOST];
    struct store_cursor from = {.n = 0};
    if (o->value_length == STORE_CURSOR_BYTES) {
        from = store_cursor_decode(o->value);
    }
    bool same = store_ballot_compare(from.ballot, now.ballot) == 0 || STORE_MUTANT(WATCH_GAP);
    unsigned count = pick_changes(t, o, same ? from.n : 0, now.n, from.n != 0, picked);
    for (unsigned i = 0; i < count; i++) {
        if (!append(p, picked[i], PICKED_MOST - 1)) {
            return (struct store_cursor){now.ballot, i > 0 ? picked[i - 1]->version : same ? from.n : 0};
        }
    }
    return now;
}

uint64_t store_page_newest(const struct store_table *t, const struct store_order *o)
{
    uint64_t newest = 0;
    for (unsigned i = 0; t->bucket != NULL && i < STORE_BUCKETS; i++) {
        for (const struct store_register *r = t->bucket[i].first; r != NULL; r = r->next) {
            newest = r->version > newest && store_page_watches(o, r) ? r->version : newest;
        }
    }
    return newest;
}
