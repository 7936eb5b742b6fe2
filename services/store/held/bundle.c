/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/bundle.h"

#include "base/bytes.h"

#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

bool store_bundle_tag(const struct store_name *name, struct store_name *tag)
{
    const uint8_t *end = name->length > 2 && name->bytes[0] == '{' ? memchr(name->bytes, '}', name->length) : NULL;
    *tag = (struct store_name){name->job, name->bytes, end != NULL ? (size_t)(end - name->bytes) + 1 : 0};
    return tag->length > 2 && tag->length - 2 <= CW_STORE_TAG_MAX;
}

static bool is_of(const struct store_name *name, const struct store_name *tag)
{
    return name->length >= tag->length && name->length <= CW_STORE_NAME_MAX && name->job == tag->job &&
           memcmp(name->bytes, tag->bytes, tag->length) == 0;
}

unsigned store_bundle_first(const struct store_bundle *b)
{
    unsigned i = 0;
    while (i < b->steps && !store_step_writes(&b->step[i])) {
        i++;
    }
    return i;
}

const struct store_name *store_bundle_name(const struct store_bundle *b, unsigned i)
{
    return i < b->guards ? &b->guard[i].name : i < b->guards + b->steps ? &b->step[i - b->guards].name : NULL;
}

bool store_bundle_only_gets(const struct store_bundle *b, unsigned i)
{
    return i >= b->guards && !store_step_writes(&b->step[i - b->guards]);
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

static bool guard_is_valid(const struct store_guard *g, const struct store_name *tag)
{
    return g->kind >= CW_STORE_IF_VERSION && g->kind <= CW_STORE_IF_EXISTS && is_of(&g->name, tag) &&
           (g->kind == CW_STORE_IF_VERSION) == (g->version != 0);
}

static bool step_is_valid(const struct store_step *s, const struct store_name *tag)
{
    bool puts = s->op == CW_STORE_PUT;
    return (puts || s->op == CW_STORE_GET || s->op == CW_STORE_DELETE) && is_of(&s->name, tag) &&
           s->value_length <= CW_STORE_TXN_VALUE_MAX &&
           (puts || (s->value_length == 0 && s->flags == 0 && s->ttl_ms == 0));
}

static bool writes_twice(const struct store_bundle *b, unsigned i)
{
    for (unsigned k = 0; k < i; k++) {
        if (store_step_writes(&b->step[i]) && store_step_writes(&b->step[k]) &&
            store_name_equal(&b->step[i].name, &b->step[k].name)) {
            return true;
        }
    }
    return false;
}

bool store_bundle_valid(const struct store_bundle *b, const struct store_name *tag)
{
    struct store_name same;
    bool good = b->guards <= CW_STORE_TXN_GUARDS_MAX && b->steps >= 1 && b->steps <= CW_STORE_TXN_STEPS_MAX &&
                store_bundle_tag(tag, &same) && same.length == tag->length;
    for (unsigned i = 0; good && i < b->guards; i++) {
        good = guard_is_valid(&b->guard[i], tag);
    }
    for (unsigned i = 0; good && i < b->steps; i++) {
        good = step_is_valid(&b->step[i], tag) && !writes_twice(b, i);
    }
    return good;
}

size_t store_bundle_size(const struct store_bundle *b)
{
    size_t size = 2;
    for (unsigned i = 0; i < b->guards; i++) {
        size += STORE_GUARD_HEAD + b->guard[i].name.length;
    }
    for (unsigned i = 0; i < b->steps; i++) {
        size += STORE_STEP_HEAD + b->step[i].name.length + b->step[i].value_length;
    }
    return size;
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t length)
{
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

void store_bundle_encode(const struct store_bundle *b, uint8_t *out)
{
    uint8_t *at = out + 2;
    out[0] = (uint8_t)b->guards;
    out[1] = (uint8_t)b->steps;
    for (unsigned i = 0; i < b->guards; i++) {
        const struct store_guard *g = &b->guard[i];
        at[0] = (uint8_t)g->kind;
        put_be16(at + 1, (uint16_t)g->name.length);
        put_be64(at + 3, g->version);
        at = put_bytes(at + STORE_GUARD_HEAD, g->name.bytes, g->name.length);
    }
    for (unsigned i = 0; i < b->steps; i++) {
        const struct store_step *s = &b->step[i];
        at[0] = (uint8_t)s->op;
        put_be16(at + 1, (uint16_t)s->name.length);
        put_be32(at + 3, s->flags);
        put_be32(at + 7, s->ttl_ms);
        put_be16(at + 11, (uint16_t)s->value_length);
        at = put_bytes(at + STORE_STEP_HEAD, s->name.bytes, s->name.length);
        at = put_bytes(at, s->value, s->value_length);
    }
}

static struct store_guard read_guard(struct reader *r, cw_job job)
{
    struct store_guard g = {.kind = (cw_store_guard_kind)reader_u8(r), .name = {.job = job}};
    g.name.length = reader_be16(r);
    g.version = reader_be64(r);
    g.name.bytes = reader_take(r, g.name.length);
    return g;
}

static struct store_step read_step(struct reader *r, cw_job job)
{
    struct store_step s = {.op = (cw_store_op)reader_u8(r), .name = {.job = job}};
    s.name.length = reader_be16(r);
    s.flags = reader_be32(r);
    s.ttl_ms = reader_be32(r);
    s.value_length = reader_be16(r);
    s.name.bytes = reader_take(r, s.name.length);
    s.value = reader_take(r, s.value_length);
    return s;
}

bool store_bundle_decode(const uint8_t *bytes, size_t size, const struct store_name *tag, struct store_bundle *out)
{
    struct reader r = reader_of(bytes, size);
    out->guards = reader_u8(&r);
    out->steps = reader_u8(&r);
    if (out->guards > CW_STORE_TXN_GUARDS_MAX || out->steps > CW_STORE_TXN_STEPS_MAX) {
        return false;
    }
    for (unsigned i = 0; i < out->guards; i++) {
        out->guard[i] = read_guard(&r, tag->job);
    }
    for (unsigned i = 0; i < out->steps; i++) {
        out->step[i] = read_step(&r, tag->job);
    }
    return reader_done(&r) && store_bundle_valid(out, tag);
}

/* ---- What it is to the registers --------------------------------------------------------------------------------- */

static uint64_t version_there(const struct store_table *t, const struct store_name *name)
{
    const struct store_register *r = store_table_find(t, name);
    return r != NULL && !r->deleted ? r->version : 0;
}

static bool holds(const struct store_guard *g, uint64_t there)
{
    return g->kind == CW_STORE_IF_VERSION ? there == g->version : (g->kind == CW_STORE_IF_EXISTS) == (there != 0);
}

struct store_verdict store_bundle_verdict(const struct store_table *t, const struct store_order *o,
                                          const struct store_bundle *b)
{
    const unsigned first = store_bundle_first(b);
    const struct store_register *have = first < b->steps ? store_table_find(t, &b->step[first].name) : NULL;
    struct store_verdict v = {STORE_VERDICT_WRITE, CW_STORE_OK, 0, 0};
    if (first < b->steps && store_verdict_known(have, o, &v)) {
        return v;
    }
    for (unsigned i = 0; i < b->guards; i++) {
        uint64_t there = version_there(t, &b->guard[i].name);
        if (!holds(&b->guard[i], there)) {
            v = store_verdict_refusal(o, first < b->steps, CW_STORE_CONFLICT, there);
            v.which = i;
            return v;
        }
    }
    v.kind = first < b->steps ? STORE_VERDICT_WRITE : STORE_VERDICT_SAY;
    return v;
}

static struct store_told told_of(const struct store_table *t, const struct store_bundle *b, unsigned i, uint64_t base,
                                 bool told_again)
{
    const struct store_step *s = &b->step[i];
    const struct store_register *r = store_table_find(t, &s->name);
    if (s->op == CW_STORE_PUT) {
        return (struct store_told){CW_STORE_OK, base + i, 0, NULL, 0};
    }
    if (s->op == CW_STORE_DELETE && (told_again ? r != NULL && r->version == base + i : r != NULL && !r->deleted)) {
        return (struct store_told){CW_STORE_OK, base + i, 0, NULL, 0};
    }
    if (told_again && r != NULL && r->version >= base) {
        return (struct store_told){CW_STORE_UNKNOWN, 0, 0, NULL, 0};
    }
    if (s->op == CW_STORE_DELETE) {
        return (struct store_told){CW_STORE_OK, 0, 0, NULL, 0}; /* there was nothing to delete */
    }
    if (r == NULL || r->deleted) {
        return (struct store_told){CW_STORE_NOT_FOUND, r != NULL ? r->version : 0, 0, NULL, 0};
    }
    return (struct store_told){CW_STORE_OK, r->version, r->flags, store_register_value(r), r->value_length};
}

size_t store_bundle_tell(const struct store_table *t, const struct store_bundle *b, uint64_t base, bool told_again,
                         uint8_t *out)
{
    size_t size = 0;
    for (unsigned i = 0; i < b->steps; i++) {
        const struct store_told told = told_of(t, b, i, base, told_again);
        if (out != NULL) {
            uint8_t *at = out + size;
            at[0] = (uint8_t)told.status;
            put_be64(at + 1, told.version);
            put_be32(at + 9, told.flags);
            put_be32(at + 13, (uint32_t)told.value_length);
            put_bytes(at + STORE_TOLD_HEAD, told.value, told.value_length);
        }
        size += STORE_TOLD_HEAD + told.value_length;
    }
    return size;
}

bool store_told_next(const uint8_t *bytes, size_t size, size_t *at, struct store_told *out)
{
    struct reader r = reader_of(bytes + *at, size - *at);
    out->status = (cw_store_status)reader_u8(&r);
    out->version = reader_be64(&r);
    out->flags = reader_be32(&r);
    out->value_length = reader_be32(&r);
    out->value = reader_take(&r, out->value_length);
    *at = size - reader_left(&r);
    return reader_ok(&r) && out->status < CW_STORE_STATUSES;
}
