/* SPDX-License-Identifier: Apache-2.0 */
#include "share/record.h"

#include <string.h>

enum { KEY_AT = 5, SERVER_BITS = 24 };

void share_record_encode(const struct share_record *r, uint64_t word[static SHARE_RECORD_WORDS])
{
    word[0] = r->kind | (uint64_t)r->flags << 8 | (uint64_t)r->endpoint << 16 | (uint64_t)r->length << 32;
    word[1] = r->job | (uint64_t)r->process << 32;
    word[2] = r->life | (uint64_t)(r->server & ((1u << SERVER_BITS) - 1)) << 32;
    word[3] = r->port | (uint64_t)r->items << 16 | (uint64_t)r->tag << 32;
    word[4] = r->right;
    memset(word + KEY_AT, 0, 3 * sizeof *word);
    if (r->flags & SHARE_RECORD_TO_KEY) {
        memcpy(word + KEY_AT, r->key.b, sizeof r->key.b);
    } else if (r->flags & SHARE_RECORD_REQUESTER) {
        word[KEY_AT] = r->requester_job | (uint64_t)r->requester_process << 32;
    }
}

bool share_record_decode(const uint64_t word[static SHARE_RECORD_WORDS], struct share_record *out)
{
    struct share_record r = {
        .kind = (uint8_t)word[0],
        .flags = (uint8_t)(word[0] >> 8),
        .endpoint = (uint16_t)(word[0] >> 16),
        .length = (uint32_t)(word[0] >> 32),
        .job = (uint32_t)word[1],
        .process = (uint32_t)(word[1] >> 32),
        .life = (uint32_t)word[2],
        .server = (uint32_t)(word[2] >> 32),
        .port = (uint16_t)word[3],
        .items = (uint16_t)(word[3] >> 16),
        .tag = (uint32_t)(word[3] >> 32),
        .right = word[4],
    };
    uint8_t about = r.flags & (SHARE_RECORD_TO_KEY | SHARE_RECORD_REQUESTER);
    if (about == SHARE_RECORD_TO_KEY) {
        memcpy(r.key.b, word + KEY_AT, sizeof r.key.b);
    } else if (about == SHARE_RECORD_REQUESTER) {
        r.requester_job = (uint32_t)word[KEY_AT];
        r.requester_process = (uint32_t)(word[KEY_AT] >> 32);
    }
    if (r.kind < SHARE_RECORD_SHORT || r.kind > SHARE_RECORD_FILLER || r.flags & ~SHARE_RECORD_FLAGS ||
        r.server >> SERVER_BITS != 0 || about == (SHARE_RECORD_TO_KEY | SHARE_RECORD_REQUESTER)) {
        return false;
    }
    /* What no flag announces must be zero. */
    uint64_t rest = word[KEY_AT + 2] >> 32;
    rest |= about == SHARE_RECORD_TO_KEY ? 0 : word[KEY_AT + 1] | word[KEY_AT + 2];
    rest |= about == 0 ? word[KEY_AT] : 0;
    if (rest != 0) {
        return false;
    }
    *out = r;
    return true;
}
