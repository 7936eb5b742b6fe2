/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/data/frames.h"

#include "base/bytes.h"
#include "services/kvcache/data/op.h"

#include <string.h>

/*
 * An ask:   version kind op bits | job:32 | to:64 from:64 number:64 floor:64 | flags:32 | expiry:64 cas:64 delta:64
 * initial:64 |
 *           value length:32 | key length:8 meta:8 steps:16 | with steps, vivify:64 recache:64 | key | value
 * An answer: version state status source | instance:64 | flags:32 | cas:64 | left:64 | length:32 | copyable:8 marks:8
 * win due:8 0:8 idle:32 | value
 */

static size_t head_size(uint16_t steps)
{
    return KV_ASK_BYTES + (steps != 0 ? KV_ASK_STEPS_BYTES : 0);
}

size_t kv_ask_size(const struct kv_ask *ask)
{
    return head_size(ask->r.steps) + ask->r.key_length + ask->r.value_length;
}

size_t kv_answer_size(const struct kv_answer *answer)
{
    return KV_ANSWER_BYTES + answer->length;
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *bytes, size_t length)
{
    if (length > 0) {
        memcpy(at, bytes, length);
    }
    return at + length;
}

void kv_ask_encode(const struct kv_ask *ask, uint8_t *out)
{
    const struct kv_request *r = &ask->r;
    memset(out, 0, KV_ASK_BYTES);
    out[0] = KV_WIRE_VERSION;
    out[1] = (uint8_t)ask->kind;
    out[2] = (uint8_t)r->op;
    out[3] = (uint8_t)(ask->bits | (r->create ? KV_BIT_CREATE : 0));
    put_be32(out + 4, r->job);
    put_be64(out + 8, ask->to);
    put_be64(out + 16, ask->from);
    put_be64(out + 24, ask->number);
    put_be64(out + 32, ask->floor);
    put_be32(out + 40, r->flags);
    put_be64(out + 44, (uint64_t)r->expiry.ns);
    put_be64(out + 52, r->cas);
    put_be64(out + 60, r->delta);
    put_be64(out + 68, r->initial);
    put_be32(out + 76, (uint32_t)r->value_length);
    out[80] = (uint8_t)r->key_length;
    out[81] = r->meta;
    put_be16(out + 82, r->steps);
    if (r->steps != 0) {
        put_be64(out + KV_ASK_BYTES, (uint64_t)r->vivify.ns);
        put_be64(out + KV_ASK_BYTES + 8, (uint64_t)r->recache.ns);
    }
    put_bytes(put_bytes(out + head_size(r->steps), r->key, r->key_length), r->value, r->value_length);
}

/* None, or one after the other. */
static bool are_steps(uint16_t steps)
{
    for (; steps != 0; steps >>= 4) {
        if ((steps & 15) == 0 || (steps & 15) >= KV_STEPS) {
            return false;
        }
    }
    return true;
}

static bool is_op(const struct kv_request *r)
{
    return r->op >= KV_GET && r->op < KV_OPS && r->key_length <= KV_KEY_MAX && r->value_length <= KV_VALUE_MAX &&
           (r->value_length == 0 || op_carries(r->op)) && r->meta <= KV_METAS && are_steps(r->steps);
}

/* One that is about a key has one, and no other has. */
static bool is_of_kind(const struct kv_ask *ask)
{
    switch (ask->kind) {
    case KV_ASK_OP:
    case KV_ASK_DROP:
        return ask->r.key_length >= 1;
    case KV_ASK_NAME:
    case KV_ASK_CUT:
    case KV_ASK_RENEW:
    case KV_ASK_STATS:
    case KV_ASK_HOT:
        return ask->r.key_length == 0;
    }
    return false;
}

bool kv_ask_decode(const uint8_t *bytes, size_t size, struct kv_ask *out)
{
    uint16_t steps = size >= KV_ASK_BYTES ? get_be16(bytes + 82) : 0;
    size_t head = head_size(steps);
    if (size < head || bytes[0] != KV_WIRE_VERSION || (bytes[3] & ~KV_BITS) != 0) {
        return false;
    }
    *out = (struct kv_ask){
        .kind = (enum kv_kind)bytes[1],
        .bits = bytes[3] & (unsigned)~KV_BIT_CREATE,
        .to = get_be64(bytes + 8),
        .from = get_be64(bytes + 16),
        .number = get_be64(bytes + 24),
        .floor = get_be64(bytes + 32),
        .r = {KV_REQUEST_INIT, .op = (enum kv_op)bytes[2], .job = get_be32(bytes + 4), .key = bytes + head,
              .key_length = bytes[80], .value_length = get_be32(bytes + 76), .flags = get_be32(bytes + 40),
              .expiry = {(int64_t)get_be64(bytes + 44)}, .cas = get_be64(bytes + 52), .delta = get_be64(bytes + 60),
              .initial = get_be64(bytes + 68), .create = (bytes[3] & KV_BIT_CREATE) != 0, .meta = bytes[81],
              .steps = steps},
    };
    struct kv_request *r = &out->r;
    if (steps != 0) {
        r->vivify.ns = (int64_t)get_be64(bytes + KV_ASK_BYTES);
        r->recache.ns = (int64_t)get_be64(bytes + KV_ASK_BYTES + 8);
    }
    r->value = r->key + r->key_length;
    return is_of_kind(out) && is_op(r) && size == kv_ask_size(out);
}

void kv_answer_encode(const struct kv_answer *answer, uint8_t *out)
{
    memset(out, 0, KV_ANSWER_BYTES);
    out[0] = KV_WIRE_VERSION;
    out[1] = (uint8_t)answer->state;
    out[2] = (uint8_t)answer->status;
    out[3] = (uint8_t)answer->source;
    put_be64(out + 4, answer->instance);
    put_be32(out + 12, answer->flags);
    put_be64(out + 16, answer->cas);
    put_be64(out + 24, (uint64_t)answer->left.ns);
    put_be32(out + 32, (uint32_t)answer->length);
    out[36] = answer->copyable;
    out[37] = (uint8_t)answer->marks;
    out[38] = answer->win_due;
    put_be32(out + 40, answer->idle_s);
    put_bytes(out + KV_ANSWER_BYTES, answer->value, answer->length);
}

bool kv_answer_decode(const uint8_t *bytes, size_t size, struct kv_answer *out)
{
    if (size < KV_ANSWER_BYTES || bytes[0] != KV_WIRE_VERSION || bytes[1] < KV_DONE || bytes[1] >= KV_STATES ||
        bytes[2] >= KV_STATUSES || bytes[3] > KV_FROM_ROOT || bytes[36] > 1 || bytes[37] >= 2 * KV_MARK_WON ||
        bytes[38] > 1 || bytes[39] != 0) {
        return false;
    }
    *out = (struct kv_answer){
        .state = (enum kv_state)bytes[1],
        .status = (enum kv_status)bytes[2],
        .source = (enum kv_source)bytes[3],
        .copyable = bytes[36] != 0,
        .marks = bytes[37],
        .win_due = bytes[38] != 0,
        .idle_s = get_be32(bytes + 40),
        .instance = get_be64(bytes + 4),
        .flags = get_be32(bytes + 12),
        .cas = get_be64(bytes + 16),
        .left = {(int64_t)get_be64(bytes + 24)},
        .value = bytes + KV_ANSWER_BYTES,
        .length = get_be32(bytes + 32),
    };
    return out->left.ns >= 0 && size == kv_answer_size(out);
}
