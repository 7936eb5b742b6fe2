/* SPDX-License-Identifier: Apache-2.0 */
#include "services/kvcache/frames.h"

#include "base/bytes.h"
#include "services/kvcache/op.h"

#include <string.h>

/*
 * An ask:   version kind op bits | job:32 | to:64 from:64 number:64 floor:64 | flags:32 | expiry:64 cas:64 delta:64 initial:64 |
 *           value length:32 | key length:8 0:24 | key | value
 * An answer: version state status source | instance:64 | flags:32 | cas:64 | left:64 | length:32 | copyable:8 0:56 | value
 */

size_t kv_ask_size(const struct kv_ask *ask)
{
    return KV_ASK_BYTES + ask->r.key_length + ask->r.value_length;
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
    put_bytes(put_bytes(out + KV_ASK_BYTES, r->key, r->key_length), r->value, r->value_length);
}

bool kv_ask_decode(const uint8_t *bytes, size_t size, struct kv_ask *out)
{
    if (size < KV_ASK_BYTES || bytes[0] != KV_WIRE_VERSION || (bytes[3] & ~KV_BITS) != 0 || bytes[81] != 0 ||
        bytes[82] != 0 || bytes[83] != 0) {
        return false;
    }
    *out = (struct kv_ask){
        .kind = (enum kv_kind)bytes[1],
        .bits = bytes[3] & (unsigned)~KV_BIT_CREATE,
        .to = get_be64(bytes + 8),
        .from = get_be64(bytes + 16),
        .number = get_be64(bytes + 24),
        .floor = get_be64(bytes + 32),
        .r = {KV_REQUEST_INIT, .op = (enum kv_op)bytes[2], .job = get_be32(bytes + 4), .key = bytes + KV_ASK_BYTES,
              .key_length = bytes[80], .value_length = get_be32(bytes + 76), .flags = get_be32(bytes + 40),
              .expiry = {(int64_t)get_be64(bytes + 44)}, .cas = get_be64(bytes + 52), .delta = get_be64(bytes + 60),
              .initial = get_be64(bytes + 68), .create = (bytes[3] & KV_BIT_CREATE) != 0},
    };
    const struct kv_request *r = &out->r;
    out->r.value = r->key + r->key_length;
    bool keyed = out->kind == KV_ASK_OP || out->kind == KV_ASK_DROP;
    return (keyed ? r->key_length >= 1 : out->kind == KV_ASK_NAME && r->key_length == 0) && r->op >= KV_GET &&
           r->op < KV_OPS && r->key_length <= KV_KEY_MAX && r->value_length <= KV_VALUE_MAX &&
           (r->value_length == 0 || op_carries(r->op)) && size == kv_ask_size(out);
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
    put_bytes(out + KV_ANSWER_BYTES, answer->value, answer->length);
}

bool kv_answer_decode(const uint8_t *bytes, size_t size, struct kv_answer *out)
{
    if (size < KV_ANSWER_BYTES || bytes[0] != KV_WIRE_VERSION || bytes[1] < KV_DONE || bytes[1] >= KV_STATES ||
        bytes[2] >= KV_STATUSES || bytes[3] > KV_FROM_ROOT || bytes[36] > 1) {
        return false;
    }
    *out = (struct kv_answer){
        .state = (enum kv_state)bytes[1],
        .status = (enum kv_status)bytes[2],
        .source = (enum kv_source)bytes[3],
        .copyable = bytes[36] != 0,
        .instance = get_be64(bytes + 4),
        .flags = get_be32(bytes + 12),
        .cas = get_be64(bytes + 16),
        .left = {(int64_t)get_be64(bytes + 24)},
        .value = bytes + KV_ANSWER_BYTES,
        .length = get_be32(bytes + 32),
    };
    return out->left.ns >= 0 && size == kv_answer_size(out);
}
