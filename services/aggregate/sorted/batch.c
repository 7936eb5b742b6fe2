/* SPDX-License-Identifier: Apache-2.0 */
#include "services/aggregate/sorted/batch.h"

#include "base/check.h"

#include <errno.h>
#include <string.h>

enum {
    UNIT = 8,           /* records begin at multiples of it */
    ENTRY = 24,         /* for each record: its entry, and half of one for the sort */
    RUN = 12,           /* so few entries are sorted by insertion */
    SHORT = 64,         /* bytes of a value that is combined as values come: a long list would be read too often */
    TABLE_SHARE = 16,   /* one of so many bytes is the table's */
    SLOTS_LEAST = 1024, /* a small table stays in the processor's cache */
    LARGEST = 2 * UNIT + RECORD_MOST + SHORT + 2 * UNIT, /* bytes that a record may take */
};

/* What stands before the key. */
struct head {
    uint16_t key_length, room; /* room: of the value, in units */
    uint32_t value_length;
    uint32_t entry; /* its number, from 1 on */
};

void batch_open(struct batch *b, void *memory, size_t size, uint32_t partitions, const struct combine *combine)
{
    CHECK(size >= BATCH_LEAST && size / UNIT <= UINT32_MAX && (uintptr_t)memory % UNIT == 0);
    CHECK(partitions >= 1 && partitions <= UINT32_C(1) << 31);
    *b = (struct batch){.memory = memory, .size = size - size % UNIT, .partitions = partitions};
    b->combine = combine != NULL ? *combine : b->combine;
    if (b->combine.table != NULL && b->combine.table->associative) {
        b->slots_most = SLOTS_LEAST;
        while (b->slots_most * sizeof *b->slot <= size / TABLE_SHARE / 2) {
            b->slots_most *= 2;
        }
        b->slot = memory;
        b->memory += b->slots_most * sizeof *b->slot;
        b->size -= b->slots_most * sizeof *b->slot;
    }
    batch_clear(b);
}

void batch_clear(struct batch *b)
{
    b->used = 0;
    b->entries = b->taken = 0;
    b->sorted = false;
    b->slots = SLOTS_LEAST;
    if (b->slot != NULL) {
        memset(b->slot, 0, b->slots * sizeof *b->slot);
    }
}

/* The entries, the last one that came first. */
static struct batch_entry *entries(const struct batch *b)
{
    void *end = b->memory + b->size;
    return (struct batch_entry *)end - b->entries;
}

static struct head head_at(const struct batch *b, uint32_t at)
{
    struct head h;
    memcpy(&h, b->memory + (size_t)at * UNIT, sizeof h);
    return h;
}

static cw_bytes key_at(const struct batch *b, uint32_t at)
{
    return (cw_bytes){b->memory + (size_t)at * UNIT + sizeof(struct head), head_at(b, at).key_length};
}

static cw_bytes value_at(const struct batch *b, uint32_t at)
{
    struct head h = head_at(b, at);
    return (cw_bytes){b->memory + (size_t)at * UNIT + sizeof h + h.key_length, h.value_length};
}

static cw_bytes key_of(const struct batch *b, const struct batch_entry *e)
{
    return key_at(b, e->at);
}

static uint64_t word_of(cw_bytes key)
{
    uint8_t word[sizeof(uint64_t)] = {0};
    memcpy(word, key.bytes, key.length < sizeof word ? key.length : sizeof word);
    return get_be64(word);
}

static int key_order(cw_bytes a, cw_bytes b)
{
    return record_order(a.bytes, a.length, b.bytes, b.length, record_common(a.bytes, a.length, b.bytes, b.length, 0));
}

/* Finds the slot of a key, or the free one where it would be: there always is one. */
static struct batch_slot *find(const struct batch *b, cw_bytes key, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    for (uint32_t i = tag;; i++) {
        struct batch_slot *s = &b->slot[i & (b->slots - 1)];
        if (s->next == 0 || (s->tag == tag && key_order(key_at(b, s->next - 1), key) == 0)) {
            return s;
        }
    }
}

static void note(struct batch *b, struct batch_slot *s, uint64_t hash, uint32_t at)
{
    b->taken += s->next == 0;
    *s = (struct batch_slot){(uint32_t)(hash >> 32), at + 1};
}

static bool table_is_full(const struct batch *b)
{
    return b->taken >= b->slots / 4 * 3;
}

/* Twice as many slots: all keys find their place anew, the last record of each. */
static void grow(struct batch *b)
{
    b->slots *= 2;
    b->taken = 0;
    memset(b->slot, 0, b->slots * sizeof *b->slot);
    for (uint32_t n = b->entries; n > 0; n--) {
        uint32_t at = entries(b)[n - 1].at;
        cw_bytes key = key_at(b, at);
        uint64_t hash = record_hash(key);
        note(b, find(b, key, hash), hash, at);
    }
}

/*
 * Writes a record behind the others, of that entry: its value stands there already. A value that may grow gets room for
 * that.
 */
static uint32_t settle(struct batch *b, cw_bytes key, size_t length, uint32_t entry)
{
    uint8_t *at = b->memory + b->used;
    size_t grown = length < SHORT / 2 ? length + UNIT / 2 : SHORT, more = b->slot == NULL ? 0 : grown;
    size_t bytes = (sizeof(struct head) + key.length + length + more + UNIT - 1) / UNIT * UNIT;
    size_t room = (bytes - sizeof(struct head) - key.length) / UNIT;
    struct head h = {(uint16_t)key.length, (uint16_t)room, (uint32_t)length, entry};
    uint32_t place = (uint32_t)(b->used / UNIT);
    memcpy(at, &h, sizeof h);
    memcpy(at + sizeof h, key.bytes, key.length);
    b->used += bytes;
    return place;
}

/* Combines a value that waits behind the records with those of the slot's record. 0, or the combiner's error. */
static int meet(struct batch *b, struct batch_slot *s, cw_bytes key, cw_bytes value)
{
    uint32_t at = s->next - 1;
    struct head h = head_at(b, at);
    uint8_t *old = b->memory + (size_t)at * UNIT, *waits = b->memory + b->used + sizeof h + key.length;
    cw_bytes values[] = {value_at(b, at), value};
    uint8_t *out = waits + value.length;
    int length = combine_values(&b->combine, key, values, 2, out, RECORD_MOST - key.length);
    if (length < 0) {
        return length;
    }
    if ((size_t)length <= (size_t)h.room * UNIT) {
        h.value_length = (uint32_t)length;
        memcpy(old, &h, sizeof h);
        memcpy(old + sizeof h + key.length, out, (size_t)length);
        return 0;
    }
    memmove(waits, out, (size_t)length);
    at = settle(b, key, (size_t)length, h.entry); /* where it was is lost */
    s->next = at + 1;
    entries(b)[b->entries - h.entry].at = at;
    return 0;
}

int batch_add(struct batch *b, cw_bytes key, cw_bytes value)
{
    uint8_t *waits = b->memory + b->used + sizeof(struct head) + key.length;
    CHECK(!b->sorted);
    if (key.length == 0 || key.length > RECORD_KEY_MOST) {
        return -EMSGSIZE;
    }
    if (b->size - b->used < 2 * LARGEST + ((size_t)b->entries + 1) * ENTRY || b->entries == UINT32_MAX) {
        return -ENOSPC;
    }
    int length = combine_prepare(&b->combine, key, value, waits, RECORD_MOST - key.length);
    if (length < 0) {
        return length;
    }
    uint64_t hash = record_hash(key);
    struct batch_slot *s = b->slot != NULL ? find(b, key, hash) : NULL;
    if (s != NULL && s->next != 0 && head_at(b, s->next - 1).value_length <= SHORT) {
        return meet(b, s, key, (cw_bytes){waits, (size_t)length});
    }
    b->entries++;
    uint32_t at = settle(b, key, (size_t)length, b->entries);
    *entries(b) = (struct batch_entry){word_of(key), (uint32_t)(hash % b->partitions), at};
    if (s != NULL && (s->next != 0 || !table_is_full(b))) {
        note(b, s, hash, at);
        if (table_is_full(b) && b->slots < b->slots_most) {
            grow(b);
        }
    }
    return 0;
}

/* Does x come behind y? */
static bool is_behind(const struct batch *b, const struct batch_entry *x, const struct batch_entry *y)
{
    if (x->partition != y->partition) {
        return x->partition > y->partition;
    }
    if (x->word != y->word) {
        return x->word > y->word;
    }
    return key_order(key_of(b, x), key_of(b, y)) > 0;
}

static void insertion_sort(const struct batch *b, struct batch_entry *e, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct batch_entry moved = e[i];
        size_t to = i;
        for (; to > 0 && is_behind(b, &e[to - 1], &moved); to--) {
            e[to] = e[to - 1];
        }
        e[to] = moved;
    }
}

/* Stable, and of n log n steps whatever the keys. The scratch holds n / 2 entries. */
static void merge_sort(const struct batch *b, struct batch_entry *e, size_t n, struct batch_entry *scratch)
{
    if (n <= RUN) {
        insertion_sort(b, e, n);
        return;
    }
    size_t half = n / 2, left = 0, right = half, to = 0;
    merge_sort(b, e, half, scratch);
    merge_sort(b, e + half, n - half, scratch);
    if (!is_behind(b, &e[half - 1], &e[half])) {
        return;
    }
    memcpy(scratch, e, half * sizeof *e);
    while (left < half && right < n) {
        e[to++] = is_behind(b, &scratch[left], &e[right]) ? e[right++] : scratch[left++];
    }
    memcpy(e + to, scratch + left, (half - left) * sizeof *e);
}

void batch_sort(struct batch *b)
{
    struct batch_entry *e = entries(b);
    CHECK(!b->sorted);
    for (uint32_t i = 0; i < b->entries / 2; i++) {
        struct batch_entry first = e[i];
        e[i] = e[b->entries - 1 - i];
        e[b->entries - 1 - i] = first;
    }
    merge_sort(b, e, b->entries, e - b->entries / 2);
    b->sorted = true;
}

/* The first entry that is of the partition or a later one, and, in the partition, above the key. */
static uint32_t first_above(const struct batch *b, uint32_t partition, const cw_bytes *after)
{
    const struct batch_entry *e = entries(b);
    uint32_t from = 0, to = b->entries;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        bool below = e[middle].partition != partition ? e[middle].partition < partition
                                                      : after != NULL && key_order(key_of(b, &e[middle]), *after) <= 0;
        from = below ? middle + 1 : from;
        to = below ? to : middle;
    }
    return from;
}

struct batch_cursor batch_seek(const struct batch *b, uint32_t partition, const cw_bytes *after, uint8_t *scratch)
{
    CHECK(b->sorted && partition < b->partitions);
    return (struct batch_cursor){first_above(b, partition, after), first_above(b, partition + 1, NULL), scratch};
}

/*
 * Combines the values of the entries from `from` on that have the same key, and says in *to where they end. Without
 * combiner: of one entry.
 */
static int combined(const struct batch *b, const struct batch_cursor *c, uint32_t *to, cw_bytes *value)
{
    const struct batch_entry *e = entries(b);
    cw_bytes key = key_of(b, &e[c->next]), values[CW_COMBINE_VALUES];
    unsigned n = 1, half = 0;
    uint32_t i = c->next + 1;
    bool more = b->combine.table != NULL && b->combine.table->associative;
    values[0] = value_at(b, e[c->next].at);
    while (more) {
        more = i < c->end && e[i].word == e[c->next].word && key_order(key_of(b, &e[i]), key) == 0;
        if (more) {
            values[n++] = value_at(b, e[i++].at);
        }
        if (n == CW_COMBINE_VALUES || (!more && n > 1)) {
            uint8_t *out = c->scratch + (size_t)half * RECORD_BLOCK;
            int rc = combine_values(&b->combine, key, values, n, out, RECORD_MOST - key.length);
            if (rc < 0) {
                return rc;
            }
            values[0] = (cw_bytes){out, (size_t)rc};
            n = 1;
            half ^= 1;
        }
    }
    *to = i;
    *value = values[0];
    return 0;
}

int batch_read(const struct batch *b, struct batch_cursor *c, struct record_writer *w, cw_bytes *key)
{
    while (c->next < c->end) {
        uint32_t to = 0;
        cw_bytes value;
        *key = key_of(b, &entries(b)[c->next]);
        int rc = combined(b, c, &to, &value);
        if (rc < 0) {
            return rc;
        }
        if (record_write(w, *key, value) < 0) {
            return 1;
        }
        c->next = to;
    }
    return 0;
}

void batch_hashes(const struct batch *b, void (*fn)(void *context, uint64_t hash), void *context)
{
    for (uint32_t i = 0; i < b->entries; i++) {
        fn(context, record_hash(key_of(b, &entries(b)[i])));
    }
}
