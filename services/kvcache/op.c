/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/op.h"

#include <string.h>

static struct op_outcome keeps(enum kv_status status)
{
    return (struct op_outcome){.status = status, .change = OP_KEEPS};
}

static struct op_outcome stores(size_t length, uint32_t flags)
{
    if (length > KV_VALUE_MAX) {
        return keeps(KV_TOO_LARGE);
    }
    return (struct op_outcome){.status = KV_OK, .change = OP_STORES, .length = length, .flags = flags};
}

static struct op_outcome joins(const struct kv_request *r, const struct op_value *now)
{
    struct op_outcome o = stores(now->length + r->value_length, now->flags);
    o.expiry_stays = true;
    return o;
}

/* Decimal digits alone, of a number that 64 bits hold. */
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

static struct op_outcome counts(uint64_t n, uint32_t flags)
{
    uint8_t backwards[OP_NUMBER_MAX];
    uint8_t digits = 0;
    do {
        backwards[digits++] = (uint8_t)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    struct op_outcome o = stores(digits, flags);
    o.answers = true;
    o.digits = digits;
    for (unsigned i = 0; i < digits; i++) {
        o.number[i] = backwards[digits - 1 - i];
    }
    return o;
}

static struct op_outcome steps(const struct kv_request *r, const struct op_value *now)
{
    uint64_t n;
    if (!now->there) {
        return r->create ? counts(r->initial, r->flags) : keeps(KV_MISS);
    }
    if (!number_of(now, &n)) {
        return keeps(KV_NOT_NUMBER);
    }
    if (r->op == KV_INCR) {
        n += r->delta;
    } else {
        n = n > r->delta ? n - r->delta : 0;
    }
    struct op_outcome o = counts(n, now->flags);
    o.expiry_stays = true;
    return o;
}

static struct op_outcome found(const struct op_value *now, enum op_change change, bool answers)
{
    if (!now->there) {
        return keeps(KV_MISS);
    }
    return (struct op_outcome){.status = KV_OK,
                               .change = change,
                               .answers = answers,
                               .length = answers ? now->length : 0,
                               .flags = now->flags};
}

/* A write that names the value it means finds that one, or does nothing. */
static bool another(const struct kv_request *r, const struct op_value *now, struct op_outcome *o)
{
    if (op_reads(r->op) || (r->cas == 0 && r->op != KV_CAS)) {
        return false;
    }
    *o = keeps(now->there ? KV_EXISTS : KV_MISS);
    return !now->there || now->cas != r->cas;
}

struct op_outcome op_decide(const struct kv_request *r, const struct op_value *now)
{
    struct op_outcome o;
    if (another(r, now, &o)) {
        return o;
    }
    switch (r->op) {
    case KV_GET:
        return found(now, OP_KEEPS, true);
    case KV_GAT:
        return found(now, OP_RENEWS, true);
    case KV_TOUCH:
        return found(now, OP_RENEWS, false);
    case KV_DELETE:
        return found(now, OP_REMOVES, false);
    case KV_SET:
    case KV_CAS:
        return stores(r->value_length, r->flags);
    case KV_ADD:
        return now->there ? keeps(KV_NOT_STORED) : stores(r->value_length, r->flags);
    case KV_REPLACE:
        return now->there ? stores(r->value_length, r->flags) : keeps(KV_NOT_STORED);
    case KV_APPEND:
    case KV_PREPEND:
        return now->there ? joins(r, now) : keeps(KV_NOT_STORED);
    case KV_INCR:
    case KV_DECR:
        return steps(r, now);
    case KV_OPS:
        break;
    }
    return keeps(KV_NOT_STORED);
}

static void copy(uint8_t *out, const uint8_t *bytes, size_t length)
{
    if (length > 0) {
        memcpy(out, bytes, length);
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
