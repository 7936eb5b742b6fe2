/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/op.h"

#include <string.h>

static struct op_outcome keeps(enum kv_status status)
{
    return (struct op_outcome){.status = status, .change = OP_KEEPS};
}

static struct op_outcome stores(const struct kv_request *r, size_t length, uint32_t flags)
{
    if (length > KV_VALUE_MAX) {
        return keeps(KV_TOO_LARGE);
    }
    return (struct op_outcome){
        .status = KV_OK, .change = OP_STORES, .length = length, .flags = flags, .expiry = r->expiry};
}

static struct op_outcome joins(const struct kv_request *r, const struct op_value *now)
{
    struct op_outcome o = stores(r, now->length + r->value_length, now->flags);
    o.expiry_stays = true;
    return o;
}

/* True for decimal digits alone, of a number that 64 bits hold. */
static bool number_of(const struct op_value *v, uint64_t *out)
{
    uint64_t n = 0;
    if (v->length == 0 || v->length > OP_NUMBER_MAX) {
        return false;
    }
    for (size_t i = 0; i < v->length; i++) {
        if (v->bytes[i] < '0' || v->bytes[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(v->bytes[i] - '0'), &n)) {
            return false;
        }
    }
    *out = n;
    return true;
}

static struct op_outcome counts(const struct kv_request *r, uint64_t n, uint32_t flags)
{
    uint8_t backwards[OP_NUMBER_MAX];
    uint8_t digits = 0;
    do {
        backwards[digits++] = (uint8_t)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    struct op_outcome o = stores(r, digits, flags);
    o.answers = true;
    o.digits = digits;
    for (unsigned i = 0; i < digits; i++) {
        o.number[i] = backwards[digits - 1 - i];
    }
    return o;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static bool has_step(const struct kv_request *r, enum kv_step step)
{
    for (unsigned steps = r->steps; steps != 0; steps >>= 4) {
        if ((steps & 15) == step) {
            return true;
        }
    }
    return false;
}

static bool is_shorter(cw_span left, cw_span wish)
{
    return left.ns != KV_NEVER.ns && left.ns < wish.ns;
}

/*
 * Takes the steps one after the other, as memcached does with the flags of a command: they change the value's times,
 * and say whether the asker wins.
 */
static void take_steps(const struct kv_request *r, const struct op_value *now, bool created, struct op_outcome *o)
{
    cw_span left = now->there ? now->left : KV_NEVER;
    o->expiry_stays = !created;
    o->left = left;
    bool told = false;
    for (unsigned steps = r->steps; steps != 0; steps >>= 4) {
        switch ((enum kv_step)(steps & 15)) {
        case KV_STEP_RENEW:
            left = r->expiry;
            o->expiry_stays = false;
            break;
        case KV_STEP_VIVIFY:
            left = created ? r->vivify : left;
            o->won |= created;
            break;
        case KV_STEP_RECACHE:
            o->won |= !created && !(now->marks & KV_MARK_SENT) && is_shorter(left, r->recache);
            break;
        case KV_STEP_LEFT:
            o->left = left;
            told = true;
            break;
        case KV_STEPS:
            break;
        }
    }
    o->expiry = left;
    o->left = told ? o->left : left;
}

static struct op_outcome steps_number(const struct kv_request *r, const struct op_value *now)
{
    uint64_t n;
    struct op_outcome o;
    if (!now->there) {
        if (!r->create && !has_step(r, KV_STEP_VIVIFY)) {
            return keeps(KV_MISS);
        }
        o = counts(r, r->initial, r->flags);
    } else if (!number_of(now, &n)) {
        return keeps(KV_NOT_NUMBER);
    } else {
        n = r->op == KV_INCR ? n + r->delta : n > r->delta ? n - r->delta : 0;
        o = counts(r, n, now->flags);
        o.expiry_stays = true;
        o.marks = o.digits <= now->length
                      ? now->marks
                      : 0; /* memcached overwrites the number where it is, if it fits, and keeps its marks */
    }
    if (r->steps != 0) {
        take_steps(r, now, !now->there, &o);
        o.won = false; /* a new number is not empty: nobody has to make it */
    }
    return o;
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

static struct op_outcome found(const struct op_value *now, enum op_change change, bool answers)
{
    if (!now->there) {
        return keeps(KV_MISS);
    }
    return (struct op_outcome){.status = KV_OK,
                               .change = change,
                               .answers = answers,
                               .length = answers ? now->length : 0,
                               .flags = now->flags,
                               .marks = now->marks,
                               .left = now->left};
}

static bool is_to_be_won(const struct op_value *now)
{
    return (now->marks & KV_MARK_STALE) && !(now->marks & KV_MARK_SENT);
}

static struct op_outcome get(const struct kv_request *r, const struct op_value *now)
{
    struct op_outcome o = found(now, OP_KEEPS, true);
    o.win_due = (r->meta & KV_META) && is_to_be_won(now);
    return o;
}

static struct op_outcome renew(const struct kv_request *r, const struct op_value *now, bool answers)
{
    struct op_outcome o = found(now, OP_RENEWS, answers);
    o.expiry = o.left = r->expiry;
    return o;
}

static struct op_outcome look(const struct kv_request *r, const struct op_value *now)
{
    bool created = !now->there && has_step(r, KV_STEP_VIVIFY);
    struct op_outcome o = created ? stores(r, 0, 0) : found(now, OP_KEEPS, true);
    if (o.status != KV_OK) {
        return o;
    }
    take_steps(r, now, created, &o);
    o.won |= is_to_be_won(now);
    o.marks |= o.won ? KV_MARK_SENT : 0;
    o.answers = true;
    if (!created && (o.won || !o.expiry_stays)) {
        o.change = OP_RENEWS;
    }
    return o;
}

/* ---- Deciding ---------------------------------------------------------------------------------------------------- */

static struct op_outcome remove_value(const struct kv_request *r, const struct op_value *now)
{
    if (!(r->meta & KV_META_STALE)) {
        return found(now, OP_REMOVES, false);
    }
    struct op_outcome o = found(now, OP_RENEWS, false);
    o.marks = (o.marks & ~(unsigned)KV_MARK_SENT) | KV_MARK_STALE;
    o.expiry_stays = !has_step(r, KV_STEP_RENEW);
    o.expiry = r->expiry;
    o.another_cas = true;
    return o;
}

/* True when the write names an older value than the one that is there, and may be stored as stale. */
static bool is_late(const struct kv_request *r, const struct op_value *now)
{
    return (r->meta & KV_META_STALE) && r->cas != 0 && (r->op == KV_SET || r->op == KV_CAS || r->op == KV_REPLACE) &&
           now->there && r->cas < now->cas;
}

/* True when the write names a value, by its cas, that is not there: it does nothing, and *o says so. */
static bool another(const struct kv_request *r, const struct op_value *now, struct op_outcome *o)
{
    if (op_reads(r->op) || (r->cas == 0 && r->op != KV_CAS)) {
        return false;
    }
    *o = keeps(now->there ? KV_EXISTS : KV_MISS);
    return !now->there || now->cas != r->cas;
}

static struct op_outcome store_late(const struct kv_request *r, const struct op_value *now)
{
    struct op_outcome o = stores(r, r->value_length, r->flags);
    o.expiry_stays = true;
    o.marks = (now->marks & KV_MARK_SENT) | KV_MARK_STALE;
    return o;
}

static struct op_outcome decide(const struct kv_request *r, const struct op_value *now)
{
    switch (r->op) {
    case KV_GET:
        return get(r, now);
    case KV_GAT:
        return r->steps != 0 ? look(r, now) : renew(r, now, true);
    case KV_LOOK:
        return look(r, now);
    case KV_TOUCH:
        return renew(r, now, false);
    case KV_DELETE:
        return remove_value(r, now);
    case KV_SET:
    case KV_CAS:
        return stores(r, r->value_length, r->flags);
    case KV_ADD:
        return now->there ? keeps(KV_NOT_STORED) : stores(r, r->value_length, r->flags);
    case KV_REPLACE:
        return now->there ? stores(r, r->value_length, r->flags) : keeps(KV_NOT_STORED);
    case KV_APPEND:
    case KV_PREPEND:
        return now->there ? joins(r, now) : keeps(KV_NOT_STORED);
    case KV_INCR:
    case KV_DECR:
        return steps_number(r, now);
    case KV_OPS:
        break;
    }
    return keeps(KV_NOT_STORED);
}

struct op_outcome op_decide(const struct kv_request *r, const struct op_value *now)
{
    struct op_outcome o;
    if (is_late(r, now)) {
        return store_late(r, now);
    }
    return another(r, now, &o) ? o : decide(r, now);
}

static void copy(uint8_t *out, const uint8_t *bytes, size_t length)
{
    if (length > 0) {
        memmove(out, bytes, length);
    }
}

void op_write(const struct kv_request *r, const struct op_value *now, const struct op_outcome *o, uint8_t *out)
{
    if (o->digits > 0) {
        copy(out, o->number, o->digits);
    } else if (r->op == KV_APPEND) {
        copy(out, now->bytes, now->length);
        copy(out + now->length, r->value, r->value_length);
    } else if (r->op == KV_PREPEND) {
        copy(out, r->value, r->value_length);
        copy(out + r->value_length, now->bytes, now->length);
    } else {
        copy(out, r->value, r->value_length);
    }
}

bool op_reads(enum kv_op op)
{
    return op == KV_GET;
}

bool op_carries(enum kv_op op)
{
    return op == KV_SET || op == KV_ADD || op == KV_REPLACE || op == KV_APPEND || op == KV_PREPEND || op == KV_CAS;
}
