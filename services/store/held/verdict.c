/* SPDX-License-Identifier: Apache-2.0 */
#include "services/store/held/verdict.h"

#include "services/store/held/mutant.h"

#include <string.h>

static bool is_write(const struct store_order *o)
{
    return o->op == CW_STORE_PUT || o->op == CW_STORE_DELETE;
}

static const struct store_noted *noted(const struct store_register *have, const struct store_order *o)
{
    for (unsigned i = 0; have != NULL && i < have->ops; i++) {
        if (have->noted[i].asker == o->asker && have->noted[i].number == o->number) {
            return &have->noted[i];
        }
    }
    return NULL;
}

static bool may_be_forgotten(const struct store_register *have, const struct store_order *o)
{
    return have != NULL && have->ops == STORE_OPS && have->noted[0].n > o->since;
}

struct store_verdict store_verdict_refusal(const struct store_order *o, bool writes, cw_store_status status,
                                           uint64_t version)
{
    bool note = o->again && writes && !STORE_MUTANT(REFUSAL_UNNOTED);
    return (struct store_verdict){note ? STORE_VERDICT_NOTE : STORE_VERDICT_SAY, status, version, 0};
}

bool store_verdict_known(const struct store_register *have, const struct store_order *o, struct store_verdict *v)
{
    const struct store_noted *before = noted(have, o);
    if (before != NULL && !STORE_MUTANT(NO_MEMORY)) {
        *v =
            (struct store_verdict){STORE_VERDICT_TOLD, (cw_store_status)before->status, before->version, before->which};
        return true;
    }
    if (o->since == 0 && !STORE_MUTANT(SINCE_UNKNOWN)) {
        *v = (struct store_verdict){STORE_VERDICT_STALE, CW_STORE_OK, 0, 0};
        return true;
    }
    if (may_be_forgotten(have, o) && !STORE_MUTANT(NO_MEMORY)) {
        *v = o->again ? (struct store_verdict){STORE_VERDICT_TOLD, CW_STORE_UNKNOWN, 0, 0}
                      : (struct store_verdict){STORE_VERDICT_STALE, CW_STORE_OK, 0, 0};
        return true;
    }
    return false;
}

struct store_verdict store_verdict_of(const struct store_register *have, const struct store_order *o)
{
    uint64_t there = have != NULL && !have->deleted ? have->version : 0;
    if (!is_write(o)) {
        return (struct store_verdict){STORE_VERDICT_SAY, there != 0 ? CW_STORE_OK : CW_STORE_NOT_FOUND,
                                      have != NULL ? have->version : 0, 0};
    }
    struct store_verdict known;
    if (store_verdict_known(have, o, &known)) {
        return known;
    }
    if (o->conditional && o->version != there) {
        return store_verdict_refusal(o, true, CW_STORE_CONFLICT, there);
    }
    if (o->op == CW_STORE_DELETE && there == 0) {
        return store_verdict_refusal(o, true, CW_STORE_NOT_FOUND, have != NULL ? have->version : 0);
    }
    return (struct store_verdict){STORE_VERDICT_WRITE, CW_STORE_OK, 0, 0};
}

static void copy_state(struct store_register *r, const struct store_register *have)
{
    r->version = have->version;
    r->flags = have->flags;
    r->ttl_ms = have->ttl_ms;
    r->expires = have->expires;
    r->deleted = have->deleted;
    if (have->value_length > 0) {
        memcpy(r->bytes + r->name_length, store_register_value(have), have->value_length);
    }
}

static void copy_notes(struct store_register *r, const struct store_register *have)
{
    if (have != NULL) {
        r->ops = have->ops;
        memcpy(r->noted, have->noted, sizeof r->noted);
    }
}

static void note(struct store_register *r, const struct store_order *o, const struct store_verdict *v)
{
    if (r->ops == STORE_OPS) {
        memmove(r->noted, r->noted + 1, (STORE_OPS - 1) * sizeof *r->noted);
        r->ops--;
    }
    r->noted[r->ops++] =
        (struct store_noted){o->asker, o->number, r->tag.n, v->version, (uint8_t)v->status, (uint8_t)v->which};
}

struct store_register *store_verdict_write(const struct store_register *have, const struct store_order *o,
                                           struct store_tag tag, struct store_verdict *v)
{
    bool anew = v->kind == STORE_VERDICT_WRITE, put = anew && o->op == CW_STORE_PUT;
    size_t length = put ? o->value_length : !anew && have != NULL ? have->value_length : 0;
    struct store_register *r = store_register_new(&o->name, length);
    if (r == NULL) {
        return NULL;
    }
    r->tag = tag;
    if (!anew && have != NULL) {
        copy_state(r, have);
    } else {
        r->version = anew ? tag.n : 0; /* a note about a name that never was leaves it so */
        r->deleted = !put;
        r->flags = put ? o->flags : 0;
        r->ttl_ms = put ? o->ttl_ms : 0;
        r->expires = STORE_MUTANT(OLD_DEADLINE) && have != NULL ? have->expires : 0;
    }
    if (put && length > 0) {
        memcpy(r->bytes + r->name_length, o->value, length);
    }
    v->version = anew ? r->version : v->version;
    copy_notes(r, have);
    note(r, o, v);
    return r;
}

struct store_register *store_verdict_expire(const struct store_register *have, struct store_tag tag)
{
    struct store_name name = store_register_name(have);
    struct store_register *r = store_register_new(&name, 0);
    if (r != NULL) {
        r->tag = tag;
        r->version = tag.n;
        r->deleted = true;
        copy_notes(r, have);
    }
    return r;
}

struct store_register *store_register_again(const struct store_register *have, struct store_tag tag)
{
    struct store_name name = store_register_name(have);
    struct store_register *r = store_register_new(&name, have->value_length);
    if (r != NULL) {
        r->tag = tag;
        copy_state(r, have);
        copy_notes(r, have);
    }
    return r;
}
