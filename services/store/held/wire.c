/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/wire.h"

#include "base/bytes.h"
#include "services/store/held/bundle.h"
#include "services/store/held/page.h"
#include "services/store/held/places.h"

#include <stdlib.h>
#include <string.h>

/*
 * An ask:    version op bits:8 value length, upper bits:8 | job:32 | class asker number since if-version:64 each |
 *            flags:32 | name length:16 value length, lower bits:16 | ttl in ms:32 | name | value; a LIST has its shard
 *            where flags are, and how many names at most in the place of if-version; a TXN: bundle.h
 * An answer: version state status carries:8 | server:32 | n:64 | version:64 | flags:32 | length:32 | value
 * A register: ballot:128 n:64 version:64 | flags:32 job:32 | bits:8 ops:8 name length:16 | value length:32 |
 *            ttl in ms:32, if bits say so | ops times (asker number n version:64 each, which:4 status:4) | name | value
 * An item:   version kind:8 bucket:16 | shard:32 | class:64 store:64 | ballot:128 | from:16 0:16 | position:64 |
 *            by its kind
 * A reply:   version kind why bits:8 | shard:32 | promised:128 | n:64 | root:128 | position:64 | by its kind
 * A lesson:  copies bits:8 0:16 | n:64 | name:128 | config
 */
enum {
    BIT_AGAIN = 1,
    BIT_CONDITIONAL = 2,
    BIT_LEAD = 4,
    BITS = 7,
    REPLY_FULL = 1,
    REPLY_MORE = 2,
    REPLY_BITS = 3,
    LESSON_DISK = 1,
    REGISTER_DELETED = 1,
    REGISTER_TTL = 2,
    NOTED_WHICH = 4,
};
_Static_assert(CW_STORE_STATUSES <= 1 << NOTED_WHICH && CW_STORE_TXN_GUARDS_MAX <= 1 << (8 - NOTED_WHICH),
               "a status and a guard's place share a byte");

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t length)
{
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

static void put_ballot(uint8_t *at, struct store_ballot b)
{
    put_be64(at, b.high);
    put_be64(at + 8, b.low);
}

static struct store_ballot read_ballot(struct reader *r)
{
    uint64_t high = reader_be64(r);
    return (struct store_ballot){high, reader_be64(r)};
}

static bool name_fits(size_t length)
{
    return length >= 1 && length <= CW_STORE_NAME_MAX;
}

/* ---- Asks and answers -------------------------------------------------------------------------------------------- */

size_t store_ask_size(const struct store_ask *ask)
{
    return STORE_ASK_HEAD + ask->order.name.length + ask->order.value_length;
}

void store_ask_encode_head(const struct store_ask *ask, uint8_t *out)
{
    const struct store_order *o = &ask->order;
    memset(out, 0, STORE_ASK_HEAD);
    out[0] = STORE_WIRE_VERSION;
    out[1] = (uint8_t)o->op;
    out[2] =
        (uint8_t)((o->again ? BIT_AGAIN : 0) | (o->conditional ? BIT_CONDITIONAL : 0) | (ask->lead ? BIT_LEAD : 0));
    put_be32(out + 4, o->name.job);
    put_be64(out + 8, ask->class_id);
    put_be64(out + 16, o->asker);
    put_be64(out + 24, o->number);
    put_be64(out + 32, o->since);
    put_be64(out + 40, o->op == STORE_OP_LIST ? o->most : o->version);
    put_be32(out + 48, o->op == STORE_OP_LIST ? o->shard : o->flags);
    put_be16(out + 52, (uint16_t)o->name.length);
    out[3] = (uint8_t)(o->value_length >> 16);
    put_be16(out + 54, (uint16_t)o->value_length);
    put_be32(out + 56, o->ttl_ms);
}

void store_ask_encode(const struct store_ask *ask, uint8_t *out)
{
    const struct store_order *o = &ask->order;
    store_ask_encode_head(ask, out);
    put_bytes(put_bytes(out + STORE_ASK_HEAD, o->name.bytes, o->name.length), o->value, o->value_length);
}

static bool list_makes_sense(const struct store_order *o)
{
    return o->ttl_ms == 0 && o->most >= 1 && o->most <= STORE_LIST_MOST &&
           o->name.length + o->value_length <= CW_STORE_NAME_MAX &&
           (o->conditional ? o->name.length + o->value_length >= 1 : o->value_length == 0);
}

static bool watch_makes_sense(const struct store_order *o)
{
    return name_fits(o->name.length) && (o->value_length == 0 || o->value_length == STORE_CURSOR_BYTES) &&
           o->flags == 0 && o->version == 0;
}

static bool txn_makes_sense(const struct store_order *o)
{
    struct store_bundle b;
    return !o->conditional && o->version == 0 && o->ttl_ms == 0 && o->value_length <= STORE_BUNDLE_MOST &&
           store_bundle_decode(o->value, o->value_length, &o->name, &b) &&
           o->flags == (store_bundle_first(&b) < b.steps ? STORE_TXN_WRITES : 0);
}

static bool ask_makes_sense(const struct store_order *o)
{
    if (o->name.job == STORE_INTENT_JOB) {
        return false;
    }
    if (o->op == STORE_OP_TXN) {
        return txn_makes_sense(o);
    }
    if (o->op == STORE_OP_LIST || o->op == STORE_OP_WATCH) {
        return o->op == STORE_OP_LIST ? list_makes_sense(o) : watch_makes_sense(o);
    }
    bool puts = o->op == CW_STORE_PUT, writes = puts || o->op == CW_STORE_DELETE;
    return o->op >= CW_STORE_GET && o->op <= CW_STORE_DELETE && name_fits(o->name.length) &&
           o->value_length <= CW_STORE_VALUE_MAX &&
           (puts || (o->value_length == 0 && o->flags == 0 && o->ttl_ms == 0)) && (writes || !o->conditional) &&
           (o->conditional || o->version == 0);
}

bool store_ask_decode(const uint8_t *bytes, size_t size, struct store_ask *out)
{
    struct reader r = reader_of(bytes, size);
    struct store_order *o = &out->order;
    *out = (struct store_ask){.class_id = 0};
    uint8_t version = reader_u8(&r);
    o->op = (cw_store_op)reader_u8(&r);
    uint8_t bits = reader_u8(&r), upper = reader_u8(&r);
    o->again = (bits & BIT_AGAIN) != 0;
    o->conditional = (bits & BIT_CONDITIONAL) != 0;
    out->lead = (bits & BIT_LEAD) != 0;
    o->name.job = reader_be32(&r);
    out->class_id = reader_be64(&r);
    o->asker = reader_be64(&r);
    o->number = reader_be64(&r);
    o->since = reader_be64(&r);
    uint64_t version_or_most = reader_be64(&r);
    uint32_t flags_or_shard = reader_be32(&r);
    bool lists = o->op == STORE_OP_LIST;
    o->version = lists ? 0 : version_or_most;
    o->flags = lists ? 0 : flags_or_shard;
    o->most = !lists ? 0 : version_or_most <= STORE_LIST_MOST ? (uint32_t)version_or_most : 0;
    o->shard = lists ? flags_or_shard : 0;
    o->name.length = reader_be16(&r);
    o->value_length = (size_t)upper << 16 | reader_be16(&r);
    o->ttl_ms = reader_be32(&r);
    o->name.bytes = reader_take(&r, o->name.length);
    o->value = reader_take(&r, o->value_length);
    return reader_done(&r) && version == STORE_WIRE_VERSION && (bits & ~BITS) == 0 && ask_makes_sense(o);
}

size_t store_answer_size(const struct store_answer *a)
{
    return STORE_ANSWER_HEAD + (a->carries ? a->length : 0);
}

void store_answer_encode(const struct store_answer *a, uint8_t *out)
{
    out[0] = STORE_WIRE_VERSION;
    out[1] = (uint8_t)a->state;
    out[2] = (uint8_t)a->status;
    out[3] = a->carries;
    put_be32(out + 4, a->server);
    put_be64(out + 8, a->n);
    put_be64(out + 16, a->version);
    put_be32(out + 24, a->flags);
    put_be32(out + 28, a->length);
    if (a->carries) {
        put_bytes(out + STORE_ANSWER_HEAD, a->value, a->length);
    }
}

bool store_answer_decode(const uint8_t *bytes, size_t size, struct store_answer *out)
{
    struct reader r = reader_of(bytes, size);
    *out = (struct store_answer){.value = NULL};
    uint8_t version = reader_u8(&r);
    out->state = (enum store_answer_state)reader_u8(&r);
    out->status = (cw_store_status)reader_u8(&r);
    uint8_t carries = reader_u8(&r);
    out->carries = carries == 1;
    out->server = reader_be32(&r);
    out->n = reader_be64(&r);
    out->version = reader_be64(&r);
    out->flags = reader_be32(&r);
    out->length = reader_be32(&r);
    out->value = out->carries && out->length <= CW_STORE_VALUE_MAX ? reader_take(&r, out->length) : NULL;
    return reader_done(&r) && version == STORE_WIRE_VERSION && carries <= 1 && out->state >= STORE_ANSWER_DONE &&
           out->state <= STORE_ANSWER_LARGE && out->status < CW_STORE_STATUSES && out->length <= CW_STORE_VALUE_MAX;
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

size_t store_register_size(const struct store_register *r)
{
    return STORE_REGISTER_HEAD + (r->ttl_ms != 0 ? STORE_TTL_BYTES : 0) + (size_t)r->ops * STORE_NOTED_BYTES +
           r->name_length + r->value_length;
}

void store_register_encode(const struct store_register *r, uint8_t *out)
{
    put_ballot(out, r->tag.ballot);
    put_be64(out + 16, r->tag.n);
    put_be64(out + 24, r->version);
    put_be32(out + 32, r->flags);
    put_be32(out + 36, r->job);
    out[40] = (uint8_t)((r->deleted ? REGISTER_DELETED : 0) | (r->ttl_ms != 0 ? REGISTER_TTL : 0));
    out[41] = r->ops;
    put_be16(out + 42, r->name_length);
    put_be32(out + 44, r->value_length);
    uint8_t *at = out + STORE_REGISTER_HEAD;
    if (r->ttl_ms != 0) {
        put_be32(at, r->ttl_ms);
        at += STORE_TTL_BYTES;
    }
    for (unsigned i = 0; i < r->ops; i++, at += STORE_NOTED_BYTES) {
        put_be64(at, r->noted[i].asker);
        put_be64(at + 8, r->noted[i].number);
        put_be64(at + 16, r->noted[i].n);
        put_be64(at + 24, r->noted[i].version);
        at[32] = (uint8_t)(r->noted[i].status | r->noted[i].which << NOTED_WHICH);
    }
    put_bytes(at, r->bytes, (size_t)r->name_length + r->value_length);
}

static struct store_noted read_noted(struct reader *r)
{
    struct store_noted n;
    n.asker = reader_be64(r);
    n.number = reader_be64(r);
    n.n = reader_be64(r);
    n.version = reader_be64(r);
    uint8_t both = reader_u8(r);
    n.status = both & ((1 << NOTED_WHICH) - 1);
    n.which = both >> NOTED_WHICH;
    return n;
}

struct store_register *store_register_decode(const uint8_t *bytes, size_t size)
{
    struct reader r = reader_of(bytes, size);
    struct store_noted noted[STORE_OPS];
    struct store_tag tag;
    tag.ballot = read_ballot(&r);
    tag.n = reader_be64(&r);
    uint64_t version = reader_be64(&r);
    uint32_t flags = reader_be32(&r), job = reader_be32(&r);
    uint8_t bits = reader_u8(&r), ops = reader_u8(&r);
    size_t name_length = reader_be16(&r), value_length = reader_be32(&r);
    bool has_ttl = bits == REGISTER_TTL; /* no value that is gone has one */
    uint32_t ttl_ms = has_ttl ? reader_be32(&r) : 0;
    bool sound = (has_ttl ? ttl_ms != 0 : bits <= REGISTER_DELETED) && ops <= STORE_OPS && name_fits(name_length) &&
                 value_length <= CW_STORE_VALUE_MAX && (bits != REGISTER_DELETED || value_length == 0);
    for (unsigned i = 0; sound && i < ops; i++) {
        noted[i] = read_noted(&r);
        sound = noted[i].status < CW_STORE_STATUSES;
    }
    struct store_name name = {job, sound ? reader_take(&r, name_length) : NULL, name_length};
    const uint8_t *value = sound ? reader_take(&r, value_length) : NULL;
    struct store_register *made = sound && reader_done(&r) ? store_register_new(&name, value_length) : NULL;
    if (made == NULL) {
        return NULL;
    }
    made->tag = tag;
    made->version = version;
    made->flags = flags;
    made->ttl_ms = ttl_ms;
    made->deleted = bits == REGISTER_DELETED;
    made->ops = ops;
    memcpy(made->noted, noted, ops * sizeof *noted);
    put_bytes(made->bytes + name_length, value, value_length);
    return made;
}

/* ---- Items and replies ------------------------------------------------------------------------------------------- */

/* Has an item of that kind a name behind its head? */
static bool names(enum store_item_kind kind)
{
    return kind == STORE_ITEM_FETCH || kind == STORE_ITEM_DROP;
}

/* Or bytes? */
static bool carries(enum store_item_kind kind)
{
    return kind == STORE_ITEM_ACCEPT || kind == STORE_ITEM_GIVE || kind == STORE_ITEM_LEARN ||
           kind == STORE_ITEM_SEAL || kind == STORE_ITEM_INSTALL;
}

static size_t item_tail(const struct store_item *i)
{
    return names(i->kind) ? 4 + i->name.length : carries(i->kind) ? i->length : 0;
}

size_t store_item_size(const struct store_item *i)
{
    return STORE_ITEM_HEAD + item_tail(i);
}

void store_item_encode(const struct store_item *i, uint8_t *out)
{
    memset(out, 0, STORE_ITEM_HEAD);
    out[0] = STORE_WIRE_VERSION;
    out[1] = (uint8_t)i->kind;
    put_be16(out + 2, i->bucket);
    put_be32(out + 4, i->shard);
    put_be64(out + 8, i->class_id);
    put_be64(out + 16, i->store_id);
    put_ballot(out + 24, i->ballot);
    put_be16(out + 40, i->from);
    put_be64(out + 44, i->position);
    if (names(i->kind)) {
        put_be32(out + STORE_ITEM_HEAD, i->name.job);
        put_bytes(out + STORE_ITEM_HEAD + 4, i->name.bytes, i->name.length);
    } else if (carries(i->kind)) {
        put_bytes(out + STORE_ITEM_HEAD, i->bytes, i->length);
    }
}

static bool item_makes_sense(const struct store_item *i)
{
    switch (i->kind) {
    case STORE_ITEM_PREPARE:
    case STORE_ITEM_CONFIRM:
        return i->bucket == 0 && i->from == 0;
    case STORE_ITEM_BUCKETS:
        return i->bucket == 0 && i->from < STORE_BUCKETS && i->from % STORE_SUMS == 0;
    case STORE_ITEM_LIST:
        return i->bucket < STORE_BUCKETS;
    case STORE_ITEM_FETCH:
    case STORE_ITEM_DROP:
        return i->bucket == 0 && i->from == 0 && name_fits(i->name.length);
    case STORE_ITEM_ACCEPT:
    case STORE_ITEM_GIVE:
    case STORE_ITEM_LEARN:
    case STORE_ITEM_SEAL:
    case STORE_ITEM_INSTALL:
        return i->bucket == 0 && i->from == 0 && i->length > 0;
    case STORE_ITEM_KINDS:
        break;
    }
    return false;
}

bool store_item_decode(const uint8_t *bytes, size_t size, struct store_item *out)
{
    struct reader r = reader_of(bytes, size);
    *out = (struct store_item){.bytes = NULL};
    uint8_t version = reader_u8(&r);
    out->kind = (enum store_item_kind)reader_u8(&r);
    out->bucket = reader_be16(&r);
    out->shard = reader_be32(&r);
    out->class_id = reader_be64(&r);
    out->store_id = reader_be64(&r);
    out->ballot = read_ballot(&r);
    out->from = reader_be16(&r);
    uint16_t zero = reader_be16(&r);
    out->position = reader_be64(&r);
    if (names(out->kind)) {
        out->name.job = reader_be32(&r);
        out->name.length = reader_left(&r);
        out->name.bytes = reader_take(&r, out->name.length);
    } else if (carries(out->kind)) {
        out->length = reader_left(&r);
        out->bytes = reader_take(&r, out->length);
    }
    return reader_done(&r) && version == STORE_WIRE_VERSION && zero == 0 && item_makes_sense(out);
}

size_t store_reply_size(const struct store_reply *r)
{
    return STORE_REPLY_HEAD + r->length;
}

void store_reply_encode(const struct store_reply *r, uint8_t *out)
{
    out[0] = STORE_WIRE_VERSION;
    out[1] = (uint8_t)r->kind;
    out[2] = (uint8_t)r->why;
    out[3] = (uint8_t)((r->full ? REPLY_FULL : 0) | (r->more ? REPLY_MORE : 0));
    put_be32(out + 4, r->shard);
    put_ballot(out + 8, r->promised);
    put_be64(out + 24, r->n);
    store_sum_encode(r->root, out + 32);
    put_be64(out + STORE_REPLY_POSITION, r->position);
    put_bytes(out + STORE_REPLY_HEAD, r->bytes, r->length);
}

static bool reply_makes_sense(const struct store_reply *r)
{
    bool known = r->kind >= STORE_ITEM_PREPARE && r->kind < STORE_ITEM_KINDS && r->why < STORE_REPLY_WHYS;
    if (!known || (r->more && r->kind != STORE_ITEM_LIST) ||
        (r->why == STORE_REPLY_LARGE && r->kind != STORE_ITEM_FETCH)) {
        return false;
    }
    if (r->why == STORE_REPLY_YES && r->kind == STORE_ITEM_BUCKETS) {
        return r->length == (size_t)STORE_SUMS * STORE_SUM_BYTES;
    }
    if (r->why == STORE_REPLY_EPOCH) {
        struct store_config c;
        return store_config_decode(r->bytes, r->length, &c);
    }
    if (r->why == STORE_REPLY_YES && r->kind == STORE_ITEM_PREPARE) {
        struct store_seal seal;
        return store_seal_decode(r->bytes, r->length, &seal);
    }
    if (r->why == STORE_REPLY_YES && r->kind == STORE_ITEM_LEARN) {
        return r->length == 8;
    }
    return r->length == 0 || (r->why == STORE_REPLY_YES && (r->kind == STORE_ITEM_LIST || r->kind == STORE_ITEM_FETCH));
}

bool store_reply_decode(const uint8_t *bytes, size_t size, struct store_reply *out)
{
    struct reader r = reader_of(bytes, size);
    *out = (struct store_reply){.bytes = NULL};
    uint8_t version = reader_u8(&r);
    out->kind = (enum store_item_kind)reader_u8(&r);
    out->why = (enum store_reply_why)reader_u8(&r);
    uint8_t bits = reader_u8(&r);
    out->full = (bits & REPLY_FULL) != 0;
    out->more = (bits & REPLY_MORE) != 0;
    out->shard = reader_be32(&r);
    out->promised = read_ballot(&r);
    out->n = reader_be64(&r);
    out->root.word[0] = reader_be64(&r);
    out->root.word[1] = reader_be64(&r);
    out->position = reader_be64(&r);
    out->length = reader_left(&r);
    out->bytes = reader_take(&r, out->length);
    return reader_done(&r) && version == STORE_WIRE_VERSION && (bits & ~REPLY_BITS) == 0 && reply_makes_sense(out);
}

void store_sum_encode(struct store_sum sum, uint8_t out[static STORE_SUM_BYTES])
{
    put_be64(out, sum.word[0]);
    put_be64(out + 8, sum.word[1]);
}

struct store_sum store_sum_decode(const uint8_t bytes[static STORE_SUM_BYTES])
{
    return (struct store_sum){{get_be64(bytes), get_be64(bytes + 8)}};
}

size_t store_listed_encode(const struct store_register *r, uint8_t *out)
{
    put_ballot(out, r->tag.ballot);
    put_be64(out + 16, r->tag.n);
    put_be32(out + 24, r->job);
    put_be16(out + 28, r->name_length);
    memcpy(out + STORE_LISTED_HEAD, r->bytes, r->name_length);
    return STORE_LISTED_HEAD + (size_t)r->name_length;
}

bool store_listed_next(const uint8_t *bytes, size_t size, size_t *at, struct store_listed *out)
{
    struct reader r = reader_of(bytes + *at, size - *at);
    out->tag.ballot = read_ballot(&r);
    out->tag.n = reader_be64(&r);
    out->name.job = reader_be32(&r);
    out->name.length = reader_be16(&r);
    out->name.bytes = reader_take(&r, out->name.length);
    *at = size - reader_left(&r);
    return reader_ok(&r) && name_fits(out->name.length);
}

/* ---- Lessons ----------------------------------------------------------------------------------------------------- */

enum { NAME_BYTES = STORE_CLASS_NAME + 1 };

size_t store_lesson_encode(const struct store_lesson *l, uint8_t out[static STORE_LESSON_MOST])
{
    memset(out, 0, STORE_LESSON_HEAD);
    out[0] = l->of.copies;
    out[1] = l->of.disk ? LESSON_DISK : 0;
    put_be64(out + 4, l->n);
    memcpy(out + 12, l->of.name, strnlen(l->of.name, STORE_CLASS_NAME));
    return STORE_LESSON_HEAD + store_config_encode(&l->config, out + STORE_LESSON_HEAD);
}

bool store_lesson_decode(const struct store_item *item, struct store_lesson *out)
{
    struct reader r = reader_of(item->bytes, item->length);
    *out = (struct store_lesson){.of = {.id = item->class_id}};
    out->of.copies = reader_u8(&r);
    uint8_t bits = reader_u8(&r);
    uint16_t zero = reader_be16(&r);
    out->of.disk = (bits & LESSON_DISK) != 0;
    out->n = reader_be64(&r);
    reader_copy(&r, out->of.name, NAME_BYTES);
    size_t left = reader_left(&r);
    const uint8_t *config = reader_take(&r, left);
    return reader_done(&r) && config != NULL && (bits & ~LESSON_DISK) == 0 && zero == 0 && out->of.id != 0 &&
           store_class_makes_sense(&out->of) && store_config_decode(config, left, &out->config);
}
