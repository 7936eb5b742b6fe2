/* SPDX-License-Identifier: Apache-2.0 */
/* Asks and answers of the cache: whatever is decoded lies within its bytes, and is encoded to the same again. */
#include "services/kvcache/data/frames.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const uint8_t *bytes, const uint8_t *again, size_t size)
{
    if (memcmp(bytes, again, size) != 0) {
        abort();
    }
}

static void try_ask(const uint8_t *bytes, size_t size, uint8_t *again)
{
    struct kv_ask ask;
    if (!kv_ask_decode(bytes, size, &ask)) {
        return;
    }
    const struct kv_request *r = &ask.r;
    if (kv_ask_size(&ask) != size || r->key < bytes || r->key + r->key_length > bytes + size ||
        r->key_length > KV_KEY_MAX || r->value_length > KV_VALUE_MAX ||
        (r->value_length > 0 && (r->value < bytes || r->value + r->value_length != bytes + size))) {
        abort();
    }
    kv_ask_encode(&ask, again);
    same(bytes, again, size);
}

static void try_answer(const uint8_t *bytes, size_t size, uint8_t *again)
{
    struct kv_answer answer;
    if (!kv_answer_decode(bytes, size, &answer)) {
        return;
    }
    if (kv_answer_size(&answer) != size || (answer.length > 0 && answer.value + answer.length != bytes + size)) {
        abort();
    }
    kv_answer_encode(&answer, again);
    same(bytes, again, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1),
            *again = malloc(size ? size : 1); /* exact: a sanitizer sees one too many */
    if (bytes != NULL && again != NULL && size > 0) {
        memcpy(bytes, data, size);
        try_ask(bytes, size, again);
        try_answer(bytes, size, again);
    }
    free(again);
    free(bytes);
    return 0;
}
