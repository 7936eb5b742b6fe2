/* SPDX-License-Identifier: Apache-2.0 */
/* What servers of the store say to one another: whatever is decoded is within bounds, and is encoded to the same. */
#include "services/store/held/intent.h"
#include "services/store/held/wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool good)
{
    if (!good) {
        abort();
    }
}

static void try_clients(const uint8_t *bytes, size_t size, uint8_t *again)
{
    struct store_ask ask;
    struct store_answer answer;
    if (store_ask_decode(bytes, size, &ask)) {
        const struct store_order *o = &ask.order;
        struct store_bundle b;
        bool lists = o->op == STORE_OP_LIST;
        hold(o->op != STORE_OP_TXN || store_bundle_decode(o->value, o->value_length, &o->name, &b));
        hold(o->op != STORE_OP_TXN || store_bundle_size(&b) == o->value_length);
        hold(store_ask_size(&ask) == size && (lists || o->name.length >= 1) && o->name.length <= CW_STORE_NAME_MAX &&
             o->value_length <= CW_STORE_VALUE_MAX);
        hold(!lists ||
             (o->most >= 1 && o->most <= STORE_LIST_MOST && o->name.length + o->value_length <= CW_STORE_NAME_MAX));
        store_ask_encode(&ask, again);
        hold(memcmp(again, bytes, size) == 0);
    }
    if (store_answer_decode(bytes, size, &answer)) {
        hold(store_answer_size(&answer) == size && answer.length <= CW_STORE_VALUE_MAX);
        store_answer_encode(&answer, again);
        hold(memcmp(again, bytes, size) == 0);
    }
}

static void try_names(const uint8_t *bytes, size_t size)
{
    struct store_named n;
    size_t at = 0;
    while (at < size && store_named_next(bytes, size, &at, &n)) {
        hold(n.name.bytes >= bytes && n.name.bytes + n.name.length <= bytes + size && n.name.length >= 1);
    }
    hold(at <= size);
}

/* All that an intent names is within its register, and of its tag. */
static void try_intent(const struct store_register *r, uint8_t *again)
{
    struct store_intent in;
    const struct store_name *name;
    if (!store_intent_read(r, &in)) {
        return;
    }
    const uint8_t *value = store_register_value(r), *end = value + r->value_length;
    for (unsigned i = 0; (name = store_bundle_name(&in.bundle, i)) != NULL; i++) {
        hold(name->bytes >= value && name->bytes + name->length <= end && name->length >= in.tag.length &&
             name->job == in.tag.job);
    }
    const size_t size = store_bundle_size(&in.bundle);
    hold(size < r->value_length);
    store_bundle_encode(&in.bundle, again);
    hold(memcmp(again, end - size, size) == 0);
}

static void try_told(const uint8_t *bytes, size_t size)
{
    struct store_told told;
    size_t at = 0;
    while (at < size && store_told_next(bytes, size, &at, &told)) {
        hold(told.value_length == 0 || (told.value >= bytes && told.value + told.value_length <= bytes + size));
    }
    hold(at <= size);
}

static void try_register(const uint8_t *bytes, size_t size, uint8_t *again)
{
    struct store_register *r = store_register_decode(bytes, size);
    if (r != NULL) {
        hold(store_register_size(r) == size && r->ops <= STORE_OPS && r->name_length >= 1);
        store_register_encode(r, again);
        hold(memcmp(again, bytes, size) == 0);
        try_intent(r, again);
    }
    free(r);
}

static void try_members(const uint8_t *bytes, size_t size, uint8_t *again)
{
    struct store_item item;
    struct store_reply reply;
    struct store_listed listed;
    size_t at = 0;
    if (store_item_decode(bytes, size, &item)) {
        hold(store_item_size(&item) == size && item.bucket < STORE_BUCKETS);
        store_item_encode(&item, again);
        hold(memcmp(again, bytes, size) == 0);
    }
    if (store_reply_decode(bytes, size, &reply)) {
        hold(store_reply_size(&reply) == size);
        store_reply_encode(&reply, again);
        hold(memcmp(again, bytes, size) == 0);
        while (reply.kind == STORE_ITEM_LIST && at < reply.length &&
               store_listed_next(reply.bytes, reply.length, &at, &listed)) {
            hold(listed.name.bytes >= bytes && listed.name.bytes + listed.name.length <= bytes + size);
        }
    }
}

static void try_configs(const uint8_t *bytes, size_t size)
{
    uint8_t again[STORE_LESSON_MOST + STORE_SEAL_MOST];
    const struct store_item item = {.class_id = 1, .bytes = bytes, .length = size};
    struct store_config config;
    struct store_seal seal;
    struct store_lesson lesson;
    if (store_config_decode(bytes, size, &config)) {
        hold(store_config_encode(&config, again) == size && memcmp(again, bytes, size) == 0);
    }
    if (store_seal_decode(bytes, size, &seal)) {
        hold(store_seal_encode(&seal, again) == size && memcmp(again, bytes, size) == 0);
    }
    if (store_lesson_decode(&item, &lesson)) {
        hold(store_lesson_encode(&lesson, again) == size && memcmp(again, bytes, size) == 0);
    }
}

static void try_operators(const uint8_t *bytes, size_t size, uint8_t *again)
{
    struct store_word w;
    if (store_word_decode(bytes, size, &w)) {
        hold(store_word_size(&w) == size && w.of.name[STORE_CLASS_NAME] == '\0');
        store_word_encode(&w, again);
        hold(memcmp(again, bytes, size) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = malloc(size ? size : 1),
            *again = malloc(size ? size : 1); /* exact: a sanitizer sees one too many */
    if (bytes != NULL && again != NULL && size > 0) {
        memcpy(bytes, data, size);
        try_clients(bytes, size, again);
        try_names(bytes, size);
        try_told(bytes, size);
        try_register(bytes, size, again);
        try_members(bytes, size, again);
        try_operators(bytes, size, again);
        try_configs(bytes, size);
    }
    free(again);
    free(bytes);
    return 0;
}
